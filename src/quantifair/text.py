"""Results as plain text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from quantifair.assumption.verdicts import CONSISTENT, DECLARED
from quantifair.results import ESTIMATORS, RATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.assumption.verdicts import Assumption
    from quantifair.candidates import Choice
    from quantifair.diagnostics import Caution
    from quantifair.results import (
        AuditResult,
        CellResult,
        Comparison,
        ComparisonRow,
        Figure,
        GroupResult,
        MeasureResult,
        PrevalenceResult,
    )

_WIDTH = 100
ASSUMPTION_HEADER = ("people", "compared", "J", "degrees", "adjusted p", "detectable", "verdict")
_SHORT = {
    "selection_rate": "selection rate",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "true_negative_rate": "TNR",
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
}


def audit_text(result: AuditResult) -> str:
    """Return an audit as tables."""
    level = percent(result.settings["level"])
    title = one_line(f"Audit of {result.settings['favourable']} by {result.settings['group']}")
    parts = [
        f"{title}: {result.rows:,} deployment rows, {level} intervals",
        label_text(result),
        "\n".join(textwrap.fill(one_line(v), _WIDTH) for v in headline_verdicts(result)),
        _measures(result.measures),
        _groups(result.groups),
    ]
    for name, attribute in result.attributes.items():
        heading = one_line(f"{name} alone")
        parts += [heading, _measures(attribute.measures), _groups(attribute.groups)]
    parts += [_assumption(result.assumption), _classifiers(result.cells)]
    parts += [warnings_text(result.warnings)]
    return "\n\n".join(p for p in parts if p)


def label_text(result: AuditResult) -> str:
    """Say which label is the positive one: an audit by the other gives other rates."""
    label = result.settings["label"]
    return "" if label is None else f"label: {label} counts as +"


def headline_verdicts(result: AuditResult) -> list[str]:
    """Return the verdicts on demographic parity in words."""
    parity = result.demographic_parity
    return [str(v) for v in (parity.verdict, parity.ratio_verdict) if v is not None]


def prevalence_text(result: PrevalenceResult) -> str:
    """Return prevalences as a table."""
    groups = list(result.cells[0].prevalence) if result.cells else []
    rows = [
        [cell.name, f"{cell.deployment_rows:,}", *_shares(cell, groups)] for cell in result.cells
    ]
    table = aligned(["people", "rows", *groups], rows)
    parts = (table, _assumption(result.assumption), warnings_text(result.warnings))
    return "\n\n".join(p for p in parts if p)


def comparison_text(comparison: Comparison) -> str:
    """Return the estimates beside the truth."""
    rows = [
        [r.name, *_compared(r), _yes_or_no(r.covered), r.verdict or "", r.true_verdict or ""]
        for r in comparison.rows
    ]
    others = [[ESTIMATORS[r.name], *_compared(r)] for r in comparison.estimators]
    tables = (
        aligned(["", "estimate", "truth", "error", "in interval", "verdict", "in truth"], rows),
        aligned(["demographic parity difference by", "estimate", "truth", "error"], others),
    )
    return "\n\n".join(tables)


def classifier_text(choice: Choice) -> str:
    """Name a group classifier, with its log-loss beside that of knowing the shares alone."""
    loss = choice.log_loss[choice.chosen]
    return f"{choice.chosen}, log-loss {loss:.3f} ({choice.log_loss_of_shares:.3f} by shares)"


def percent(share: float) -> str:
    """Return a share as percent: 95%, 97.5%, 99.9%."""
    return f"{100 * share:.4g}%"


def one_line(text: str) -> str:
    """Return text with line breaks and what else can't be printed as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a ruled header and columns as wide as they need."""
    cells = [[one_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = [cells[0], ["-" * w for w in widths], *cells[1:]]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _measures(measures: dict[str, MeasureResult]) -> str:
    rows = [
        [
            m.name,
            m.verdict.value,
            _signed(m.difference) if m.signed else str(m.difference),
            m.direction,
            str(m.ratio),
        ]
        for m in measures.values()
    ]
    return aligned(["disparity", "verdict", "difference", "", "ratio (min/max)"], rows)


def _groups(groups: Sequence[GroupResult]) -> str:
    rates = [r for r in RATES if groups and getattr(groups[0], r) is not None]
    rows = [[g.name, str(g.share), *(str(getattr(g, r)) for r in rates)] for g in groups]
    return aligned(["group", "share", *(_SHORT[r] for r in rates)], rows)


def assumption_rows(assumption: Assumption) -> list[list[str]]:
    """Return the tests as rows of a table."""
    return [
        [
            t.cell,
            t.moments,
            *map(_decimals, (t.statistic, t.degrees, t.adjusted, t.detectable)),
            t.verdict,
        ]
        for t in assumption.tests
    ]


def _decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _assumption(assumption: Assumption) -> str:
    """Return the verdict, with the tests where they do not all agree."""
    text = textwrap.fill(assumption.sentence, _WIDTH)
    if assumption.verdict in {CONSISTENT, DECLARED}:
        return f"The assumption\n{text}"
    return (
        f"The assumption\n{text}\n\n{aligned(list(ASSUMPTION_HEADER), assumption_rows(assumption))}"
    )


def warnings_text(warnings: Sequence[Caution]) -> str:
    """Return what the reader has to know, as a list."""
    if not warnings:
        return ""
    lines = [
        textwrap.fill(f"{w.code}: {w.message}", _WIDTH, initial_indent="- ", subsequent_indent="  ")
        for w in warnings
    ]
    return "\n".join(["Warnings", *lines])


def _classifiers(cells: Sequence[CellResult]) -> str:
    """Say which classifiers were chosen, where there was a choice."""
    chosen = [
        f"{cell.name}: {classifier_text(cell.classifier)}"
        for cell in cells
        if cell.classifier is not None and len(cell.classifier.log_loss) > 1
    ]
    told = one_line(f"Group classifiers: {'; '.join(chosen)}")
    return textwrap.fill(told, _WIDTH, subsequent_indent="  ") if chosen else ""


def _shares(cell: CellResult, groups: Sequence[str]) -> list[str]:
    return [str(cell.prevalence[g]) for g in groups]


def _signed(figure: Figure) -> str:
    if figure.estimate is None or figure.low is None or figure.high is None:
        return str(figure)
    return f"{figure.estimate:+.3f} [{figure.low:+.3f}, {figure.high:+.3f}]"


def _compared(row: ComparisonRow) -> list[str]:
    return [str(row.estimate), _number(row.truth), _number(row.error)]


def _yes_or_no(value: bool | None) -> str:  # noqa: FBT001
    return "" if value is None else "yes" if value else "no"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
