"""Quantify each cell, and keep what its uncertainty follows from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from quantifair import diagnostics, disparity
from quantifair.errors import NotIdentifiedError
from quantifair.intervals import Counted, Moments, replicate_prevalences
from quantifair.verdicts import Margins

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from quantifair.candidates import Choice
    from quantifair.cells import Cell, Deployment
    from quantifair.diagnostics import Caution
    from quantifair.quantifiers.base import FloatArray, Quantifier
    from quantifair.sketch import Sketch
    from quantifair.training import Trained


INTERVALS = ("score", "bootstrap", "none")
TARGETS = ("rows", "population")


@dataclass(frozen=True)
class Options:
    """How figures are made.

    Attributes
    ----------
    level
        Confidence level of the intervals.
    replicates
        Number of replicates behind bootstrap intervals.
    seed
        Seed of the replicates.
    smoothing
        Whether one pseudo-person is added to each cell.
    n_jobs
        Threads.
    interval
        ``score``, ``bootstrap`` or ``none``.
    target
        ``rows`` or ``population``.
    shared
        Whether all cells learn from the same auxiliary people.
    margins
        How far rates may be apart.
    strangers
        Share of each group's people in the deployment who may be unlike the auxiliary ones.
    """

    level: float = 0.95
    replicates: int = 1000
    seed: int = 0
    smoothing: bool = False
    n_jobs: int = 1
    interval: str = "score"
    target: str = "rows"
    shared: bool = False
    margins: Margins = field(default_factory=Margins)
    strangers: float = 0.0

    def resamples(self, quantifier: Quantifier) -> bool:
        """Whether intervals come from replicates: always where an estimate ignores shift.

        The score test is one of prior shift; it says nothing of an estimator that assumes none.
        """
        return self.interval == "bootstrap" or (self.interval == "score" and not quantifier.adjusts)


@dataclass(frozen=True, eq=False)
class TrainedCell:
    """A cell of the auxiliary table.

    Attributes
    ----------
    name
        How it is called.
    rows
        Auxiliary rows of each group.
    people
        Distinct people among them.
    shares
        Weighted share of each group among them.
    trained
        Scoring function and scored people; ``None`` where ``problem`` says why.
    problem
        Why nothing can be estimated here.
    choice
        How the classifier was chosen.
    learner
        It, before it was fitted.
    """

    name: str
    rows: tuple[int, ...]
    people: tuple[int, ...]
    shares: FloatArray
    trained: Trained | None
    problem: Caution | None = None
    choice: Choice | None = None
    learner: Any = None


@dataclass(frozen=True, eq=False)
class CellEstimate:
    """Prevalences of one cell, what is known of their uncertainty, and the people they share out.

    Attributes
    ----------
    prevalence
        Shape ``(groups,)``; NaN where it is not identified.
    unknown
        Weight of the people whose group is unknown.
    known
        Weight by group of those whose group is known.
    replicates
        Shape ``(replicates, groups)``, for bootstrap intervals.
    moments
        For score intervals.
    people
        Effective number of people in the cell's sketch.
    pseudo
        Auxiliary shares of the person that smoothing adds, if it does.
    cautions
        What is odd.
    """

    prevalence: FloatArray
    unknown: float
    known: FloatArray
    replicates: FloatArray
    moments: Moments | None = None
    people: float = 0.0
    pseudo: FloatArray | None = None
    cautions: tuple[Caution, ...] = ()

    @property
    def counts(self) -> FloatArray:
        """People by group: the estimate in front, then the replicates."""
        stacked = np.vstack([self.prevalence, self.replicates])
        if self.pseudo is not None:
            stacked = disparity.smooth(stacked, self.unknown, self.pseudo)
        return np.asarray(stacked * self.unknown + self.known)

    @property
    def counted(self) -> Counted:
        """The cell as score intervals see it; smoothing is linear in the prevalences."""
        if self.pseudo is None:
            return Counted(self.moments, self.unknown, self.known)
        kept = self.unknown / (self.unknown + 1)
        return Counted(self.moments, self.unknown * kept, self.known + self.pseudo * kept)


def estimate_cell(
    cell: Cell,
    trained: TrainedCell,
    deployment: Deployment,
    quantifier: Quantifier,
    groups: Sequence[str],
    options: Options,
) -> CellEstimate:
    """Quantify one cell; without an answer the prevalences are NaN and a caution says why."""
    nothing = np.full(len(groups), np.nan)
    size = options.replicates if options.resamples(quantifier) else 0
    draws = np.full((size, len(groups)), np.nan)
    if trained.trained is None:
        why = tuple(p for p in (trained.problem,) if p is not None)
        return CellEstimate(nothing, np.nan, nothing, draws, cautions=why)
    sketch, known = deployment.sketches[cell], deployment.known[cell]
    if not sketch.rows:
        found = [] if known.sum() else [_empty_cell(trained.name)]
        return CellEstimate(
            np.zeros_like(nothing), 0.0, known, np.zeros_like(draws), cautions=tuple(found)
        )
    doubts, trusted = doubts_about(trained.name, trained.trained, quantifier)
    unanswered = CellEstimate(nothing, sketch.weight, known, draws, cautions=tuple(doubts))
    if not trusted:
        return unanswered
    try:
        estimate = clone(quantifier).fit_labelled(trained.trained.sample.labelled).estimate(sketch)
    except NotIdentifiedError as error:
        where = trained.name
        problem = diagnostics.Caution("not_identified", f"{error} ({where})", where)
        return replace(unanswered, cautions=(problem,))
    people = sketch.effective_rows * deployment.distinct_share
    choice = trained.choice
    cautions = (
        *doubts,
        *([] if choice is None else diagnostics.no_better_than_shares(choice, trained.name)),
        *diagnostics.few(trained.people, groups, trained.name),
        *diagnostics.of_estimate(estimate, groups, trained.name),
    )
    uncertain = _uncertainty(cell, trained.trained, sketch, people, quantifier, options)
    pseudo = trained.shares if options.smoothing else None
    return replace(
        unanswered, prevalence=estimate.prevalence, pseudo=pseudo, cautions=cautions, **uncertain
    )


def _uncertainty(
    cell: Cell,
    trained: Trained,
    sketch: Sketch,
    people: float,
    quantifier: Quantifier,
    options: Options,
) -> dict[str, Any]:
    """Return what a cell's intervals follow from."""
    if options.resamples(quantifier):
        draws = replicate_prevalences(
            quantifier,
            trained.sample,
            sketch,
            replicates=options.replicates,
            seed=_seed(options.seed, cell),
            people=people,
            recalibrate=trained.scorer.calibration is not None,
            n_jobs=options.n_jobs,
        )
        return {"replicates": draws, "people": people}
    if options.interval == "none":
        return {}
    moments = Moments.of(
        trained.sample, sketch.points, people, population=options.target == "population"
    )
    return {"moments": moments, "people": people}


def doubts_about(name: str, trained: Trained, quantifier: Quantifier) -> tuple[list[Caution], bool]:
    """Return what is wrong with the scores, and whether the quantifier can do with them.

    One that corrects for shift needs scores that differ between the groups, and calibrated ones
    if it reads them as probabilities.
    """
    adjusts = quantifier.adjusts
    useless = diagnostics.not_separated(trained.sample, name, estimated=not adjusts)
    if useless:
        return useless, not adjusts
    # Scores that say the contrary of what they mean mislead even who asked for no calibration.
    refused = (trained.broken or trained.slope <= 0) and adjusts and quantifier.uses_posteriors
    return diagnostics.broken_proxy(trained.slope, name, estimated=not refused), not refused


def _empty_cell(where: str) -> Caution:
    return diagnostics.Caution(
        "empty_cell", f"the deployment table holds nobody with {where}", where
    )


def _seed(seed: int, cell: Cell) -> np.random.SeedSequence:
    number = [0 if v is None else v + 1 for v in cell]
    return np.random.SeedSequence([seed, *number])
