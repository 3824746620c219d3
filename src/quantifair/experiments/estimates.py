"""What every method says of a block of trials: one vectorised call for each method and cell."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import clone

from quantifair.quantifiers import Labelled
from quantifair.sketch import Points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.fits import Fits
    from quantifair.experiments.methods import Method
    from quantifair.experiments.parts import Part

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


class Seen(NamedTuple):
    """What one kind of classifier says in each trial.

    Attributes
    ----------
    auxiliary
        Scores and groups of the people that quantifiers learn from.
    deployment
        Scores of the people to be quantified.
    """

    auxiliary: Labelled
    deployment: Points


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

    def seen(self, *, held_out: bool, hard: bool) -> Seen:
        """Return scores, or decisions as scores of 0 and 1."""
        fits, kind = self.fits, (held_out, hard)
        models = self.samples if held_out else fits.whole_of[self.samples]
        classifiers = fits.split if held_out else fits.whole
        rows = fits.held if held_out else fits.samples
        known, present = _padded([rows[s] for s in self.samples])
        distinct, which = np.unique(models, return_inverse=True)
        score = classifiers.decisions if kind[1] else classifiers.scores

        def gather(part: Part, at: IntArray) -> FloatArray:
            second = np.asarray(score(part.features, distinct), dtype=np.float64)
            picked = second[which[:, None], at]
            return np.stack([1 - picked, picked], axis=-1)

        groups = self.auxiliary.group[known]
        counts = np.stack([(groups == g) * present for g in (0, 1)], axis=-2)
        labelled = Labelled(Points(gather(self.auxiliary, known), present), counts)
        asked, weights = self._asked
        return Seen(labelled, Points(gather(self.deployment, asked), weights))

    @property
    def groups(self) -> IntArray:
        """True group of the deployment's people in each trial."""
        return self.deployment.group[self._asked[0]]


def prevalences(method: Method, seen: Seen) -> tuple[FloatArray, FloatArray]:
    """Return the prevalence of the group 1 in each trial, and where it was not identified.

    There, as in the reference implementation, the classifier's own count stands.
    """
    quantifier = clone(method.quantifier).fit_labelled(seen.auxiliary)
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        # Stopping SLD early is what the paper does.
        warnings.simplefilter("ignore", RuntimeWarning)
        raw = quantifier.solve(seen.deployment)
        found = quantifier.project(raw)[..., 1]
    lost = ~np.isfinite(raw).all(axis=-1)
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


def _padded(rows: Sequence[IntArray]) -> tuple[IntArray, FloatArray]:
    """Stack rows of unlike number; what fills up has weight zero."""
    found = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    weights = np.zeros(found.shape)
    for i, r in enumerate(rows):
        found[i, : len(r)] = r
        weights[i, : len(r)] = 1.0
    return found, weights
