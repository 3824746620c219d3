"""SLD: maximum likelihood under prior shift."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.optimize import nnls

from quantifair.quantifiers.base import Labelled, Quantifier

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points

_WARM_UP = 10
_STEPS = 100
_PRECISION = 1e-12
_ROUNDING = 1e-14
_NUMBERS = 30_000
_LARGEST = 1e300
_FLAT = 1e-5
"""Relative differences of likelihoods below it need 10^10 people to tell anything."""


class SLD(Quantifier):
    """Saerens-Latinne-Decaestecker: the prevalences under which the scores are most likely.

    With the auxiliary prevalences p(s) it maximises

        sum_i log( sum_s q(s) / p(s) * P(s | x_i) )

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
    [0.11, 0.89]
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
        """Maximise the likelihood, one replicate after the other."""
        weights = deployment.weights
        if not self.converged and self.prevalence_.shape[-1] == 2:
            return self._climb_lines(deployment.scores[..., 1], weights)
        if weights.ndim == 1 and self.prevalence_.ndim == 1:
            return self._maximise(deployment.scores, weights, self.prevalence_)
        lead = np.broadcast_shapes(weights.shape[:-1], self.prevalence_.shape[:-1])
        size, groups = deployment.scores.shape[-2:]
        rows = zip(
            np.broadcast_to(deployment.scores, (*lead, size, groups)).reshape(-1, size, groups),
            np.broadcast_to(weights, (*lead, size)).reshape(-1, size),
            np.broadcast_to(self.prevalence_, (*lead, groups)).reshape(-1, groups),
            strict=True,
        )
        return np.array([self._maximise(*row) for row in rows]).reshape(*lead, groups)

    def _maximise(self, scores: FloatArray, weights: FloatArray, prior: FloatArray) -> FloatArray:
        if not (prior > 0).all():
            return np.full(len(prior), np.nan)
        if not weights.all():
            scores, weights = scores[weights > 0], weights[weights > 0]
        likelihood = np.asfortranarray(scores) / prior
        weights = weights / weights.sum()
        if not self.converged:
            return self._climb(likelihood, weights, prior)
        return most_likely(likelihood, weights, prior)

    def _climb_lines(self, scores: FloatArray, weights: FloatArray) -> FloatArray:
        """Climb for two groups, several replicates at a time so that they fit the cache."""
        lead = np.broadcast_shapes(
            scores.shape[:-1], weights.shape[:-1], self.prevalence_.shape[:-1]
        )
        size = scores.shape[-1]
        each = np.broadcast_to(scores, (*lead, size)).reshape(-1, size)
        people = np.broadcast_to(weights, (*lead, size)).reshape(-1, size)
        prior = np.broadcast_to(self.prevalence_[..., 1], lead).reshape(-1)
        found, block, late = np.empty(len(each)), max(1, _NUMBERS // max(size, 1)), 0
        for k in range(0, len(each), block):
            some = slice(k, k + block)
            found[some], unfinished = _climb_block(
                each[some], people[some], prior[some], self.tolerance, self.max_iter
            )
            late += unfinished
        self._warn(late)
        second = found.reshape(lead)
        return np.stack([1 - second, second], axis=-1)

    def _warn(self, late: int) -> None:
        if late:
            warnings.warn(
                f"SLD changed by more than {self.tolerance:g} in its last of {self.max_iter} "
                f"steps, on {late} of its samples; converged=True reaches the maximum",
                RuntimeWarning,
                stacklevel=6,
            )

    def _climb(self, likelihood: FloatArray, weights: FloatArray, prior: FloatArray) -> FloatArray:
        q = prior
        for step in range(self.max_iter):
            mixture = likelihood @ q
            new = q * (np.divide(weights, mixture, out=mixture) @ likelihood)
            if step > _WARM_UP and np.abs(new - q).sum() < self.tolerance * len(q):
                return np.asarray(new)
            q = new
        self._warn(1)
        return np.asarray(q)

    def binning_error(self, points: Points, prevalence: FloatArray) -> float:
        """Bound how far the maximum can move when rows move within their bins.

        A Taylor remainder of the likelihood's gradient over each bin, taken through the inverse
        Hessian. Infinite where a bin is so wide that its rows may have likelihood zero.
        """
        return likelihood_binning_error(points, self.prevalence_, prevalence)


def _climb_block(
    scores: FloatArray, weights: FloatArray, prior: FloatArray, tolerance: float, max_iter: int
) -> tuple[FloatArray, int]:
    """Return the second group's prevalence in each sample, and how many are still climbing.

    With v the likelihood of the first group over the second's, a step multiplies the prevalence q
    by the mean of 1 / (q + (1 - q) v).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.minimum((1 - scores) / scores * (prior / (1 - prior))[:, None], _LARGEST)
        shares = weights / weights.sum(axis=1, keepdims=True)
    possible = (prior > 0) & (prior < 1) & np.isfinite(shares).all(axis=1)
    found = np.where(possible, prior, np.nan)
    left = np.flatnonzero(possible)
    ratio, shares, q = ratio[left], shares[left], found[left]
    if len(left) == 1:
        found[left], unfinished = _climb_line(ratio[0], shares[0], float(q[0]), tolerance, max_iter)
        return found, unfinished
    for step in range(max_iter):
        mixture = ratio * (1 - q)[:, None]
        mixture += q[:, None]
        np.divide(shares, mixture, out=mixture)
        new = q * mixture.sum(axis=1)
        found[left] = new
        going = (np.abs(new - q) >= tolerance) | (step <= _WARM_UP)
        if going.all():
            q = new
            continue
        ratio, shares, q, left = ratio[going], shares[going], new[going], left[going]
        if not len(left):
            break
    return found, len(left)


def _climb_line(
    ratio: FloatArray, shares: FloatArray, q: float, tolerance: float, max_iter: int
) -> tuple[float, int]:
    """Climb as ``_climb_block`` does, for one sample: the cache holds a part of its rows."""
    parts = [slice(k, k + _NUMBERS) for k in range(0, len(ratio), _NUMBERS)]
    rows = [(ratio[part], shares[part], np.empty(len(ratio[part]))) for part in parts]
    for step in range(max_iter):
        if q >= 1:
            break
        odds, total = q / (1 - q), 0.0
        for values, share, mixture in rows:
            np.add(values, odds, out=mixture)
            total += np.dot(share, np.reciprocal(mixture, out=mixture))
        last, q = q, odds * float(total)
        if abs(q - last) < tolerance and step > _WARM_UP:
            return q, 0
    return q, int(q < 1)


def most_likely(likelihood: FloatArray, weights: FloatArray, start: FloatArray) -> FloatArray:
    """Maximise ``sum(weights * log(likelihood @ q))`` over the simplex; NaN if it is flat there.

    Parameters
    ----------
    likelihood
        Of each point in each group, ``(points, groups)``, near one on average.
    weights
        Of the points; they sum to one.
    start
        Where to begin, inside the simplex.
    """
    if len(start) == 2:
        return _newton_line(likelihood, weights, start)
    found = _newton_simplex(likelihood, weights, start)
    return found if _is_unique(likelihood, weights, found) else found * np.nan


def _newton_line(likelihood: FloatArray, weights: FloatArray, start: FloatArray) -> FloatArray:
    """Newton's method on the second group's prevalence, with bisection as a safeguard."""
    first, slope = likelihood[:, 0], likelihood[:, 1] - likelihood[:, 0]
    if np.abs(slope).max() < _FLAT:
        return np.array([np.nan, np.nan])
    ratio, squares = np.empty_like(slope), np.empty_like(slope)
    q, low, high = float(start[1]), -1.0, 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_STEPS):
            np.multiply(slope, q, out=ratio)
            np.divide(slope, np.add(ratio, first, out=ratio), out=ratio)
            rise = float(weights @ ratio)
            curvature = float(weights @ np.square(ratio, out=squares))
            low, high = (q, high) if rise >= 0 else (low, q)
            new = min(max(q + rise / curvature, 0.0), 1.0) if curvature > 0 else q
            if not low < new < high:
                new = (max(low, 0.0) + min(high, 1.0)) / 2
            if abs(new - q) < _PRECISION:
                break
            q = new
    return np.array([1 - new, new])


def _newton_simplex(likelihood: FloatArray, weights: FloatArray, start: FloatArray) -> FloatArray:
    """Sequential quadratic programming: each step solves the quadratic model over q >= 0.

    Minimises ``sum(q) - sum(w log(L q))``; its minimum sums to one by itself. See Kim,
    Carbonetto, Stephens, Anitescu (2020), doi:10.1080/10618600.2019.1689985.
    """
    q = start
    for _ in range(_STEPS):
        scaled = likelihood / (likelihood @ q)[:, None]
        gradient = weights @ scaled
        hessian = (scaled * weights[:, None]).T @ scaled
        hessian[np.diag_indices_from(hessian)] *= 1 + 1e-10
        lower = np.linalg.cholesky(hessian + 1e-12 * np.eye(len(q)))
        target, _ = nnls(lower.T, np.linalg.solve(lower, 2 * gradient - 1))
        new = _backtrack(likelihood, weights, q, target)
        if np.abs(new - q).max() < _PRECISION:
            break
        q = new
    return np.asarray(new / new.sum())


def _is_unique(likelihood: FloatArray, weights: FloatArray, q: FloatArray) -> bool:
    """Whether no move among the groups that may be present leaves the likelihood as it is."""
    scaled = likelihood / (likelihood @ q)[:, None]
    scaled = scaled[:, weights @ scaled > 1 - _FLAT]
    hessian = (scaled * weights[:, None]).T @ scaled
    return bool(np.linalg.eigvalsh(hessian)[0] > _FLAT**2)


def _backtrack(
    likelihood: FloatArray, weights: FloatArray, q: FloatArray, target: FloatArray
) -> FloatArray:
    def objective(at: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(at.sum() - weights @ np.log(likelihood @ at))

    here, step = objective(q) + _ROUNDING, 1.0
    while step > _PRECISION:
        new = q + step * (target - q)
        if objective(new) <= here:
            return new
        step /= 2
    return q


def likelihood_binning_error(points: Points, prior: FloatArray, q: FloatArray) -> float:
    """Bound how far the maximum can lie from ``q`` when rows move within their bins."""
    remainder = binning_remainder(points, prior, q)
    if not np.isfinite(remainder).all():
        return float("inf")
    ratio = points.scores / prior
    scaled = ratio / (ratio @ q)[:, None]
    hessian = (scaled * (points.weights / points.weights.sum())[:, None]).T @ scaled
    basis = np.vstack([np.eye(len(q) - 1), -np.ones(len(q) - 1)])
    inverse = np.linalg.pinv(basis.T @ hessian @ basis)
    return float((np.abs(inverse) @ (remainder[:-1] + remainder[-1])).max())


def binning_remainder(points: Points, prior: FloatArray, q: FloatArray) -> FloatArray:
    """Bound the change of each group's mean of ``score / prior`` over its mixture by ``q``.

    Infinite where a bin is so wide that its rows may have a mixture of zero.
    """
    tilt = q / prior
    ratio = points.scores / prior
    mixture = ratio @ q
    swing = points.width * float(np.ptp(tilt)) * (len(q) - 1)
    least = mixture - swing
    if (least <= 0).any():
        return np.full(len(q), np.inf)
    weights = points.weights / points.weights.sum()
    # Popoviciu: scores in a bin of width h vary by at most h^2 / 4 around their mean.
    return np.asarray(
        (points.width * swing / 4 / prior) * (weights / least**2).sum()
        + (swing**2 / 4) * ((weights / least**3) @ ratio)
    )
