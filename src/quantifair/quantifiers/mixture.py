"""HDy: match the histogram of scores by a mixture of the groups' histograms."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from quantifair.quantifiers.base import Labelled, Quantifier
from quantifair.sketch import NESTED_BINS, nested_bins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quantifair.quantifiers.base import FloatArray, IntArray
    from quantifair.sketch import Points

RESOLUTIONS = np.arange(10, 111, 10)
_STARTS = np.r_[0, np.cumsum(RESOLUTIONS)[:-1]]
_WIDTH = int(RESOLUTIONS.sum())
_SLICES = [(int(s), int(s + b)) for s, b in zip(_STARTS, RESOLUTIONS, strict=True)]
_MANY = 20_000
_FLAT = 1e-12


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
        for k in self._axes():
            own = _histograms(nested_bins(auxiliary.points.scores[:, k]), auxiliary.counts)
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
        observed = np.stack([self._observed(deployment, k) for k in self._axes()], axis=-2)
        shape = np.broadcast_shapes(observed.shape[:-1], self.inside_.shape[:-1])
        flat = np.broadcast_to(observed, (*shape, _WIDTH)).reshape(-1, _WIDTH)
        mixtures = cycle(self.mixtures_) if self.mixtures_ else self._mixtures(shape)
        nearest = [_nearest(m, u, self.steps) for m, u in zip(mixtures, flat, strict=False)]
        found: FloatArray = np.array(nearest).reshape(shape)
        if shape[-1] == 1:
            return np.concatenate([1 - found, found], axis=-1)
        with np.errstate(invalid="ignore"):
            return np.asarray(found / found.sum(axis=-1, keepdims=True))

    def _mixtures(self, shape: tuple[int, ...]) -> Iterator[FloatArray]:
        inside, outside = (
            np.broadcast_to(h, (*shape, _WIDTH)).reshape(-1, _WIDTH)
            for h in (self.inside_, self.outside_)
        )
        return (_root_mixtures(*h, self.steps) for h in zip(inside, outside, strict=True))

    def _axes(self) -> range:
        """Axes to match: for two groups the second one's score says it all."""
        return range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_))

    def _observed(self, deployment: Points, k: int) -> FloatArray:
        if deployment.marginals is not None:
            bins, weights = deployment.marginals[k]
        elif deployment.bins is not None:
            bins, weights = deployment.bins, deployment.weights
        else:
            bins, weights = nested_bins(deployment.scores[:, k]), deployment.weights
        return _normalised(_histograms(bins, weights))


def _histograms(bins: IntArray, weights: FloatArray) -> FloatArray:
    """All eleven histograms side by side, shape ``(..., 660)``."""
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


def _normalised(histograms: FloatArray) -> FloatArray:
    total = histograms[..., : RESOLUTIONS[0]].sum(axis=-1, keepdims=True)
    return np.asarray(histograms / total)


def _root_mixtures(inside: FloatArray, outside: FloatArray, steps: int) -> FloatArray:
    """Square roots of the mixtures at each alpha of the grid, ``(steps + 1, 660)``."""
    alpha = np.linspace(0, 1, steps + 1)[:, None]
    return np.asarray(np.sqrt(alpha * inside + (1 - alpha) * outside))


def _nearest(mixtures: FloatArray, observed: FloatArray, steps: int) -> float:
    """HD^2 = 2 - 2 sum sqrt(mixture * observed), so the nearest has the largest affinity.

    NaN where all mixtures are as near in every histogram, or a group is absent.
    """
    roots = np.sqrt(observed)
    affinities = np.array([mixtures[:, s:e] @ roots[s:e] for s, e in _SLICES])
    if not np.ptp(affinities, axis=1).max() > _FLAT:
        return float("nan")
    return float(np.median(np.argmax(affinities, axis=1))) / steps
