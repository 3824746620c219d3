"""The picture of a stress test: error against shift by estimator, coverage beneath."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.errors import InputError
from quantifair.stress.results import panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quantifair.stress.results import SettingResult, StressResult

_MARKERS = "osv^DP<>Xd*ph"
_STANDARD_ERRORS = 2


def draw_stress(result: StressResult, axes: Any = None) -> NDArray[Any]:
    """Draw errors above and coverage beneath, a column for each thing that was varied.

    Bars reach two standard errors in either direction. The dashed line is the level of the
    intervals.

    Parameters
    ----------
    result
        The stress test.
    axes
        Array of matplotlib axes of shape ``(2, columns)``; by default those of a new figure.
    """
    curves = panels(result)
    drawn = _new_axes(len(curves)) if axes is None else np.asarray(axes)
    if drawn.shape != (2, len(curves)):
        raise InputError(f"axes have the shape (2, {len(curves)}), not {drawn.shape}")
    for column, (family, what, settings) in enumerate(curves):
        above, beneath = drawn[:, column]
        _errors(above, settings)
        _coverage(beneath, settings, result.settings["level"])
        above.set_title(f"{family.name}\n{what}" if what else family.name, fontsize=9)
        beneath.set_xlabel(family.axis, fontsize=9)
    for above in drawn[0]:
        above.set_ylim(bottom=0)  # after all are drawn, as they may share their scale
    drawn[0, 0].set_ylabel("mean absolute error")
    drawn[1, 0].set_ylabel("coverage")
    handles, labels = drawn[0, 0].get_legend_handles_labels()
    drawn[0, -1].legend(handles, labels, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False)
    return drawn


def _new_axes(columns: int) -> NDArray[Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        message = "figures need matplotlib; it comes with: pip install quantifair[experiments]"
        raise InputError(message) from error
    figure = Figure(figsize=(1.8 + 1.9 * columns, 4.8), layout="constrained")
    axes = figure.subplots(2, columns, squeeze=False, sharey="row", height_ratios=(2, 1))
    return np.asarray(axes)


def _errors(axis: Axes, settings: tuple[SettingResult, ...]) -> None:
    strengths = [s.strength for s in settings]
    for place, name in enumerate(settings[0].estimators):
        found = [s.estimators[name] for s in settings]
        axis.errorbar(
            strengths,
            [p.error for p in found],
            [_STANDARD_ERRORS * p.error_se for p in found],
            marker=_MARKERS[place % len(_MARKERS)],
            color=f"C{place % 10}",
            markersize=4,
            linewidth=1,
            elinewidth=0.5,
            label=name,
        )
    _ticks(axis, settings)


def _coverage(axis: Axes, settings: tuple[SettingResult, ...], level: float) -> None:
    strengths = [s.strength for s in settings]
    axis.errorbar(
        strengths,
        [s.interval.coverage for s in settings],
        [_STANDARD_ERRORS * s.interval.coverage_se for s in settings],
        marker="o",
        color="black",
        markersize=4,
        linewidth=1,
    )
    axis.axhline(level, color="grey", linestyle="--", linewidth=1)
    axis.set_ylim(-0.03, 1.03)
    _ticks(axis, settings)


def _ticks(axis: Axes, settings: tuple[SettingResult, ...]) -> None:
    """Mark the strengths; a single one says nothing."""
    strengths = [s.strength for s in settings] if len(settings) > 1 else []
    axis.set_xticks(strengths, [f"{s:g}" for s in strengths])
