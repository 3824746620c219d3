"""EDy: match the distribution of scores by energy distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.quantifiers.adjusted import invert, nearest_shares
from quantifair.quantifiers.base import Labelled, Quantifier, axes, bins_of
from quantifair.sketch import NESTED_BINS

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray, IntArray
    from quantifair.sketch import Points

_FLAT = 1e-12


class EDy(Quantifier):
    """Energy distance between the deployment's scores and a mixture of the groups'.

        q = argmin  2 E|X_q - U| - E|X_q - X_q'| - E|U - U'|

    where U is the score of a random person of the deployment, X_q that of a random auxiliary
    person when group s is drawn with probability q(s), and a dash marks a second, independent
    draw. The distance of two score vectors is the sum over their entries (of which two groups
    have one), so that everything follows from sorted scores in O(n log n). It is a quadratic in
    q, minimised over the simplex in closed form. Scores are read to the sketch's 1/277,200, so
    that rows and sketches give the same answer.

    No bins or bandwidths to choose, and no calibration needed; assumes prior shift.

    References
    ----------
    Kawakubo, du Plessis, Sugiyama (2016), Computationally efficient class-prior estimation under
    class balance change using energy distance, doi:10.1587/transinf.2015EDP7212. Castaño,
    Morán-Fernández, Alonso, Bolón-Canedo, Alonso-Betanzos, del Coz (2018), An analysis of
    quantification methods based on matching distributions.

    Examples
    --------
    >>> scores, groups = [0.2, 0.4, 0.6, 0.8], ["f", "f", "m", "m"]
    >>> EDy().fit(scores, groups).predict([0.2, 0.8, 0.6, 0.6]).round(3).tolist()
    [0.333, 0.667]
    """

    knots_: FloatArray
    distances_: FloatArray
    between_: FloatArray

    def learn(self, auxiliary: Labelled) -> None:
        """Keep each group's mean distance to any score, a line between two auxiliary scores."""
        bins = [bins_of(auxiliary.points, k)[0] for k in axes(len(self.classes_))]
        curves = [_curves(own, auxiliary.counts) for own in bins]
        self.knots_ = np.stack([knots for knots, _, _ in curves])
        self.distances_ = np.stack([distances for _, distances, _ in curves])
        shares = np.stack([s for _, _, s in curves])
        self.between_ = np.asarray((self.distances_ @ shares.swapaxes(-1, -2)).sum(axis=0))

    def solve(self, deployment: Points) -> FloatArray:
        """Set the gradient along the simplex to zero."""
        observed = sum(self._mean_distances(deployment, k) for k in range(len(self.knots_)))
        groups = self.between_.shape[-1]
        gap = self.between_[..., :1, :] - self.between_
        gap = np.where(np.abs(gap) < _FLAT, 0.0, gap)
        gap[..., 0, :] = 1.0
        target = np.asarray(observed)[..., :1] - observed
        target[..., 0] = 1.0
        if groups > 2:
            return invert(gap, target)
        slope = gap[..., 1, 1] - gap[..., 1, 0]
        second = (target[..., 1] - gap[..., 1, 0]) / np.where(slope > _FLAT, slope, np.nan)
        return np.stack([1 - second, second], axis=-1)

    def project(self, raw: FloatArray) -> FloatArray:
        """Minimise over the simplex: the distance grows as a quadratic around ``raw``."""
        if raw.shape[-1] == 2:
            return np.clip(raw, 0.0, 1.0)
        centred = -(self.between_ - self.between_.mean(axis=-1, keepdims=True))
        centred = centred - centred.mean(axis=-2, keepdims=True)
        values, vectors = np.linalg.eigh(np.nan_to_num(centred))
        roots = np.sqrt(np.maximum(values, 0.0))[..., None] * vectors.swapaxes(-1, -2)
        return nearest_shares(roots, raw)

    def _mean_distances(self, deployment: Points, axis: int) -> FloatArray:
        """Mean distance of the deployment's scores to each group's, ``(..., groups)``."""
        bins, weights = bins_of(deployment, axes(len(self.classes_))[axis])
        if weights.ndim == 1 and len(weights) > NESTED_BINS:
            people = np.bincount(bins, weights=weights, minlength=NESTED_BINS)
            bins, weights = np.arange(NESTED_BINS), people.astype(np.float64)
        placed = _placed(self.knots_[axis], bins, weights)
        distances = (self.distances_[axis] @ placed[..., None])[..., 0]
        return np.asarray(distances / weights.sum(axis=-1)[..., None])


def _curves(bins: IntArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return sorted bins, each group's mean distance to them, and its share of people in them.

    A mean distance is linear from one bin to the next; the ends of the scale are added, so that
    no score lies outside.
    """
    ends = np.broadcast_to([0, NESTED_BINS - 1], (*bins.shape[:-1], 2))
    knots = np.concatenate([bins, ends], axis=-1)
    order = np.argsort(knots, axis=-1, kind="stable")
    knots = np.take_along_axis(knots, order, axis=-1) / NESTED_BINS
    people = np.concatenate([counts, np.zeros((*counts.shape[:-1], 2))], axis=-1)
    places = np.broadcast_to(order[..., None, :], people.shape)
    people = np.take_along_axis(people, places, axis=-1)
    shares = people / people.sum(axis=-1, keepdims=True)
    at = knots[..., None, :]
    below, moment = shares.cumsum(axis=-1), (shares * at).cumsum(axis=-1)
    distances = at * (2 * below - 1) + moment[..., -1:] - 2 * moment
    return knots, distances, shares


def _place(knots: FloatArray, bins: IntArray, weights: FloatArray) -> FloatArray:
    """Split each weight among the two knots around its bin, so that lines keep their mean."""
    at = bins / NESTED_BINS
    right = np.clip(np.searchsorted(knots, at), 1, len(knots) - 1)
    gap = knots[right] - knots[right - 1]
    part = np.divide(at - knots[right - 1], gap, out=np.ones_like(at), where=gap > 0) * weights
    placed = np.bincount(right, weights=part, minlength=len(knots))
    return np.asarray(placed + np.bincount(right - 1, weights - part, minlength=len(knots)))


_placed = np.vectorize(_place, signature="(k),(n),(n)->(k)", otypes=[np.float64])
