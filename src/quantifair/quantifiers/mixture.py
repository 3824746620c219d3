"""HDy: match the histogram of scores by a mixture of the groups' histograms."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from quantifair.quantifiers.base import Labelled, Quantifier, axes, bins_of
from quantifair.sketch import NESTED_BINS, nested_bins

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray, IntArray
    from quantifair.sketch import Points

RESOLUTIONS = np.arange(10, 111, 10)
_STARTS = np.r_[0, np.cumsum(RESOLUTIONS)[:-1]]
_WIDTH = int(RESOLUTIONS.sum())
_SLICES = [(int(s), int(s + b)) for s, b in zip(_STARTS, RESOLUTIONS, strict=True)]
_MANY = 20_000
_FLAT = 1e-12

EDGES = np.unique(
    np.concatenate([np.arange(b + 1) * (NESTED_BINS // b) for b in RESOLUTIONS.tolist()])
)
"""Edges of the common refinement of the eleven histograms, in nested bins."""


class HDy(Quantifier):
    """Hellinger distance between score histograms.

    For each of the histograms of 10, 20, ..., 110 equal bins, the alpha on a grid of
    steps of 1/100 at which the auxiliary mixture is nearest to the deployment,

        alpha = argmin HD(alpha V1 + (1 - alpha) V0, U);

    the median of the eleven is the prevalence. More groups are matched one against the rest and
    normalised. Bins are closed on the right and nest inside the sketch's, so that rows and
    sketches give the same answer.

    References
    ----------
    González-Castro, Alaiz-Rodríguez, Alegre (2013), Class distribution estimation based on the
    Hellinger distance, doi:10.1016/j.ins.2012.05.028.

    Examples
    --------
    >>> scores, groups = [0.2, 0.3, 0.7, 0.8], ["f", "f", "m", "m"]
    >>> HDy().fit(scores, groups).predict([0.2, 0.3, 0.7, 0.8, 0.7, 0.8]).round(2).tolist()
    [0.33, 0.67]
    """

    adjusts: ClassVar[bool] = True
    steps: ClassVar[int] = 100

    inside_: FloatArray
    outside_: FloatArray
    mixtures_: list[FloatArray] | None

    def learn(self, auxiliary: Labelled) -> None:
        """Keep the histograms of each group's score inside and outside the group."""
        inside, outside = [], []
        for k in axes(len(self.classes_)):
            own = _histograms(nested_bins(auxiliary.points.scores[..., k]), auxiliary.counts)
            inside.append(own[..., k, :])
            outside.append(own.sum(axis=-2) - own[..., k, :])
        self.inside_ = _normalised(np.stack(inside, axis=-2))
        self.outside_ = _normalised(np.stack(outside, axis=-2))
        # Replicates would need 0.5 MB each, so that only a single fit keeps its mixtures.
        self.mixtures_ = None
        if self.inside_.ndim == 2:
            both = zip(self.inside_, self.outside_, strict=True)
            self.mixtures_ = [_root_mixtures(*h, self.steps) for h in both]

    def solve(self, deployment: Points) -> FloatArray:
        """Search the grid for each axis."""
        observed = np.stack(
            [self._observed(deployment, k) for k in axes(len(self.classes_))], axis=-2
        )
        if self.mixtures_ is None:
            found = _search(self.inside_, self.outside_, observed, self.steps)
        else:
            flat = zip(cycle(self.mixtures_), observed.reshape(-1, _WIDTH), strict=False)
            nearest = [_nearest(m, u, self.steps) for m, u in flat]
            found = np.array(nearest).reshape(observed.shape[:-1])
        if found.shape[-1] == 1:
            return np.concatenate([1 - found, found], axis=-1)
        with np.errstate(invalid="ignore"):
            return np.asarray(found / found.sum(axis=-1, keepdims=True))

    def _observed(self, deployment: Points, k: int) -> FloatArray:
        return _normalised(_histograms(*bins_of(deployment, k)))


