"""Models that share many rows: one matrix product serves all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.experiments.linear.losses import Loss

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_ROWS = 1_024
"""Rows of a block, whose margins stay in the cache."""
_ITERATIONS = 10
_ROUGHNESS = 0.05


@dataclass(eq=False)
class Wide:
    """Models that weight the same rows differently.

    Attributes
    ----------
    features, rough
        With a last column of ones, shape ``(rows, features)``, in double and single precision.
    targets
        Shape ``(rows, 1)``.
    weights
        Shape ``(rows, models)``.
    ridge
        Penalty of each coefficient.
    loss
        The loss.
    inverse
        Inverse Hessians at an earlier step, renewed by ``solve`` where they have grown too old.
    exactly
        Whether to solve Newton's equations in double precision.
    """

    features: FloatArray
    rough: Any
    targets: FloatArray
    weights: FloatArray
    ridge: FloatArray
    loss: Loss
    inverse: Any = None
    exactly: bool = False

    def derivatives(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradients and the curvature at each row, in single precision."""
        gradient = self.ridge * coef
        curvature: Any = np.empty(self.weights.shape, dtype=np.float32)
        columns = np.ascontiguousarray(coef.T)
        for rows in self._blocks():
            features, weights = self.features[rows], self.weights[rows]
            slope, bend = self.loss.derivatives(features @ columns, self.targets[rows])
            slope *= weights
            gradient += slope.T @ features
            np.multiply(bend, weights, out=curvature[rows], casting="same_kind")
        return gradient, curvature.T

    def solve(self, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
        """Solve by conjugate gradients, preconditioned by Hessians of an earlier step.

        Gradients are exact, so that a step may be rough: it is corrected by the next one.
        """
        if self.exactly:
            return self._solve_exactly(gradient, curvature)
        if self.inverse is None:
            self.inverse = self._inverse_hessians(curvature)
        bends = np.ascontiguousarray(curvature.T)
        step, residual = np.zeros_like(gradient), -gradient
        direction = ready = self._precondition(residual)
        size = np.einsum("md,md->m", residual, ready)
        enough = _ROUGHNESS**2 * size
        for _ in range(_ITERATIONS):
            bent = self._bend(direction, bends)
            along = np.einsum("md,md->m", direction, bent)
            # A model whose step is good enough waits for the others.
            length = np.divide(size, along, out=np.zeros_like(size), where=size > enough)[:, None]
            step += length * direction
            residual -= length * bent
            ready = self._precondition(residual)
            new = np.einsum("md,md->m", residual, ready)
            if (new <= enough).all():
                return step
            turn = np.divide(new, size, out=np.zeros_like(size), where=size > enough)
            direction = ready + turn[:, None] * direction
            size = np.where(size > enough, new, size)
        self.inverse = None
        return step

    def select(self, models: IntArray) -> Wide:
        """Return the batch of some of the models."""
        inverse = None if self.inverse is None else self.inverse[models]
        return replace(self, weights=self.weights[:, models], inverse=inverse)

    def exact(self) -> Wide:
        """Return the batch with steps solved in double precision.

        Single precision loses what the ridge adds in directions that hardly bend.
        """
        return replace(self, exactly=True)

    def _solve_exactly(self, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
        step = np.empty_like(gradient)
        for model, bend in enumerate(curvature):
            rows = np.flatnonzero(bend)
            bent = self.features[rows] * np.sqrt(bend[rows].astype(np.float64))[:, None]
            hessian = bent.T @ bent + np.diag(self.ridge)
            step[model] = np.linalg.solve(hessian, -gradient[model])
        return step

    def _inverse_hessians(self, curvature: FloatArray) -> FloatArray:
        hessian = np.empty((len(curvature), len(self.ridge), len(self.ridge)), dtype=np.float32)
        for model, bend in enumerate(curvature):
            rows = np.flatnonzero(bend)
            bent = self.rough[rows] * np.sqrt(bend[rows])[:, None]
            np.dot(bent.T, bent, out=hessian[model])
        hessian += np.diag(self.ridge).astype(np.float32)
        return np.asarray(np.linalg.inv(hessian))

    def _precondition(self, residual: FloatArray) -> FloatArray:
        rough = residual.astype(np.float32)[:, :, None]
        return np.asarray((self.inverse @ rough)[:, :, 0], dtype=np.float64)

    def _bend(self, direction: FloatArray, bends: FloatArray) -> FloatArray:
        """Multiply directions by the Hessians."""
        columns = np.ascontiguousarray(direction.T, dtype=np.float32)
        bent = self.ridge * direction
        for rows in self._blocks():
            change = self.rough[rows] @ columns
            change *= bends[rows]
            bent += change.T @ self.rough[rows]
        return bent

    def _blocks(self) -> list[slice]:
        return [slice(k, k + _ROWS) for k in range(0, len(self.features), _ROWS)]
