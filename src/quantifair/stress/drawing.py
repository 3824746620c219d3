"""Drawing people without replacement, each with a probability of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


def draw(
    keep: FloatArray, strata: IntArray, draws: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw systematically, in random order within strata.

    Each row is kept with its probability, and of every stratum as many as are expected, but for
    one: a stratum whose rows have one probability is a simple random sample of fixed size.

    Parameters
    ----------
    keep
        Probability of each row.
    strata
        Stratum of each row.
    draws
        How many times to draw.
    rng
        Source of randomness.

    Returns
    -------
    NDArray[np.bool_]
        Shape ``(draws, rows)``.

    References
    ----------
    Madow (1949), On the theory of systematic sampling, II, doi:10.1214/aoms/1177729988.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draw(np.full(8, 0.5), np.array([0, 0, 0, 0, 1, 1, 1, 1]), 3, rng).sum(axis=1).tolist()
    [4, 4, 4]
    """
    order = np.argsort(strata + rng.random((draws, len(keep))), axis=1)
    start = rng.random((draws, 1))
    passed = np.floor(start + np.cumsum(keep[order], axis=1))
    kept = np.empty(order.shape, dtype=np.bool_)
    np.put_along_axis(kept, order, np.diff(passed, axis=1, prepend=0) > 0, axis=1)
    return kept
