"""What every estimator says of drawn deployments, and whether the interval holds the truth."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import clone

from quantifair import disparity
from quantifair.cells import DECISIONS, Cell
from quantifair.diagnostics import FEWEST
from quantifair.errors import NotIdentifiedError
from quantifair.estimation import CellEstimate, Options, doubts_about
from quantifair.figures import disparity_figure
from quantifair.intervals import Moments, Sample
from quantifair.sketch import Points, kish
from quantifair.spread import spread_of
from quantifair.stress.drawing import draw
from quantifair.stress.shifts import at_share
from quantifair.training import people_by_group

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from quantifair.auxiliary import Auxiliary
    from quantifair.estimation import TrainedCell
    from quantifair.quantifiers import Quantifier
    from quantifair.stress.shifts import Mix

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


def intervals_sought(draws: int, groups: int) -> int:
    """Return how many draws of a setting get an interval: of more than two groups it takes long."""
    return draws if groups == 2 else min(draws, 1)


class Outcome(NamedTuple):
    """What was found in the draws of one setting; each array has one entry a draw.

    Attributes
    ----------
    errors
        Estimate minus truth by estimator; NaN where there is no estimate.
    truth
        The disparity of the drawn rows; NaN where it is not defined.
    covered
        1 where the interval holds it, else 0; NaN where there is no interval.
    widths
        Of the intervals.
    rows
        Rows of the deployment.
    """

    errors: dict[str, FloatArray]
    truth: FloatArray
    covered: FloatArray
    widths: FloatArray
    rows: FloatArray


@dataclass(frozen=True, eq=False)
class ScoredCell:
    """Held-out people with one decision, scored, and estimators that know the auxiliary people.

    Attributes
    ----------
    trained
        The cell of the auxiliary part.
    rows
        The people's places in the held-out part.
    scores
        Their scores.
    estimators
        By name.
    """

    trained: TrainedCell
    rows: IntArray
    scores: FloatArray
    estimators: Mapping[str, Quantifier]

    @classmethod
    def of(
        cls,
        cell: Cell,
        trained: TrainedCell,
        people: Auxiliary,
        estimators: Mapping[str, Quantifier],
    ) -> ScoredCell:
        """Score the people."""
        rows = np.flatnonzero(people.decision == cell.decision)
        scores = np.empty((len(rows), len(people.groups)))
        if trained.trained is not None:
            scores = trained.trained.scorer(people.frame.iloc[rows])
        return cls(trained, rows, scores, estimators)

    def mixed(
        self, group: int, share: float, rng: np.random.Generator, *, tilts: bool
    ) -> ScoredCell:
        """Learn from auxiliary people of whom one group makes up a given share.

        If scores tilt, they are corrected by Bayes' theorem to what they would be had the group
        classifier been trained on these people.
        """
        if self.trained.trained is None:
            return self
        sample = self.trained.trained.sample
        inside = sample.codes == group
        keep = at_share(sample.weights, inside, ~inside, share)
        some = np.flatnonzero(draw(keep, inside.astype(np.int64), 1, rng)[0])
        clusters = None if sample.clusters is None else sample.clusters[some]
        fewer = Sample(sample.scores[some], sample.codes[some], sample.weights[some], clusters)
        people = people_by_group(fewer.codes, clusters, sample.scores.shape[1]).tolist()
        trained = replace(self.trained, people=tuple(people), shares=fewer.labelled.shares)
        if min(people) < FEWEST:
            return replace(self, trained=replace(trained, trained=None))
        tilt = np.ones(len(people))
        if tilts:
            tilt = fewer.labelled.shares / sample.labelled.shares
        fewer = replace(fewer, scores=_tilted(fewer.scores, tilt))
        trained = replace(trained, trained=replace(self.trained.trained, sample=fewer))
        return replace(self, trained=trained, scores=_tilted(self.scores, tilt))

    @cached_property
    def fitted(self) -> dict[str, Quantifier]:
        """Estimators that know the auxiliary people; those without an answer are left out."""
        trained, found = self.trained.trained, {}
        if trained is None:
            return {}
        for name, estimator in self.estimators.items():
            if doubts_about(self.trained.name, trained, estimator)[1]:
                with suppress(NotIdentifiedError):
                    found[name] = clone(estimator).fit_labelled(trained.sample.labelled)
        return found

    def prevalences(self, name: str, weights: FloatArray) -> FloatArray:
        """Return what an estimator says of each draw, ``(draws, groups)``; NaN for no answer."""
        nothing = np.full((len(weights), self.scores.shape[1]), np.nan)
        drawn = weights.sum(axis=1) > 0
        estimator = self.fitted.get(name)
        if estimator is None or not drawn.any():
            return nothing
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            raw = estimator.solve(Points(self.scores, weights[drawn], unit=kish(weights[drawn])))
            nothing[drawn] = estimator.project(raw)
        return nothing

    def moments(self, weights: FloatArray, people: float, options: Options) -> Moments | None:
        """Return what the interval of one draw follows from."""
        if self.trained.trained is None:
            return None
        return Moments.of(
            self.trained.trained.sample,
            Points(self.scores, weights),
            people,
            population=options.target == "population",
        )


@dataclass(frozen=True, eq=False)
class Replayer:
    """Trained group classifiers, and the held-out people of whom deployments are drawn.

    Attributes
    ----------
    cells
        The people with an unfavourable and with a favourable decision.
    people
        All of them.
    options
        How intervals are made.
    centre
        The estimator that intervals are widened to hold, as an audit's are.
    """

    cells: tuple[ScoredCell, ...]
    people: Auxiliary
    options: Options
    centre: str

    @classmethod
    def of(
        cls,
        trained: Mapping[Cell, TrainedCell],
        people: Auxiliary,
        estimators: Mapping[str, Quantifier],
        options: Options,
        centre: str,
    ) -> Replayer:
        """Score the people once."""
        cells = tuple(ScoredCell.of(c, trained[c], people, estimators) for c in DECISIONS)
        return cls(cells, people, options, centre)

    def mixed(self, mix: Mix, rng: np.random.Generator, *, tilts: bool) -> Replayer:
        """Learn from auxiliary people of whom one group makes up a given share.

        Cells that share auxiliary people go on sharing them.
        """
        seed = int(rng.integers(2**32))
        cells = tuple(
            c.mixed(mix.group, mix.share, np.random.default_rng(seed), tilts=tilts)
            if self.options.shared or decision == mix.decision
            else c
            for decision, c in enumerate(self.cells)
        )
        return replace(self, cells=cells)

    def replay(self, kept: NDArray[np.bool_]) -> Outcome:
        """Estimate the disparity of each drawn deployment, ``kept`` of shape ``(draws, rows)``."""
        drawn = [kept[:, c.rows] * self.people.weights[c.rows] for c in self.cells]
        truth = self._truth(drawn)
        found = {name: self._prevalences(name, drawn) for name in self.cells[0].estimators}
        errors = {name: self._disparity(p, drawn) - truth for name, p in found.items()}
        low, high = self._intervals(kept, drawn, found[self.centre])
        known = np.isfinite(low) & np.isfinite(truth)
        covered = np.where(known, (low <= truth) & (truth <= high), np.nan)
        widths = np.where(known, high - low, np.nan)
        return Outcome(errors, truth, covered, widths, kept.sum(axis=1).astype(np.float64))

    def _truth(self, drawn: list[FloatArray]) -> FloatArray:
        groups = range(len(self.people.groups))
        members = [
            np.stack([self.people.codes[c.rows] == g for g in groups], 1) for c in self.cells
        ]
        counts = np.stack([w @ m for w, m in zip(drawn, members, strict=True)], axis=1)
        found = _parity(counts)
        return np.where((counts.sum(axis=2) > 0).all(axis=1), found, np.nan)

    def _prevalences(self, name: str, drawn: list[FloatArray]) -> FloatArray:
        """Prevalences of both cells, ``(draws, cells, groups)``."""
        found = [c.prevalences(name, w) for c, w in zip(self.cells, drawn, strict=True)]
        return np.stack(found, axis=1)

    def _disparity(self, prevalences: FloatArray, drawn: list[FloatArray]) -> FloatArray:
        sizes = np.stack([w.sum(axis=1) for w in drawn], axis=1)
        if self.options.smoothing:
            shares = np.stack([c.trained.shares for c in self.cells])
            prevalences = disparity.smooth(prevalences, sizes, shares)
        return _parity(prevalences * sizes[..., None])

    def _intervals(
        self, kept: NDArray[np.bool_], drawn: list[FloatArray], prevalences: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the interval of each draw, NaN where there is none."""
        ends = np.full((2, len(kept)), np.nan)
        for d in range(intervals_sought(len(kept), len(self.people.groups))):
            if np.isfinite(prevalences[d]).all():
                weights = [w[d] for w in drawn]
                ends[:, d] = self._interval(weights, prevalences[d], self._distinct(kept[d]))
        return ends[0], ends[1]

    def _interval(
        self, drawn: list[FloatArray], prevalences: FloatArray, distinct: float
    ) -> tuple[float, float]:
        groups = len(self.people.groups)
        estimates = {}
        for cell, scored, weights, q in zip(DECISIONS, self.cells, drawn, prevalences, strict=True):
            people = float(weights.sum() ** 2 / (weights**2).sum()) * distinct
            estimates[cell] = CellEstimate(
                q,
                float(weights.sum()),
                np.zeros(groups),
                np.empty((0, groups)),
                scored.moments(weights, people, self.options),
                people,
                scored.trained.shares if self.options.smoothing else None,
            )
        kind = disparity.kinds(signed=True, groups=groups)["difference"]
        spread = spread_of(estimates, self.options)
        found = disparity_figure(spread, ("selection_rate",), kind, groups)
        if found.low is None or found.high is None:
            return np.nan, np.nan
        return found.low, found.high

    def _distinct(self, kept: NDArray[np.bool_]) -> float:
        """Distinct people as a share of the drawn rows."""
        if self.people.clusters is None:
            return 1.0
        return len(np.unique(self.people.clusters[kept])) / int(kept.sum())


def _tilted(scores: FloatArray, tilt: FloatArray) -> FloatArray:
    """Multiply the odds of the groups."""
    moved = scores * tilt
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def _parity(counts: FloatArray) -> FloatArray:
    """Demographic parity difference of counts by cell and group, ``(draws, cells, groups)``."""
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = disparity.group_rates(counts)["selection_rate"]
        return disparity.difference(rates, signed=True)
