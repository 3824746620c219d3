"""Training: how a scoring function comes about, and which cell is scored by which."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from quantifair import diagnostics
from quantifair.assumption.evidence import Evidence
from quantifair.calibration import fit_calibration
from quantifair.candidates import BEST, candidates, choose, losses_of, try_out
from quantifair.cells import ACCEPTED, DECISIONS, EVERYBODY, LABELLED, Cell
from quantifair.diagnostics import BROKEN_SLOPE, Caution
from quantifair.errors import InputError, explained
from quantifair.estimation import TrainedCell
from quantifair.intervals import Sample
from quantifair.learner import (
    ScoreColumns,
    Scorer,
    WeightedMargins,
    by_code,
    called,
    is_external,
    probabilities,
    reweights_classes,
    searches,
    weight_argument,
)
from quantifair.roles import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.audit import Audit
    from quantifair.auxiliary import Auxiliary
    from quantifair.roles import Binary

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

TRAININGS = ("folds", "all", "split")
_FIFTHS, _HELD_OUT = 5, 2


@dataclass(frozen=True, eq=False)
class Trained:
    """A scoring function with the auxiliary people scored by it.

    Attributes
    ----------
    scorer
        The scoring function.
    sample
        Auxiliary people whose scores stand for unseen people's.
    slope
        Slope of the scores' calibration; near 1 for an honest classifier.
    broken
        Whether the classifier is so overfitted that calibration was given up.
    rows
        Which of those whom it was trained with are in the sample.
    losses
        Log-losses of the sample's people before calibration.
    evidence
        What is summed to test whether prior shift holds; ``None`` where that is not tested.
    """

    scorer: Scorer
    sample: Sample
    slope: float
    broken: bool = False
    rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    evidence: Evidence | None = None
    losses: FloatArray = field(default_factory=lambda: np.empty(0))

    @cached_property
    def auc(self) -> float:
        """How well the scores tell the groups apart."""
        return diagnostics.auc(self.sample)


@dataclass(frozen=True)
class Recipe:
    """How a scoring function comes about.

    Attributes
    ----------
    learner
        A scikit-learn classifier or pipeline; a fitted one is used as it is.
    training
        ``folds``: one classifier a fold, auxiliary people scored by the one that has not seen
        them. ``split``: one classifier on 60%, the other 40% scored. ``all``: one classifier on
        everybody, scored on the people it was fitted on.
    folds
        Number of folds.
    calibrate
        Whether scores are calibrated on the auxiliary people.
    seed
        Seed of the folds.
    meaning
        What groups and cells stand for. Sketches in which they stand for something else are not
        to be mixed up, so it is part of the fingerprint.
    cell
        How messages call the cell that is trained.
    tested
        Whether the assumption of prior shift is to be tested.
    """

    learner: Any
    training: str = "folds"
    folds: int = 5
    calibrate: bool = True
    seed: int = 0
    meaning: Any = None
    cell: str = "any decision"
    tested: bool = False

    @property
    def chooses(self) -> bool:
        """Whether each cell chooses its classifier."""
        return self.learner is None or (isinstance(self.learner, str) and self.learner == BEST)

    def train(self, frame: pd.DataFrame, sample: Sample, classes: list[str]) -> Trained:
        """Train on auxiliary people; ``sample.scores`` is not read."""
        if is_external(self.learner):
            order = self._order(classes)
            scores = self._probabilities(self.learner, frame)[:, order]
            everybody = np.arange(len(frame))
            return self._finish((self.learner,), order, scores, sample, everybody)
        with explained(f"the learner {called(self.learner)} can't be cloned"):
            learner = by_code(self.learner, classes)
        models, scores, rows = self._fit(learner, frame, sample)
        return self._finish(models, list(range(len(classes))), scores, sample, rows)

    def _fit(
        self, learner: Any, frame: pd.DataFrame, sample: Sample
    ) -> tuple[tuple[Any, ...], FloatArray, IntArray]:
        people = np.arange(len(frame))
        if self.training == "all":
            model = self._fit_one(learner, frame, sample, people)
            return (model,), self._probabilities(model, frame), people
        splits = self._splits(sample)
        models = tuple(self._fit_one(learner, frame, sample, train) for train, _ in splits)
        scores = np.zeros((len(frame), sample.scores.shape[1]))
        for model, (_, held) in zip(models, splits, strict=True):
            scores[held] = self._probabilities(model, frame.iloc[held])
        rows = np.sort(np.concatenate([held for _, held in splits]))
        return models, scores[rows], rows

    def _probabilities(self, model: Any, frame: pd.DataFrame) -> FloatArray:
        return probabilities(model, frame, f"auxiliary rows with {self.cell}")

    def _splits(self, sample: Sample) -> list[tuple[IntArray, IntArray]]:
        people = np.arange(len(sample.codes))
        if self.training == "split":
            fifths = self._folds(_FIFTHS, sample.codes, sample.clusters)
            held = np.sort(np.concatenate([fifth for _, fifth in fifths[:_HELD_OUT]]))
            return [(np.setdiff1d(people, held), held)]
        return self._folds(self.folds, sample.codes, sample.clusters)

    def _folds(
        self, most: int, codes: IntArray, clusters: IntArray | None
    ) -> list[tuple[IntArray, IntArray]]:
        """Split people so that each fold has its share of every group, and nobody is in two."""
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

        folds = min(most, int(people_by_group(codes, clusters).min()))
        kind = StratifiedKFold if clusters is None else StratifiedGroupKFold
        split = kind(folds, shuffle=True, random_state=self.seed)
        return list(split.split(np.zeros(len(codes)), codes, clusters))

    def _fit_one(self, learner: Any, frame: pd.DataFrame, sample: Sample, rows: IntArray) -> Any:
        model = clone(learner)
        codes, weights = sample.codes[rows], sample.weights[rows]
        if not hasattr(model, "predict_proba"):
            from sklearn.calibration import CalibratedClassifierCV

            if not hasattr(model, "decision_function"):
                raise InputError(
                    f"the learner {called(model)} has neither predict_proba nor "
                    "decision_function, so it can't score people"
                )
            clusters = None if sample.clusters is None else sample.clusters[rows]
            folds = self._folds(_FIFTHS, codes, clusters)
            model = CalibratedClassifierCV(WeightedMargins(model), method="sigmoid", cv=folds)
        weighted = weight_argument(model, weights)
        with explained(
            f"the learner {called(learner)} can't be fitted (a pipeline is given numbers, text and "
            "dates as they are, with their gaps)"
        ):
            return model.fit(frame.iloc[rows], codes, **weighted)

    def _order(self, classes: list[str]) -> list[int]:
        """Map the groups to the classes that a fitted classifier knows."""
        if isinstance(self.learner, ScoreColumns):
            return list(range(len(classes)))
        lacking = [a for a in ("predict_proba", "classes_") if not hasattr(self.learner, a)]
        if lacking:
            raise InputError(
                f"the fitted learner {type(self.learner).__name__} has no {lacking[0]}, so it "
                "can't score people; a fitted CalibratedClassifierCV around it can"
            )
        known = [name_of(c) for c in np.asarray(self.learner.classes_).tolist()]
        if sorted(known) != sorted(classes):
            raise InputError(
                f"the fitted learner knows the groups {known}, the auxiliary table holds {classes}"
            )
        return [known.index(c) for c in classes]

    def _finish(
        self,
        models: tuple[Any, ...],
        order: list[int],
        scores: FloatArray,
        sample: Sample,
        rows: IntArray,
    ) -> Trained:
        """Calibrate, and apply to the auxiliary people what is applied to everybody."""
        clusters = None
        if sample.clusters is not None:
            clusters = np.unique(sample.clusters[rows], return_inverse=True)[1]
        kept = Sample(scores, sample.codes[rows], sample.weights[rows], clusters)
        fitted = fit_calibration(scores, kept.labelled.counts)
        losses = losses_of(scores, kept)
        slope, applied, calibration = float(fitted.slope), None, None
        broken = self.calibrate and slope < BROKEN_SLOPE
        if self.calibrate and not broken:
            applied, calibration = (slope, fitted.bias), fitted
            kept = replace(kept, scores=fitted(scores))
        fingerprint = _fingerprint((self.meaning, order, applied), models, scores)
        scorer = Scorer(models, tuple(order), calibration, fingerprint, self.cell)
        return Trained(scorer, kept, slope, broken, rows, losses=losses)


def train_cells(
    auxiliary: Auxiliary,
    recipe: Recipe,
    *,
    per_cell: bool,
    like: Mapping[Cell, TrainedCell] | None = None,
) -> dict[Cell, TrainedCell]:
    """Train one scoring function for each cell, or one for all of them.

    ``like`` holds cells whose learners are taken as they were chosen there.
    """
    everybody = np.arange(len(auxiliary.codes))
    shared, like = None, like or {}
    recipes = {
        cell: replace(recipe, learner=other.learner)
        for cell, other in like.items()
        if other.learner is not None
    }
    if not per_cell:
        recipe = next(iter(recipes.values()), recipe)
        shared = _train(auxiliary, recipe, _describe(auxiliary, EVERYBODY, everybody), everybody)
    found = {}
    for cell in cells_of(auxiliary):
        chosen = cell.rows(auxiliary.decision, auxiliary.label)
        rows = everybody if chosen is None else np.flatnonzero(chosen)
        described = _describe(auxiliary, cell, rows)
        if shared is None:
            found[cell] = _train(auxiliary, recipes.get(cell, recipe), described, rows)
        else:
            known: dict[str, Any] = {
                k: getattr(shared, k) for k in ("trained", "problem", "choice", "learner")
            }
            found[cell] = replace(described, **known)
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
    """Say what is special about the learner and its training."""
    found, external = [], is_external(audit.learner)
    if external:
        message = (
            "the learner came fitted and is used as it is; the auxiliary people must be new to it, "
            "or its scores on them are too good and the estimates wrong"
        )
        found.append(Caution("external_learner", message, "learner"))
    if reweights_classes(audit.learner):
        effect = (
            "calibration on the auxiliary people puts the priors right"
            if audit.calibrate
            else "SLD and PCC are biased unless calibrate=True, or the weights are dropped"
        )
        message = f"the learner reweights the groups (class_weight); {effect}"
        found.append(Caution("class_weight", message, "learner"))
    if not audit.per_cell:
        message = (
            "one quantifier for all cells takes the features of a group for the same whatever the "
            "decision, which rarely holds; per_cell=True does not need that"
        )
        found.append(Caution("one_quantifier", message, table))
    if audit.training == "all" and not external:
        message = (
            "training='all' scores auxiliary people by a classifier fitted on them, so rates "
            "learned from them (ACC, PACC, HDy) and calibration are too optimistic"
        )
        found.append(Caution("in_sample_scores", message, table))
    return found


def _describe(auxiliary: Auxiliary, cell: Cell, rows: IntArray) -> TrainedCell:
    name = cell_name(cell, auxiliary.favourable, auxiliary.positive)
    codes, groups = auxiliary.codes[rows], len(auxiliary.groups)
    clusters = None if auxiliary.clusters is None else auxiliary.clusters[rows]
    people = people_by_group(codes, clusters, groups).tolist()
    counts = np.bincount(codes, minlength=groups).tolist()
    weight = np.bincount(codes, weights=auxiliary.weights[rows], minlength=groups)
    shares = weight / weight.sum() if len(rows) else np.full(groups, 1 / groups)
    problem = diagnostics.too_few(people, auxiliary.groups, name)
    return TrainedCell(name, tuple(counts), tuple(people), shares, None, problem)


def _train(
    auxiliary: Auxiliary, recipe: Recipe, described: TrainedCell, rows: IntArray
) -> TrainedCell:
    if described.problem is not None:
        return described
    clusters = None if auxiliary.clusters is None else auxiliary.clusters[rows]
    unscored = np.zeros((len(rows), len(auxiliary.groups)))
    sample = Sample(unscored, auxiliary.codes[rows], auxiliary.weights[rows], clusters)
    frame = auxiliary.frame.iloc[rows]
    recipe = replace(recipe, cell=described.name)
    chooses = recipe.chooses
    # Scores of people whom a classifier has seen can't tell which one is best.
    trial = replace(recipe, training="folds") if chooses and recipe.training == "all" else recipe
    families = candidates(recipe.learner, auxiliary.features, frame, min(described.people))
    learners, tried = try_out(
        families,
        lambda learner: replace(trial, learner=learner).train(frame, sample, auxiliary.groups),
        chooses=chooses,
    )
    choice = choose(tried)
    trained = tried[choice.chosen]
    if trial is not recipe:
        chosen = replace(recipe, learner=learners[choice.chosen])
        trained = chosen.train(frame, sample, auxiliary.groups)
    if recipe.tested:
        encoded = auxiliary.profile.read(frame.iloc[trained.rows])[1]
        fitted_on = recipe.training == "all" and not is_external(recipe.learner)
        evidence = Evidence.of(trained.sample, encoded, in_sample=fitted_on)
        trained = replace(trained, evidence=evidence)
    learner = learners[choice.chosen]
    return replace(described, trained=trained, choice=choice, learner=learner)


def people_by_group(codes: IntArray, clusters: IntArray | None, groups: int = 0) -> IntArray:
    """Count distinct people of each group; without clusters, every row is another person."""
    if clusters is not None:
        codes = np.unique(np.column_stack([codes, clusters]), axis=0)[:, 0]
    return np.bincount(codes, minlength=groups)


def _fingerprint(identity: Any, models: tuple[Any, ...], scores: FloatArray) -> str:
    """Hash a scoring function, by its models or else by the scores that they gave.

    A search keeps how long each fit took, which is never the same twice; and some models can't be
    hashed, whatever error that is.
    """
    import joblib

    known_by = scores if any(map(searches, models)) else models
    try:
        return str(joblib.hash((identity, known_by)))
    except Exception:  # noqa: BLE001
        return str(joblib.hash((identity, scores)))
