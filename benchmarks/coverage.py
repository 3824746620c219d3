"""How often do nominal 95% intervals of the demographic disparity hold the truth?

Each replicate draws an auxiliary and a deployment table afresh under prior shift, trains the
group classifier on the one, audits the other, and looks whether the interval holds the disparity
of the deployment's own rows. Both cells' auxiliary samples are half one group.

Usage: python -m benchmarks.coverage [--trials 1000] [--jobs 2] [--interval score|bootstrap]
"""

from __future__ import annotations

import argparse
import csv
import itertools
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from quantifair.cells import DECISIONS, Deployment
from quantifair.disparity import difference, group_rates
from quantifair.estimation import Options, TrainedCell, estimate_cell
from quantifair.figures import figure as figure_of
from quantifair.intervals import Sample
from quantifair.quantifiers import named_quantifier
from quantifair.sketch import Sketch
from quantifair.spread import spread_of
from quantifair.training import Recipe

RESULTS = Path(__file__).parent / "results" / "coverage.csv"
GROUPS = ["a", "b"]
FEATURES = 4
ACCEPTED = 0.4
REPLICATES = 500
AUXILIARY = (500, 2_000)
DEPLOYMENT = (1_000, 100_000)
AUC = (0.65, 0.85)
PREVALENCES = ((0.5, 0.5), (0.3, 0.7), (0.1, 0.2), (0.02, 0.1))
METHODS = (("score", "sld"), ("bootstrap", "sld"), ("bootstrap", "pacc"))
FIELDS = ("auxiliary", "deployment", "auc", "rejected", "accepted", "interval", "quantifier",
          "trials", "answered", "coverage", "standard_error", "width",
          "mean_absolute_error")  # fmt: skip


def draw(codes: np.ndarray, auc: float, rng: np.random.Generator) -> pd.DataFrame:
    """Two features shift with the group so that the best classifier has the AUC; two are noise."""
    features = rng.normal(size=(len(codes), FEATURES))
    features[:, :2] += norm.ppf(auc) * codes[:, None]
    return pd.DataFrame(features, columns=[f"x{i}" for i in range(FEATURES)])


def trial(
    setting: tuple[int, int, float, tuple[float, float]], number: int, methods: tuple = METHODS
) -> list[dict]:
    """Audit one draw of both tables with each kind of interval and quantifier."""
    auxiliary, deployment, auc, prevalences = setting
    rng = np.random.default_rng([number, auxiliary, deployment, int(1000 * auc),
                                 *(int(1000 * p) for p in prevalences)])  # fmt: skip
    sizes = (deployment - int(ACCEPTED * deployment), int(ACCEPTED * deployment))
    trained, sketches, truth = {}, {}, []
    for cell, size, prevalence in zip(DECISIONS, sizes, prevalences, strict=True):
        codes = (rng.random(auxiliary) < 0.5).astype(int)
        sample = Sample(np.zeros((auxiliary, 2)), codes, np.ones(auxiliary))
        recipe = Recipe(LogisticRegression(), seed=number)
        fitted = recipe.train(draw(codes, auc, rng), sample, GROUPS)
        rows, shares = tuple(np.bincount(codes).tolist()), sample.labelled.shares
        trained[cell] = TrainedCell(str(cell), rows, rows, shares, fitted)
        theirs = (rng.random(size) < prevalence).astype(int)
        scores = fitted.scorer(draw(theirs, auc, rng))
        sketches[cell] = Sketch.from_scores(scores, fingerprint=fitted.scorer.fingerprint)
        truth.append(np.bincount(theirs, minlength=2).astype(float))
    known = {c: np.zeros(2) for c in DECISIONS}
    counts = dict(zip(DECISIONS, sizes, strict=True))
    found = Deployment(sketches, known, deployment, counts, {}, None)
    true = difference(group_rates(np.array(truth))["selection_rate"], signed=True)
    return [audit(*method, trained, found, number, float(true)) for method in methods]