def _histograms(bins: IntArray, weights: FloatArray) -> FloatArray:
    """All eleven histograms side by side, shape ``(..., 660)``."""
    if bins.ndim > 1:
        return _separate_histograms(bins, weights)
    if weights.ndim == 1 and len(bins) > _MANY:
        fine = np.bincount(bins, weights=weights, minlength=NESTED_BINS)
        return np.concatenate([fine.reshape(b, -1).sum(axis=1) for b in RESOLUTIONS])
    columns = bins[:, None] // (NESTED_BINS // RESOLUTIONS) + _STARTS
    if weights.ndim == 1:
        repeated = np.repeat(weights, len(RESOLUTIONS))
        counted = np.bincount(columns.ravel(), weights=repeated, minlength=_WIDTH)
        return np.asarray(counted, dtype=np.float64)
    ones = np.ones(columns.size)
    rows = np.arange(0, columns.size + 1, len(RESOLUTIONS))
    spread = csr_matrix((ones, columns.ravel(), rows), shape=(len(bins), _WIDTH))
    flat = spread.T @ weights.reshape(-1, len(bins)).T
    return np.asarray(flat.T).reshape(*weights.shape[:-1], _WIDTH)


def _separate_histograms(bins: IntArray, weights: FloatArray) -> FloatArray:
    """Histograms where each replicate has bins of its own, by way of their common refinement."""
    fine = np.searchsorted(EDGES, bins, side="right") - 1
    if weights.ndim > bins.ndim:
        fine = np.broadcast_to(fine[..., None, :], weights.shape)
    lead, width = weights.shape[:-1], len(EDGES) - 1
    first = np.arange(int(np.prod(lead))).reshape(*lead, 1) * width
    size = int(np.prod(lead)) * width
    counted = np.bincount((fine + first).ravel(), weights=weights.ravel(), minlength=size)
    merged = np.arange(width)[:, None], EDGES[:-1, None] // (NESTED_BINS // RESOLUTIONS) + _STARTS
    belongs = np.zeros((width, _WIDTH))
    belongs[merged] = 1.0
    return np.asarray((counted.reshape(-1, width) @ belongs).reshape(*lead, _WIDTH))


def _normalised(histograms: FloatArray) -> FloatArray:
    total = histograms[..., : RESOLUTIONS[0]].sum(axis=-1, keepdims=True)
    return np.asarray(histograms / total)


def _root_mixtures(inside: FloatArray, outside: FloatArray, steps: int) -> FloatArray:
    """Square roots of the mixtures at each alpha of the grid, ``(steps + 1, 660)``."""
    alpha = np.linspace(0, 1, steps + 1)[:, None]
    return np.asarray(np.sqrt(alpha * inside + (1 - alpha) * outside))


def _search(
    inside: FloatArray, outside: FloatArray, observed: FloatArray, steps: int
) -> FloatArray:
    """Find each replicate's nearest mixture as ``_nearest`` does, without building all of them.

    The affinity is concave in alpha, so bisection finds the first of its maxima on the grid.
    """
    roots = np.sqrt(observed)

    def affinity(step: IntArray | float) -> FloatArray:
        alpha = np.repeat(np.asarray(step) / steps, RESOLUTIONS, axis=-1)
        mixed = np.sqrt(alpha * inside + (1 - alpha) * outside) * roots
        return np.asarray(np.add.reduceat(mixed, _STARTS, axis=-1))

    shape = (*np.broadcast_shapes(inside.shape, observed.shape)[:-1], len(RESOLUTIONS))
    low, high = np.zeros(shape, dtype=np.int64), np.full(shape, steps)
    while (low < high).any():
        middle = (low + high) // 2
        rising = affinity(np.minimum(middle + 1, steps)) > affinity(middle)
        low, high = np.where(rising, middle + 1, low), np.where(rising, high, middle)
    ends = np.stack([affinity(np.full(shape, k)) for k in (0, steps)])
    rise = np.maximum(affinity(low), ends.max(axis=0)) - ends.min(axis=0)
    found = np.median(low, axis=-1) / steps
    return np.asarray(np.where(rise.max(axis=-1) > _FLAT, found, np.nan))


def _nearest(mixtures: FloatArray, observed: FloatArray, steps: int) -> float:
    """HD^2 = 2 - 2 sum sqrt(mixture * observed), so the nearest has the largest affinity.

    NaN where all mixtures are as near in every histogram, or a group is absent.
    """
    roots = np.sqrt(observed)
    affinities = np.array([mixtures[:, s:e] @ roots[s:e] for s, e in _SLICES])
    if not np.ptp(affinities, axis=1).max() > _FLAT:
        return float("nan")
    return float(np.median(np.argmax(affinities, axis=1))) / steps
