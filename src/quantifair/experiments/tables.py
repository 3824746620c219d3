"""Tables of statistics, in the form of the paper's and beside them.

Each ``render`` returns a table for each protocol and learner, as LaTeX, Markdown or CSV.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from quantifair.errors import InputError, did_you_mean
from quantifair.experiments.paper import paper_tables
from quantifair.experiments.statistics import KEYS, MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

TITLES = {"adult": "Adult", "compas": "COMPAS", "creditcard": "CreditCard"}
"""What the paper calls the data sets."""

MANY_ERRORS = 3.0
"""Differences from the paper of more standard errors than this have a reason to be sought."""
ROUNDING = 0.0005
"""How much the paper's three decimals hide."""


class Style(NamedTuple):
    """How a form of table writes what is in it."""

    headings: tuple[str, ...]
    bold: str
    spread: str
    marks: Mapping[str, str]
    escape: dict[int, str]


LATEX = Style(
    headings=(
        r"$\downarrow$ MAE",
        r"$\downarrow$ MSE",
        r"$\uparrow$ $P(\mathrm{AE}<0.1)$",
        r"$\uparrow$ $P(\mathrm{AE}<0.2)$",
    ),
    bold=r"\textbf{{{0}}}",
    spread=r"{0}$^{{{1}}}\pm{2}$",
    marks={"": r"\phantom{\ddag}", "†": r"\dag", "‡": r"\ddag"},
    escape=str.maketrans({c: "\\" + c for c in "&%$#_{}"}),
)
MARKDOWN = Style(
    headings=("↓ MAE", "↓ MSE", "↑ P(AE < 0.1)", "↑ P(AE < 0.2)"),
    bold="**{0}**",
    spread="{0}{1} ± {2}",
    marks={mark: mark for mark in ("", "†", "‡")},
    escape=str.maketrans({c: "\\" + c for c in r"\|*_<`"}),
)


def render(statistics: pd.DataFrame, *, form: str = "markdown") -> dict[tuple[str, str], str]:
    r"""Return tables like the paper's, by protocol and learner.

    Parameters
    ----------
    statistics
        What ``statistics.summarize`` or ``paper.paper_tables`` returned.
    form
        ``"latex"``, a tabular that needs the packages booktabs and multirow; ``"markdown"``; or
        ``"csv"``, with all columns and digits.

    Examples
    --------
    >>> tables = render(paper_tables(), form="latex")
    >>> tables["sample-prev-D3", "SVM"].splitlines()[6]
    ' &SLD(SVM) & \\textbf{0.056}$^{\\phantom{\\ddag}}\\pm0.050$ & ...
    """
    return _each(statistics, {"latex": _latex, "markdown": _markdown, "csv": _csv}, form)


def side_by_side(
    statistics: pd.DataFrame, *, paper: pd.DataFrame | None = None, measure: str = "mae"
) -> pd.DataFrame:
    """Return a row for each method that is in the paper, too, with both numbers.

    Parameters
    ----------
    statistics
        What ``statistics.summarize`` returned.
    paper
        By default ``paper.paper_tables()``.
    measure
        Which of ``statistics.MEASURES``.

    Returns
    -------
    DataFrame
        ``KEYS``, ``ours``, ``paper``, ``difference`` (ours minus the paper's), ``se`` (the
        standard error of ours, clustered by partition), ``in_se`` (the difference in standard
        errors) and ``differs``: whether it is more than three of them, and more than rounding
        explains. The paper's own standard error is unknown and left out. With five partitions in
        both, one row in ten or so differs by chance alone; and where ``se`` is NaN none does.
    """
    if measure not in MEASURES:
        raise InputError(f"no measure {measure!r}; {did_you_mean(measure, MEASURES)}")
    theirs = paper_tables() if paper is None else paper
    both = statistics.merge(theirs, on=KEYS, suffixes=("", "_paper"))
    difference = both[measure] - both[f"{measure}_paper"]
    se = both[f"{measure}_se"]
    return both[KEYS].assign(
        ours=both[measure],
        paper=both[f"{measure}_paper"],
        difference=difference,
        se=se,
        in_se=difference / se,
        differs=(difference.abs() > MANY_ERRORS * se) & (difference.abs() > ROUNDING),
    )


