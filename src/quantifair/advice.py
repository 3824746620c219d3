"""What would help where the data leave a verdict open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quantifair.disparity import MEASURES
from quantifair.verdicts import INCONCLUSIVE, advice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quantifair.cells import Cell
    from quantifair.estimation import TrainedCell
    from quantifair.results import Figure, MeasureResult
    from quantifair.spread import Spread
    from quantifair.verdicts import Verdict


def advised(
    measures: dict[str, MeasureResult], spread: Spread, cells: Mapping[Cell, TrainedCell]
) -> dict[str, MeasureResult]:
    """Add to inconclusive verdicts why they are, and what would help.

    Parameters
    ----------
    measures
        The disparities.
    spread
        The rates that they follow from.
    cells
        The trained cells.
    """
    return {
        name: replace(
            measure,
            verdict=_advised(measure.verdict, measure.difference, spread, cells),
            ratio_verdict=None
            if measure.ratio_verdict is None
            else _advised(measure.ratio_verdict, measure.ratio, spread, cells),
        )
        for name, measure in measures.items()
    }


def _advised(
    verdict: Verdict, figure: Figure, spread: Spread, cells: Mapping[Cell, TrainedCell]
) -> Verdict:
    if verdict.value != INCONCLUSIVE or figure.low is None:
        return verdict
    rates = set(MEASURES[verdict.measure].rates)
    needed = [cells[c] for family, of in spread.families.items() if rates & {*family} for c in of]
    aucs = {cell.name: cell.trained.auc for cell in needed if cell.trained is not None}
    people = sum(sum(cell.people) for cell in needed)
    return replace(verdict, advice=advice(aucs, people, people_needed(verdict, spread, people)))


def people_needed(verdict: Verdict, spread: Spread, people: int) -> float | None:  # noqa: ARG001
    """Return how many auxiliary people would lead to a verdict, ``None`` where it is not known."""
    return None
