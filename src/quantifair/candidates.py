"""The choice of the group classifier: what is tried in a cell, and which one serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.learner import ScoreColumns, called, is_external, prepared
from quantifair.pipelines import LEARNERS, curved, default_learner

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.intervals import Sample
    from quantifair.roles import Features
    from quantifair.training import Trained

    FloatArray = NDArray[np.float64]

BEST = "best"
"""The learner that is chosen in each cell."""

NAMES = (BEST, *LEARNERS)
"""Learners that are known by name."""

_STRENGTHS = (0.1, 0.01, 0.001)
_FEWEST_FOR_CURVES = 50
_STANDARD_ERRORS = 1.0
_SMALLEST = 1e-15


@dataclass(frozen=True)
class Choice:
    """Which group classifier serves a cell, and how well each that was tried does.

    Attributes
    ----------
    chosen
        Its name.
    log_loss
        The weighted mean of -log P(own group | features) of each classifier that was tried, in
        the order in which they are preferred. Out of fold, before calibration; less is better.
    log_loss_of_shares
        The same of whoever knows the groups' shares alone.
    beats_shares
        Whether the least log-loss is below that of the shares by more than its standard error.
    """

    chosen: str
    log_loss: dict[str, float]
    log_loss_of_shares: float
    beats_shares: bool


def candidates(
    learner: Any, features: Features, frame: pd.DataFrame, fewest: int
) -> Iterator[tuple[str, Any]]:
    """Yield the names of the classifiers to be tried and themselves, the simplest first.

    A learner of the user's is the only one. ``logistic`` has more regularised versions, should it
    overfit.

    Parameters
    ----------
    learner
        As the audit has it.
    features, frame
        The columns, and the cell's auxiliary people.
    fewest
        How many of them are of the smallest group.
    """
    name = "logistic" if learner is None else learner
    if isinstance(name, ScoreColumns):
        yield "scores", name
    elif not isinstance(name, str):
        yield called(name), name if is_external(name) else prepared(name, features)
    elif name not in {BEST, "logistic"}:
        yield name, default_learner(features, name)
    else:
        yield "logistic", default_learner(features)
        for strength in _STRENGTHS:
            stronger = default_learner(features).set_params(logisticregression__C=strength)
            yield f"logistic, C={strength}", stronger
        if name == BEST and fewest >= _FEWEST_FOR_CURVES:
            yield from _flexible(features, frame)


def _flexible(features: Features, frame: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    numbers = [name for name, kind in features.kinds.items() if kind != "text"]
    if curved(frame, numbers):
        yield "splines", default_learner(features, "splines")
    yield "boosting", default_learner(features, "boosting")
    larger = {"max_leaf_nodes": 16, "learning_rate": 0.1, "max_features": 0.5}
    options = {f"smalltrees__{k}": v for k, v in larger.items()}
    yield "boosting, larger", default_learner(features, "boosting").set_params(**options)


def losses_of(scores: FloatArray, sample: Sample) -> FloatArray:
    """Return each person's -log P(own group | features)."""
    own = np.take_along_axis(scores, sample.codes[:, None], axis=1)[:, 0]
    return np.asarray(-np.log(np.maximum(own, _SMALLEST)))


def choose(tried: Mapping[str, Trained]) -> Choice:
    """Choose the simplest classifier whose log-loss is not beaten beyond chance.

    Overfitted classifiers (their calibration slope is below 0.5) stand back as long as there is
    another. Of the others, the first is taken whose log-loss is within one standard error of the
    least, that of the paired difference; people who repeat count once in it. The rule sees
    nothing but how well the group is predicted.
    """
    honest = {name: t for name, t in tried.items() if not t.broken} or tried
    loss = {name: _mean(t.losses, t.sample) for name, t in tried.items()}
    best = honest[min(honest, key=loss.__getitem__)]
    chosen = next(
        name for name, t in honest.items() if not _exceeds(t.losses - best.losses, t.sample)
    )
    sample = best.sample
    shares = np.bincount(sample.codes, weights=sample.weights) / sample.weights.sum()
    alone = -np.log(shares[sample.codes])
    beats = _exceeds(alone - best.losses, sample)
    return Choice(chosen, loss, _mean(alone, sample), beats)


def _mean(values: FloatArray, sample: Sample) -> float:
    return float(np.average(values, weights=sample.weights))


def _exceeds(gains: FloatArray, sample: Sample) -> bool:
    """Tell whether a weighted mean is above zero by more than its standard error."""
    mean = _mean(gains, sample)
    spread = sample.weights * (gains - mean)
    if sample.clusters is not None:
        spread = np.bincount(sample.clusters, weights=spread).astype(np.float64)
    error = np.sqrt((spread**2).sum()) / sample.weights.sum()
    return bool(mean > _STANDARD_ERRORS * error)
