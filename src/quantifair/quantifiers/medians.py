"""Medians of a density on the simplex, known up to a factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray

Density = Callable[["FloatArray"], "FloatArray"]
"""Logarithm of a density, of prevalences ``(many, groups)``."""

_CELLS = 64
_FINAL = 256
_NARROWEST = 1e-9
_NEGLIGIBLE = 30.0
_WALKERS = 64
_ROUNDS = 6
_STEPS = 50
_JITTER = 1e-18


def line_median(likelihood: Density, prior: Callable[[FloatArray], FloatArray]) -> float:
    """Return the median of the second of two groups' prevalence.

    Parameters
    ----------
    likelihood
        Log-likelihood of prevalences; has one peak.
    prior
        Log of the prior probability between each two neighbours of increasing prevalences.
    """
    low, high, cells = 0.0, 1.0, _CELLS
    while True:
        edges = np.linspace(low, high, cells + 1)
        middle = (edges[1:] + edges[:-1]) / 2
        mass = likelihood(np.column_stack([1 - middle, middle])) + prior(edges)
        kept = np.flatnonzero(mass > mass.max() - _NEGLIGIBLE)
        first, last = max(kept[0] - 1, 0), min(kept[-1] + 2, cells)
        if cells == _FINAL:
            break
        # The cells around the peak are looked at again, finer, until it fills most of them.
        if last - first > cells // 2 or high - low < _NARROWEST:
            cells = _FINAL
        low, high = float(edges[first]), float(edges[last])
    total = np.append(0.0, np.exp(mass - mass.max()).cumsum())
    return float(np.interp(total[-1] / 2, total, edges))


def simplex_medians(density: Density, start: FloatArray, people: float) -> FloatArray:
    """Return the median of each group's prevalence, renormalised.

    A random walk of 64 walkers, whose steps take the shape of where the walkers have been. The seed
    is fixed and groups are taken by size, so that the same density gives the same medians whatever
    the order of its groups. They lie within about a tenth of its standard deviation.

    Parameters
    ----------
    density
        Log of the density.
    start
        Prevalences near its peak, all positive.
    people
        How many the walkers first spread around ``start`` like a sample of.

    References
    ----------
    Haario, Saksman, Tamminen (2001), An adaptive Metropolis algorithm, doi:10.2307/3318737.
    """
    order = np.argsort(-start)
    back, rng = np.argsort(order), np.random.default_rng(0)

    def height(others: FloatArray) -> FloatArray:
        first = 1 - others.sum(axis=1, keepdims=True)
        inside = (others > 0).all(axis=1) & (first[:, 0] > 0)
        prevalences = np.where(inside[:, None], np.hstack([first, others])[:, back], start)
        return np.where(inside, density(prevalences), -np.inf)

    walkers = rng.dirichlet(1 + people * start[order], size=_WALKERS)[:, 1:]
    for _ in range(_ROUNDS):
        walkers = _walk(height, walkers[-_WALKERS:], rng, _STEPS)
    seen = _walk(height, walkers[-_WALKERS:], rng, _STEPS * len(start), np.cov(walkers.T))
    medians = np.median(np.column_stack([1 - seen.sum(axis=1), seen]), axis=0)[back]
    return np.asarray(medians / medians.sum())


def _walk(
    height: Density,
    walkers: FloatArray,
    rng: np.random.Generator,
    steps: int,
    shape: FloatArray | None = None,
) -> FloatArray:
    """Metropolis steps of all walkers; returns where they were, the last places at the end.

    Walkers do not see each other on the way, as their differences would blow up rounding errors.
    """
    size = walkers.shape[1]
    covariance = np.atleast_2d(np.cov(walkers.T) if shape is None else shape)
    scale = 2.38 / np.sqrt(size) * np.linalg.cholesky(covariance + _JITTER * np.eye(size))
    heights, seen = height(walkers), []
    for _ in range(steps):
        proposed = walkers + rng.normal(size=walkers.shape) @ scale.T
        new = height(proposed)
        taken = np.log(rng.uniform(size=len(walkers))) < new - heights
        walkers = np.where(taken[:, None], proposed, walkers)
        heights = np.where(taken, new, heights)
        seen.append(walkers)
    return np.concatenate(seen)
