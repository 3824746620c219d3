"""Rates by group with the values that the data leave open, from replicates or from a region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from quantifair import disparity
from quantifair.cells import DECISIONS, EVERYBODY, Cell
from quantifair.intervals import extreme_counts, quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quantifair.estimation import CellEstimate, Options
    from quantifair.quantifiers.base import FloatArray

    Ends = tuple[float, float]
    Families = dict[tuple[str, ...], tuple[Cell, ...]]

FAMILIES: Families = {
    ("count", "share", "selection_rate"): DECISIONS,
    ("true_positive_rate",): (Cell(0, 1), Cell(1, 1)),
    ("false_positive_rate", "true_negative_rate"): (Cell(0, 0), Cell(1, 0)),
    ("positive_predictive_value",): (Cell(1, 0), Cell(1, 1)),
    ("negative_predictive_value",): (Cell(0, 1), Cell(0, 0)),
}
"""The two cells whose prevalences each rate follows from."""


class Spread(Protocol):
    """Rates by group: the estimates, and what else they may be."""

    @property
    def rates(self) -> list[str]:
        """Names of the rates that the cells allow."""

    def values(self, rate: str, degrees: int) -> FloatArray:
        """Return the estimate in front, then other values, ``(1 + values, groups)``.

        ``degrees`` is the dimension of the figure's departure from where it is not smooth: 1 for
        a rate or a difference, more for the largest of several.
        """

    def ends(
        self,
        low: Sequence[FloatArray],
        high: Sequence[FloatArray],
        choose: Callable[..., FloatArray],
    ) -> Ends:
        """Return the interval of a figure from its least and greatest values.

        Where a figure is the worst of several rates', ``choose`` takes the worst, and the
        sequences hold one array for each.
        """


def spread_of(
    estimates: dict[Cell, CellEstimate], options: Options, *, summed: FloatArray | None = None
) -> Spread:
    """Return what the cells' rates are and may be; ``summed`` maps groups to sums of groups."""
    families = {f: cells for f, cells in FAMILIES.items() if set(cells) <= set(estimates)}
    return _spread(estimates, families, options, summed)


def shares_of(estimate: CellEstimate, options: Options) -> Spread:
    """Return what the shares of the groups within one cell are and may be."""
    return _spread({EVERYBODY: estimate}, {("share",): (EVERYBODY,)}, options, None)


def _spread(
    estimates: dict[Cell, CellEstimate],
    families: Families,
    options: Options,
    summed: FloatArray | None,
) -> Spread:
    if any(len(e.replicates) for e in estimates.values()):
        return Sampled(estimates, families, options, summed)
    return Profiled(estimates, families, options, summed)


class Sampled:
    """Replicates: an interval's ends are their quantiles."""

    def __init__(
        self,
        estimates: dict[Cell, CellEstimate],
        families: Families,
        options: Options,
        summed: FloatArray | None,
    ) -> None:
        counts = {
            c: e.counts if summed is None else e.counts @ summed for c, e in estimates.items()
        }
        self._tail = (1 - options.level) / 2
        self._rates: dict[str, FloatArray] = {}
        for family, cells in families.items():
            pair = np.stack([counts[c] for c in cells], axis=-2)
            self._rates |= _family_rates(family, cells, pair)

    @property
    def rates(self) -> list[str]:
        """Names of the rates that the cells allow."""
        return list(self._rates)

    def values(self, rate: str, degrees: int) -> FloatArray:  # noqa: ARG002
        """Return the estimate, then the replicates."""
        return self._rates[rate]

    def ends(
        self,
        low: Sequence[FloatArray],
        high: Sequence[FloatArray],
        choose: Callable[..., FloatArray],
    ) -> Ends:
        """Return quantiles, outwards to the next: between a number and infinity is no mean."""
        below, above = choose(np.stack(low), axis=0), choose(np.stack(high), axis=0)
        return (
            float(np.quantile(below, self._tail, method="lower")),
            float(np.quantile(above, 1 - self._tail, method="higher")),
        )


class Profiled:
    """The edge of the region that is not ruled out: an interval's ends are its extremes."""

    def __init__(
        self,
        estimates: dict[Cell, CellEstimate],
        families: Families,
        options: Options,
        summed: FloatArray | None,
    ) -> None:
        self._estimates, self._families = estimates, families
        self._options, self._summed = options, summed
        self._known: dict[tuple[str, int], FloatArray] = {}

    @property
    def rates(self) -> list[str]:
        """Names of the rates that the cells allow."""
        return [rate for family in self._families for rate in family]

    def values(self, rate: str, degrees: int) -> FloatArray:
        """Return the estimate, then the values on the region's edge."""
        if (rate, degrees) not in self._known:
            family, cells = next((f, c) for f, c in self._families.items() if rate in f)
            found = _family_rates(family, cells, self._counts(cells, degrees))
            found = {name: _with_equality(values) for name, values in found.items()}
            self._known |= {(name, degrees): values for name, values in found.items()}
        return self._known[rate, degrees]

    def ends(
        self,
        low: Sequence[FloatArray],
        high: Sequence[FloatArray],
        choose: Callable[..., FloatArray],
    ) -> Ends:
        """Return the least and the greatest value; of several rates', the worst."""
        return (
            float(choose(np.array([values.min() for values in low]))),
            float(choose(np.array([values.max() for values in high]))),
        )

    def _counts(self, cells: tuple[Cell, ...], degrees: int) -> FloatArray:
        pair = [self._estimates[c] for c in cells]
        best = np.stack([e.counts for e in pair], axis=-2)
        if self._summed is not None:
            best = best @ self._summed
        if not np.isfinite(best).all() or self._options.interval == "none":
            return best
        options = self._options
        people = sum(e.people + float(e.known.sum()) for e in pair)
        others = extreme_counts(
            [e.counted for e in pair],
            quantile(options.level, degrees),
            summed=self._summed,
            shared=options.shared,
            people=people if options.target == "population" else None,
        )
        return np.concatenate([best, others])


def _family_rates(
    family: tuple[str, ...], cells: tuple[Cell, ...], counts: FloatArray
) -> dict[str, FloatArray]:
    """Rates from counts of the cells, ``(..., cells, groups)``."""
    if len(cells) == 1:
        with np.errstate(invalid="ignore"):
            return {"share": counts[..., 0, :] / counts[..., 0, :].sum(axis=-1, keepdims=True)}
    if cells == DECISIONS:
        return disparity.group_rates(counts)
    labelled = np.full((*counts.shape[:-2], 2, 2, counts.shape[-1]), np.nan)
    for c, cell in enumerate(cells):
        labelled[..., cell.label, cell.decision, :] = counts[..., c, :]
    found = disparity.group_rates(labelled.sum(axis=-3), labelled)
    return {rate: found[rate] for rate in family}


def _with_equality(rates: FloatArray) -> FloatArray:
    """Add equal rates of two groups where one may be above the other, and below.

    A region is connected, but its edge is a set of points.
    """
    gap = rates[1:, -1] - rates[1:, 0]
    if rates.shape[1] != 2 or not len(gap) or not gap.min() < 0 < gap.max():
        return rates
    above, below = rates[1 + gap.argmax()], rates[1 + gap.argmin()]
    share = gap.max() / (gap.max() - gap.min())
    return np.vstack([rates, (1 - share) * above + share * below])
