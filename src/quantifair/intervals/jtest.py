"""A test of prior shift: whether any prevalences explain several means at once.

Under prior shift the deployment's mean of any function of the features is the groups' auxiliary
means, mixed by the same prevalences. With more means than prevalences this can fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, chndtr

from quantifair.intervals import simplex
from quantifair.intervals.moments import Moments

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray

PEOPLE_PER_MOMENT = 10
"""Effective people, in the smallest group and in the deployment, that a moment takes."""

_COLLINEAR = 1e-3
"""Share of the mean variance below which a direction repeats others."""

_FLOOR = 1e-6
"""Variance, in units of the pooled one, of a moment that does not vary within some group."""

_STARTS, _ROUNDS = 33, 4
_ABSENT = 1e-3


@dataclass(frozen=True)
class JTest:
    """What the test found in one cell.

    Attributes
    ----------
    statistic
        J = min over q of T(q)' V(q)^-1 T(q), where T is the moments' excess and V its covariance.
    degrees
        Degrees of freedom: independent moments, less the prevalences fitted.
    p_value
        Chance of such a statistic under prior shift.
    detectable
        Least drift that is detected with a chance of 80% at a level of 5%, in standard deviations
        within groups; see ``j_test``.
    """

    statistic: float
    degrees: int
    p_value: float
    detectable: float


def j_test(moments: Moments) -> JTest | None:
    """Test whether prevalences exist that explain all moments; ``None`` where there are too few.

    J = min over q of T(q)' V(q)^-1 T(q) is chi-square with as many degrees of freedom as there
    are more moments than free prevalences, those at zero not counted. Directions in which the
    moments hardly vary repeat others and are dropped, with their degrees of freedom; so are those
    of least variance beyond one for each ten effective people, as their covariance would be noise.

    A drift of ``d`` standard deviations moves everybody in the deployment by ``d`` within-group
    standard deviations in one direction of the moments; the least that is detected is that of a
    direction taken at random. A drift along the difference between groups looks like other
    prevalences: no test can see it.

    References
    ----------
    Hansen (1982), Large sample properties of generalized method of moments estimators,
    doi:10.2307/1912775.
    """
    kept = _independent(moments)
    if kept.scores < len(kept.means):
        return None
    prevalence, statistic = _least(kept)
    # Who is absent is not fitted: given the face of the simplex, its directions are spent.
    degrees = kept.scores - (int((prevalence > _ABSENT).sum()) - 1)
    p_value = float(chdtrc(degrees, statistic))
    return JTest(statistic, degrees, p_value, _detectable(kept, prevalence, degrees))


def _independent(moments: Moments) -> Moments:
    """Rotate the moments to independent directions of one unit of variance; drop the rest."""
    pooled = moments.within.mean(axis=0)
    deviations = np.sqrt(np.diag(pooled))
    varying = deviations > 0
    pooled, deviations = pooled[np.ix_(varying, varying)], deviations[varying]
    if not len(deviations):
        return _rotated(moments, np.zeros((moments.scores, 0)))
    values, vectors = np.linalg.eigh(pooled / np.outer(deviations, deviations))
    kept = np.flatnonzero(values > _COLLINEAR)[::-1][: _most(moments)]
    rotation = np.zeros((moments.scores, len(kept)))
    rotation[varying] = vectors[:, kept] / np.sqrt(values[kept]) / deviations[:, None]
    return _rotated(moments, rotation)


def _most(moments: Moments) -> int:
    """Return how many moments the people allow."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.trace(moments.within, axis1=1, axis2=2) / np.trace(
            moments.sampling, axis1=1, axis2=2
        )
    fewest = min(float(np.nan_to_num(size, nan=np.inf).min()), moments.people)
    return int(fewest / PEOPLE_PER_MOMENT)


def _rotated(moments: Moments, rotation: FloatArray) -> Moments:
    return Moments(
        moments.mean @ rotation,
        moments.means @ rotation,
        rotation.T @ moments.within @ rotation + _FLOOR * np.eye(rotation.shape[1]),
        rotation.T @ moments.sampling @ rotation,
        moments.people,
    )


def _least(moments: Moments) -> tuple[FloatArray, float]:
    """Return the prevalences that explain the moments best, and their deviance."""
    groups = len(moments.means)
    if groups == 2:
        return _least_of_two(moments)
    ramp = np.linspace(0, 1, _STARTS)[:, None]
    vertices = np.eye(groups)
    towards = [ramp * vertices[k] + (1 - ramp) / groups for k in range(groups)]
    starts = np.concatenate(towards)
    start = starts[int(moments.deviance(starts).argmin())]
    found, statistic = simplex.least(simplex.Region((moments,)), start[None])
    return found[0], statistic


def _least_of_two(moments: Moments) -> tuple[FloatArray, float]:
    """Search a line, four times between the neighbours of the best point so far."""
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        second = np.linspace(low, high, _STARTS)
        both = np.stack([1 - second, second], axis=-1)
        deviance = moments.deviance(both)
        best = int(deviance.argmin())
        low, high = float(second[max(best - 1, 0)]), float(second[min(best + 1, _STARTS - 1)])
    return both[best], float(deviance[best])


def _detectable(moments: Moments, prevalence: FloatArray, degrees: int) -> float:
    """Least drift in a random direction that reaches the noncentrality of a power of 80%.

    ``left`` is the precision of the moments that is left once the prevalences have explained
    what they can; within groups the moments have variance one.
    """
    precision = np.linalg.inv(moments.covariance(prevalence))
    design = (moments.means[1:] - moments.means[0]).T
    explained = precision @ design @ np.linalg.pinv(design.T @ precision @ design)
    left = precision - explained @ design.T @ precision
    per_unit = float(np.trace(left)) / moments.scores
    return float(np.sqrt(noncentrality(degrees) / per_unit)) if per_unit > 0 else np.inf


def noncentrality(degrees: int, *, power: float = 0.8, level: float = 0.05) -> float:
    """Noncentrality at which a chi-square test has a power."""
    critical = float(chdtri(degrees, level))
    most = critical + 10 * np.sqrt(critical)
    return float(brentq(lambda nc: 1 - chndtr(critical, degrees, nc) - power, 0.0, most))


def holm(p_values: FloatArray) -> FloatArray:
    """Adjust p-values for their number, so that any false rejection has the level's chance.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, doi:10.2307/4615733.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted
