"""Fit many linear classifiers, each in the way that is cheapest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quantifair.experiments.linear.narrow import Narrow
from quantifair.experiments.linear.newton import minimise
from quantifair.experiments.linear.wide import Wide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.linear.losses import Loss

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_MODELS = 128
_NUMBERS = 300_000


class Problem(NamedTuple):
    """What one classifier is fitted on.

    Attributes
    ----------
    rows
        Rows of the features; some may repeat.
    targets
        0 or 1 for each row of ``rows``; ``None`` takes those that all problems share.
    weights
        Of each; ``None`` is one.
    """

    rows: IntArray
    targets: IntArray | None = None
    weights: FloatArray | None = None


def fit_linear(
    features: FloatArray,
    targets: IntArray,
    problems: Sequence[Problem],
    *,
    loss: Loss,
    penalty: float = 1.0,
    start: FloatArray | None = None,
) -> FloatArray:
    """Return the coefficients of each problem, the intercept last: ``(problems, features + 1)``.

    Parameters
    ----------
    features
        Shape ``(rows, features)``; standardised, or Newton's steps become rough.
    targets
        0 or 1 for each row of ``features``.
    problems
        What each classifier is fitted on.
    loss
        ``LOGISTIC`` or ``SQUARED_HINGE``.
    penalty
        Of the coefficients' squares: 1/C in scikit-learn.
    start
        Where to start, shaped as the result; near the solution is faster. By default zero, or
        for problems that share many rows the solution of their mean.

    Examples
    --------
    >>> from quantifair.experiments.linear import LOGISTIC, Problem, fit_linear
    >>> features, targets = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 1])
    >>> fit_linear(features, targets, [Problem(np.arange(3))], loss=LOGISTIC).round(3).tolist()
    [[0.702, 0.748]]
    """
    extended = np.column_stack([features, np.ones(len(features))])
    ridge = np.full(extended.shape[1], penalty)
    ridge[-1] *= float(loss.penalises_intercept)
    found = np.zeros((len(problems), len(ridge)))
    sizes = np.array([len(p.rows) for p in problems])
    wide = _are_wide(problems, sizes, extended)
    if wide.any():
        chosen = np.flatnonzero(wide)
        given = None if start is None else start[chosen]
        some_wide = [problems[i] for i in chosen.tolist()]
        found[chosen] = _fit_wide(extended, targets, some_wide, ridge, loss, given)
    for some in _alike(np.flatnonzero(~wide), sizes, len(ridge)):
        batch = _gather(extended, targets, [problems[i] for i in some.tolist()], ridge, loss)
        found[some] = minimise(batch, found[some] if start is None else start[some])
    return found


def _are_wide(
    problems: Sequence[Problem], sizes: IntArray, features: FloatArray
) -> NDArray[np.bool_]:
    """Tell which problems have so many of the rows that whole matrix products are cheaper."""
    rows, columns = features.shape
    shared = np.array([p.targets is None for p in problems], dtype=bool)
    return np.asarray(shared & (12.0 * sizes * columns > 100.0 * rows))


def _fit_wide(
    features: FloatArray,
    targets: IntArray,
    problems: Sequence[Problem],
    ridge: FloatArray,
    loss: Loss,
    start: FloatArray | None,
) -> FloatArray:
    rough, y = features.astype(np.float32), targets.astype(np.float64)[:, None]
    found = np.empty((len(problems), len(ridge)))
    for k in range(0, len(problems), _MODELS):
        some = problems[k : k + _MODELS]
        weights = np.zeros((len(features), len(some)))
        for column, problem in zip(weights.T, some, strict=True):
            np.add.at(column, problem.rows, 1.0 if problem.weights is None else problem.weights)
        batch = Wide(features, rough, y, weights, ridge, loss)
        if start is None:
            mean = Wide(features, rough, y, weights.mean(axis=1, keepdims=True), ridge, loss)
            near = np.repeat(minimise(mean, np.zeros((1, len(ridge)))), len(some), axis=0)
        else:
            near = start[k : k + _MODELS]
        found[k : k + _MODELS] = minimise(batch, near)
    return found


def _alike(chosen: IntArray, sizes: IntArray, columns: int) -> Iterator[IntArray]:
    """Yield problems of like size in batches that fit the cache."""
    order = chosen[np.argsort(sizes[chosen], kind="stable")]
    while len(order):
        number = max(1, _NUMBERS // (int(sizes[order[0]]) * columns))
        yield order[:number]
        order = order[number:]


def _gather(
    features: FloatArray,
    targets: IntArray,
    problems: Sequence[Problem],
    ridge: FloatArray,
    loss: Loss,
) -> Narrow:
    shape = (len(problems), max(len(p.rows) for p in problems))
    rows, weights = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    y = np.zeros(shape)
    for i, problem in enumerate(problems):
        n = len(problem.rows)
        rows[i, :n] = problem.rows
        weights[i, :n] = 1.0 if problem.weights is None else problem.weights
        y[i, :n] = targets[problem.rows] if problem.targets is None else problem.targets
    return Narrow(features[rows], y, weights, ridge, loss)
