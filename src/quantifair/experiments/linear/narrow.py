"""Models with few rows each: gather the rows, solve Newton's equations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.experiments.linear.losses import Loss

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Narrow:
    """Models on rows of their own.

    Attributes
    ----------
    features
        With a last column of ones, shape ``(models, rows, features)``.
    targets, weights
        Of each row, shape ``(models, rows)``; rows of weight zero fill up.
    ridge
        Penalty of each coefficient.
    loss
        The loss.
    """

    features: FloatArray
    targets: FloatArray
    weights: FloatArray
    ridge: FloatArray
    loss: Loss

    def derivatives(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradients and the curvature at each row."""
        margins = (self.features @ coef[:, :, None])[:, :, 0]
        slope, curvature = self.loss.derivatives(margins, self.targets)
        gradient = ((slope * self.weights)[:, None, :] @ self.features)[:, 0]
        return gradient + self.ridge * coef, curvature * self.weights

    def solve(self, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
        """Solve with the Hessian itself."""
        bent = self.features * curvature[:, :, None]
        hessian = bent.swapaxes(1, 2) @ self.features + np.diag(self.ridge)
        return np.asarray(np.linalg.solve(hessian, -gradient[:, :, None])[:, :, 0])

    def select(self, models: IntArray) -> Narrow:
        """Return the batch of some of the models."""
        return replace(
            self,
            features=self.features[models],
            targets=self.targets[models],
            weights=self.weights[models],
        )

    def exact(self) -> Narrow:
        """Return the batch itself: its steps are exact."""
        return self
