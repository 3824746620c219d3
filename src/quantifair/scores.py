"""Score vectors: for each person the probability of each group, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

MAX_GROUPS = 20
_ROUNDING = 1e-9
_SUM_TOLERANCE = 1e-6
_EXACT = 1e-26


def as_scores(scores: ArrayLike) -> FloatArray:
    """Return scores as a checked matrix ``(rows, groups)``; a vector is the second group's.

    Raises
    ------
    InputError
        Where a score is not a number in [0, 1], or a row does not sum to one.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim == 1:
        matrix = np.column_stack([1 - matrix, matrix])
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise InputError(f"scores need a column for each group; their shape is {matrix.shape}")
    if matrix.shape[1] > MAX_GROUPS:
        raise InputError(f"{matrix.shape[1]} groups are more than the {MAX_GROUPS} supported")
    if not matrix.size:
        return matrix
    low = matrix.min()
    if low >= 0:
        excess = matrix[:, 0] + matrix[:, 1]
        for k in range(2, matrix.shape[1]):
            excess += matrix[:, k]
        excess -= 1
        # No score is above one by more than its row's sum, and less than the grid can tell.
        if np.dot(excess, excess) <= _EXACT:
            return matrix
    if low >= -_ROUNDING and matrix.max() <= 1 + _ROUNDING:
        excess = matrix.sum(axis=1) - 1
        if np.abs(excess).max() <= _SUM_TOLERANCE:
            return np.clip(matrix, 0, 1)
    raise _wrong_scores(matrix)


def _wrong_scores(matrix: FloatArray) -> InputError:
    possible = (matrix >= -_ROUNDING) & (matrix <= 1 + _ROUNDING)
    wrong = int((~possible.all(axis=1)).sum())
    if wrong:
        return InputError(
            f"{wrong:,} of {len(matrix):,} score vectors hold values that are not "
            "probabilities (not finite, or outside 0 to 1); check the group classifier"
        )
    wrong = int((np.abs(matrix.sum(axis=1) - 1) > _SUM_TOLERANCE).sum())
    return InputError(f"{wrong:,} of {len(matrix):,} score vectors do not sum to one")
