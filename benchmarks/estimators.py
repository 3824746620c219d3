"""Error of every quantifier where only the prevalence shifts, with a fitted group classifier.

500 auxiliary and 500 deployment people with five normal features; a logistic regression in five
folds, calibrated as an audit does it. 130 auxiliary samples a setting, each with three deployments.

Usage: python -m benchmarks.estimators
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from quantifair.calibration import fit_calibration
from quantifair.errors import NotIdentifiedError
from quantifair.quantifiers import (
    QUANTIFIERS,
    SLD,
    KDEy,
    PosteriorMedian,
    Quantifier,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

RESULTS = Path(__file__).parent / "results" / "estimators.json"
SETTINGS = [(auc, share) for auc in (0.60, 0.65, 0.75, 0.85) for share in (0.5, 0.2)]
PREVALENCES = np.linspace(0.02, 0.98, 9)
REPLICATES, PEOPLE, FEATURES, FOLDS = 130, 500, 5, 5

METHODS: dict[str, Quantifier] = {
    **{name: kind() for name, kind in QUANTIFIERS.items()},
    "sld stopped": SLD(converged=False),
    "kdey, deployment not smoothed": KDEy(smooth_deployment=False),
    "posterior, shift=1": PosteriorMedian(shift=1.0),
    "posterior, moments": PosteriorMedian(likelihood="moments"),
    "posterior, moments, shift=1": PosteriorMedian(likelihood="moments", shift=1.0),
}


def people(prevalence: float, auc: float, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Draw features and groups; the exact number of each group."""
    groups = (np.arange(PEOPLE) < round(PEOPLE * prevalence)).astype(int)
    apart = np.sqrt(2 / FEATURES) * norm.ppf(auc)
    return rng.normal(size=(PEOPLE, FEATURES)) + apart * groups[:, None], groups


def errors(auc: float, share: float, rng: np.random.Generator) -> dict[str, list[float]]:
    """Absolute errors of all methods in three deployments of one auxiliary sample."""
    features, groups = people(share, auc, rng)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    scores, models = np.empty((PEOPLE, 2)), []
    for rest, fold in folds.split(features, groups):
        models.append(LogisticRegression().fit(features[rest], groups[rest]))
        scores[fold] = models[-1].predict_proba(features[fold])
    calibrate = fit_calibration(scores, np.stack([groups == 0, groups == 1]).astype(float))
    found: dict[str, list[float]] = {name: [] for name in METHODS}
    for prevalence in rng.choice(PREVALENCES, size=3, replace=False):
        unknown, truth = people(float(prevalence), auc, rng)
        seen = calibrate(np.mean([m.predict_proba(unknown) for m in models], axis=0))
        for name, quantifier in METHODS.items():
            try:
                estimate = quantifier.fit(calibrate(scores), groups).predict(seen)[1]
            except NotIdentifiedError:  # ACC, where nobody is more probably of the rarer group
                estimate = share
            found[name].append(abs(float(estimate) - float(truth.mean())))
    return found


def main(path: Path = RESULTS) -> None:
    """Measure and store mean absolute errors with their standard errors."""
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # SLD stopped after 1,000 steps
        for auc, share in SETTINGS:
            rng = np.random.default_rng(0)
            replicates = [errors(auc, share, rng) for _ in range(REPLICATES)]
            for name in METHODS:
                means = np.array([np.mean(r[name]) for r in replicates])
                row = {
                    "auc": auc,
                    "share": share,
                    "method": name,
                    "mae": round(float(means.mean()), 4),
                }
                row["standard_error"] = round(float(means.std()) / REPLICATES**0.5, 4)
                print(row, flush=True)
                rows.append(row)
    path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
