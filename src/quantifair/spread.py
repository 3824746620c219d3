"""Rates by group with the values that the data leave open, from replicates or from a region."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quantifair import disparity
from quantifair.cells import DECISIONS, EVERYBODY, Cell
from quantifair.intervals import extreme_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quantifair.estimation import CellEstimate, Options
    from quantifair.quantifiers.base import FloatArray

    Choose = Callable[..., FloatArray]
    Ends = tuple[float, float]
    Values = Sequence[FloatArray]
    Families = dict[tuple[str, ...], tuple[Cell, ...]]

FAMILIES: Families = {
    ("count", "share", "selection_rate"): DECISIONS,
    ("true_positive_rate",): (Cell(0, 1), Cell(1, 1)),
    ("false_positive_rate", "true_negative_rate"): (Cell(0, 0), Cell(1, 0)),
    ("positive_predictive_value",): (Cell(1, 0), Cell(1, 1)),
    ("negative_predictive_value",): (Cell(0, 1), Cell(0, 0)),
}
"""The two cells whose prevalences each rate follows from."""


@dataclass(frozen=True, eq=False)
class Spread(ABC):
    """Rates by group: the estimates, and what else they may be.

    Attributes
    ----------
    estimates
        The cells.
    families
        Rates, with the cells that they follow from.
    options
        How figures are made.
    summed
        Maps groups to the sums of groups whose rates are sought; ``None`` takes them as they are.
    """

    connected: ClassVar[bool] = False
    """Whether the values are extremes of a connected set, and anything between is possible."""

    estimates: dict[Cell, CellEstimate]
    families: Families
    options: Options
    summed: FloatArray | None

    @property
    def rates(self) -> list[str]:
        """Names of the rates that the cells allow."""
        return [rate for family in self.families for rate in family]

    @abstractmethod
    def values(self, rate: str, most: float) -> FloatArray:
        """Return the estimate in front, then other values, ``(1 + values, groups)``.

        ``most`` is the deviance that these may have beyond the least.
        """

    @abstractmethod
    def ends(self, low: Values, high: Values, choose: Choose) -> Ends:
        """Return the interval of a figure from its least and greatest values.

        Where a figure is the worst of several rates', ``choose`` takes the worst, and the
        sequences hold one array for each.
        """

    def estimated(self, cells: Sequence[Cell]) -> FloatArray:
        """Counts of cells, the estimate in front, ``(1 + replicates, cells, groups)``."""
        counts = np.stack([self.estimates[c].counts for c in cells], axis=-2)
        return counts if self.summed is None else counts @ self.summed


class Sampled(Spread):
    """Replicates: an interval's ends are their quantiles."""

    @cached_property
    def known(self) -> dict[str, FloatArray]:
        """The estimates and the replicates of every rate."""
        found: dict[str, FloatArray] = {}
        for family, cells in self.families.items():
            found |= _family_rates(family, cells, self.estimated(cells))
        return found

    def values(self, rate: str, most: float) -> FloatArray:  # noqa: ARG002
        """Return the estimate, then the replicates."""
        return self.known[rate]

    def ends(self, low: Values, high: Values, choose: Choose) -> Ends:
        """Return quantiles, outwards to the next: between a number and infinity is no mean."""
        tail = (1 - self.options.level) / 2
        below, above = choose(np.stack(low), axis=0), choose(np.stack(high), axis=0)
        return (
            float(np.quantile(below, tail, method="lower")),
            float(np.quantile(above, 1 - tail, method="higher")),
        )


class Profiled(Spread):
    """The edge of the region that is not ruled out: an interval's ends are its extremes."""

    connected: ClassVar[bool] = True

    @cached_property
    def known(self) -> dict[tuple[str, float], FloatArray]:
        """What was found already, by rate and deviance."""
        return {}

    def values(self, rate: str, most: float) -> FloatArray:
        """Return the estimate, then the values on the region's edge."""
        if (rate, most) not in self.known:
            family, cells = next((f, c) for f, c in self.families.items() if rate in f)
            found = _family_rates(family, cells, self._counts(cells, most))
            self.known.update({(name, most): values for name, values in found.items()})
        return self.known[rate, most]

    def ends(self, low: Values, high: Values, choose: Choose) -> Ends:
        """Return the least and the greatest value; of several rates', the worst."""
        return (
            float(choose(np.array([values.min() for values in low]))),
            float(choose(np.array([values.max() for values in high]))),
        )

    def _counts(self, cells: tuple[Cell, ...], most: float) -> FloatArray:
        best, options = self.estimated(cells), self.options
        chosen = [self.estimates[c] for c in cells]
        tested = all(e.moments is not None or not e.unknown for e in chosen)
        if options.interval == "none" or not tested or not np.isfinite(best).all():
            return best
        people = sum(e.people + float(e.known.sum()) for e in chosen)
        others = extreme_counts(
            [e.counted for e in chosen],
            most,
            summed=self.summed,
            shared=options.shared,
            people=people if options.target == "population" else None,
            strangers=options.strangers,
        )
        return np.concatenate([best, others])


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
