"""From prevalences in cells to rates by group and their disparities: pure functions of counts.

Counts carry leading axes of replicates. ``decided[..., d, k]`` is the number of people of group
``k`` with decision ``d`` (0 or 1, 1 the favourable one), ``labelled[..., y, d, k]`` the same by
label ``y`` as well. Every rate follows from them by Bayes' theorem (the paper's Proposition 1).
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


class Measure(NamedTuple):
    """A disparity: which rates it compares, and whether two groups keep their sign."""

    rates: tuple[str, ...]
    signed: bool
    meaning: str


MEASURES = {
    "demographic_parity": Measure(
        ("selection_rate",), signed=True, meaning="difference in selection rates"
    ),
    "true_positive_rate": Measure(
        ("true_positive_rate",),
        signed=True,
        meaning="difference in favourable decisions where the label is +",
    ),
    "true_negative_rate": Measure(
        ("true_negative_rate",),
        signed=True,
        meaning="difference in unfavourable decisions where the label is -",
    ),
    "positive_predictive_value": Measure(
        ("positive_predictive_value",),
        signed=True,
        meaning="difference in + labels among favourable decisions",
    ),
    "negative_predictive_value": Measure(
        ("negative_predictive_value",),
        signed=True,
        meaning="difference in - labels among unfavourable decisions",
    ),
    "equal_opportunity": Measure(
        ("true_positive_rate",),
        signed=False,
        meaning="Fairlearn's: largest minus smallest true positive rate",
    ),
    "equalized_odds": Measure(
        ("true_positive_rate", "false_positive_rate"),
        signed=False,
        meaning="Fairlearn's: the larger of the ranges of the true and the false positive rates",
    ),
}


def smooth(prevalence: ArrayLike, size: ArrayLike, auxiliary: ArrayLike) -> FloatArray:
    """Add one pseudo-person to a cell, spread as the cell's auxiliary shares.

    Laplace smoothing with known incidence rates, (p n + a) / (n + 1): the paper's Method, step 6,
    for any number of groups.

    Examples
    --------
    >>> smooth([0.0, 1.0], 9, [0.5, 0.5]).tolist()
    [0.05, 0.95]
    """
    people = np.asarray(size, dtype=np.float64)[..., None]
    shares = np.asarray(auxiliary, dtype=np.float64)
    return np.asarray((np.asarray(prevalence) * people + shares) / (people + 1))


def group_rates(decided: FloatArray, labelled: FloatArray | None = None) -> dict[str, FloatArray]:
    """Return every rate by group, each of shape ``(..., groups)``.

    Where a denominator is zero the rate is NaN. Cells of ``labelled`` that are unknown are NaN
    and so is what follows from them.

    Examples
    --------
    >>> rates = group_rates(np.array([[10.0, 30.0], [30.0, 10.0]]))
    >>> rates["selection_rate"].tolist()
    [0.75, 0.25]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        people = decided.sum(axis=-2)
        rates = {
            "share": people / people.sum(axis=-1, keepdims=True),
            "count": people,
            "selection_rate": decided[..., 1, :] / people,
        }
        if labelled is not None:
            by_label = labelled.sum(axis=-2)
            by_decision = labelled.sum(axis=-3)
            rates |= {
                "true_positive_rate": labelled[..., 1, 1, :] / by_label[..., 1, :],
                "false_positive_rate": labelled[..., 0, 1, :] / by_label[..., 0, :],
                "true_negative_rate": labelled[..., 0, 0, :] / by_label[..., 0, :],
                "positive_predictive_value": labelled[..., 1, 1, :] / by_decision[..., 1, :],
                "negative_predictive_value": labelled[..., 0, 0, :] / by_decision[..., 0, :],
            }
    return rates


def difference(rates: FloatArray, *, signed: bool) -> FloatArray:
    """Second minus first for two groups where ``signed``; else largest minus smallest."""
    if signed and rates.shape[-1] == 2:
        return np.asarray(rates[..., 1] - rates[..., 0])
    return np.asarray(rates.max(axis=-1) - rates.min(axis=-1))


