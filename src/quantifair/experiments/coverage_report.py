"""What the coverage study found: a verdict, a table, a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.experiments.figures import styled
from quantifair.experiments.tables import pipe_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from quantifair.experiments.coverage import Row

CONTROL = "control"
MEAN, WORST = (0.94, 0.98), 0.925
NAMES = {
    "difference": "difference of selection rates",
    "ratio": "ratio of selection rates",
    "selection_rate": "selection rate of a group",
    "share": "share of a group",
    CONTROL: "difference, from resampling the deployment alone",
}


def summary(rows: Sequence[Row]) -> str:
    """Return a table of each figure's mean and worst coverage, and its width over the oracle's."""
    lines = []
    for groups in sorted({r.groups for r in rows}):
        for name, title in NAMES.items():
            some = [r for r in rows if (r.groups, r.figure) == (groups, name)]
            if not some:
                continue
            coverage = np.array([r.coverage for r in some])
            wider = ""
            if name in {"difference", CONTROL}:
                wider = f"{np.median([r.width / r.oracle for r in some]):.1f}"
            lines.append([str(groups), title, str(len(some)), f"{coverage.mean():.3f}",
                          f"{coverage.min():.3f}", f"{coverage.max():.3f}", wider,
                          verdict(some)])  # fmt: skip
    header = ["groups", "figure", "settings", "mean", "worst", "best", "width / oracle", "passes"]
    return pipe_table(header, lines)


def verdict(rows: Sequence[Row]) -> str:
    """Tell whether the mean and the worst setting are as a 95% interval's should be.

    Settings may cover more than 95%: where a group may be absent, nothing is ruled out.
    """
    coverage = np.array([r.coverage for r in rows])
    if coverage.mean() < MEAN[0] or coverage.min() < WORST:
        return "no: too little"
    return "no: too much" if coverage.mean() > MEAN[1] else "yes"


def table(rows: Sequence[Row]) -> str:
    """Return coverage and width of the difference, a line for each setting."""
    lines = []
    for row in (r for r in rows if r.figure == "difference"):
        setting = row[:5]
        control = [r.coverage for r in rows if r.figure == CONTROL and r[:5] == setting]
        lines.append([row.rejected, row.accepted, f"{row.auc:g}", str(row.ratio),
                      f"{row.coverage:.3f}", f"{row.width:.3f}", f"{row.oracle:.3f}",
                      f"{control[0]:.3f}" if control else ""])  # fmt: skip
    header = ["rejected", "accepted", "AUC", "ratio", "coverage", "width", "oracle", "control"]
    return pipe_table(header, lines)


def coverage_figure(rows: Sequence[Row]) -> Figure:
    """Draw the coverage of each setting, a column for each figure, and widths below."""
    with styled():
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(7.5, 6.4), layout="constrained")
        axis, below = figure.subplots(2)
        kinds = [(g, n) for g in sorted({r.groups for r in rows}) for n in NAMES]
        kinds = [kind for kind in kinds if any((r.groups, r.figure) == kind for r in rows)]
        for place, (groups, name) in enumerate(kinds):
            coverage = np.sort([r.coverage for r in rows if (r.groups, r.figure) == (groups, name)])
            spread = place + np.linspace(-0.3, 0.3, len(coverage))
            colour = "tab:orange" if name == CONTROL else "tab:blue"
            axis.plot(spread, coverage, "o", markersize=3, color=colour)
        axis.axhline(0.95, color="black", linewidth=1)
        axis.axhline(WORST, color="black", linewidth=1, linestyle="--")
        labels = [f"{name.replace('_', ' ')}\n{groups} groups" for groups, name in kinds]
        axis.set_xticks(range(len(kinds)), labels, fontsize=7)
        axis.set_ylabel("share of 95% intervals that hold the truth")
        _draw_widths(below, [r for r in rows if r.figure == "difference"])
    return figure


def _draw_widths(axis: Axes, rows: Sequence[Row]) -> None:
    """Draw how much wider intervals are than those of somebody who sees the groups."""
    for groups, marker in ((2, "o"), (4, "s")):
        some = [r for r in rows if r.groups == groups]
        wider = [r.width / r.oracle for r in some]
        axis.plot([r.auc for r in some], wider, marker, markersize=4, label=f"{groups} groups")
    axis.set_yscale("log")
    axis.axhline(1.0, color="black", linewidth=1)
    axis.set_xlabel("AUC of the group classifier")
    axis.set_ylabel("width of the difference's interval\nover the oracle's")
    axis.legend()
