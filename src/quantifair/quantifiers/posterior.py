"""The posterior median: a likelihood of the prevalences, and a stated prior."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc, gammaln

from quantifair.errors import InputError
from quantifair.quantifiers.adjusted import invert, nearest_shares
from quantifair.quantifiers.base import Labelled, Quantifier, group_means, mean_scores
from quantifair.quantifiers.em import likelihood_binning_error, most_likely
from quantifair.quantifiers.medians import Density, Part, line_median, simplex_medians

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points

LIKELIHOODS = ("mixture", "moments")
_PRIOR_PEOPLE = 1000
"""Where nothing shifted, shares differ as those of so many people do."""

_MOST_POINTS = 4096
_MOST_POINTS_OF_MANY = 1024
_LEAST_VARIANCE = 1e-14
_SMALLEST = 1e-9
_MIXING = np.int64(0x9E3779B1)
"""Odd, so that cells of different scores meet in one key by rare chance only."""


class PosteriorMedian(Quantifier):
    """Median of the prevalences' posterior distribution.

    The prior is a mixture of "anything goes" and "hardly any shift",

        shift * uniform  +  (1 - shift) * Dirichlet(c p(s)),    1/c = 1/1000 + 1/n,

    with p(s) the auxiliary prevalences and n the auxiliary people: where nothing shifted, the
    prevalences are theirs, up to what n people can tell and what a sample of 1,000 would. The
    likelihood is either that of the scores, which SLD maximises,

        prod_i [ sum_s q(s) / p(s) * P(s | x_i) ] ^ v,

    or the normal density of the equation that PACC solves, the mean score less the auxiliary
    groups' mean scores mixed by q. Both count the auxiliary sample's uncertainty: the normal
    density in its variance, the scores' likelihood by the power v, the part of that variance which
    is the deployment's. Without it, a large deployment would rule out that nothing shifted, as any
    small error of a small auxiliary sample would look like a shift. People are counted by Kish's
    effective size where they are weighted.

    What is sought are the shares of these very people. With the scores' likelihood they are the
    mean of P(s | x) as it is at the median: exact where the scores leave no doubt, and those of
    PCC where nothing shifted.

    For two groups the density is integrated on a grid. For more, medians come from Markov chains
    with a fixed seed, one for each part of the prior, group by group, renormalised, and are off by
    up to about a tenth of the posterior standard deviation. More than 4,096 points (1,024 with
    many groups) are merged with their neighbours first; how far that moves the maximum of the
    likelihood is put back.

    Parameters
    ----------
    likelihood
        ``mixture`` needs calibrated scores; ``moments`` is linear in the scores and does not.
    shift
        Weight of the uniform part of the prior, from 0 to 1: how probable a shift is.

    Examples
    --------
    >>> scores, groups = [0.2, 0.4, 0.6, 0.8], ["f", "f", "m", "m"]
    >>> PosteriorMedian().fit(scores, groups).predict([0.3, 0.6, 0.8]).round(2).tolist()
    [0.41, 0.59]
    """

    shares_: FloatArray
    means_: FloatArray
    within_: FloatArray
    people_: FloatArray

    def __init__(self, *, likelihood: str = "mixture", shift: float = 0.5) -> None:
        self.likelihood = likelihood
        self.shift = shift

    @property
    def uses_posteriors(self) -> bool:  # type: ignore[override]
        """Whether the likelihood reads scores as probabilities."""
        return self.likelihood == "mixture"

    def learn(self, auxiliary: Labelled) -> None:
        """Check the parameters, and take the moments of the groups' scores."""
        if self.likelihood not in LIKELIHOODS:
            raise InputError(f"the likelihood is one of {LIKELIHOODS}, not {self.likelihood!r}")
        shift: Any = self.shift
        if not (isinstance(shift, Real) and 0 <= float(shift) <= 1):
            raise InputError(f"shift must be from 0 to 1, not {self.shift!r}")
        scores = auxiliary.points.scores
        self.shares_, self.people_ = auxiliary.shares, auxiliary.people
        self.means_ = group_means(auxiliary, scores)
        self.within_ = _within(auxiliary, scores)

    def solve(self, deployment: Points) -> FloatArray:
        """Find the medians, one replicate after the other."""
        size = "(k),(k),(k,k,k)"
        known = self.shares_, self.people_, self.within_
        if self.likelihood == "mixture":
            signature = f"(n,k),(n),(),{size}->(k)"
            each = np.vectorize(self._by_scores, signature=signature, otypes=[float])
            return np.asarray(
                each(deployment.scores, deployment.weights, deployment.people, *known)
            )
        signature = f"(k),(),{size},(k,k)->(k)"
        each = np.vectorize(self._by_means, signature=signature, otypes=[float])
        return np.asarray(each(mean_scores(deployment), deployment.people, *known, self.means_))

    def binning_error(self, points: Points, prevalence: FloatArray) -> float:
        """Bound how far the likelihood's maximum can move when rows move within their bins."""
        if self.likelihood == "moments":
            return 0.0
        return likelihood_binning_error(points, self.shares_, prevalence)

    def _by_scores(
        self,
        scores: FloatArray,
        weights: FloatArray,
        people: float,
        shares: FloatArray,
        known: FloatArray,
        within: FloatArray,
    ) -> FloatArray:
        if not (shares > 0).all() or not people > 0:
            return np.full(len(shares), np.nan)
        every = scores[weights > 0], weights[weights > 0]
        scores, weights = _merged(*every)
        peak = _peak(scores, weights, shares)
        counted = people * _own_part(peak, within / people, within / known[:, None, None])
        ratio, each = scores / shares, weights / weights.sum()
        mixture = partial(_mixture, np.ascontiguousarray(ratio.T), each * counted)
        median = self._median(mixture, peak, each @ scores, counted, shares, known)
        if len(weights) < len(every[1]):
            median = np.maximum(median + _peak(*every, shares) - peak, _SMALLEST)
        members = every[0] * (median / shares)
        return np.asarray(
            every[1] @ (members / members.sum(axis=1, keepdims=True)) / every[1].sum()
        )

    def _by_means(
        self,
        mean: FloatArray,
        people: float,
        shares: FloatArray,
        known: FloatArray,
        within: FloatArray,
        means: FloatArray,
    ) -> FloatArray:
        peak = nearest_shares(means.T, invert(means.T, mean))
        own, sampling = within / people, within / np.maximum(known - 1, 1)[:, None, None]
        free = (slice(None), slice(1, None), slice(1, None))
        normal = partial(_normal, mean[1:], means[:, 1:], own[free], sampling[free])
        counted = people * _own_part(peak, own, sampling)
        return self._median(normal, peak, mean, counted, shares, known)

    def _median(
        self,
        likelihood: Density,
        peak: FloatArray,
        mean: FloatArray,
        counted: float,
        shares: FloatArray,
        known: FloatArray,
    ) -> FloatArray:
        if not np.isfinite(peak).all():
            return np.full(len(shares), np.nan)
        expected = shares / (1 / _PRIOR_PEOPLE + 1 / known.sum())
        if len(shares) == 2:
            second = line_median(likelihood, partial(_line_prior, expected, self.shift))
            return np.array([1 - second, second])
        # The mean scores tell groups apart that the peak both takes for absent.
        parts, near = [], 0.99 * peak + 0.01 * mean
        for weight, pseudo in ((self.shift, np.ones_like(shares)), (1 - self.shift, expected)):
            if weight:
                like = counted + pseudo.sum()
                start = (counted * near + pseudo) / like
                before = partial(_log_dirichlet, pseudo, weight)
                parts.append(Part(lambda q, b=before: likelihood(q) + b(q), start, like))  # type: ignore[misc]
        return simplex_medians(parts)


