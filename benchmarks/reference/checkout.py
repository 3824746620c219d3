"""Import the reference implementation from a folder, and run its protocols on a split."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from quantifair.datasets import Dataset

PARTITIONS = 5
GRID = {"nprevs": 11, "nreps": 10, "sample_size": 500}
PROTOCOLS = (
    "sample-prev-D1",
    "flip-prev-D1",
    "sample-prev-D2",
    "sample-size-D2",
    "sample-prev-D3",
)
METHODS = {
    "CC": "aggregative.CC",
    "PCC": "aggregative.PCC",
    "ACC": "aggregative.ACC",
    "PACC": "aggregative.PACC",
    "SLD": "aggregative.EMQ",
    "HDy": "aggregative.HDy",
    "MLPE": "non_aggregative.MaximumLikelihoodPrevalenceEstimation",
}
LEARNERS = {
    "LR": LogisticRegression(),
    # scikit-learn's default of the paper's time; "auto", today's, takes the primal.
    "SVM": LinearSVC(dual=True),
}


class Reference:
    """The reference implementation in a folder, with as many threads for BLAS."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self.threads = threads
        folder = folder.resolve()
        if not (folder / "common.py").is_file():
            sys.exit(f"{folder} is no checkout of ql4facct: it has no common.py")
        sys.path.insert(0, str(folder))
        warn = warnings.warn
        try:
            self.common = import_module("common")
            self.methods = {name: _member(path) for name, path in METHODS.items()}
        finally:
            warnings.warn = warn  # its QuaPy replaces it for the whole process
        for module in ("common", "quapy"):
            if not Path(str(sys.modules[module].__file__)).is_relative_to(folder):
                sys.exit(f"{module} was imported from elsewhere, not from {folder}")

    def errors(self, data: Dataset, learner: str, split: int) -> dict[tuple[str, str], np.ndarray]:
        """Return the signed errors of all trials of a split, by protocol and method.

        It draws from NumPy's global generator, which it leaves unseeded; here the split seeds it.
        """
        np.random.seed(split)  # noqa: NPY002
        with contextlib.ExitStack() as stack:
            stack.enter_context(threadpool_limits(self.threads))
            # It leaves files in the working directory.
            stack.enter_context(contextlib.chdir(stack.enter_context(TemporaryDirectory())))
            stack.enter_context(quiet())
            splits = self.common.gen_split_data(data.features, data.label, data.group, PARTITIONS)
            parts = next(itertools.islice(splits, split, None))
            return {
                (protocol, name): _trials(
                    self.common, protocol, parts, method(LEARNERS[learner])
                ).independence_signed_error(regDP=True)
                for name, method in self.methods.items()
                for protocol in PROTOCOLS
            }


def _member(path: str) -> type:
    module, name = path.split(".")
    found: type = getattr(import_module(f"quapy.method.{module}"), name)
    return found


def _trials(common: ModuleType, protocol: str, parts: tuple, quantifier: Any) -> Any:
    """Return the result of a protocol, called as the reference's main.py calls it."""
    first, second, third, group = parts
    decide = LogisticRegression(class_weight="balanced")
    match protocol:
        case "sample-prev-D1":
            run, sets = common.eval_prevalence_variations_D1, (first, second, third, group)
        case "flip-prev-D1":
            run, sets = common.eval_prevalence_variations_D1_flip, (first, second, third, group)
        case "sample-prev-D2":
            run, sets = common.eval_prevalence_variations_D2, (first, second, third)
        case "sample-prev-D3":
            run, sets = common.eval_prevalence_variations_D3, (first, second, third)
        case _:
            return common.eval_size_variations_D2(
                first, second, third, decide, quantifier, nreps=GRID["nreps"]
            )
    return run(*sets, decide, quantifier, **GRID)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drop what is printed, also by worker processes that start meanwhile."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [(os.dup(stream), stream) for stream in (1, 2)]
    with Path(os.devnull).open("w") as nowhere:
        for _, stream in kept:
            os.dup2(nowhere.fileno(), stream)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for copy, stream in kept:
            os.dup2(copy, stream)
            os.close(copy)
