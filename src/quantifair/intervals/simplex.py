"""Many groups: the extremes of rates over the prevalences that are not ruled out.

A region's extreme is found by sequential quadratic programming: the deviance is replaced by its
Gauss-Newton model, over which a linear function is extreme in closed form; then both are taken
anew. A faint logarithmic barrier keeps prevalences positive. All extremes are sought at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from quantifair.intervals.moments import Moments
    from quantifair.quantifiers.base import FloatArray

    Gradient = Callable[[FloatArray], FloatArray]

_BARRIER = 1e-4
_STEPS = 25
_HALVINGS = 30
_NEAR_EDGE = 0.9

_LEAST_VARIANCE = 1e-8
"""Keeps a system in which strangers trade off with prevalences solvable for perfect scores."""


@dataclass(frozen=True, eq=False)
class Region:
    """What several cells say together of their prevalences.

    Attributes
    ----------
    cells
        The moments of each.
    shared
        Whether all cells learn from the same auxiliary people, so that their errors go together.
    """

    cells: tuple[Moments, ...]
    shared: bool = False

    least: ClassVar[float] = 1e-9
    """Least prevalence that is looked at."""

    def deviance(self, prevalences: FloatArray) -> FloatArray:
        """Deviance of prevalences of shape ``(..., cells, groups)``."""
        excess, covariance = self.equations(prevalences)
        return np.asarray((excess * _solve(covariance, excess)).sum(axis=-1))

    def model(self, prevalences: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the deviance, its gradient and its Gauss-Newton Hessian.

        The derivatives are those by the prevalences of all groups but the first, cell after cell.
        """
        excess, covariance = self.equations(prevalences)
        by_cell = _solve(covariance, excess).reshape(*prevalences.shape[:-1], -1)
        gradient = self.gradient(prevalences, by_cell)
        design = self.design(prevalences.shape[-1])
        hessian = 2 * design.T @ np.linalg.solve(covariance, design)
        value = (excess * by_cell.reshape(excess.shape)).sum(axis=-1)
        return np.asarray(value), free(gradient), np.asarray(hessian)

    def gradient(self, prevalences: FloatArray, by_cell: FloatArray) -> FloatArray:
        """Derivatives of the deviance; ``by_cell`` is the excess over its covariance."""
        mixed = prevalences[..., None] * by_cell[..., None, :]
        if self.shared:
            mixed = np.broadcast_to(mixed.sum(axis=-3, keepdims=True), mixed.shape)
        gradient = np.empty(prevalences.shape)
        for c, cell in enumerate(self.cells):
            within = np.einsum(
                "...i,gij,...j->...g", by_cell[..., c, :], cell.within, by_cell[..., c, :]
            )
            sampled = np.einsum(
                "...i,gij,...gj->...g", by_cell[..., c, :], cell.sampling, mixed[..., c, :, :]
            )
            gradient[..., c, :] = (
                -2 * by_cell[..., c, :] @ cell.means.T - within / cell.people - 2 * sampled
            )
        return gradient

    def design(self, groups: int) -> FloatArray:
        """Derivative of the expected scores by the free prevalences, cell after cell."""
        scores = [c.scores for c in self.cells]
        design = np.zeros((sum(scores), (groups - 1) * len(self.cells)))
        for c, cell in enumerate(self.cells):
            rows = slice(sum(scores[:c]), sum(scores[: c + 1]))
            design[rows, c * (groups - 1) : (c + 1) * (groups - 1)] = (
                cell.means[1:] - cell.means[0]
            ).T
        return design

    def equations(self, prevalences: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return all cells' excess and its covariance."""
        own = [prevalences[..., c, :] for c in range(len(self.cells))]
        excess = [cell.excess(q) for cell, q in zip(self.cells, own, strict=True)]
        size = self.cells[0].scores
        covariance = np.zeros((*own[0].shape[:-1], size * len(own), size * len(own)))
        for i, cell in enumerate(self.cells):
            rows = slice(i * size, (i + 1) * size)
            covariance[..., rows, rows] = cell.covariance(own[i])
            for j in range(i) if self.shared else ():
                columns = slice(j * size, (j + 1) * size)
                both = np.einsum("...g,gij->...ij", own[i] * own[j], cell.sampling)
                covariance[..., rows, columns] = both
                covariance[..., columns, rows] = both.swapaxes(-1, -2)
        return np.concatenate(excess, axis=-1), covariance


@dataclass(frozen=True, eq=False)
class Contaminated(Region):
    """The same where a share of each group's people in the deployment may be anybody.

    Below the cells' prevalences stand as many rows more: the mean scores of those people, which
    are a point of the simplex too.

    Attributes
    ----------
    share
        How many of each group may be anybody.
    """

    share: float = 0.0

    least: ClassVar[float] = 1e-6
    """Higher, as prevalences and strangers trade off, and only the barrier holds them apart."""

    def deviance(self, prevalences: FloatArray) -> FloatArray:
        """Deviance of prevalences and strangers' scores, ``(..., 2 * cells, groups)``."""
        excess, covariance = self._strange(prevalences)
        return np.asarray((excess * _solve(covariance, excess)).sum(axis=-1))

    def model(self, prevalences: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the deviance, its gradient and its Gauss-Newton Hessian."""
        own = prevalences[..., : len(self.cells), :]
        excess, covariance = self._strange(prevalences)
        by_cell = _solve(covariance, excess).reshape(*own.shape[:-1], -1)
        theirs = np.concatenate([np.zeros_like(by_cell[..., :1]), -2 * self.share * by_cell], -1)
        gradient = np.concatenate([self._plain.gradient(own, by_cell), theirs], axis=-2)
        identity = self.share * np.eye(excess.shape[-1])
        design = np.concatenate([self._plain.design(own.shape[-1]), identity], axis=1)
        hessian = 2 * design.T @ np.linalg.solve(covariance, design)
        value = (excess * by_cell.reshape(excess.shape)).sum(axis=-1)
        return np.asarray(value), free(gradient), np.asarray(hessian)

    @cached_property
    def _plain(self) -> Region:
        """The rest of the people, of whom the usual equations hold."""
        rest = [cell.contaminated(self.share, np.zeros(cell.scores)) for cell in self.cells]
        return Region(tuple(rest), self.shared)

    def _strange(self, prevalences: FloatArray) -> tuple[FloatArray, FloatArray]:
        count = len(self.cells)
        excess, covariance = self._plain.equations(prevalences[..., :count, :])
        theirs = prevalences[..., count:, 1:].reshape(excess.shape)
        floor = _LEAST_VARIANCE * np.eye(excess.shape[-1])
        return excess - self.share * theirs, covariance + floor


def free(gradient: FloatArray) -> FloatArray:
    """Derivatives by all groups but the first, whose prevalence is what the others leave."""
    reduced = gradient[..., 1:] - gradient[..., :1]
    return np.asarray(reduced.reshape(*reduced.shape[:-2], -1))


def least(region: Region, start: FloatArray) -> tuple[FloatArray, float]:
    """Return the prevalences of least deviance and that deviance."""
    nothing = np.zeros((1, *start.shape))
    found = _climb(region, start[None], lambda _: nothing, 0.0)
    return found[0], float(region.deviance(found)[0])


def extremes(
    region: Region, start: FloatArray, gradient: Gradient, count: int, most: float
) -> FloatArray:
    """Return the points of a region where functions are greatest, ``(count, cells, groups)``.

    Parameters
    ----------
    region
        The cells.
    start
        Prevalences of least deviance, shape ``(cells, groups)``.
    gradient
        Gradients of the functions, one at each of ``count`` points.
    count
        Number of functions.
    most
        Deviance, above the least, that the region allows.
    """
    bound = float(region.deviance(start)) + most
    found = _climb(region, np.repeat(start[None], count, axis=0), gradient, bound)
    return _pulled_back(region, found, start, bound)


def _climb(region: Region, q: FloatArray, gradient: Gradient, bound: float) -> FloatArray:
    q = _inside(q, region.least)
    for _ in range(_STEPS):
        value, slope, hessian = _with_barrier(region, q)
        towards = free(gradient(q))
        both = np.linalg.solve(hessian, np.stack([slope, towards], axis=-1))
        down, up = both[..., 0], both[..., 1]
        room = 2 * (bound - value) + (slope * down).sum(axis=-1)
        gain = (towards * up).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.sqrt(np.where((gain > 0) & (room > 0), room / gain, 0.0))
        step = factor[..., None] * up - down
        q = _moved(q, _unfree(step, q.shape), region.least)
    return q


def _with_barrier(region: Region, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    value, slope, hessian = region.model(q)
    slope = slope + free(-2 * _BARRIER / q)
    curvature = 2 * _BARRIER / q**2
    count, groups = q.shape[-2:]
    for c in range(count):
        own = slice(c * (groups - 1), (c + 1) * (groups - 1))
        hessian[..., own, own] += curvature[..., c, :1, None]
        diagonal = np.arange(own.start, own.stop)
        hessian[..., diagonal, diagonal] += curvature[..., c, 1:]
    return value - 2 * _BARRIER * np.log(q).sum(axis=(-1, -2)), slope, hessian


def _unfree(step: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    others = step.reshape(*shape[:-1], shape[-1] - 1)
    return np.concatenate([-others.sum(axis=-1, keepdims=True), others], axis=-1)


def _moved(q: FloatArray, step: FloatArray, least: float) -> FloatArray:
    """Go no more than most of the way to where a prevalence would be negative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(step < 0, -q / step, np.inf).min(axis=(-1, -2))
    return _inside(q + np.minimum(1.0, _NEAR_EDGE * reach)[..., None, None] * step, least)


def _inside(q: FloatArray, least: float) -> FloatArray:
    kept = np.maximum(q, least)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def _pulled_back(region: Region, q: FloatArray, start: FloatArray, bound: float) -> FloatArray:
    """Bisect between the start and points outside the region."""
    low, high = np.zeros(len(q)), np.ones(len(q))
    high[region.deviance(q) <= bound] = 0.0
    low[high == 0.0] = 1.0
    for _ in range(_HALVINGS):
        middle = np.where(high > 0, (low + high) / 2, low)
        inside = region.deviance(start + middle[:, None, None] * (q - start)) <= bound
        low, high = np.where(inside, middle, low), np.where(inside | (high == 0), high, middle)
    return np.asarray(start + low[:, None, None] * (q - start))


def _solve(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(matrix, vector[..., None])[..., 0])
