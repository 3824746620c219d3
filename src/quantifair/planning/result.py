"""A plan: how many people to ask, where, and what each size of the survey would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quantifair.serialisation import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quantifair.diagnostics import Caution
    from quantifair.planning.aim import Aim


@dataclass(frozen=True)
class Allocation:
    """People to be asked: in all, and by decision and group."""

    people: int
    cells: dict[str, dict[str, int]]


@dataclass(frozen=True)
class CurvePoint:
    """What is expected of a survey of some size, asked as now.

    Attributes
    ----------
    people
        Auxiliary people in all.
    low, high, width
        The expected interval.
    power
        How often the wished difference would be found; ``None`` where none is.
    """

    people: int
    low: float
    high: float
    width: float
    power: float | None


@dataclass(frozen=True, repr=False)
class PlanResult(Shown):
    """How many people must be asked for an interval of the demographic parity difference.

    Attributes
    ----------
    aim
        What is to be achieved.
    level
        Confidence level of the interval.
    direction
        What is subtracted from what.
    difference
        Which difference is planned with.
    now
        The auxiliary people there are; ``None`` where the plan rests on assumptions alone.
    needed
        Asked in the proportions of ``now``, or at random among the deployment's people;
        ``None`` where no number would do.
    by_decision
        The fewest, where the people to be asked are chosen by decision.
    by_decision_and_group
        The fewest, where they can be chosen by group as well.
    curve
        What other numbers would give.
    floor
        The width that remains however many are asked: the deployment is finite, too.
    auc
        How well the group classifier tells each decision's groups apart; of several groups, the
        one that is told worst.
    pairs
        For more than two groups, the people needed for each pair's difference to be of the wished
        width.
    assumptions
        What the plan rests on.
    warnings
        What the reader has to know.
    """

    aim: Aim
    level: float
    direction: str
    difference: float
    now: Allocation | None
    needed: Allocation | None
    by_decision: Allocation | None
    by_decision_and_group: Allocation | None
    curve: tuple[CurvePoint, ...]
    floor: float
    auc: dict[str, float]
    pairs: dict[str, int | None]
    assumptions: tuple[str, ...]
    warnings: tuple[Caution, ...]

    def to_frame(self) -> Any:
        """Return the curve as a pandas frame, a row for each size."""
        import pandas as pd

        return pd.DataFrame([vars(point) for point in self.curve]).astype(
            {"power": "float64"}, errors="ignore"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve into matplotlib axes, new ones where none are given, and return them."""
        from quantifair.planning.picture import draw_plan

        return draw_plan(self, ax)

    def __str__(self) -> str:
        from quantifair.planning.words import plan_text

        return plan_text(self)

    def __repr__(self) -> str:
        needed = "no number" if self.needed is None else f"{self.needed.people:,}"
        return f"PlanResult(needed={needed}, floor={self.floor:.3f})"
