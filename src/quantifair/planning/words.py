"""A plan as plain text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from quantifair.text import aligned, one_line, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.planning.aim import Aim
    from quantifair.planning.result import Allocation, PlanResult

_WIDTH = 100


def plan_text(plan: PlanResult) -> str:
    """Return a plan as sentences and tables."""
    parts = [
        one_line(f"How many people must be asked, {aim_text(plan.aim)}"),
        _answer(plan),
        _table(plan),
        _pairs(plan),
        _curve(plan),
        _list("What this rests on", plan.assumptions),
        _list("Warnings", [f"{w.code}: {w.message}" for w in plan.warnings]),
    ]
    return "\n\n".join(part for part in parts if part)


def aim_text(aim: Aim) -> str:
    """Say what is to be achieved."""
    if aim.width is not None:
        return f"for an interval of width {aim.width:g}"
    beyond = f" beyond a margin of {aim.margin:g}" if aim.margin else ""
    return f"to find a difference of {aim.detect:g}{beyond} in {percent(aim.power)} of audits"


def of_pilot(auc: dict[str, float], rows: int, *, moved: bool) -> tuple[str, ...]:
    """Say what a plan from a pilot rests on."""
    told = " and ".join(f"{area:.2f} with {cell}" for cell, area in auc.items())
    improves = "Trained on more people it usually gets better, and then fewer are enough."
    change = ", with the rates moved to the difference that is to be found" if moved else ""
    return (
        f"The group classifier stays as it is: its AUC is {told}. {improves}",
        "People are asked as the pilot's were: in the same proportions, unless said otherwise.",
        f"The deployment stays as it is, with {rows:,} rows.",
        f"Sizes of groups and selection rates are as the pilot estimates them{change}.",
    )


def assumed(auc: float, share: float, rate: float, rows: int) -> tuple[str, ...]:
    """Say what a plan without a table rests on."""
    return (
        f"A group classifier has an AUC of {auc:g} within each decision, with calibrated scores.",
        f"The second group is {share:g} of all people, and {rate:g} of all are selected.",
        f"The deployment has {rows:,} rows; the people to ask are drawn from such rows at random.",
    )


def of_rates(rates: dict[str, float], target: str) -> tuple[str, ...]:
    """Say what every plan rests on."""
    shown = ", ".join(f"{rate:.3f} ({group})" for group, rate in rates.items())
    about = "these rows" if target == "rows" else "the population behind these rows"
    return (
        f"Selection rates are {shown}; intervals are about {about}.",
        "Within each decision, people of a group look alike in both tables.",
        "A width is the one to be expected: about half of such surveys give a wider interval.",
    )


def _answer(plan: PlanResult) -> str:
    about = f"{percent(plan.level)} interval of the demographic parity difference, {plan.direction}"
    now = "" if plan.now is None else f"; there are {plan.now.people:,} now"
    if plan.needed is None:
        text = (
            f"No number is enough{now}. However many are asked, the {about}, is about "
            f"{plan.floor:.3f} wide, as the deployment is finite too. What helps is a larger "
            "deployment, or features that say more about the group."
        )
        return _filled(text)
    text = f"{plan.needed.people:,} people in all{now}. {_choices(plan)}"
    text += f"However many are asked, the {about}, is no narrower than {plan.floor:.3f}."
    return _filled(text)


def _choices(plan: PlanResult) -> str:
    needed, said = plan.needed, ""
    for name, other in (
        ("by decision", plan.by_decision),
        ("by decision and group", plan.by_decision_and_group),
    ):
        if needed is not None and other is not None:
            change = 1 - other.people / needed.people
            amount = f"{percent(round(change, 2))} fewer" if change >= 0.005 else "no gain"
            said += f"If chosen {name}: {other.people:,} ({amount}). "
    return said


def _table(plan: PlanResult) -> str:
    """Return the people by decision and group, a column for each way of asking."""
    columns: dict[str, Allocation] = {
        name: found
        for name, found in (
            ("now", plan.now),
            ("needed", plan.needed),
            ("by decision", plan.by_decision),
            ("by decision and group", plan.by_decision_and_group),
        )
        if found is not None
    }
    if not columns:
        return ""
    first = next(iter(columns.values())).cells
    rows = [
        [cell, group, *(f"{a.cells[cell][group]:,}" for a in columns.values())]
        for cell, groups in first.items()
        for group in groups
    ]
    rows.append(["in all", "", *(f"{a.people:,}" for a in columns.values())])
    return aligned(["ask", "of group", *columns], rows)


def _pairs(plan: PlanResult) -> str:
    if not plan.pairs:
        return ""
    rows = [[name, "no number" if n is None else f"{n:,}"] for name, n in plan.pairs.items()]
    return aligned(["for this width between", "people in all"], rows)


def _curve(plan: PlanResult) -> str:
    powered = plan.aim.detect is not None
    header = ["people", "expected interval", "width", *(["found in"] if powered else [])]
    rows = []
    for point in plan.curve:
        found = [] if point.power is None else [f"{point.power:.0%}"]
        interval = f"[{point.low:+.3f}, {point.high:+.3f}]"
        rows.append([f"{point.people:,}", interval, f"{point.width:.3f}", *found])
    return aligned(header, rows)


def _list(title: str, items: Sequence[str]) -> str:
    lines = [
        textwrap.fill(one_line(item), _WIDTH, initial_indent="- ", subsequent_indent="  ")
        for item in items
    ]
    return "\n".join([title, *lines]) if lines else ""


def _filled(text: str) -> str:
    return textwrap.fill(one_line(text), _WIDTH)