def audit(
    interval: str, name: str, trained: dict, found: Deployment, seed: int, true: float
) -> dict:
    """Return whether the interval holds the truth, its width, and the error."""
    quantifier = named_quantifier(name)
    options = Options(seed=seed, replicates=REPLICATES, interval=interval)
    estimates = {
        c: estimate_cell(c, trained[c], found, quantifier, GROUPS, options) for c in DECISIONS
    }
    parity = partial(difference, signed=True)
    figure = figure_of(spread_of(estimates, options), ("selection_rate",), parity)
    if figure.estimate is None:
        return {"method": (interval, name), "answered": False}
    return {
        "method": (interval, name),
        "answered": True,
        "covered": figure.low <= true <= figure.high,
        "width": figure.high - figure.low,
        "error": abs(figure.estimate - true),
    }


def summarise(setting: tuple, trials: list[list[dict]], method: tuple[str, str]) -> dict:
    """Return a row of the table; trials without an answer are counted, not covered."""
    rows = [r for t in trials for r in t if r["method"] == method]
    answers = [r for r in rows if r["answered"]]
    coverage = float(np.mean([r["covered"] for r in answers])) if answers else float("nan")
    auxiliary, deployment, auc, (rejected, accepted) = setting
    return {
        "auxiliary": auxiliary,
        "deployment": deployment,
        "auc": auc,
        "rejected": rejected,
        "accepted": accepted,
        "interval": method[0],
        "quantifier": method[1],
        "trials": len(rows),
        "answered": len(answers),
        "coverage": round(coverage, 4),
        "standard_error": round(float(np.sqrt(0.95 * 0.05 / max(1, len(answers)))), 4),
        "width": round(float(np.median([r["width"] for r in answers])), 4),
        "mean_absolute_error": round(float(np.mean([r["error"] for r in answers])), 4),
    }


def single(setting: tuple, number: int, methods: tuple) -> list[dict]:
    """Run a trial on one thread, so that workers don't fight over cores."""
    with threadpool_limits(1):
        return trial(setting, number, methods)


def stored(path: Path) -> list[dict[str, str]]:
    """Rows of an earlier run, which are not run again."""
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def missing(rows: list[dict], method: tuple[str, str] = METHODS[0]) -> list[tuple]:
    """Settings of the planned grid that these rows do not hold for a kind of interval."""
    rows = [r for r in rows if (r["interval"], r["quantifier"]) == method]
    done = {tuple(float(r[k]) for k in FIELDS[:5]) for r in rows}
    grid = itertools.product(PREVALENCES, AUXILIARY, DEPLOYMENT, AUC)
    planned = [(auxiliary, deployment, auc, p) for p, auxiliary, deployment, auc in grid]
    return [s for s in planned if (*s[:3], *s[3]) not in done]


def main(trials: int, jobs: int, interval: str, path: Path = RESULTS) -> None:
    """Run every setting that is not stored yet; store the table as it grows."""
    path.parent.mkdir(exist_ok=True)
    rows: list[dict] = [*stored(path)]
    methods = tuple(m for m in METHODS if m[0] == interval)
    with Parallel(n_jobs=jobs) as pool:
        for setting in missing(rows, methods[0]):
            found = pool(delayed(single)(setting, number, methods) for number in range(trials))
            rows += [summarise(setting, found, method) for method in methods]
            write(rows, path)


def write(rows: list[dict], path: Path) -> None:
    """Write the table whole, so that a killed run leaves a complete one."""
    unfinished = path.with_suffix(".part")
    order = [*FIELDS[:5], "interval", "quantifier"]
    with unfinished.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda r: [_number(r[k]) for k in order]))
    unfinished.replace(path)


def _number(value: object) -> tuple[float, str]:
    try:
        return float(value), ""  # type: ignore[arg-type]
    except ValueError:
        return 0.0, str(value)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--interval", choices=("score", "bootstrap"), default="score")
    arguments = parser.parse_args()
    main(arguments.trials, arguments.jobs, arguments.interval)
