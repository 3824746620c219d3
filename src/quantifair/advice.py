"""What would help where the data leave a verdict open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quantifair.diagnostics import FEW
from quantifair.disparity import MEASURES, kinds
from quantifair.figures import disparity_figure
from quantifair.planning import Survey, better_classifier, times_needed
from quantifair.verdicts import INCONCLUSIVE, Better, advice, of_difference, of_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quantifair.cells import Cell
    from quantifair.estimation import TrainedCell
    from quantifair.results import Figure, MeasureResult
    from quantifair.spread import Spread
    from quantifair.verdicts import Verdict

MANY = 10.0
"""Times the present people beyond which another classifier is looked for."""

MORE = 2.0
"""Times the present people that may be asked with it."""


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
    used = [cells[c] for family, of in spread.families.items() if rates & {*family} for c in of]
    aucs = {cell.name: cell.trained.auc for cell in used if cell.trained is not None}
    people = sum(sum(cell.people) for cell in used)
    asked = np.array([cells[cell].people for cell in spread.estimates], dtype=np.float64)
    aim = _Aim(verdict, Survey(spread, asked))
    times = aim.times()
    better = aim.better(max(aucs.values())) if times is not None and times > MANY else None
    return replace(
        verdict,
        advice=advice(
            aucs,
            people,
            None if times is None else times * people,
            None
            if better is None
            else Better(better[0], max(better[1] * people, FEW * asked.size)),
        ),
    )


@dataclass(frozen=True)
class _Aim:
    """A verdict, whichever, from a survey of another size or with another classifier."""

    verdict: Verdict
    survey: Survey

    def times(self) -> float | None:
        """Return how many times the present people would lead to a verdict.

        ``None`` where it is not known: an interval that comes from replicates, or is wide for its
        number of people by chance; and more than two groups, where the search takes long.
        """
        if not self.survey.spread.connected or self.survey.people.shape[1] > 2:
            return None
        times = times_needed(self.survey.spread, self._find, self._reached)
        return times if times > 1 else None

    def better(self, above: float) -> tuple[float, float] | None:
        """Return the AUC of a classifier that would do with few more people, and how many times."""
        shared = self.survey.spread.options.shared
        if shared or self.verdict.measure != "demographic_parity":
            return None
        return better_classifier(self.survey, self._find, self._reached, above=above, most=MORE)

    def _find(self, spread: Spread) -> Figure:
        measure = MEASURES[self.verdict.measure]
        kind = kinds(signed=measure.signed, groups=2)[self.verdict.kind]
        return disparity_figure(spread, measure.rates, kind, 2)

    def _reached(self, figure: Figure) -> bool:
        judge = of_difference if self.verdict.kind == "difference" else of_ratio
        return judge(figure, self.verdict.margin).value != INCONCLUSIVE
