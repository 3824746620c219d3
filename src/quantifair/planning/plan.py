"""Plans: the people that must be asked, where to ask them, and what other numbers would give."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair import diagnostics, disparity
from quantifair.diagnostics import Caution
from quantifair.planning import words
from quantifair.planning.aim import ends, parity, spanned
from quantifair.planning.allocation import allocate, proportional
from quantifair.planning.result import CurvePoint, PlanResult
from quantifair.planning.subject import assumed, of_pilot

if TYPE_CHECKING:
    from quantifair.measurement import Measurement
    from quantifair.planning.aim import Aim
    from quantifair.planning.result import Allocation
    from quantifair.planning.subject import Subject
    from quantifair.planning.survey import Survey
    from quantifair.quantifiers.base import FloatArray

_CURVE = np.geomspace(1 / 8, 8, 13)


def plan_from_pilot(measurement: Measurement, aim: Aim) -> PlanResult:
    """Plan with what a pilot tells of the group classifier, the groups' sizes and the rates."""
    return make_plan(of_pilot(measurement, aim), aim)


def plan_from_assumptions(aim: Aim, **assumptions: Any) -> PlanResult:
    """Plan for two groups with nothing but assumptions, which are those of ``assumed``.

    Examples
    --------
    >>> from quantifair.planning import Aim
    >>> plan = plan_from_assumptions(
    ...     Aim(width=0.1), auc=0.8, share=0.3, rate=0.4, deployment_rows=100_000
    ... )
    >>> plan.needed.people > plan.by_decision_and_group.people
    True
    """
    return make_plan(assumed(aim, **assumptions), aim)


def make_plan(subject: Subject, aim: Aim) -> PlanResult:
    """Return the people needed, what other numbers give, and where to ask."""
    survey, groups = subject.survey, len(subject.groups)
    needed = proportional(survey, aim.reached_by)
    cells = np.repeat(np.arange(len(subject.cells)), groups).reshape(-1, groups)
    both = np.arange(cells.size).reshape(cells.shape)
    by_decision = by_both = None
    # Where cells share their auxiliary people, nobody is asked for one of them alone.
    if needed is not None and not survey.spread.options.shared:
        by_decision = allocate(survey, parity, aim.reached_by, cells)
        by_both = allocate(survey, parity, aim.reached_by, both, least=diagnostics.FEW)
    planned = subject.allocation(needed)
    return PlanResult(
        aim,
        survey.spread.options.level,
        subject.direction,
        parity(survey.spread).estimate or 0.0,
        subject.allocation(survey.people) if subject.present else None,
        planned,
        subject.allocation(by_decision),
        subject.allocation(by_both),
        _curve(survey, aim, needed),
        spanned(parity(survey.asking(survey.people * np.inf))),
        subject.auc,
        _pairs(subject, aim),
        (*subject.assumptions, *words.of_rates(subject.rates, survey.spread.options.target)),
        (*subject.warnings, *_few(planned)),
    )


def _curve(survey: Survey, aim: Aim, needed: FloatArray | None) -> tuple[CurvePoint, ...]:
    around = survey.people if needed is None else needed
    total, points = around.sum(), {}
    for times in _CURVE:
        people = max(around.size, int(float(f"{total * times:.2g}")))
        spread = survey.asking(around * people / total)
        low, high = ends(parity(spread))
        power = None if aim.detect is None else aim.power_of(spread)
        points[people] = CurvePoint(people, low, high, high - low, power)
    return tuple(points.values())


def _pairs(subject: Subject, aim: Aim) -> dict[str, int | None]:
    """Return the people in all for the wished width of each pair's difference."""
    names = subject.groups
    if len(names) == 2 or aim.width is None:
        return {}
    found: dict[str, int | None] = {}
    for pair in disparity.pairs(len(names)):
        reached = partial(aim.reached_by, pair=pair)
        planned = subject.allocation(proportional(subject.survey, reached))
        found[f"{names[pair[1]]} and {names[pair[0]]}"] = (
            None if planned is None else planned.people
        )
    return found


def _few(planned: Allocation | None) -> list[Caution]:
    """Say where so few are planned that the intervals' arithmetic is doubtful."""
    if planned is None:
        return []
    return [
        Caution(
            "few_planned",
            f"only {people} people of {group} with {cell} would be asked; below {diagnostics.FEW} "
            "an estimate leans on few people, so ask more of them than planned",
            cell,
        )
        for cell, groups in planned.cells.items()
        for group, people in groups.items()
        if people < diagnostics.FEW
    ]
