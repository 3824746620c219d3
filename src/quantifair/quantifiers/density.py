"""KDEy: maximum likelihood with kernel densities of the groups' scores."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.fft import dct, idct

from quantifair.errors import InputError
from quantifair.quantifiers.base import Labelled, Quantifier, axes, bins_of
from quantifair.quantifiers.em import most_likely
from quantifair.sketch import NESTED_BINS

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray, IntArray
    from quantifair.sketch import Points

_REACH = 13.5
"""Log odds of the outermost of the sketch's bins, and a little more."""

_CELLS = 2500
_CENTRES = ((np.arange(_CELLS) + 0.5) / _CELLS * 2 - 1) * _REACH
_NARROWEST = 4 * _REACH / _CELLS
_NOBODY = 1e-9
"""Densities below this part of the highest are rounding errors of the cosine transform."""


class KDEy(Quantifier):
    """Kernel density estimation: the mixture of smoothed score densities that fits best.

    With f_s the kernel density of the log odds of group s's auxiliary scores it maximises

        mean over the deployment of log( sum_s q(s) * f_s(log odds) )

    over the simplex. Kernels that smooth the groups' scores but not the deployment's fit best at
    the wrong prevalences, the more so the less the groups' scores differ. So the deployment is
    smoothed as well, which makes the estimate consistent whatever the bandwidth; by default it is
    0.6 standard deviations of the log odds within the groups.

    Two groups have one score. With more, the log-likelihoods of all groups' scores are added.
    Densities are on a grid of 2,500 cells, into which the sketch's bins are counted, so that the
    cost does not grow with the number of people, and rows and sketches give the same answer.
    Needs no calibration; assumes prior shift.

    Parameters
    ----------
    bandwidth
        Standard deviation of the Gaussian kernel in log odds; ``None`` adapts it.
    smooth_deployment
        Whether to smooth the deployment's scores too. If false it is the authors' KDEy-ML,
        on log odds.

    References
    ----------
    Moreo, González, del Coz (2024), Kernel density estimation for multiclass quantification,
    arXiv:2401.00490.

    Examples
    --------
    >>> scores, groups = [0.2, 0.3, 0.7, 0.8], ["f", "f", "m", "m"]
    >>> KDEy().fit(scores, groups).predict([0.2, 0.3, 0.7, 0.8, 0.7, 0.8]).round(2).tolist()
    [0.33, 0.67]
    """

    adjusts: ClassVar[bool] = True

    bandwidth_: FloatArray
    densities_: FloatArray

    def __init__(self, *, bandwidth: float | None = None, smooth_deployment: bool = True) -> None:
        self.bandwidth = bandwidth
        self.smooth_deployment = smooth_deployment

    def learn(self, auxiliary: Labelled) -> None:
        """Keep the densities of each group's scores."""
        width: Any = self.bandwidth
        if width is not None and not (isinstance(width, Real) and 0 < float(width) < np.inf):
            raise InputError(f"the bandwidth must be a positive number, not {self.bandwidth!r}")
        bins = [bins_of(auxiliary.points, k)[0][..., None, :] for k in axes(len(self.classes_))]
        people = np.stack([_histograms(own, auxiliary.counts) for own in bins], axis=-3)
        widths = _spread(people) if self.bandwidth is None else self.bandwidth
        shape = (*people.shape[:-2], 1)
        self.bandwidth_ = np.broadcast_to(np.maximum(widths, _NARROWEST), shape[:-1])
        self.densities_ = _smoothed(people, self.bandwidth_[..., None])

    def solve(self, deployment: Points) -> FloatArray:
        """Maximise the likelihood, one replicate after the other."""
        scores = axes(len(self.classes_))
        counts = np.stack([_histograms(*bins_of(deployment, k)) for k in scores], axis=-2)
        if self.smooth_deployment:
            counts = _smoothed(counts, self.bandwidth_)
        return np.asarray(_fitted(self.densities_, counts))


def _histograms(bins: IntArray, weights: FloatArray) -> FloatArray:
    """Weight in each cell of the log odds, ``(..., cells)``, of people in the nested bins."""
    odds = np.log((bins + 0.5) / (NESTED_BINS - bins - 0.5))
    cells = ((odds / _REACH + 1) / 2 * _CELLS).astype(np.int64)
    rows = int(np.prod(weights.shape[:-1]))
    first = np.arange(rows).reshape(*weights.shape[:-1], 1) * _CELLS
    flat = (cells + first).ravel() if weights.ndim > 1 else cells
    counted = np.bincount(flat, weights=weights.ravel(), minlength=rows * _CELLS)
    return np.asarray(counted.reshape(*weights.shape[:-1], _CELLS), dtype=np.float64)


def _spread(people: FloatArray) -> FloatArray:
    """0.6 standard deviations within the groups, of histograms ``(..., groups, bins)``."""
    sizes = people.sum(axis=-1)
    means = people @ _CENTRES / sizes
    within = (people @ _CENTRES**2 - sizes * means**2).sum(axis=-1) / sizes.sum(axis=-1)
    return np.asarray(0.6 * np.sqrt(np.maximum(within, 0.0)))


def _smoothed(people: FloatArray, bandwidth: FloatArray) -> FloatArray:
    """Shares of people, smoothed by a Gaussian that is mirrored at both ends."""
    shares = people / people.sum(axis=-1, keepdims=True)
    frequency = np.pi * np.arange(_CELLS) / (2 * _REACH)
    kernel = np.exp(-0.5 * (bandwidth[..., None] * frequency) ** 2)
    density = idct(dct(shares) * kernel)
    highest = density.max(axis=-1, keepdims=True)
    return np.where(density > _NOBODY * highest, density, 0.0)


def _fit(densities: FloatArray, weights: FloatArray) -> FloatArray:
    """Most likely prevalences, of densities ``(axes, groups, bins)``, weights ``(axes, bins)``."""
    likelihood = np.concatenate(list(densities), axis=-1).T
    total, people = likelihood.sum(axis=1), weights.ravel()
    groups = densities.shape[1]
    seen = (total > 0) & (people > 0)
    if not seen.any():
        return np.full(groups, np.nan)
    relative = likelihood[seen] / total[seen, None] * groups
    start = np.full(groups, 1 / groups)
    return most_likely(relative, people[seen] / people[seen].sum(), start)


_fitted = np.vectorize(_fit, signature="(a,k,g),(a,g)->(k)", otypes=[np.float64])
