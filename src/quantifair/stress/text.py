"""A stress test in words and tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from quantifair.text import aligned, percent, warnings_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.stress.results import FamilyResult, SettingResult, StressResult


def stress_text(result: StressResult) -> str:
    """Return a stress test as tables, one for each family."""
    settings = result.settings
    groups = " and ".join(settings["group_columns"])
    title = (
        f"Stress test of {settings['favourable']} by {groups}: {settings['rows']:,} auxiliary rows "
        f"in halves {result.partitions} times, demographic parity difference "
        f"({settings['direction']})"
    )
    parts = [title, *(_family(f) for f in result.families), warnings_text(result.warnings)]
    return "\n\n".join(p for p in parts if p)


def sentence(family: FamilyResult, level: float) -> str:
    """Say which estimator has the least error, and whether the intervals hold."""
    return f"{_estimators(family)} {_intervals(family, level)}"


def _estimators(family: FamilyResult) -> str:
    if not family.ranking:
        return "No estimator answers often enough to be trusted."
    best, *_ = family.ranking
    least = family.estimators[best].error
    if family.beats_auxiliary is False:
        said = (
            "No estimator can be trusted: none errs less, beyond chance, than the auxiliary sample "
            f"alone (mlpe, {family.estimators['mlpe'].error:.3f}), which does not look at the "
            "deployment. More partitions may tell a small lead from chance."
        )
    else:
        said = f"The least error is that of {best} ({least:.3f})"
        others = [name for name in family.as_good if name != best]
        verb = "is" if len(others) == 1 else "are"
        said += f"; {_listed(others)} {verb} within its standard error." if others else "."
    silent = [name for name in family.estimators if name not in family.ranking]
    return said + (
        f" Not ranked, as they often have no answer: {_listed(silent)}." if silent else ""
    )


def _intervals(family: FamilyResult, level: float) -> str:
    interval = family.interval
    if math.isnan(interval.coverage):
        return "There are no intervals."
    held = f"the {percent(level)} intervals hold the truth in {interval.coverage:.0%} of the draws"
    if not math.isnan(interval.coverage_se):
        held += f" (standard error {100 * interval.coverage_se:.1f} points)"
    verdict = {
        True: "in line with the promise",
        False: "too rarely to be relied on",
        None: "less than promised, perhaps by chance: more partitions would tell",
    }[family.interval_holds]
    return f"{held[0].upper()}{held[1:]}, {verdict}; their median width is {interval.width:.3f}."


def _family(family: FamilyResult) -> str:
    order = [*family.ranking, *(n for n in family.estimators if n not in family.ranking)]
    rows = [
        [
            name,
            _with_error(family.estimators[name].error, family.estimators[name].error_se),
            f"{family.estimators[name].bias:+.3f}",
            f"{family.estimators[name].answered:.0%}",
            *_worst(family.settings, name),
        ]
        for name in order
    ]
    header = ["estimator", "mean absolute error", "bias", "answered", "worst", "where"]
    return f"{family.name}: {family.meaning}\n{aligned(header, rows)}\n{family.sentence}"


def _worst(settings: Sequence[SettingResult], name: str) -> tuple[str, str]:
    """Return an estimator's greatest mean absolute error, and the setting that it is in."""
    answered = [s for s in settings if math.isfinite(s.estimators[name].error)]
    if not answered:
        return "", ""
    worst = max(answered, key=lambda s: s.estimators[name].error)
    where = f"{worst.strength:g} {worst.what}".strip() if len(settings) > 1 else ""
    return f"{worst.estimators[name].error:.3f}", where


def _with_error(value: float, error: float) -> str:
    if math.isnan(value):
        return "no estimate"
    return f"{value:.3f}" if math.isnan(error) else f"{value:.3f} ({error:.3f})"


def _listed(names: Sequence[str]) -> str:
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last
