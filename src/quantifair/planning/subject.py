"""What a plan is made for: a survey that is there, or one that is only assumed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quantifair.cells import DECISIONS
from quantifair.disparity import direction, group_rates
from quantifair.errors import InputError, NotIdentifiedError
from quantifair.estimation import TARGETS, CellEstimate, Options
from quantifair.planning import words
from quantifair.planning.classifier import check_auc, with_auc
from quantifair.planning.result import Allocation
from quantifair.planning.survey import Survey, at_difference
from quantifair.spread import spread_of

if TYPE_CHECKING:
    from quantifair.cells import Cell
    from quantifair.diagnostics import Caution
    from quantifair.measurement import Measurement
    from quantifair.planning.aim import Aim
    from quantifair.quantifiers.base import FloatArray

_GROUPS = ("first group", "second group")
_CELLS = ("the rejected", "the accepted")


@dataclass(frozen=True, eq=False)
class Subject:
    """What a plan is made for.

    Attributes
    ----------
    survey
        The survey that is to grow.
    cells, groups
        What they are called.
    auc
        Of the group classifier, by cell.
    present
        Whether the survey's people are there already.
    assumptions, warnings
        What has to be said beside what every plan rests on.
    """

    survey: Survey
    cells: tuple[str, ...]
    groups: tuple[str, ...]
    auc: dict[str, float]
    present: bool
    assumptions: tuple[str, ...]
    warnings: tuple[Caution, ...] = ()

    @property
    def direction(self) -> str:
        """What is subtracted from what."""
        return direction(self.groups)

    @property
    def rates(self) -> dict[str, float]:
        """Selection rates by group."""
        counts = self.survey.spread.estimated(list(DECISIONS))[0]
        rates = group_rates(counts)["selection_rate"]
        return dict(zip(self.groups, rates.tolist(), strict=True))

    def allocation(self, people: FloatArray | None) -> Allocation | None:
        """Return whole people by decision and group."""
        if people is None:
            return None
        whole = np.ceil(people - 1e-9).astype(int)
        named = zip(self.cells, whole.tolist(), strict=True)
        cells = {cell: dict(zip(self.groups, row, strict=True)) for cell, row in named}
        return Allocation(int(whole.sum()), cells)


def of_pilot(measurement: Measurement, aim: Aim) -> Subject:
    """Return what a pilot tells of the group classifier, the groups' sizes and the rates."""
    fitted = measurement.fitted
    scored = replace(fitted, audit=replace(fitted.audit, interval="score"))
    measurement = replace(measurement, fitted=scored)
    estimates = {cell: measurement.estimates[cell] for cell in DECISIONS}
    warnings = tuple(dict.fromkeys(c for e in estimates.values() for c in e.cautions))
    _check_estimated(estimates, measurement, warnings)
    spread = spread_of(estimates, measurement.options)
    if aim.detect is not None:
        spread = at_difference(spread, aim.detect)
    trained = [measurement.cells[c] for c in DECISIONS]
    areas = {t.name: t.trained.auc for t in trained if t.trained}
    people = np.array([t.people for t in trained], dtype=np.float64)
    return Subject(
        Survey(spread, people),
        tuple(t.name for t in trained),
        tuple(fitted.groups),
        areas,
        present=True,
        assumptions=words.of_pilot(areas, measurement.found.rows, moved=aim.detect is not None),
        warnings=warnings,
    )


def assumed(
    aim: Aim,
    *,
    auc: float,
    share: float,
    rate: float,
    deployment_rows: int,
    disparity: float = 0.0,
    level: float = 0.95,
    target: str = "rows",
) -> Subject:
    """Return two groups of which nothing is known but assumptions.

    Parameters
    ----------
    aim
        What is to be achieved.
    auc
        How well features tell the groups apart, within each decision.
    share
        Share of the second group among all people.
    rate
        Share of people with a favourable decision.
    deployment_rows
        Rows of the table that is to be audited.
    disparity
        Selection rate of the second group minus that of the first; the one to be found, where one
        is.
    level, target
        Of the interval, as in an audit.
    """
    check_auc(auc)
    _check_assumed(share=share, rate=rate, level=level)
    if not -1 < disparity < 1:
        raise InputError(f"disparity lies between -1 and 1, such as 0.1, not {disparity!r}")
    if deployment_rows < 1:
        raise InputError(f"deployment_rows is a number of people, not {deployment_rows}")
    if target not in TARGETS:
        raise InputError(f"no target {target!r}; it is one of {', '.join(TARGETS)}")
    shares, none = np.array([1 - share, share]), np.empty((0, 2))
    sizes = [deployment_rows * (1 - rate), deployment_rows * rate]
    estimates = {
        cell: CellEstimate(shares, size, np.zeros(2), none, people=size)
        for cell, size in zip(DECISIONS, sizes, strict=True)
    }
    difference = disparity if aim.detect is None else aim.detect
    spread = at_difference(spread_of(estimates, Options(level=level, target=target)), difference)
    survey = with_auc(Survey(spread, spread.estimated(list(DECISIONS))[0]), auc)
    return Subject(
        survey,
        _CELLS,
        _GROUPS,
        dict.fromkeys(_CELLS, auc),
        present=False,
        assumptions=words.assumed(auc, share, rate, deployment_rows),
    )


def _check_estimated(
    estimates: dict[Cell, CellEstimate],
    measurement: Measurement,
    warnings: tuple[Caution, ...],
) -> None:
    if not measurement.quantifier.adjusts:
        raise InputError(
            f"a plan is of score intervals, and {measurement.quantifier!r} has none, as it assumes "
            "that nothing shifted; leave out the quantifier, or the declaration of covariate shift"
        )
    if any(e.moments is None or not np.isfinite(e.prevalence).all() for e in estimates.values()):
        why = "; ".join(c.message for c in warnings) or "nobody's group is unknown"
        raise NotIdentifiedError(f"nothing can be planned from this pilot: {why}")


def _check_assumed(**shares: float) -> None:
    for name, value in shares.items():
        if not 0 < value < 1:
            raise InputError(f"{name} lies between 0 and 1, not {value!r}")
