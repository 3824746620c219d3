"""What every method says of a block of trials: one vectorised call for each method and cell."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import clone

from quantifair.experiments.folds import two_sided
from quantifair.quantifiers import Labelled
from quantifair.sketch import Points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.fits import Fits
    from quantifair.experiments.methods import Method, Training
    from quantifair.experiments.parts import Part

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]
    Score = Callable[[FloatArray, IntArray], NDArray[Any]]

T = TypeVar("T", bound=np.generic)


class Seen(NamedTuple):
    """What one kind of classifier says in each trial.

    Attributes
    ----------
    auxiliary
        Scores and groups of the people that quantifiers learn from; where all trials share them,
        once for all.
    deployment
        Scores of the people to be quantified.
    broken
        Where the scores are no probabilities, and calibration could not make them so.
    """

    auxiliary: Labelled
    deployment: Points
    broken: BoolArray


@dataclass(frozen=True, eq=False)
class Block:
    """One cell of some trials.

    Attributes
    ----------
    fits
        The group classifiers.
    samples
        The auxiliary sample of each trial.
    auxiliary, deployment
        The parts.
    rows
        Deployment rows of each trial.
    """

    fits: Fits
    samples: IntArray
    auxiliary: Part
    deployment: Part
    rows: Sequence[IntArray]

    @cached_property
    def _asked(self) -> tuple[IntArray, FloatArray]:
        return _padded(self.rows)

    def seen(self, *, training: Training, hard: bool) -> Seen:
        """Return scores, or decisions as scores of 0 and 1; each kind is made once."""
        if (training, hard) not in self._seen:
            self._seen[training, hard] = self._make(training, hard=hard)
        return self._seen[training, hard]

    @cached_property
    def _seen(self) -> dict[tuple[str, bool], Seen]:
        return {}

    def _make(self, training: Training, *, hard: bool) -> Seen:
        alike = bool((self.samples == self.samples[0]).all())
        learned = self.samples[:1] if alike else self.samples
        if training == "folds":
            return self._crossed(learned, hard=hard)
        fits, held_out = self.fits, training == "held_out"
        models = np.arange(len(fits.samples)) if held_out else fits.people_of
        classifiers = fits.split if held_out else fits.whole
        rows = fits.held if held_out else fits.samples
        known, present = _padded([rows[s] for s in learned])
        score = classifiers.decisions if hard else classifiers.scores
        labelled = self._labelled(
            known, present, _gathered(score, self.auxiliary, models[learned], known)
        )
        asked, weights = self._asked
        scores = _gathered(score, self.deployment, models[self.samples], asked)
        return Seen(labelled, Points(two_sided(scores), weights), np.zeros(len(asked), np.bool_))

    def _crossed(self, learned: IntArray, *, hard: bool) -> Seen:
        crossed, of = self.fits.crossed, self.fits.people_of
        known, present = _padded([self.fits.people[p] for p in of[learned]])
        honest = _padded([crossed.known[p] for p in of[learned]])[0]
        asked, weights = self._asked
        scores = _gathered(crossed.scores, self.deployment, of[self.samples], asked)
        if hard:
            honest, scores = (np.asarray(s > 0.5, dtype=np.float64) for s in (honest, scores))
        labelled = self._labelled(known, present, honest)
        return Seen(labelled, Points(two_sided(scores), weights), crossed.broken[of[self.samples]])

    def _labelled(self, known: IntArray, present: FloatArray, second: FloatArray) -> Labelled:
        groups = self.auxiliary.group[known]
        counts = np.stack([(groups == g) * present for g in (0, 1)], axis=-2)
        return Labelled(Points(two_sided(second), present), counts)

    @property
    def groups(self) -> IntArray:
        """True group of the deployment's people in each trial."""
        return self.deployment.group[self._asked[0]]


def prevalences(method: Method, seen: Seen) -> tuple[FloatArray, FloatArray]:
    """Return the prevalence of the group 1 in each trial, and where it was not identified.

    There, as in the reference implementation, the classifier's own count stands. So it does where
    the scores are no probabilities and the method needs them to be; ``Audit`` refuses to answer.
    """
    quantifier = clone(method.quantifier).fit_labelled(seen.auxiliary)
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        # Stopping SLD early is what the paper does.
        warnings.simplefilter("ignore", RuntimeWarning)
        raw = quantifier.solve(seen.deployment)
        # What reads the auxiliary people alone says it once where all trials share them.
        raw = np.broadcast_to(raw, (*seen.deployment.weights.shape[:-1], raw.shape[-1]))
        found = quantifier.project(raw)[..., 1]
    lost = ~np.isfinite(raw).all(axis=-1)
    if quantifier.adjusts and quantifier.uses_posteriors:
        lost |= seen.broken
    points = seen.deployment
    counted = np.einsum("tn,tn->t", points.weights, points.scores[..., 1])
    return np.where(lost, counted / points.weights.sum(axis=-1), found), lost


def classification(
    method: Method, seen: Seen, prevalence: FloatArray, groups: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return accuracy and F1 of a method that labels people, in each trial.

    F1 is one where the group 1 neither occurs nor is claimed, as in the paper.
    """
    weights = seen.deployment.weights
    said = seen.deployment.scores[..., 1]
    if method.labels == "posteriors":
        said = _corrected_decisions(seen, prevalence)
    right = np.einsum("tn,tn->t", weights, said == groups)
    true_positives = np.einsum("tn,tn->t", weights, said * groups)
    claimed_or_there = np.einsum("tn,tn->t", weights, said + groups)
    with np.errstate(invalid="ignore"):
        f1 = np.where(claimed_or_there > 0, 2 * true_positives / claimed_or_there, 1.0)
    return right / weights.sum(axis=-1), f1


def _corrected_decisions(seen: Seen, prevalence: FloatArray) -> FloatArray:
    """Return whom the posteriors corrected to other prevalences take for the group 1."""
    score, prior = seen.deployment.scores[..., 1], seen.auxiliary.shares[..., 1]
    inside = score * (prevalence / prior)[:, None]
    outside = (1 - score) * ((1 - prevalence) / (1 - prior))[:, None]
    return np.asarray(inside > outside, dtype=np.float64)


def _gathered(score: Score, part: Part, models: IntArray, at: IntArray) -> FloatArray:
    """Score some rows of a part for each trial, by the trial's own classifier."""
    distinct, which = np.unique(models, return_inverse=True)
    second = np.asarray(score(part.features, distinct), dtype=np.float64)
    return np.asarray(second[which[:, None], at])


def _padded(rows: Sequence[NDArray[T]]) -> tuple[NDArray[T], FloatArray]:
    """Stack arrays of unlike length; what fills up has weight zero."""
    found = np.zeros((len(rows), max(map(len, rows))), dtype=rows[0].dtype)
    weights = np.zeros(found.shape)
    for i, r in enumerate(rows):
        found[i, : len(r)] = r
        weights[i, : len(r)] = 1.0
    return found, weights