def direction(groups: Sequence[str], *, signed: bool = True) -> str:
    """Say what a difference subtracts from what.

    Examples
    --------
    >>> direction(["man", "woman"])
    'woman minus man'
    """
    if signed and len(groups) == 2:
        return f"{groups[1]} minus {groups[0]}"
    return "largest minus smallest"


def ratio(rates: FloatArray) -> FloatArray:
    """Smallest over largest, as in the four-fifths rule; NaN where nobody has the outcome."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(rates.min(axis=-1) / rates.max(axis=-1))


def variance(rates: FloatArray) -> FloatArray:
    """Population variance of the rates over the groups."""
    return np.asarray(rates.var(axis=-1))


def pairs(groups: int) -> list[tuple[int, int]]:
    """All pairs of groups, (one, other); a pair's difference is other minus one."""
    return list(combinations(range(groups), 2))


class Kind(NamedTuple):
    """A kind of disparity.

    Attributes
    ----------
    of
        Maps rates by group to the disparity.
    worst
        Chooses from those of several rates.
    nearest
        Bounds how near to equality the disparity can be, over a connected set of rates of which
        each pair's extremes are known; ``None`` where the disparity is smooth.
    of_a_pair
        Whether it is that of one pair of groups, the two that differ most.
    """

    of: Callable[[FloatArray], FloatArray]
    worst: Callable[..., FloatArray]
    nearest: Callable[[FloatArray], float] | None
    of_a_pair: bool = True


def kinds(*, signed: bool, groups: int) -> dict[str, Kind]:
    """Return the kinds of disparity of so many groups."""
    smooth = signed and groups == 2
    return {
        "difference": Kind(
            partial(difference, signed=signed), np.max, None if smooth else nearest_difference
        ),
        "ratio": Kind(ratio, np.min, nearest_ratio),
        "variance": Kind(variance, np.max, nearest_variance, of_a_pair=False),
    }


def nearest_difference(rates: FloatArray) -> float:
    """Bound the largest minus the smallest from below: it is no less than any pair's gap.

    Examples
    --------
    >>> nearest_difference(np.array([[0.1, 0.5], [0.2, 0.4]])).__round__(9)
    0.2
    >>> nearest_difference(np.array([[0.1, 0.5], [0.5, 0.4]]))
    0.0
    """
    return float(_gaps(rates).max())


def nearest_variance(rates: FloatArray) -> float:
    """Bound the variance from below: it is the mean square of all pairs' gaps, halved."""
    return float((_gaps(rates) ** 2).sum() / rates.shape[-1] ** 2)


def nearest_ratio(rates: FloatArray) -> float:
    """Bound the smallest over the largest from above: it is no more than any pair's ratio."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _pair_ranges(lambda one, other: np.nan_to_num(other / one, nan=1.0), rates)
        return float(np.where(high < 1, high, np.where(low > 1, 1 / low, 1.0)).min())


def _gaps(rates: FloatArray) -> FloatArray:
    """Least distance of each pair's rates, zero where they change places."""
    low, high = _pair_ranges(lambda one, other: other - one, rates)
    return np.maximum(np.maximum(low, -high), 0.0)


def _pair_ranges(
    compare: Callable[[FloatArray, FloatArray], FloatArray], rates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    values = [compare(rates[:, a], rates[:, b]) for a, b in pairs(rates.shape[-1])]
    return np.min(values, axis=1), np.max(values, axis=1)


def disparities(rates: dict[str, FloatArray]) -> dict[str, dict[str, FloatArray]]:
    """Return difference, ratio and variance of each measure whose rates are there.

    A measure of several rates takes the worst of them: the largest difference and variance, the
    smallest ratio.
    """
    return {
        name: {
            kind: np.asarray(worst(np.stack([of(rates[r]) for r in measure.rates]), axis=0))
            for kind, (of, worst, *_) in kinds(signed=measure.signed, groups=2).items()
        }
        for name, measure in MEASURES.items()
        if all(rate in rates for rate in measure.rates)
    }
