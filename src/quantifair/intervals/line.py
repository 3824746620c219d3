"""Two groups: the prevalences that are not ruled out, in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.intervals.moments import Moments
    from quantifair.quantifiers.base import FloatArray

_STEPS = 257
_ANGLES = (1 - np.cos(np.linspace(0, np.pi, _STEPS))) / 2
"""Denser at the ends, where the edge of a region turns."""


def least(cell: Moments) -> tuple[float, float]:
    """Return the prevalence of least deviance and that deviance.

    It lies at an end of [0, 1], or where the deviance's derivative is zero, which is twice.
    """
    start, slope = _excess(cell)
    second, first, constant = _variance(cell)
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = start / slope
        other = -(2 * slope * constant + start * first) / (slope * first + 2 * start * second)
    candidates = np.clip(np.nan_to_num(np.array([0.0, 1.0, zero, other])), 0, 1)
    deviance = _deviance(cell, candidates)
    nearest = int(np.argmin(deviance))
    return float(candidates[nearest]), float(deviance[nearest])


def range_below(cell: Moments, most: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and greatest prevalence of the second group with a deviance of at most ``most``.

    The deviance is a ratio of two quadratics, so that the ends are roots of a third. As with
    Fieller's intervals, nothing is divided by the difference between the groups' mean scores.
    """
    quadratic = _quadratic(cell, most)
    roots = _roots(*quadratic)
    ends = np.stack([np.zeros_like(most), np.ones_like(most)])
    second, first, constant = quadratic
    inside = (second * ends + first) * ends + constant <= 0
    candidates = np.concatenate([np.where(inside, ends, np.nan), roots])
    low, high = (f(candidates, axis=0) for f in (np.fmin.reduce, np.fmax.reduce))
    # Rounding may leave nothing where no more than the least deviance is allowed.
    nearest, _ = least(cell)
    return np.where(np.isnan(low), nearest, low), np.where(np.isnan(high), nearest, high)


def edge(cells: Sequence[Moments], most: float) -> FloatArray:
    """Return prevalences on the edge of the region that one or two cells do not rule out.

    The region holds the prevalences whose deviances, summed over independent cells, are at most
    ``most`` above their least. Rates, their differences and ratios rise or fall with each cell's
    prevalence, so that they are extreme on its edge.

    Returns
    -------
    FloatArray
        Shape ``(points, cells, groups)``.
    """
    first, *others = cells
    base = least(first)[1]
    low, high = range_below(first, np.array([most + base]))
    if not others:
        return _two_sided(np.stack([low, high]))
    (other,) = others
    along = low + (high - low) * _ANGLES
    spent = _deviance(first, along) - base
    left = np.maximum(most - spent, 0.0) + least(other)[1]
    ends = np.stack(range_below(other, left))
    both = np.stack([np.broadcast_to(along, ends.shape), ends], axis=-1)
    return _two_sided(both.reshape(-1, 2))


def _two_sided(second: FloatArray) -> FloatArray:
    return np.stack([1 - second, second], axis=-1)


def _deviance(cell: Moments, second: FloatArray) -> FloatArray:
    return cell.deviance(_two_sided(second))


def _quadratic(cell: Moments, most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients of excess(q)^2 - most * variance(q), the highest first."""
    start, slope = _excess(cell)
    second, first, constant = _variance(cell)
    return (
        slope**2 - most * second,
        -2 * start * slope - most * first,
        start**2 - most * constant,
    )


def _excess(cell: Moments) -> tuple[np.float64, np.float64]:
    """The excess is start - slope * q."""
    return cell.mean[0] - cell.means[0, 0], cell.means[1, 0] - cell.means[0, 0]


def _variance(cell: Moments) -> tuple[np.float64, np.float64, np.float64]:
    """Coefficients of the excess's variance, the highest first."""
    within, sampling = cell.within[:, 0, 0] / cell.people, cell.sampling[:, 0, 0]
    first = within[1] - within[0] - 2 * sampling[0]
    return sampling[0] + sampling[1], first, within[0] + sampling[0]


def _roots(second: FloatArray, first: FloatArray, constant: FloatArray) -> FloatArray:
    """Roots in [0, 1], NaN elsewhere; written so that nearly equal numbers are not subtracted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(first**2 - 4 * second * constant)
        large = -(first + np.copysign(root, first)) / 2
        roots = np.stack([large / second, constant / large])
    return np.where((roots >= 0) & (roots <= 1), roots, np.nan)
