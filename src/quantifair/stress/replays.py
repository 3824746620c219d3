"""The stress test of an audit: what is to be replayed is checked, run and summed up."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.cells import DECISIONS
from quantifair.diagnostics import FEW, FEWEST, Caution
from quantifair.errors import InputError, did_you_mean
from quantifair.estimation import Options
from quantifair.measurement import versions
from quantifair.quantifiers import QUANTIFIERS, suited_quantifier
from quantifair.stress.replay import intervals_sought
from quantifair.stress.results import StressResult
from quantifair.stress.runner import Plan
from quantifair.stress.shifts import SHIFTS, Shift
from quantifair.stress.summary import family_result
from quantifair.training import cell_name, people_by_group, train_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quantifair.audit import Audit
    from quantifair.auxiliary import Auxiliary
    from quantifair.cells import Cell
    from quantifair.estimation import TrainedCell
    from quantifair.quantifiers import Quantifier
    from quantifair.stress.runner import Progress
    from quantifair.training import Recipe

_STAND_IN = "pacc"
"""Estimator in the middle of score intervals where the audit's own has none."""


def stress_test(
    audit: Audit,
    read: Auxiliary,
    recipe: Recipe,
    *,
    where: str,
    shifts: Sequence[str | Shift] | None,
    partitions: int,
    draws: int,
    progress: Progress | None,
) -> StressResult:
    """Replay shifts on the auxiliary people; see ``Audit.stress``."""
    _check_number("partitions", partitions, 2)
    _check_number("draws", draws, 1)
    chosen = [_named(shift) for shift in (SHIFTS if shifts is None else shifts)]
    if not chosen:
        raise InputError(f"shifts= names nothing to replay; known are {', '.join(SHIFTS)}")
    cautions = [*read.cautions, *_small(audit, read, where)]
    estimators, own = _estimators(audit)
    centre = own if estimators[own].adjusts else _STAND_IN
    options = Options(
        audit.level, smoothing=audit.smoothing, target=audit.target, shared=not audit.per_cell
    )
    recipe = replace(recipe, tested=False)
    like: dict[Cell, TrainedCell] = {}
    if recipe.chooses:
        # Once, on everybody: the choice takes most of the time, and is part of no shift.
        like = train_cells(read, recipe, per_cell=audit.per_cell)
    plan = Plan(
        read,
        recipe,
        audit.per_cell,
        like,
        estimators,
        centre,
        options,
        chosen,
        int(partitions),
        int(draws),
        audit.seed,
    )
    sought = intervals_sought(plan.draws, len(read.groups))
    families = tuple(
        family_result(shift, replayed, level=audit.level, sought=sought)
        for shift, replayed in zip(chosen, plan.run(progress), strict=True)
    )
    return StressResult(
        families, plan.partitions, tuple(cautions), _settings(audit, plan), versions()
    )


def _check_number(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} is a whole number of at least {least}, not {value!r}")


def _named(shift: str | Shift) -> Shift:
    if isinstance(shift, Shift):
        return shift
    if shift not in SHIFTS:
        raise InputError(f"no shift {shift!r}; {did_you_mean(str(shift), SHIFTS)}")
    return SHIFTS[shift]()


def _estimators(audit: Audit) -> tuple[dict[str, Quantifier], str]:
    """Return every quantifier, the audit's own among them, and how that is called."""
    own = suited_quantifier(audit.quantifier, audit.assume)
    found = {name: kind() for name, kind in QUANTIFIERS.items()}
    names = [name for name, kind in QUANTIFIERS.items() if type(own) is kind]
    name = names[0] if names else type(own).__name__.lower()
    return found | {name: own}, name


def _small(audit: Audit, read: Auxiliary, where: str) -> Iterator[Caution]:
    """Yield a caution for each group that is small in halves; raise where it is too small."""
    if read.decision is None:
        raise InputError(
            "a stress test compares favourable with unfavourable decisions; name their column "
            "with --decision (decision=)"
        )
    shown = " and ".join(repr(c) for c in audit.group_columns)
    for cell in DECISIONS:
        rows = np.flatnonzero(read.decision == cell.decision)
        clusters = None if read.clusters is None else read.clusters[rows]
        name = cell_name(cell, read.favourable, None)
        counts = people_by_group(read.codes[rows], clusters, len(read.groups)).tolist()
        for group, count in zip(read.groups, counts, strict=True):
            if count < 2 * FEWEST:
                raise InputError(
                    f"group {group!r} in column {shown} of {where} has {count} people with {name}; "
                    f"a stress test holds out half of them, so it needs at least {2 * FEWEST}. "
                    "Merge groups, or survey more people"
                )
            if count < 2 * FEW:
                yield Caution(
                    "few_held_out",
                    f"group {group!r} has {count} people with {name}, so that only half as many "
                    "are learned from and as many held out: what is replayed there is mostly "
                    f"chance; {2 * FEW} or more are advisable",
                    name,
                )


def _settings(audit: Audit, plan: Plan) -> dict[str, Any]:
    read = plan.read
    groups = read.groups
    direction = f"{groups[1]} minus {groups[0]}" if len(groups) == 2 else "largest minus smallest"
    return {
        "rows": len(read.codes),
        "group_columns": list(audit.group_columns),
        "groups": list(groups),
        "favourable": None if read.favourable is None else read.favourable.name(1),
        "direction": direction,
        "shifts": [repr(shift) for shift in plan.shifts],
        "partitions": plan.partitions,
        "draws": plan.draws,
        "features": read.features.names,
        "interval": f"score, with {plan.centre}",
        "level": audit.level,
        "target": audit.target,
        "training": audit.training if audit.scores is None else "none",
        "folds": audit.folds,
        "calibrate": audit.calibrate,
        "per_cell": audit.per_cell,
        "smoothing": audit.smoothing,
        "seed": audit.seed,
    }
