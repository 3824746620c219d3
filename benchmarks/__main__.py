"""Run every benchmark, store the results, and write the pages.

Usage: python -m benchmarks
"""

from benchmarks import coverage, pages, sizes, speed

speed.main()
sizes.main()
coverage.RESULTS.unlink(missing_ok=True)
coverage.main(trials=1_000, jobs=2, interval="score")
pages.main()
