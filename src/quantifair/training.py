"""From the auxiliary people to trained cells: who is in each, and how they are scored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quantifair import diagnostics
from quantifair.cells import ACCEPTED, DECISIONS, EVERYBODY, LABELLED, Cell
from quantifair.diagnostics import Caution
from quantifair.estimation import TrainedCell
from quantifair.intervals import Sample
from quantifair.learner import default_learner, is_fitted, reweights_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.audit import Audit
    from quantifair.auxiliary import Auxiliary
    from quantifair.learner import Recipe
    from quantifair.roles import Binary

    IntArray = NDArray[np.int64]


def train_cells(auxiliary: Auxiliary, recipe: Recipe, *, per_cell: bool) -> dict[Cell, TrainedCell]:
    """Train one scoring function for each cell, or one for all of them."""
    everybody = np.arange(len(auxiliary.codes))
    shared = None
    found = {}
    for cell in cells_of(auxiliary):
        chosen = cell.rows(auxiliary.decision, auxiliary.label)
        rows = everybody if chosen is None else np.flatnonzero(chosen)
        trained = _describe(auxiliary, cell, rows)
        if not per_cell and cell != EVERYBODY:
            shared = shared or _train(
                auxiliary, recipe, _describe(auxiliary, EVERYBODY, everybody), everybody
            )
            trained = replace(trained, trained=shared.trained, problem=shared.problem)
        elif trained.problem is None:
            trained = _train(auxiliary, recipe, trained, rows)
        found[cell] = trained
    return found


def cells_of(auxiliary: Auxiliary) -> tuple[Cell, ...]:
    """Cells that the audit needs, given which labels are known."""
    if auxiliary.decision is None:
        return (EVERYBODY,)
    if auxiliary.label is None:
        return DECISIONS
    return DECISIONS + (ACCEPTED if auxiliary.labels_among_accepted else LABELLED)


def cell_name(cell: Cell, favourable: Binary | None, positive: Binary | None) -> str:
    """Return how messages call a cell."""
    parts = []
    if cell.label is not None and positive is not None:
        parts.append(positive.name(cell.label))
    if cell.decision is not None and favourable is not None:
        parts.append(favourable.name(cell.decision))
    return ", ".join(parts) or "any decision"


def learner_cautions(audit: Audit, table: str) -> list[Caution]:
    """Say what is special about the learner."""
    found = []
    if audit.learner is not None and is_fitted(audit.learner):
        found.append(
            Caution(
                "external_learner",
                "the learner came fitted and is used as it is; the auxiliary people must be new "
                "to it, or its scores on them are too good and the estimates wrong",
                "learner",
            )
        )
    if audit.learner is not None and reweights_classes(audit.learner):
        effect = (
            "calibration on the auxiliary people puts the priors right"
            if audit.calibrate
            else "SLD and PCC are biased unless calibrate=True, or the weights are dropped"
        )
        found.append(
            Caution(
                "class_weight",
                f"the learner reweights the groups (class_weight); {effect}",
                "learner",
            )
        )
    if audit.training == "all" and not (audit.learner is not None and is_fitted(audit.learner)):
        found.append(
            Caution(
                "in_sample_scores",
                "training='all' scores auxiliary people by a classifier fitted on them, so rates "
                "learned from them (ACC, PACC, HDy) and calibration are too optimistic",
                table,
            )
        )
    return found


def _describe(auxiliary: Auxiliary, cell: Cell, rows: IntArray) -> TrainedCell:
    name = cell_name(cell, auxiliary.favourable, auxiliary.positive)
    codes, groups = auxiliary.codes[rows], len(auxiliary.groups)
    counts = np.bincount(codes, minlength=groups)
    weight = np.bincount(codes, weights=auxiliary.weights[rows], minlength=groups)
    shares = weight / weight.sum() if weight.sum() else np.full(groups, np.nan)
    problem = diagnostics.too_few(counts.tolist(), auxiliary.groups, name)
    return TrainedCell(name, tuple(counts.tolist()), shares, None, problem)


def _train(
    auxiliary: Auxiliary, recipe: Recipe, described: TrainedCell, rows: IntArray
) -> TrainedCell:
    if described.problem is not None:
        return described
    clusters = auxiliary.clusters
    used = auxiliary.weights[rows] > 0
    rows = rows[used]
    unscored = np.zeros((len(rows), len(auxiliary.groups)))
    sample = Sample(
        unscored,
        auxiliary.codes[rows],
        auxiliary.weights[rows],
        None if clusters is None else np.unique(clusters[rows], return_inverse=True)[1],
    )
    learner = recipe.learner
    if learner is None or isinstance(learner, str):
        learner = default_learner(auxiliary.features, learner or "logistic")
    frame = auxiliary.frame.iloc[rows]
    trained = replace(recipe, learner=learner).train(frame, sample, auxiliary.groups)
    return replace(described, trained=trained)
