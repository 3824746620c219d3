"""Run the paper's experiments, store their results, write the page.

Usage: python -m benchmarks.reproduction run | store | page | check [--folder F] [--jobs N]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.reproduction import page, studies

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("run", "store", "page", "check"))
    parser.add_argument("--folder", type=Path, default=Path("study"))
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    if arguments.step == "run":
        studies.run(arguments.folder, arguments.jobs)
        studies.store(arguments.folder)
        page.main()
    elif arguments.step == "store":
        studies.store(arguments.folder)
    else:
        page.main(check=arguments.step == "check")
