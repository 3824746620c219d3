"""Medians of a density on the simplex, known up to a factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.quantifiers.base import FloatArray

Density = Callable[["FloatArray"], "FloatArray"]
"""Logarithm of a density, of prevalences ``(many, groups)``."""

_CELLS = 64
_FINAL = 256
_NARROWEST = 1e-9
_NEGLIGIBLE = 30.0
_WALKERS = 128
_ROUNDS = 4
_STEPS = 30
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


class Part(NamedTuple):
    """A density with one peak, of which several add up.

    Attributes
    ----------
    density
        Its logarithm.
    start
        Prevalences near its peak, all positive.
    people
        How many the walkers first spread around ``start`` like a sample of.
    """

    density: Density
    start: FloatArray
    people: float


def simplex_medians(parts: Sequence[Part]) -> FloatArray:
    """Return the median of each group's prevalence under the sum of the parts, renormalised.

    Each part is seen by a random walk of 128 walkers, whose steps take the shape of where the
    walkers have been, and weighs as much as a normal distribution of that shape and height. The
    seed is fixed and groups are taken by size, so that the same densities give the same medians
    whatever the order of the groups. They lie within about a tenth of the standard deviation.

    References
    ----------
    Haario, Saksman, Tamminen (2001), An adaptive Metropolis algorithm, doi:10.2307/3318737.
    """
    seen, masses = zip(*map(_seen, parts), strict=True)
    shares = np.exp(np.array(masses) - max(masses))
    weights = np.concatenate(
        [np.full(len(s), m / len(s)) for s, m in zip(seen, shares, strict=True)]
    )
    medians = np.array([_weighted_median(v, weights) for v in np.concatenate(seen).T])
    return np.asarray(medians / medians.sum())


def _seen(part: Part) -> tuple[FloatArray, float]:
    """Return where the walkers were, and the logarithm of the part's mass."""
    start = part.start
    order = np.argsort(-start)
    back, rng = np.argsort(order), np.random.default_rng(0)

    def height(others: FloatArray) -> FloatArray:
        first = 1 - others.sum(axis=1, keepdims=True)
        inside = (others > 0).all(axis=1) & (first[:, 0] > 0)
        prevalences = np.where(inside[:, None], np.hstack([first, others])[:, back], start)
        return np.where(inside, part.density(prevalences), -np.inf)

    walkers = rng.dirichlet(1 + part.people * start[order], size=_WALKERS)[:, 1:]
    for _ in range(_ROUNDS):
        walkers = _walk(height, walkers[-_WALKERS:], rng, _STEPS)
    shape = np.atleast_2d(np.cov(walkers.T))
    seen = _walk(height, walkers[-_WALKERS:], rng, _STEPS * len(start), shape)
    spread = np.linalg.slogdet(2 * np.pi * np.atleast_2d(np.cov(seen.T)))[1] / 2
    mass = float(height(seen.mean(axis=0, keepdims=True))[0] + spread)
    return np.column_stack([1 - seen.sum(axis=1), seen])[:, back], mass


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    order = np.argsort(values, kind="stable")
    below = weights[order].cumsum()
    return float(np.interp(below[-1] / 2, below, values[order]))


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
