"""SLD: maximum likelihood under prior shift."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import nnls

from quantifair.quantifiers.base import Labelled, Quantifier

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points

_WARM_UP = 10
_STEPS = 100
_PRECISION = 1e-12


class SLD(Quantifier):
    r"""Saerens-Latinne-Decaestecker: the prevalences under which the scores are most likely.

    With the auxiliary prevalences :math:`p_L` and scores :math:`\pi_s(x)`, it maximises

    .. math:: \sum_{x \in \sigma} \log \sum_s \frac{q_s}{p_L(s)} \, \pi_s(x)

    over the simplex. The function is concave, and Newton's method reaches its maximum in a few
    steps. The original algorithm climbs it by expectation maximisation and is usually stopped
    early, which shrinks the estimate towards the auxiliary prevalences.

    Assumes prior shift and calibrated scores.

    Parameters
    ----------
    converged
        Whether to go to the maximum. If false, run expectation maximisation until the mean
        absolute change is below ``tolerance``, for more than ten and at most ``max_iter`` steps.
    tolerance
        Where the stopped mode stops.
    max_iter
        Steps of the stopped mode.

    References
    ----------
    Saerens, Latinne, Decaestecker (2002), Adjusting the outputs of a classifier to new a
    priori probabilities, doi:10.1162/089976602753284446.

    Examples
    --------
    >>> scores, groups = [0.2, 0.4, 0.6, 0.8], ["f", "f", "m", "m"]
    >>> SLD().fit(scores, groups).predict([0.3, 0.6, 0.8]).round(3).tolist()
    [0.299, 0.701]
    """

    adjusts: ClassVar[bool] = True
    uses_posteriors: ClassVar[bool] = True

    def __init__(
        self, *, converged: bool = True, tolerance: float = 1e-4, max_iter: int = 1000
    ) -> None:
        self.converged = converged
        self.tolerance = tolerance
        self.max_iter = max_iter

    def learn(self, auxiliary: Labelled) -> None:
        """Nothing beyond the prevalences."""

    def solve(self, deployment: Points) -> FloatArray:
        """Maximise the likelihood."""
        if not self.converged:
            return self._climb(deployment)
        if deployment.scores.shape[-1] == 2:
            return _maximise_two(deployment, self.prevalence_)
        return _maximise_many(deployment, self.prevalence_)

    def binning_error(self, points: Points, prevalence: FloatArray) -> float:
        """Bound how far the maximum can move when rows move within their bins.

        A Taylor remainder of the likelihood's gradient over each bin, taken through the inverse
        Hessian. Infinite where a bin is so wide that its rows may have likelihood zero.
        """
        return _binning_error(points, self.prevalence_, prevalence)

    def _climb(self, deployment: Points) -> FloatArray:
        likelihood = deployment.scores / self.prevalence_[..., None, :]
        weights = deployment.weights / deployment.weights.sum(axis=-1, keepdims=True)
        q = np.array(np.broadcast_to(self.prevalence_, (*weights.shape[:-1], self.n_groups)))
        moving = np.ones(q.shape[:-1], dtype=bool)
        for step in range(self.max_iter):
            mixture = (likelihood @ q[..., None])[..., 0]
            new = q * ((weights / mixture)[..., None, :] @ likelihood)[..., 0, :]
            change = np.abs(new - q).mean(axis=-1)
            q = np.where(moving[..., None], new, q)
            if step > _WARM_UP:
                moving &= change >= self.tolerance
                if not moving.any():
                    return q
        warnings.warn(
            f"SLD changed by more than {self.tolerance:g} in its last of {self.max_iter} steps; "
            "converged=True reaches the maximum",
            RuntimeWarning,
            stacklevel=4,
        )
        return q

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.classes_)


def _maximise_two(deployment: Points, prior: FloatArray) -> FloatArray:
    """Safeguarded Newton on the second group's prevalence, for all replicates at once."""
    first = deployment.scores[..., 0] / prior[..., :1]
    slope = deployment.scores[..., 1] / prior[..., 1:] - first
    weights = deployment.weights

    def gradient(q: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = slope / (first + q[..., None] * slope)
            weighted = weights * ratio
            return weighted.sum(axis=-1), np.einsum("...i,...i->...", weighted, ratio)

    q = np.array(np.broadcast_to(prior[..., 1], weights.shape[:-1]))
    low, high = np.full_like(q, -1.0), np.full_like(q, 2.0)
    for _ in range(_STEPS):
        rise, curvature = gradient(q)
        low, high = np.where(rise >= 0, q, low), np.where(rise < 0, q, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = np.clip(q + rise / curvature, 0.0, 1.0)
        middle = (np.maximum(low, 0.0) + np.minimum(high, 1.0)) / 2
        new = np.where((new > low) & (new < high), new, middle)
        moved = np.abs(new - q).max()
        q = new
        if moved < _PRECISION:
            break
    return np.stack([1 - q, q], axis=-1)


class _Problem(NamedTuple):
    likelihood: FloatArray
    weights: FloatArray


def _maximise_many(deployment: Points, prior: FloatArray) -> FloatArray:
    shape = (*deployment.weights.shape[:-1], deployment.scores.shape[-1])
    weights = deployment.weights.reshape(-1, deployment.weights.shape[-1])
    priors = np.broadcast_to(prior, shape).reshape(len(weights), -1)
    scores = np.broadcast_to(deployment.scores, (*deployment.weights.shape, shape[-1]))
    scores = scores.reshape(len(weights), *scores.shape[-2:])
    found = [
        _newton_simplex(_Problem(s[w > 0] / p, w[w > 0] / w.sum()), p)
        for s, p, w in zip(scores, priors, weights, strict=True)
    ]
    return np.array(found).reshape(shape)


def _newton_simplex(problem: _Problem, start: FloatArray) -> FloatArray:
    """Sequential quadratic programming: each step solves the quadratic model over q >= 0.

    Minimises ``sum(q) - sum(w log(L q))``; its minimum sums to one by itself. See Kim,
    Carbonetto, Stephens, Anitescu (2020), doi:10.1080/10618600.2019.1689985.
    """
    likelihood, weights = problem
    q = start.copy()
    for _ in range(_STEPS):
        scaled = likelihood / (likelihood @ q)[:, None]
        gradient = weights @ scaled
        hessian = (scaled * weights[:, None]).T @ scaled
        hessian[np.diag_indices_from(hessian)] *= 1 + 1e-10
        lower = np.linalg.cholesky(hessian + 1e-12 * np.eye(len(q)))
        target, _ = nnls(lower.T, np.linalg.solve(lower, 2 * gradient - 1))
        new = _backtrack(problem, q, target)
        if np.abs(new - q).max() < _PRECISION:
            break
        q = new
    return np.asarray(new / new.sum())


def _backtrack(problem: _Problem, q: FloatArray, target: FloatArray) -> FloatArray:
    def objective(at: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(problem.likelihood @ at)
        return float(at.sum() - problem.weights @ logs)

    here, step = objective(q), 1.0
    while step > _PRECISION:
        new = q + step * (target - q)
        if objective(new) <= here:
            return new
        step /= 2
    return q


def _binning_error(points: Points, prior: FloatArray, q: FloatArray) -> float:
    tilt = q / prior
    ratio = points.scores / prior
    mixture = ratio @ q
    swing = points.width * float(np.ptp(tilt)) * (len(q) - 1)
    least = mixture - swing
    if (least <= 0).any():
        return float("inf")
    weights = points.weights / points.weights.sum()
    # Popoviciu: scores in a bin of width h vary by at most h^2 / 4 around their mean.
    remainder = (points.width * swing / 4 / prior) * (weights / least**2).sum() + (swing**2 / 4) * (
        (weights / least**3) @ ratio
    )
    scaled = ratio / mixture[:, None]
    hessian = (scaled * weights[:, None]).T @ scaled
    basis = np.vstack([np.eye(len(q) - 1), -np.ones(len(q) - 1)])
    inverse = np.linalg.pinv(basis.T @ hessian @ basis)
    return float((np.abs(inverse) @ (remainder[:-1] + remainder[-1])).max())
