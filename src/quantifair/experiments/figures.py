"""The figures of the paper, drawn from the results of its experiments.

An *errors frame* has one row for each trial. Its columns are ``dataset``, ``learner``,
``protocol``, ``sub`` (``""``, ``"rejected"`` or ``"accepted"``), ``value`` (what the protocol
sweeps), ``truth`` (the true disparity), ``natural`` (where the swept value lies without the
protocol, NaN where that means nothing), and the signed errors of each method under its name.

Drawing takes matplotlib, which comes with ``quantifair[experiments]``.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quantifair.errors import InputError
from quantifair.experiments.sweeps import check, lay_out, protocol_of, subs_of, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quantifair.experiments.sweeps import Layout

    FloatArray = NDArray[np.float64]

RUN = ("dataset", "learner", "protocol")
METHODS = ("CC", "PCC", "ACC", "PACC", "SLD", "HDy", "MLPE")
ABLATED = "-nosD2"
ABLATION = tuple(name + suffix for name in ("PCC", "SLD", "PACC") for suffix in ("", ABLATED))


class Look(NamedTuple):
    """How a method is told from the others: by colour, and without."""

    colour: str
    hatch: str
    marker: str


# The colours of Okabe and Ito; their green is left to the line of the natural prevalence.
GREEN = "#009E73"
LOOKS = {
    "CC": Look("#D55E00", "", "o"),
    "PCC": Look("#E69F00", "////", "v"),
    "ACC": Look("#F0E442", "", "^"),
    "PACC": Look("#56B4E9", "\\\\\\\\", "^"),
    "SLD": Look("#0072B2", "", "s"),
    "HDy": Look("#CC79A7", "----", "P"),
    "MLPE": Look("#BBBBBB", "", "X"),
}
OTHERS = (Look("#777777", "xxxx", "D"), Look("#44AA99", "////", "<"), Look("#882255", "", ">"))

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "font.size": 10.5,
    "grid.color": "0.87",
    "hatch.linewidth": 0.6,
    "lines.solid_capstyle": "butt",
    "legend.columnspacing": 1.3,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.handletextpad": 0.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "quantifair",
}
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
SHAPES = {  # of a measure's line: its name, its dashes, and whether its markers are full
    "mae": ("MAE", "--", False),
    "f1": ("$F_1$", "-", True),
    "accuracy": ("accuracy", "-", False),
}
STEPS = 90  # the height of the y axis in outliers


def paper_figures(
    errors: pd.DataFrame,
    *,
    fairness_aware: pd.DataFrame | None = None,
    decoupling: pd.DataFrame | None = None,
    methods: Sequence[str] = METHODS,
    ablation: Sequence[str] = ABLATION,
) -> dict[str, Figure]:
    """Return the paper's figures by name, for every protocol, data set and learner in the frames.

    A name is ``protocol-dataset-learner``; before it stands ``ablation-``, ``fairness-aware-`` or
    ``decoupling-`` for what is not a protocol's own figure. A method without an answer in a
    figure's trials is left out; so is a figure without a method.

    Parameters
    ----------
    errors
        An errors frame, with the columns of the ablation where it was run.
    fairness_aware
        An errors frame of a fairness-aware classifier.
    decoupling
        What ``decoupling_figure`` takes, with the columns ``dataset``, ``learner``, ``protocol``.
    methods, ablation
        The methods of the protocols' own figures, and of those of the ablation.
    """
    drawn = {}
    for name, title, part in _runs(errors):
        if plain := _answered(part, methods):
            drawn[name] = error_figure(part, plain, title=title)
        both = _answered(part, ablation)
        if any(method.endswith(ABLATED) for method in both):
            drawn[f"ablation-{name}"] = error_figure(part, both, title=f"{title}, ablation")
    for name, title, part in _runs(fairness_aware):
        if plain := _answered(part, methods):
            aware = f"{title}, fairness-aware classifier"
            drawn[f"fairness-aware-{name}"] = error_figure(part, plain, title=aware)
    for name, title, part in _runs(decoupling):
        drawn[f"decoupling-{name}"] = decoupling_figure(part, title=title)
    return drawn


def error_figure(errors: pd.DataFrame, methods: Sequence[str], *, title: str = "") -> Figure:
    """Return the boxplots of a protocol, a panel for each of its sub-protocols.

    Parameters
    ----------
    errors
        An errors frame of one protocol, data set and learner.
    methods
        Columns of `errors`, in the order of the boxes.
    title
        Stands above the legend.
    """

    def panel(part: pd.DataFrame, axis: Axes) -> None:
        error_boxplots(part, methods, axis=axis)

    return _stacked(errors, panel, title=title)


def decoupling_figure(summary: pd.DataFrame, *, title: str = "") -> Figure:
    """Return how well methods quantify and classify, a panel for each sub-protocol.

    The mean absolute error of the prevalence is dashed. F1 and accuracy are solid, accuracy with
    hollow markers. What is NaN is not drawn.

    Parameters
    ----------
    summary
        A row for each ``sub``, ``value`` and ``method``, with its ``mae``, ``f1`` and
        ``accuracy``; a column ``protocol``, if any, names the x axis and the panels.
    title
        Stands above the legend.
    """
    check(summary, ["sub", "value", "method", *SHAPES])
    return _stacked(summary, _decoupling_panel, title=title)


def error_boxplots(errors: pd.DataFrame, methods: Sequence[str], *, axis: Axes) -> None:
    """Draw one panel: the signed errors as a box for each swept value and method.

    A box holds the two central quartiles, with a line at the median. Whiskers reach to the last
    errors within 1.5 interquartile ranges of the box. Diamonds are the errors beyond; of those
    that would cover each other, one is drawn.

    Parameters
    ----------
    errors
        An errors frame of one sub-protocol. A trial without an answer is NaN.
    methods
        Columns of `errors`, in the order of the boxes.
    axis
        The matplotlib axes to draw in.

    Raises
    ------
    InputError
        Where a column is missing, or no trial is there, or more than one sub-protocol.
    """
    if not methods:
        raise InputError("boxplots take at least one method")
    check(errors, ["protocol", *methods])
    layout = lay_out(errors)
    with styled():
        axis.use_sticky_edges = False
        _boxes(errors[list(methods)], layout, axis)
        axis.axhline(0, color="black", linestyle="--", linewidth=1, zorder=1, label="optimal")
        _dress(axis, layout, r"estimation error $\hat{\delta}_h^S - \delta_h^S$")
        axis.set_xticks(np.arange(1, layout.ticks.size) - 0.5, minor=True)
        axis.grid(axis="x", which="minor", color="0.75")
        place = layout.natural_place()
        if np.isfinite(place):
            axis.axvline(place, color=GREEN, linewidth=1.8, zorder=1, label="natural prevalence")
            axis.set_xlim(min(-0.5, place - 0.1), max(layout.ticks.size - 0.5, place + 0.1))


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as SVG or PDF; the same figure gives the same bytes.

    Raises
    ------
    InputError
        Where `path` ends in neither ``.svg`` nor ``.pdf``.
    """
    kind = Path(path).suffix.removeprefix(".")
    if kind not in UNDATED:
        raise InputError(f"a figure is written as .svg or .pdf, not as {Path(path).name!r}")
    with styled():
        figure.savefig(path, format=kind, metadata=UNDATED[kind])


