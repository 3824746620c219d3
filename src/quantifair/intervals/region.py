"""What the data do not rule out: counts by cell and group at which any figure is extreme.

The deviances of the cells that a figure depends on are added up. Those prevalences whose sum lies
no more than a chi-square quantile above its least are not ruled out, and a figure's interval is its
range over them: the profile of the score test.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from quantifair.intervals import line, simplex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from quantifair.intervals.moments import Moments
    from quantifair.quantifiers.base import FloatArray

    Gradient = Callable[[FloatArray], FloatArray]

_SPLITS = 21
_FINE = np.linspace(1e-6, 1 - 1e-6, 20_001)


@dataclass(frozen=True, eq=False)
class Counted:
    """One cell: its prevalences' moments, and the people they are shares of.

    Attributes
    ----------
    moments
        ``None`` where nobody's group is unknown.
    unknown
        Weight of the people whose group is unknown.
    known
        Weight by group of those whose group is known.
    """

    moments: Moments | None
    unknown: float
    known: FloatArray

    @property
    def weight(self) -> float:
        """Weight of everybody."""
        return self.unknown + float(self.known.sum())


def extreme_counts(
    cells: Sequence[Counted],
    most: float,
    *,
    summed: FloatArray | None = None,
    shared: bool = False,
    people: float | None = None,
    strangers: float = 0.0,
) -> FloatArray:
    """Return counts at which shares, rates, or their differences and ratios may be extreme.

    Parameters
    ----------
    cells
        One cell, or two of which a rate compares the second with both.
    most
        Deviance that is allowed above the least.
    summed
        Maps the groups to those whose figures are sought, where some are added up.
    shared
        Whether the cells learn from the same auxiliary people.
    people
        Independent people in both cells where the target is the population behind them; the
        cells' shares are then uncertain as well.
    strangers
        Share of each group's people who may be unlike the auxiliary ones in any way.

    Returns
    -------
    FloatArray
        Shape ``(points, cells, groups)``.
    """
    groups = len(cells[0].known)
    summed = np.eye(groups) if summed is None else summed
    found = []
    for scale, spent in _splits(cells, most, people):
        unsure = [c for c in cells if c.moments is not None]
        points = (
            _points(cells, most - spent, summed, shared, strangers)
            if unsure
            else np.empty((1, 0, groups))
        )
        counts = np.zeros((len(points), len(cells), groups))
        moving = iter(range(points.shape[1]))
        for c, cell in enumerate(cells):
            if cell.moments is not None:
                counts[:, c] = points[:, next(moving)] * cell.unknown
            counts[:, c] = (counts[:, c] + cell.known) * scale[c]
        found.append(counts @ summed)
    return np.concatenate(found)


def _splits(
    cells: Sequence[Counted], most: float, people: float | None
) -> Iterator[tuple[FloatArray, float]]:
    """Yield factors of the cells' sizes with the deviance that each split costs."""
    weights = np.array([c.weight for c in cells])
    if people is None or len(cells) == 1 or not weights.all():
        yield np.ones(len(cells)), 0.0
        return
    share = weights / weights.sum()

    def cost(second: FloatArray) -> FloatArray:
        other = np.stack([1 - second, second], axis=-1)
        return np.asarray(-2 * people * xlogy(share, other / share).sum(axis=-1))

    allowed = _FINE[cost(_FINE) <= most]
    low, high = allowed[[0, -1]] if len(allowed) else share[[1, 1]]
    seconds = np.append(np.linspace(low, high, _SPLITS), share[1])
    for second, spent in zip(seconds.tolist(), cost(seconds).tolist(), strict=True):
        yield np.array([1 - second, second]) / share, spent


def _points(
    cells: Sequence[Counted],
    most: float,
    summed: FloatArray,
    shared: bool,  # noqa: FBT001
    strangers: float,
) -> FloatArray:
    """Return prevalences of the cells that have moments, ``(points, cells, groups)``."""
    moments = tuple(c.moments for c in cells if c.moments is not None)
    together = shared and len(moments) > 1
    if len(cells[0].known) == 2 and not together:
        # Each cell's prevalence is extreme where strangers have all the least or greatest score.
        ends = [[m.contaminated(strangers, np.array([a])) for a in (0.0, 1.0)] for m in moments]
        each = product(*ends) if strangers else (moments,)
        return np.concatenate([line.edge(one, most) for one in each])
    gradient, count = _figures(cells, summed)
    if not strangers:
        region = simplex.Region(moments, together)
        start, _ = simplex.least(region, _even(moments))
        return simplex.extremes(region, start, gradient, count, most)
    return _points_with_strangers(
        simplex.Contaminated(moments, together, strangers), gradient, count, most
    )


def _points_with_strangers(
    region: simplex.Contaminated, gradient: Gradient, count: int, most: float
) -> FloatArray:
    cells = len(region.cells)
    even = _even(region.cells)
    start, _ = simplex.least(region, np.concatenate([even, even]))

    def by_all(q: FloatArray) -> FloatArray:
        towards = gradient(q[:, :cells])
        return np.concatenate([towards, np.zeros_like(towards)], axis=1)

    return simplex.extremes(region, start, by_all, count, most)[:, :cells]


def _even(moments: tuple[Moments, ...]) -> FloatArray:
    groups = len(moments[0].means)
    return np.full((len(moments), groups), 1 / groups)


def _figures(cells: Sequence[Counted], summed: FloatArray) -> tuple[Gradient, int]:
    """Gradients, by prevalences, of the figures whose extremes are sought, up and down.

    The figures of a cell are its shares; of two, the groups' shares of everybody, their rates, and
    the differences and (by logarithms) the ratios of the rates.
    """
    single, pairs = _contrasts(summed.shape[1])
    if len(cells) == 1:
        one = single @ summed.T
        return (lambda q: np.broadcast_to(one[:, None, :], q.shape)), len(one)
    shares, rates = single @ summed.T, np.concatenate([single, pairs])
    unsure = [c for c, cell in enumerate(cells) if cell.moments is not None]
    sizes = np.array([c.unknown for c in cells])
    known = np.array([c.known for c in cells]) @ summed

    def gradient(q: FloatArray) -> FloatArray:
        counts = np.tile(known, (len(q), 1, 1))
        counts[:, unsure] += q @ summed * sizes[unsure, None]
        slopes = np.empty((len(q), len(cells), summed.shape[1]))
        one, two = len(shares), len(shares) + len(rates)
        by_rate = _rate_slopes(counts[one:two])
        by_ratio = _rate_slopes(counts[two:]) / _rates(counts[two:])[:, None, :]
        slopes[:one] = single[:, None, :]
        slopes[one:two] = by_rate * rates[:, None, :]
        slopes[two:] = by_ratio * pairs[:, None, :]
        return np.asarray((slopes[:, unsure] @ summed.T) * sizes[unsure, None])

    return gradient, len(shares) + len(rates) + len(pairs)


def _contrasts(groups: int) -> tuple[FloatArray, FloatArray]:
    """Each group alone, and each against each other, both in both directions."""
    own = np.eye(groups)
    pairs = [own[j] - own[i] for i, j in combinations(range(groups), 2)]
    return np.concatenate([own, -own]), np.array([*pairs, *(-p for p in pairs)]).reshape(-1, groups)


def _rates(counts: FloatArray) -> FloatArray:
    return np.asarray(counts[:, 1] / counts.sum(axis=1))


def _rate_slopes(counts: FloatArray) -> FloatArray:
    """Derivatives of second / (first + second) by both."""
    total = counts.sum(axis=1) ** 2
    return np.stack([-counts[:, 1] / total, counts[:, 0] / total], axis=1)
