"""From a result to what a page shows: sentences, and intervals as positions on a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quantifair.results import ESTIMATORS, RATES
from quantifair.text import (
    ASSUMPTION_HEADER,
    assumption_rows,
    classifier_text,
    headline_verdicts,
    label_text,
    percent,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quantifair.results import AuditResult, Figure, GroupResult, MeasureResult

_SETTINGS = (
    "quantifier",
    "learner",
    "training",
    "calibrate",
    "level",
    "interval",
    "target",
    "margin",
    "ratio_margin",
    "seed",
)

_MOST_SENSITIVE = 5
"""Groups up to which a page tells the sensitivity: of twenty, it takes a minute."""


def summarize(result: AuditResult) -> dict[str, Any]:
    """Return all that a report shows, as plain dicts, lists and text."""
    rates = [r for r in RATES if getattr(result.groups[0], r) is not None]
    headline = result.demographic_parity
    return {
        "title": f"Audit of {result.settings['favourable']} by {result.settings['group']}",
        "level": percent(result.settings["level"]),
        "rows": result.rows,
        "label": label_text(result),
        "answer": _answer(result),
        "verdicts": headline_verdicts(result),
        "headline": _measure(headline),
        "measures": [_measure(m) for m in result.measures.values()],
        "pairs": [] if headline.signed else _pairs(headline),
        "rates": [r.replace("_", " ") for r in rates],
        "groups": _groups(result.groups, rates),
        "attributes": [
            {
                "name": name,
                "measures": [_measure(m) for m in alone.measures.values()],
                "groups": _groups(alone.groups, rates),
            }
            for name, alone in result.attributes.items()
        ],
        "estimators": _estimators(result),
        "cells": [
            {
                "name": c.name,
                "auxiliary": ", ".join(f"{g}: {n:,}" for g, n in c.auxiliary_rows.items()),
                "deployment": f"{c.deployment_rows:,}",
                "classifier": "none" if c.classifier is None else classifier_text(c.classifier),
            }
            for c in result.cells
        ],
        "assumption": _assumption(result),
        "warnings": [w._asdict() for w in result.warnings],
        "settings": {k: str(result.settings[k]) for k in _SETTINGS},
        "features": result.settings["features"],
        "versions": result.versions,
    }


def _estimators(result: AuditResult) -> list[dict[str, str]]:
    return [
        {"name": ESTIMATORS[k], "value": "not estimable" if v is None else f"{v:+.3f}"}
        for k, v in result.estimators.items()
    ]


def _assumption(result: AuditResult) -> dict[str, Any]:
    """Return what was assumed, what tests say of it, and how wrong it may be."""
    told = result.has_sensitivity and len(result.groups) <= _MOST_SENSITIVE
    return {
        "sentence": result.assumption.sentence,
        "header": ASSUMPTION_HEADER,
        "tests": assumption_rows(result.assumption),
        "sensitivity": result.sensitivity((0.0,)).sentence if told else "",
    }


def _groups(groups: Iterable[GroupResult], rates: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": g.name,
            "share": _figure(g.share),
            "rates": [_figure(getattr(g, r)) for r in rates],
        }
        for g in groups
    ]


def _answer(result: AuditResult) -> str:
    measure = result.demographic_parity
    found, what = measure.difference, result.settings["favourable"]
    if found.estimate is None:
        return f"How the rates of {what} differ between groups can't be told from these tables."
    interval = _interval(found, percent(result.settings["level"]))
    if not measure.signed:
        return (
            f"The rates of {what} differ by {_points(found.estimate)} between the groups with the "
            f"highest and the lowest{interval}."
        )
    second, first = (result.groups[1].name, result.groups[0].name)
    more = "more" if found.estimate >= 0 else "less"
    return (
        f"The decision {what} falls on {second} {_points(abs(found.estimate))} {more} often than "
        f"on {first}{interval}."
    )


def _measure(measure: MeasureResult) -> dict[str, Any]:
    return {
        "name": measure.name.replace("_", " "),
        "meaning": measure.meaning,
        "direction": measure.direction,
        "difference": _figure(measure.difference, least=-1.0 if measure.signed else 0.0),
        "ratio": _figure(measure.ratio),
        "verdict": measure.verdict.value,
        "why": str(measure.verdict),
    }


def _pairs(measure: MeasureResult) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{p.group} minus {p.reference}",
            "difference": _figure(p.difference, least=-1.0),
            "ratio": _figure(p.ratio),
            "verdict": p.verdict.value,
            "ratio_verdict": "" if p.ratio_verdict is None else p.ratio_verdict.value,
        }
        for p in measure.pairs
    ]


def _figure(figure: Figure, *, least: float = 0.0) -> dict[str, Any]:
    """Return a figure as text, with its place on a scale from ``least`` to 1 in percent."""
    if figure.estimate is None or figure.low is None or figure.high is None:
        return {"text": str(figure), "bar": None}

    def place(value: float) -> float:
        return round(100 * (min(max(value, least), 1.0) - least) / (1 - least), 2)

    low, high = place(figure.low), place(figure.high)
    bar = {
        "low": low,
        "width": round(high - low, 2),
        "at": place(figure.estimate),
        "zero": place(0.0),
    }
    return {"text": str(figure), "bar": bar}


def _points(value: float) -> str:
    return f"{100 * value:.1f} percentage points"


def _interval(figure: Figure, level: str) -> str:
    """Return the interval in words, the other way round where the difference is put as "less"."""
    if figure.estimate is None or figure.low is None or figure.high is None:
        return ""
    low, high = figure.low, figure.high
    if figure.estimate < 0:
        low, high = -high, -low
    return f" ({level} interval {100 * low:.1f} to {100 * high:.1f})"
