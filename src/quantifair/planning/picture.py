"""The curve of a plan as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quantifair.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quantifair.planning.result import PlanResult

_BLUE, _GREY, _ORANGE = "#0072B2", "0.45", "#D55E00"


def draw_plan(plan: PlanResult, ax: Axes | None = None) -> Axes:
    """Draw what each size of the survey would give: widths, or how often a difference is found."""
    axes = new_axes() if ax is None else ax
    people = [point.people for point in plan.curve]
    if plan.aim.width is not None:
        axes.plot(people, [point.width for point in plan.curve], color=_BLUE, label="width")
        axes.axhline(plan.floor, color=_GREY, linestyle=":", label="however many are asked")
        axes.axhline(plan.aim.width, color=_ORANGE, linestyle="--", label="wished")
        axes.set_ylabel("expected width of the interval")
        axes.set_ylim(bottom=0)
    else:
        powers = [point.power or 0.0 for point in plan.curve]
        axes.plot(people, powers, color=_BLUE, label="power")
        axes.axhline(plan.aim.power, color=_ORANGE, linestyle="--", label="wished")
        axes.set_ylabel(f"how often a difference of {plan.aim.detect:g} is found")
        axes.set_ylim(0, 1.02)
    if plan.needed is not None:
        axes.axvline(plan.needed.people, color=_ORANGE, linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("auxiliary people")
    axes.legend(frameon=False)
    return axes


def new_axes() -> Axes:
    """Return the axes of a new figure, which belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        message = "figures need matplotlib; it comes with: pip install quantifair[experiments]"
        raise InputError(message) from error
    return Figure(figsize=(6.4, 3.8), layout="constrained").subplots()