def render_side_by_side(
    comparison: pd.DataFrame, *, form: str = "markdown"
) -> dict[tuple[str, str], str]:
    """Return what ``side_by_side`` returned, by protocol and learner.

    Parameters
    ----------
    comparison
        What ``side_by_side`` returned.
    form
        ``"markdown"`` or ``"csv"``, with all digits.
    """
    return _each(comparison, {"markdown": _markdown_side_by_side, "csv": _csv}, form)


def pipe_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table.

    Examples
    --------
    >>> print(pipe_table(["method", "MAE"], [["SLD", "0.055"]]))
    | method | MAE |
    |---|---|
    | SLD | 0.055 |
    """
    lines = [header, *rows]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([text[0], "|---" * len(header) + "|", *text[1:]])


def number(value: float, sign: str = "") -> str:
    """Return a number with three decimals, or say that there is none.

    Examples
    --------
    >>> number(0.0554), number(0.0554, "+"), number(float("nan"))
    ('0.055', '+0.055', 'n/a')
    """
    return f"{value:{sign}z.3f}" if math.isfinite(value) else "n/a"


def _each(
    frame: pd.DataFrame, forms: Mapping[str, Callable[[pd.DataFrame], str]], form: str
) -> dict[tuple[str, str], str]:
    if form not in forms:
        raise InputError(f"no form {form!r}; {did_you_mean(form, forms)}")
    tables = frame.groupby(["protocol", "learner"], sort=False)
    return {(str(key[0]), str(key[1])): forms[form](table) for key, table in tables}


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def _markdown(table: pd.DataFrame) -> str:
    rows = [
        [title if not place else "", *cells]
        for title, block in _blocks(table, MARKDOWN)
        for place, cells in enumerate(block)
    ]
    return pipe_table(["", "", *MARKDOWN.headings], rows)


def _latex(table: pd.DataFrame) -> str:
    blocks = []
    for title, block in _blocks(table, LATEX):
        lines = [f" &{' & '.join(cells)} \\\\" for cells in block]
        lines[0] = rf"\multirow{{{len(block)}}}{{*}}{{{title}}}" + lines[0]
        blocks.append("\n".join(lines))
    return "\n".join(
        [
            rf"\begin{{tabular}}{{ll{'c' * len(LATEX.headings)}}} \toprule",
            rf" & & {' & '.join(LATEX.headings)} \\ \midrule",
            "\n\\midrule\n".join(blocks),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _blocks(table: pd.DataFrame, style: Style) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each data set, and for each method its cells."""
    for name, block in table.groupby("dataset", sort=False):
        title = TITLES.get(str(name), str(name)).translate(style.escape)
        yield title, [list(_cells(row, style)) for row in block.to_dict("records")]


def _cells(row: Mapping[Any, Any], style: Style) -> Iterator[str]:
    yield _method(row).translate(style.escape)
    for name, measure in MEASURES.items():
        value = number(row[name])
        if row[f"{name}_best"]:
            value = style.bold.format(value)
        if measure.error:
            mark = style.marks[row[f"{name}_mark"]]
            value = style.spread.format(value, mark, number(row[f"{name}_std"]))
        yield value


def _method(row: Mapping[Any, Any]) -> str:
    """Return what the paper calls a method: MLPE alone needs no learner."""
    name = str(row["method"])
    return name if name == "MLPE" else f"{name}({row['learner']})"


def _markdown_side_by_side(table: pd.DataFrame) -> str:
    rows = [
        [
            TITLES.get(row["dataset"], row["dataset"]).translate(MARKDOWN.escape),
            _method(row).translate(MARKDOWN.escape),
            number(row["ours"]),
            number(row["paper"]),
            number(row["difference"], "+"),
            number(row["se"]),
            f"{row['in_se']:+.1f}" if math.isfinite(row["in_se"]) else "n/a",
            "differs" if row["differs"] else "",
        ]
        for row in table.to_dict("records")
    ]
    header = ["", "", "ours", "paper", "difference", "standard error", "in standard errors", ""]
    return pipe_table(header, rows)
