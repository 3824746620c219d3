"""Calibration of scores by bias-corrected temperature scaling; Platt scaling for two groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.quantifiers.base import FloatArray

    IntArray = NDArray[np.int64]

_SMALLEST = 1e-12
_RIDGE = 1e-3
_STEPS = 50
_PRECISION = 1e-10


@dataclass(frozen=True, eq=False)
class Calibration:
    """Map scores to posteriors: softmax of ``slope * log(score) + bias``.

    Attributes
    ----------
    slope
        Inverse temperature; one for scores that are calibrated, near zero for scores that carry
        no information. Shape ``(...)``, with leading axes of replicates.
    bias
        One for each group, the first fixed at zero. Shape ``(..., groups)``.
    """

    slope: FloatArray
    bias: FloatArray

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return calibrated scores, shape ``(..., people, groups)``."""
        logs = _logs(scores)
        return np.asarray(self.posteriors(logs).swapaxes(-1, -2))

    def posteriors(self, logs: FloatArray) -> FloatArray:
        """Softmax over the groups, which stand in front of the people: that is much faster."""
        logits = self.slope[..., None, None] * logs + self.bias[..., None]
        shifted = np.exp(logits - logits.max(axis=-2, keepdims=True))
        shifted /= shifted.sum(axis=-2, keepdims=True)
        return np.asarray(shifted)


def fit_calibration(scores: FloatArray, counts: FloatArray) -> Calibration:
    """Fit by maximum likelihood, with a ridge so weak that it only matters when groups separate.

    Parameters
    ----------
    scores
        Score vectors of shape ``(..., points, groups)``.
    counts
        Weight of each group at each point, ``(..., groups, points)``.

    References
    ----------
    Alexandari, Kundaje, Shrikumar (2020), Maximum likelihood with bias-corrected calibration is
    hard-to-beat at label shift adaptation, arXiv:1901.06852.
    """
    groups = scores.shape[-1]
    logs = _logs(scores)
    theta = np.zeros((*counts.shape[:-2], groups))
    theta[..., 0] = 1.0
    start, best, lowest = theta, theta, np.full(theta.shape[:-1], np.inf)
    for _ in range(_STEPS):
        value, gradient, hessian = _derivatives(theta, start, logs, counts)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        step = step / np.maximum(np.abs(step).max(axis=-1, keepdims=True) / 2, 1.0)
        # Where Newton went too far, as it does from scores of 0 and 1, go back half the way.
        better = value <= lowest + _PRECISION * np.abs(value)
        new = np.where(better[..., None], theta - step, (theta + best) / 2)
        best, lowest = np.where(better[..., None], theta, best), np.where(better, value, lowest)
        moved, theta = np.abs(new - theta).max(), new
        if moved < _PRECISION:
            break
    return _unpacked(theta)


def _derivatives(
    theta: FloatArray, start: FloatArray, logs: FloatArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Penalised negative log-likelihood in (slope, biases), its gradient and Hessian."""
    p = _unpacked(theta).posteriors(logs)
    value = -(counts * np.log(np.maximum(p, np.finfo(np.float64).tiny))).sum(axis=(-1, -2))
    value = value + _RIDGE / 2 * ((theta - start) ** 2).sum(axis=-1)
    expected = p * counts.sum(axis=-2, keepdims=True)
    excess = expected - counts
    gradient = _RIDGE * (theta - start)
    gradient[..., 0] += (excess * logs).sum(axis=(-1, -2))
    gradient[..., 1:] += excess[..., 1:, :].sum(axis=-1)
    centred = expected * (logs - (p * logs).sum(axis=-2, keepdims=True))
    hessian = np.empty((*theta.shape, theta.shape[-1]))
    hessian[..., 0, 0] = (centred * logs).sum(axis=(-1, -2))
    hessian[..., 0, 1:] = hessian[..., 1:, 0] = centred[..., 1:, :].sum(axis=-1)
    hessian[..., 1:, 1:] = -(expected[..., 1:, :] @ p[..., 1:, :].swapaxes(-1, -2))
    own = np.arange(1, theta.shape[-1])
    hessian[..., own, own] += expected[..., 1:, :].sum(axis=-1)
    every = np.arange(theta.shape[-1])
    hessian[..., every, every] += _RIDGE
    return np.asarray(value), gradient, hessian


def _unpacked(theta: FloatArray) -> Calibration:
    zero = np.zeros_like(theta[..., :1])
    return Calibration(theta[..., 0], np.concatenate([zero, theta[..., 1:]], axis=-1))


def _logs(scores: FloatArray) -> FloatArray:
    """Logarithms with the groups in front, shape ``(..., groups, people)``."""
    return np.log(np.maximum(np.ascontiguousarray(scores.swapaxes(-1, -2)), _SMALLEST))
