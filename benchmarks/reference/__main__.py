"""What do the reference implementation and ours cost on a split of the paper, in one run?

Each split is one of the paper's 30: a partition in three by a role permutation. All five protocols
and seven quantifiers are run, as its main.py runs them, on all cores. A split that is stored is
not run again. Seconds count only from a machine that does nothing else; the load before the split
is stored beside them. The reference leaves BLAS on all cores, whose threads mostly wait for each
other on matrices this small where other programs run, too: here it gets one. Time it with --threads
of all cores as well, and compare with the faster.

Usage: python -m benchmarks.reference --reference CHECKOUT [--data compas] [--learner LR]
           [--splits 0-29] [--threads 1] [--results benchmarks/results]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import time
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import cpu_count

from benchmarks.reference import ours
from benchmarks.reference.checkout import LEARNERS, Reference
from quantifair.datasets import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from quantifair.datasets import Dataset

    # Signed errors of a split's trials, by protocol and method.
    Side = Callable[[Dataset, str, int], dict[tuple[str, str], np.ndarray]]

RESULTS = Path(__file__).parents[1] / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib")
KEY = ("side", "data", "learner", "split")
FIELDS = (*KEY, "protocol", "method", "trials", "mae", "mse", "p_ae_lt_0.1", "p_ae_lt_0.2")


def measure(
    side: Side, data: Dataset, learner: str, split: int
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Run a split; return its seconds, and its accuracy by protocol and method."""
    load_before = os.getloadavg()[0]
    start = time.perf_counter()
    errors = side(data, learner, split)
    seconds = time.perf_counter() - start
    rows = [
        {"protocol": protocol, "method": method} | accuracy(np.abs(found))
        for (protocol, method), found in errors.items()
    ]
    return {"seconds": round(seconds, 3), "load_before": round(load_before, 2)}, rows


def accuracy(errors: np.ndarray) -> dict[str, Any]:
    """The figures of the paper's tables for absolute errors."""
    return {
        "trials": len(errors),
        "mae": round(float(errors.mean()), 5),
        "mse": round(float((errors**2).mean()), 5),
        "p_ae_lt_0.1": round(float((errors < 0.1).mean()), 4),
        "p_ae_lt_0.2": round(float((errors < 0.2).mean()), 4),
    }


def machine(reference: Path) -> dict[str, Any]:
    """What the seconds depend on: processor, cores, versions, and the reference's code."""
    code = sha256(b"".join(p.read_bytes() for p in sorted(reference.rglob("*.py"))))
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(": ")[1] for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": cpu_count(),
        "system": platform.platform(),
        "versions": {"python": platform.python_version()} | {p: version(p) for p in PACKAGES},
        "reference_sha256": code.hexdigest(),
    }


def stored(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Seconds and accuracy of earlier runs."""
    seconds, errors = folder / "reference.json", folder / "reference.csv"
    if not (seconds.exists() and errors.exists()):
        return [], []
    with errors.open() as file:
        rows = [row | {"split": int(row["split"])} for row in csv.DictReader(file)]
    return json.loads(seconds.read_text()), rows


def write(folder: Path, runs: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Write both files whole, so that a killed run leaves complete ones."""
    folder.mkdir(exist_ok=True, parents=True)
    parts = folder / "reference.csv.part", folder / "reference.json.part"
    with parts[0].open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=key))
    parts[1].write_text(json.dumps(sorted(runs, key=key), indent=1) + "\n")
    for part in parts:
        part.replace(part.with_suffix(""))


def key(row: dict[str, Any]) -> tuple:
    """Whose, and of which split, a row is."""
    return tuple(row[name] for name in KEY)


def main(sides: dict[str, Side], options: argparse.Namespace) -> None:
    """Run every split that is not stored yet, one side after the other; store as it grows."""
    data = load(options.data)
    first, _, last = options.splits.partition("-")
    runs, rows = stored(options.results)
    about = machine(options.reference)
    for split in range(int(first), int(last or first) + 1):
        names = [{"side": s, "data": options.data, "learner": options.learner, "split": split}
                 for s in sides]  # fmt: skip
        done = {key(run) for run in runs}
        if all(key(name) in done for name in names):
            continue
        runs = [r for r in runs if key(r) not in map(key, names)]
        rows = [r for r in rows if key(r) not in map(key, names)]
        for name in names:
            took, found = measure(sides[name["side"]], data, options.learner, split)
            runs.append(name | took | about)
            rows += [name | row for row in found]
            print(*name.values(), took, flush=True)
        write(options.results, runs, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reference",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--data", default="compas", choices=("adult", "compas", "creditcard"))
    parser.add_argument("--learner", default="LR", choices=LEARNERS)
    parser.add_argument("--splits", default="0-29")
    parser.add_argument("--threads", type=int, default=1, help="of the reference's BLAS")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    reference = Reference(arguments.reference, arguments.threads)
    theirs = f"reference, BLAS threads {arguments.threads}"
    main({theirs: reference.errors, "quantifair": ours.errors}, arguments)
