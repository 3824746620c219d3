"""A survey of any size: what the intervals would be if other numbers of people were asked.

A cell's test weighs the deployment's mean score against two variances: that of the scores of
the deployment's people within their groups, and that of the groups' mean scores in the auxiliary
sample. Only the latter depends on how many are asked, and goes with one over their number. So an
interval at any size follows from the moments at one size, without a simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quantifair.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from quantifair.cells import Cell
    from quantifair.estimation import CellEstimate
    from quantifair.quantifiers.base import FloatArray
    from quantifair.spread import Spread

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Survey:
    """Rates with their uncertainty, and the auxiliary people from whom it stems.

    Attributes
    ----------
    spread
        The rates, from cells with moments.
    people
        Auxiliary people behind those moments, ``(cells, groups)``, in the order of the cells.
    """

    spread: Spread
    people: FloatArray

    def asking(self, people: ArrayLike) -> Spread:
        """Return what is expected if so many people by cell and group were asked instead."""
        return scaled(self.spread, np.asarray(people, dtype=np.float64) / self.people)


def scaled(spread: Spread, times: ArrayLike) -> Spread:
    """Return what is expected with so many times the auxiliary people.

    The deployment's mean scores are put where the estimated prevalences imply them, so that the
    intervals are those around the estimates, freed of the chance in the present sample. The
    classifier stays as it is.

    Parameters
    ----------
    spread
        Rates of cells with moments.
    times
        One number, or one for each cell and group, ``(cells, groups)``; ``inf`` leaves the
        deployment's own noise alone.
    """
    shape = (len(spread.estimates), len(_first(spread).prevalence))
    each = np.broadcast_to(np.asarray(times, dtype=np.float64), shape)
    both = zip(spread.estimates.items(), each, strict=True)
    return replace(spread, estimates={cell: _scaled(e, t) for (cell, e), t in both})


def _scaled(estimate: CellEstimate, times: FloatArray) -> CellEstimate:
    moments = estimate.moments
    if moments is None:
        return estimate
    expected = estimate.prevalence @ moments.means
    sampling = moments.sampling / times[:, None, None]
    return replace(estimate, moments=replace(moments, mean=expected, sampling=sampling))


def at_difference(spread: Spread, difference: float) -> Spread:
    """Return the same people with selection rates that differ by so much.

    The sizes of the groups and of the cells stay. The rates keep their order, and where all are
    equal the last group's is the greater one.

    Parameters
    ----------
    spread
        Rates that follow from a cell of the rejected and one of the accepted, in this order.
    difference
        Of the largest and the smallest selection rate.
    """
    cells: list[Cell] = list(spread.estimates)
    counts = spread.estimated(cells)[0]
    groups = counts.sum(axis=0)
    shares, rates = groups / groups.sum(), counts[1] / groups
    towards = rates if np.ptp(rates) > _ROUNDING else np.eye(len(rates))[-1]
    towards = (towards - shares @ towards) / np.ptp(towards)
    moved = shares @ rates + difference * towards
    if moved.min() < 0 or moved.max() > 1:
        most = _greatest(float(shares @ rates), towards)
        raise InputError(
            f"selection rates can't differ by {abs(difference):g}: with {shares @ rates:.3f} of "
            f"all selected and these sizes of the groups the most is {most:.3f}"
        )
    wished = np.stack([groups * (1 - moved), groups * moved])
    both = zip(spread.estimates.items(), wished, strict=True)
    return replace(spread, estimates={c: _with_counts(e, w) for (c, e), w in both})


def _greatest(rate: float, towards: FloatArray) -> float:
    return float(min((1 - rate) / towards.max(), rate / -towards.min()))


def _with_counts(estimate: CellEstimate, counts: FloatArray) -> CellEstimate:
    unknown = np.maximum(counts - estimate.known, 0.0)
    return replace(estimate, prevalence=unknown / unknown.sum(), pseudo=None)


def _first(spread: Spread) -> CellEstimate:
    return next(iter(spread.estimates.values()))