@contextmanager
def styled() -> Iterator[None]:
    """Draw as we do, whatever the user has configured."""
    try:
        from matplotlib import style
    except ImportError as error:
        message = "figures need matplotlib; it comes with: pip install quantifair[experiments]"
        raise InputError(message) from error
    with style.context(["default", STYLE]):
        yield


def _runs(frame: pd.DataFrame | None) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield name, title and rows of each protocol, data set and learner."""
    if frame is None:
        return
    check(frame, RUN)
    for (dataset, learner, protocol), part in frame.groupby(list(RUN), observed=True):
        yield f"{protocol}-{dataset}-{learner}", f"{dataset}, {learner}", part


def _answered(part: pd.DataFrame, methods: Sequence[str]) -> list[str]:
    """Return the methods with an answer in any of the trials."""
    return [name for name in methods if name in part and part[name].notna().any()]


def _stacked(
    frame: pd.DataFrame, draw: Callable[[pd.DataFrame, Axes], None], *, title: str
) -> Figure:
    """Return a figure with a panel for each sub-protocol and one legend above them."""
    subs, protocol = subs_of(frame), protocol_of(frame)
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9.6, 0.8 + 3.5 * len(subs)), layout="constrained")
        panels = figure.subplots(len(subs), squeeze=False, sharey=True)[:, 0]
        legend: dict[str, Artist] = {}
        for letter, sub, axis in zip("abc", subs, panels, strict=False):
            draw(frame[frame["sub"] == sub], axis)
            name = title_of(protocol, sub)
            axis.set_title(f"({letter}) {name}" if len(subs) > 1 else name)
            handles, labels = axis.get_legend_handles_labels()
            legend |= dict(zip(labels, handles, strict=True))
        figure.legend(
            list(legend.values()),
            list(legend),
            title=title,
            ncols=9,
            loc="outside upper center",
        )
        # Laid out once: where things are does not depend on when or how often it is written.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def _look(method: str, place: int) -> Look:
    return LOOKS.get(method.removesuffix(ABLATED), OTHERS[place % len(OTHERS)])


def _boxes(errors: pd.DataFrame, layout: Layout, axis: Axes) -> None:
    """Draw the boxes of all methods, side by side at each tick."""
    numbers = errors.to_numpy(dtype=np.float64)
    finite = np.isfinite(numbers)
    room = float(np.ptp(numbers[finite])) / STEPS if finite.any() else 0.0
    count = numbers.shape[1]
    for place, method in enumerate(map(str, errors)):
        shift = 0.86 * ((place + 0.5) / count - 0.5)
        samples = {
            tick + shift: numbers[(layout.values == value) & finite[:, place], place]
            for tick, value in enumerate(layout.ticks)
        }
        filled = {x: sample for x, sample in samples.items() if sample.size}
        if filled:
            _draw(filled, axis, width=0.74 / count, method=method, place=place, room=room)


def _draw(
    samples: dict[float, FloatArray],
    axis: Axes,
    *,
    width: float,
    method: str,
    place: int,
    room: float,
) -> None:
    """Draw a method's boxes at their x: few artists, as each costs bytes."""
    from matplotlib.cbook import boxplot_stats
    from matplotlib.colors import to_rgb

    x = np.array(list(samples))
    boxes = [boxplot_stats(sample)[0] for sample in samples.values()]
    low, bottom, median, top, high = (
        np.array([box[key] for box in boxes]) for key in ("whislo", "q1", "med", "q3", "whishi")
    )
    outliers = [_apart(np.sort(box["fliers"]), room) for box in boxes]
    look, hollow = _look(method, place), method.endswith(ABLATED)
    ink = tuple(0.6 * part for part in to_rgb(look.colour))
    axis.plot(_dashes(x, x), _dashes(low, high), color=ink, linewidth=0.8, zorder=2)
    axis.bar(
        x,
        top - bottom,
        width,
        bottom,
        facecolor="white" if hollow else look.colour,
        edgecolor=look.colour if hollow else ink,
        linewidth=1.2 if hollow else 0.6,
        hatch=look.hatch,
        label=method,
        zorder=3,
    )
    ends = _dashes(x - width / 2, x + width / 2)
    axis.plot(ends, _dashes(median, median), color="black", linewidth=1.1, zorder=4)
    at = np.repeat(x, [len(beyond) for beyond in outliers])
    axis.plot(at, np.concatenate(outliers), "D", color=ink, markersize=1.8, markeredgewidth=0)