def _own_part(peak: FloatArray, own: FloatArray, sampling: FloatArray) -> float:
    """Return which part of the mean score's variance is the deployment's, at some prevalences."""
    traces = [np.trace(part, axis1=-2, axis2=-1) for part in (own, sampling)]
    deployment, auxiliary = peak @ traces[0], peak**2 @ traces[1]
    total = float(deployment + auxiliary)
    return float(deployment) / total if total > 0 else 1.0


def _peak(scores: FloatArray, weights: FloatArray, prior: FloatArray) -> FloatArray:
    return most_likely(np.asfortranarray(scores) / prior, weights / weights.sum(), prior)


def _mixture(ratio: FloatArray, weights: FloatArray, prevalences: FloatArray) -> FloatArray:
    """Log-likelihood of the scores; ``ratio`` is ``(groups, points)``."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prevalences @ ratio) @ weights)


def _normal(
    mean: FloatArray,
    means: FloatArray,
    within: FloatArray,
    known: FloatArray,
    prevalences: FloatArray,
) -> FloatArray:
    """Log-density of the mean score; ``within`` and ``known`` are covariances of means."""
    shape = (len(prevalences), len(mean), len(mean))
    excess = mean - prevalences @ means
    covariance = prevalences @ within.reshape(len(means), -1)
    covariance += prevalences**2 @ known.reshape(len(means), -1)
    covariance = covariance.reshape(shape) + _LEAST_VARIANCE * np.eye(len(mean))
    solved = np.linalg.solve(covariance, excess[..., None])[..., 0]
    return np.asarray(-((excess * solved).sum(axis=-1) + np.linalg.slogdet(covariance)[1]) / 2)


def _within(auxiliary: Labelled, scores: FloatArray) -> FloatArray:
    """Covariance of the scores in each group, ``(..., groups, scores, scores)``."""
    size = scores.shape[-1]
    products = (scores[..., :, None] * scores[..., None, :]).reshape(*scores.shape[:-1], size**2)
    squares = group_means(auxiliary, products)
    means = group_means(auxiliary, scores)
    square = squares.reshape(*means.shape, size)
    return np.asarray(square - means[..., :, None] * means[..., None, :])


def _merged(scores: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Merge neighbours, in logarithms of their scores, where there are very many points.

    The logarithm of a mixture is curved by less than one in logarithms of the scores, however rare
    a group is.
    """
    most = _MOST_POINTS if scores.shape[1] == 2 else _MOST_POINTS_OF_MANY
    steps, logs = 512.0, np.log(np.maximum(scores, _SMALLEST))
    while len(weights) > most:
        cells = np.floor(logs * steps).astype(np.int64)
        keys = (cells * _MIXING ** np.arange(1, scores.shape[1] + 1)).sum(axis=1)
        distinct, place = np.unique(keys, return_inverse=True)
        if len(distinct) <= most:
            total = np.bincount(place, weights=weights).astype(np.float64)
            sums = [np.bincount(place, weights=weights * s) for s in scores.T]
            return np.column_stack(sums) / total[:, None], total
        steps /= 2
    return scores, weights


def _line_prior(pseudo: FloatArray, shift: float, edges: FloatArray) -> FloatArray:
    """Log prior probability between neighbouring prevalences of the second of two groups."""
    first, second = pseudo
    below = betainc(second, first, edges)
    above = betainc(first, second, 1 - edges)
    # Differences of the smaller tail keep their digits.
    expected = np.where(edges[1:] < second / (first + second), np.diff(below), -np.diff(above))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shift * np.diff(edges) + (1 - shift) * expected))


def _log_dirichlet(pseudo: FloatArray, weight: float, prevalences: FloatArray) -> FloatArray:
    """Log density of a part of the prior on the simplex."""
    constant = np.log(weight) + gammaln(pseudo.sum()) - gammaln(pseudo).sum()
    with np.errstate(divide="ignore"):
        return np.asarray(constant + np.log(prevalences) @ (pseudo - 1))
