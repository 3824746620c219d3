"""The moment equation of one cell: what its mean score says of its prevalences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from quantifair.intervals.sample import Sample
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points

_LEAST_VARIANCE = 1e-18
"""Keeps a perfect group classifier, whose scores do not vary, from a division by zero."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and covariances of the scores in one cell, of both tables.

    Under prior shift the deployment's mean score is the groups' auxiliary mean scores, mixed by the
    prevalences sought: E[mean - sum_g q_g means_g] = 0, whether the scores are calibrated or not.
    One score is redundant, as they sum to one; the first group's is left out.

    Attributes
    ----------
    mean
        Mean scores of the deployment, ``(scores,)``.
    means
        Mean scores of each group's auxiliary people, ``(groups, scores)``.
    within
        Covariance of the scores within each group, ``(groups, scores, scores)``.
    sampling
        Covariance of ``means``, ``(groups, scores, scores)``.
    people
        Effective number of people in the deployment's cell.
    """

    mean: FloatArray
    means: FloatArray
    within: FloatArray
    sampling: FloatArray
    people: float

    @classmethod
    def of(
        cls, sample: Sample, points: Points, people: float, *, population: bool = False
    ) -> Moments:
        """Take the moments of a cell's auxiliary people and of its deployment's scores.

        Where the ``population`` behind the deployment's rows is meant, their composition varies,
        and with it their mean score, by all the variance that the scores have.
        """
        mean = points.weights @ points.scores[:, 1:] / points.weights.sum()
        found = cls.of_columns(sample.scores[:, 1:], sample, mean, people)
        if population:
            away = points.scores[:, 1:] - mean
            found.within[:] = (away * points.weights[:, None]).T @ away / points.weights.sum()
        return found

    @classmethod
    def of_columns(
        cls, columns: FloatArray, sample: Sample, mean: FloatArray, people: float
    ) -> Moments:
        """Take the moments of any numbers of the auxiliary people, ``(people, columns)``.

        What holds of mean scores under prior shift holds of the mean of any function of the
        features; ``mean`` is that of the deployment's cell.
        """
        groups = range(sample.scores.shape[1])
        found = [_of_group(columns, sample, sample.codes == g) for g in groups]
        means, within, sampling = (np.stack(part) for part in zip(*found, strict=True))
        return cls(mean, means, within, sampling, max(1.0, people))

    def contaminated(self, share: float, scores: FloatArray) -> Moments:
        """Return what is known if a share of each group has these mean scores instead of its own.

        They are of anybody, so the scores of the others are what the equation is about.
        """
        kept = 1 - share
        return Moments(
            self.mean - share * scores,
            kept * self.means,
            kept * self.within,
            kept**2 * self.sampling,
            self.people,
        )

    @property
    def scores(self) -> int:
        """How many scores there are."""
        return len(self.mean)

    def excess(self, prevalences: FloatArray) -> FloatArray:
        """Mean score beyond what the prevalences explain, ``(..., scores)``."""
        return np.asarray(self.mean - prevalences @ self.means)

    def covariance(self, prevalences: FloatArray) -> FloatArray:
        """Covariance of ``excess`` if the prevalences are true, ``(..., scores, scores)``.

        The composition of the deployment's rows is what is sought, so it does not vary.
        """
        flat = prevalences @ (self.within / self.people).reshape(len(self.means), -1)
        flat = flat + prevalences**2 @ self.sampling.reshape(len(self.means), -1)
        floor = _LEAST_VARIANCE * np.eye(self.scores)
        return np.asarray(flat.reshape(*prevalences.shape[:-1], *floor.shape) + floor)

    def deviance(self, prevalences: FloatArray) -> FloatArray:
        """Squared excess in units of its covariance: chi-square at the truth."""
        excess = self.excess(prevalences)
        solved = np.linalg.solve(self.covariance(prevalences), excess[..., None])[..., 0]
        return np.asarray((excess * solved).sum(axis=-1))


def _of_group(
    scores: FloatArray, sample: Sample, members: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean score of a group, the covariance of its scores, and that of its mean."""
    scores, weights = scores[members], sample.weights[members]
    mean = weights @ scores / weights.sum()
    away = scores - mean
    clusters = np.arange(len(away))
    if sample.clusters is not None:
        clusters = np.unique(sample.clusters[members], return_inverse=True)[1]
    shares = (away * weights[:, None]) / weights.sum()
    summed = np.zeros((int(clusters.max()) + 1, scores.shape[1]))
    np.add.at(summed, clusters, shares)
    correction = len(summed) / max(1, len(summed) - 1)
    within = (away * weights[:, None]).T @ away / weights.sum() * correction
    return mean, within, summed.T @ summed * correction