def _dashes(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return one coordinate of a line that is broken after each pair of ends."""
    return np.stack([start, end, np.full_like(start, np.nan)], axis=1).ravel()


def _apart(outliers: FloatArray, room: float) -> FloatArray:
    """Return the first outlier of each stretch as long as `room`."""
    if not room:
        return outliers
    return outliers[np.unique(np.rint(outliers / room), return_index=True)[1]]


def _dress(axis: Axes, layout: Layout, label: str) -> None:
    axis.set_xticks(np.arange(layout.ticks.size), layout.tick_names())
    axis.set_xlim(-0.5, layout.ticks.size - 0.5)
    axis.set_xlabel(layout.label)
    axis.set_ylabel(label)
    axis.grid(axis="y")
    axis.tick_params(which="both", length=0)


def _decoupling_panel(summary: pd.DataFrame, axis: Axes) -> None:
    """Draw a line for each method and measure."""
    layout = lay_out(summary)
    place = np.searchsorted(layout.ticks, layout.values)
    for number, method in enumerate(summary["method"].unique()):
        colour, _, marker = _look(method, number)
        mine = np.flatnonzero((summary["method"] == method).to_numpy())
        mine = mine[np.argsort(place[mine])]
        for measure, (name, dashes, full) in SHAPES.items():
            heights = summary[measure].to_numpy(dtype=np.float64)[mine]
            if np.isfinite(heights).any():
                axis.plot(
                    place[mine],
                    heights,
                    dashes,
                    color=colour,
                    marker=marker,
                    markerfacecolor=colour if full else "white",
                    label=f"{method} {name}",
                )
    _dress(axis, layout, "MAE (dashed), $F_1$ and accuracy")
    axis.grid(axis="x")
    axis.set_ylim(-0.03, 1.03)
