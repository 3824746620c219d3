"""Newton's method on many models at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from quantifair.errors import QuantifairError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_STEPS = 100
_ROUGH_STEPS = 20
"""Models that have not arrived by then are ill-conditioned; their steps are solved exactly."""
_SHORTENINGS = 30
_ROUNDING = 1e-12
_PROMISE = 1e-6
"""Models stop after a step that promised to lower the objective by less than half of this."""


class Batch(Protocol):
    """Models that are fitted together, each a row of coefficients."""

    def derivatives(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradients, shape as ``coef``, and curvatures, shape ``(models, rows)``."""
        ...

    def solve(self, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
        """Return Newton's steps."""
        ...

    def select(self, models: IntArray) -> Self:
        """Return the batch of some of the models."""
        ...

    def exact(self) -> Self:
        """Return the batch with steps that solve Newton's equations to rounding."""
        ...


def minimise(batch: Batch, start: FloatArray) -> FloatArray:
    """Minimise convex objectives; models that arrive leave the batch.

    A step is shortened where the objective rises along it at its end as steeply as half of what
    it fell at its start, which needs no value of the objective.

    Raises
    ------
    QuantifairError
        Where a model has not arrived after a hundred steps.
    """
    found, left = np.empty_like(start), np.arange(len(start))
    coef = start
    gradient, curvature = batch.derivatives(coef)
    for number in range(_STEPS):
        if number == _ROUGH_STEPS:
            batch = batch.exact()
        step = batch.solve(gradient, curvature)
        promise = -np.einsum("md,md->m", gradient, step)
        coef, gradient, curvature = _advance(batch, coef, step, promise)
        arrived = promise < _PROMISE
        found[left[arrived]] = coef[arrived]
        if arrived.all():
            return found
        if arrived.any():
            going = ~arrived
            batch, left = batch.select(np.flatnonzero(going)), left[going]
            coef, gradient, curvature = coef[going], gradient[going], curvature[going]
    raise QuantifairError(f"{len(left)} linear models did not converge in {_STEPS} Newton steps")


def _advance(
    batch: Batch, coef: FloatArray, step: FloatArray, promise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    new = coef + step
    gradient, curvature = batch.derivatives(new)
    length, trying = np.ones(len(coef)), np.arange(len(coef))
    for _ in range(_SHORTENINGS):
        rise = np.einsum("md,md->m", gradient[trying], step[trying])
        far = rise > promise[trying] / 2 + _ROUNDING
        trying, rise = trying[far], rise[far]
        if not len(trying):
            break
        length[trying] *= np.clip(promise[trying] / (promise[trying] + rise), 0.1, 0.7)
        new[trying] = coef[trying] + length[trying, None] * step[trying]
        gradient[trying], curvature[trying] = batch.select(trying).derivatives(new[trying])
    return new, gradient, curvature
