"""What the ladder shows: tables, and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quantifair.experiments.figures import GREEN, LOOKS, styled
from quantifair.experiments.ladder import RUNG, called
from quantifair.experiments.tables import TITLES, number, pipe_table

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"adult": LOOKS["SLD"].colour, "compas": LOOKS["CC"].colour, "creditcard": GREEN}
MARKERS = {"adult": "o", "compas": "s", "creditcard": "D"}


def ladder_tables(ladder: pd.DataFrame) -> dict[str, str]:
    """Return a Markdown table for each protocol, a line for each rung.

    Parameters
    ----------
    ladder
        What ``ladder.ladder`` returned.
    """
    return {str(p): _table(rows) for p, rows in ladder.groupby("protocol", sort=False)}


def _table(rows: pd.DataFrame) -> str:
    datasets = list(dict.fromkeys(rows["dataset"]))
    header = [""]
    for dataset in datasets:
        best = rows.loc[rows["dataset"] == dataset, "best"].iloc[0]
        title = TITLES.get(dataset, dataset)
        header += [f"{title}: MAE", f"minus {best}" if best else "", "minus PCC(LR)"]
    lines = []
    for name, some in rows.groupby(_rungs(rows), sort=False):
        of = {row["dataset"]: row for row in some.to_dict("records")}
        cells = [cell for dataset in datasets for cell in _cells(of.get(dataset))]
        lines.append([str(name), *cells])
    return pipe_table(header, lines)


def _rungs(rows: pd.DataFrame) -> list[str]:
    return [called(*rung) for rung in rows[RUNG].itertuples(index=False)]


def _cells(row: Mapping[Hashable, Any] | None) -> list[str]:
    if row is None:
        return ["", "", ""]
    signs = {"mae": "", "over_best": "+", "over_pcc": "+"}
    return [f"{number(row[k], sign)} ± {number(row[f'{k}_se'])}" for k, sign in signs.items()]


def coverage_table(coverage: pd.DataFrame) -> str:
    """Return a Markdown table of what ``ladder.coverage`` returned."""
    lines = [
        [
            row["protocol"],
            TITLES.get(row["dataset"], row["dataset"]),
            row["learner"],
            str(row["splits"]),
            f"{row['trials']:,}",
            f"{number(row['covered'])} ± {number(row['covered_se'])}",
            number(row["width"]),
        ]
        for row in coverage.to_dict("records")
    ]
    header = ["protocol", "", "learner", "splits", "trials", "coverage", "median width"]
    return pipe_table(header, lines)


def ladder_figure(ladder: pd.DataFrame) -> Figure:
    """Draw the error of each rung with a standard error to each side, a panel for each protocol."""
    with styled():
        from matplotlib.figure import Figure as Canvas

        rungs = list(dict.fromkeys(_rungs(ladder)))
        panels = list(ladder.groupby("protocol", sort=False))
        size = (1.4 + 2.2 * len(panels), 1.4 + 0.22 * len(rungs))
        figure = Canvas(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, (protocol, rows) in zip(axes, panels, strict=True):
            _panel(axis, rows, rungs)
            axis.set_title(str(protocol))
        axes[0].set_yticks(range(len(rungs)), rungs)
        axes[0].invert_yaxis()
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, ncols=3, loc="outside upper center")
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, rungs: list[str]) -> None:
    for key, some in rows.groupby("dataset", sort=False):
        dataset = str(key)
        axis.errorbar(
            some["mae"],
            [rungs.index(rung) for rung in _rungs(some)],
            xerr=some["mae_se"],
            fmt=MARKERS.get(dataset, "^"),
            color=COLOURS.get(dataset),
            markersize=4,
            linewidth=1,
            label=TITLES.get(dataset, dataset),
        )
    axis.set_xlabel("mean absolute error")
    axis.grid(axis="x")
    axis.set_xlim(left=0)
