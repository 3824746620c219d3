"""Rates straight from scores and decisions, without a quantifier: Chen et al.'s estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.errors import InputError
from quantifair.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


def threshold_estimator(scores: ArrayLike, decisions: ArrayLike) -> FloatArray:
    """Selection rate by group when everybody counts as their most probable group.

        rate(s) = sum_i k(s, x_i) h(x_i) / sum_i k(s, x_i)

    where k is 1 for the most probable group and h is the decision.

    Exaggerates or hides disparities wherever the group classifier errs.

    Parameters
    ----------
    scores
        Score vectors ``(people, groups)``, or the second group's probabilities.
    decisions
        1 or True for the favourable decision.

    References
    ----------
    Chen, Kallus, Mao, Svacha, Udell (2019), Fairness under unawareness,
    doi:10.1145/3287560.3287594.

    Examples
    --------
    >>> threshold_estimator([0.1, 0.2, 0.8, 0.9], [1, 0, 1, 1]).tolist()
    [0.5, 1.0]
    """
    matrix = as_scores(scores)
    return _selection_rates(np.eye(matrix.shape[1])[matrix.argmax(axis=1)], decisions)


def weighted_estimator(scores: ArrayLike, decisions: ArrayLike) -> FloatArray:
    """Selection rate by group when everybody counts for each group by their probability.

        rate(s) = sum_i P(s | x_i) h(x_i) / sum_i P(s | x_i)

    Unbiased where the decision is independent of the group given the features and the scores are
    calibrated for the deployment.

    Parameters
    ----------
    scores
        Score vectors ``(people, groups)``, or the second group's probabilities.
    decisions
        1 or True for the favourable decision.

    References
    ----------
    Chen, Kallus, Mao, Svacha, Udell (2019), doi:10.1145/3287560.3287594.

    Examples
    --------
    >>> weighted_estimator([0.25, 0.75], [0, 1]).tolist()
    [0.25, 0.75]
    """
    return _selection_rates(as_scores(scores), decisions)


def _selection_rates(membership: FloatArray, decisions: ArrayLike) -> FloatArray:
    favourable = np.asarray(decisions, dtype=np.float64)
    if favourable.shape != (len(membership),) or not np.isin(favourable, (0, 1)).all():
        raise InputError(f"decisions must be {len(membership):,} zeros and ones")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(favourable @ membership / membership.sum(axis=0))
