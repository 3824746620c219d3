"""Run every benchmark, store the results, and write the pages.

Usage: python -m benchmarks
"""

from benchmarks import coverage, pages, planner, sizes, speed
from quantifair.experiments import coverage as study

speed.main()
sizes.main()
coverage.RESULTS.unlink(missing_ok=True)
coverage.main(trials=1_000, jobs=2, interval="score")
grid = coverage.RESULTS.with_name("coverage-grid.csv")
grid.unlink(missing_ok=True)
study.run(study.grid(), grid, jobs=2)
planner.main(replicates=200, jobs=2)
pages.main()
