"""HDy: match the histogram of scores by a mixture of the groups' histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from quantifair.errors import NotIdentifiedError
from quantifair.quantifiers.base import Labelled, Quantifier
from quantifair.sketch import NESTED_BINS, nested_bins

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray, IntArray
    from quantifair.sketch import Points

RESOLUTIONS = np.arange(10, 111, 10)
_STARTS = np.r_[0, np.cumsum(RESOLUTIONS)[:-1]]
_WIDTH = int(RESOLUTIONS.sum())


class HDy(Quantifier):
    r"""Hellinger distance between score histograms.

    For each of the histograms of 10, 20, ..., 110 equal bins, the :math:`\alpha` on a grid of
    steps of 1/100 at which the auxiliary mixture is nearest to the deployment,

    .. math:: \alpha^* = \arg\min_\alpha \mathrm{HD}(\alpha V^{1} + (1-\alpha) V^{0}, U);

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

    def learn(self, auxiliary: Labelled) -> None:
        """Keep the histograms of each group's score inside and outside the group."""
        inside, outside = [], []
        for k in self._axes():
            own = _histograms(nested_bins(auxiliary.points.scores[:, k]), auxiliary.counts)
            inside.append(own[..., k, :])
            outside.append(own.sum(axis=-2) - own[..., k, :])
        self.inside_ = _normalised(np.stack(inside, axis=-2))
        self.outside_ = _normalised(np.stack(outside, axis=-2))

    def solve(self, deployment: Points) -> FloatArray:
        """Search the grid for each axis."""
        observed = np.stack([self._observed(deployment, k) for k in self._axes()], axis=-2)
        shape = observed.shape[:-1]
        triples = [
            np.broadcast_to(h, observed.shape).reshape(-1, _WIDTH)
            for h in (self.inside_, self.outside_, observed)
        ]
        nearest = [_nearest(*triple, steps=self.steps) for triple in zip(*triples, strict=True)]
        found: FloatArray = np.array(nearest).reshape(shape)
        if shape[-1] == 1:
            return np.concatenate([1 - found, found], axis=-1)
        total = found.sum(axis=-1, keepdims=True)
        if found.ndim == 1 and not total.all():
            raise NotIdentifiedError(
                "HDy finds no group present: the scores look like none of them"
            )
        with np.errstate(invalid="ignore"):
            return np.asarray(found / total)

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


def _nearest(inside: FloatArray, outside: FloatArray, observed: FloatArray, *, steps: int) -> float:
    """HD^2 = 2 - 2 sum sqrt(mixture * observed), so the nearest has the largest affinity."""
    alpha = np.linspace(0, 1, steps + 1)[:, None]
    affinity = np.sqrt((alpha * inside + (1 - alpha) * outside) * observed)
    best = np.add.reduceat(affinity, _STARTS, axis=1).argmax(axis=0)
    return float(np.median(alpha[best, 0]))
