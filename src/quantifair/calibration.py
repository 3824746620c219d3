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


@dataclass(frozen=True, eq=False)
class Calibration:
    r"""Map scores to posteriors: softmax of ``slope * log(score) + bias``.

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
        logits = self.slope[..., None, None] * _logs(scores) + self.bias[..., None, :]
        return _softmax(logits)


def fit_calibration(scores: FloatArray, counts: FloatArray) -> Calibration:
    """Fit by maximum likelihood, with a ridge so weak that it only matters when groups separate.

    Parameters
    ----------
    scores
        Score vectors of shape ``(points, groups)``.
    counts
        Weight of each group at each point, ``(..., groups, points)``.

    References
    ----------
    Alexandari, Kundaje, Shrikumar (2020), Maximum likelihood with bias-corrected calibration is
    hard-to-beat at label shift adaptation, arXiv:1901.06852.
    """
    groups = scores.shape[1]
    logs = _logs(scores)
    total = counts.sum(axis=-2)
    theta = np.zeros((*counts.shape[:-2], groups))
    theta[..., 0] = 1.0
    start = theta.copy()
    for _ in range(_STEPS):
        gradient, hessian = _derivatives(theta, start, logs, counts, total)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        theta = theta - step / np.maximum(longest / 2, 1.0)
        if longest.max() < 1e-10:
            break
    return _unpacked(theta)


def _derivatives(
    theta: FloatArray, start: FloatArray, logs: FloatArray, counts: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian of the penalised negative log-likelihood in (slope, biases)."""
    fitted = _unpacked(theta)
    p = _softmax(fitted.slope[..., None, None] * logs + fitted.bias[..., None, :])
    expected = p * total[..., None]
    excess = expected - counts.swapaxes(-1, -2)
    gradient = np.empty_like(theta)
    gradient[..., 0] = (excess * logs).sum(axis=(-1, -2))
    gradient[..., 1:] = excess[..., 1:].sum(axis=-2)
    mean_log = (p * logs).sum(axis=-1, keepdims=True)
    centred = expected * (logs - mean_log)
    hessian = np.empty((*theta.shape, theta.shape[-1]))
    hessian[..., 0, 0] = (centred * logs).sum(axis=(-1, -2))
    hessian[..., 0, 1:] = hessian[..., 1:, 0] = centred[..., 1:].sum(axis=-2)
    hessian[..., 1:, 1:] = -(expected[..., 1:].swapaxes(-1, -2) @ p[..., 1:])
    diagonal = np.arange(1, theta.shape[-1])
    hessian[..., diagonal, diagonal] += expected[..., 1:].sum(axis=-2)
    everything = np.arange(theta.shape[-1])
    hessian[..., everything, everything] += _RIDGE
    return gradient + _RIDGE * (theta - start), hessian


def _unpacked(theta: FloatArray) -> Calibration:
    zero = np.zeros_like(theta[..., :1])
    return Calibration(theta[..., 0], np.concatenate([zero, theta[..., 1:]], axis=-1))


def _logs(scores: FloatArray) -> FloatArray:
    return np.log(np.maximum(scores, _SMALLEST))


def _softmax(logits: FloatArray) -> FloatArray:
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))
