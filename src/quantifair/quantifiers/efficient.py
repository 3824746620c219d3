"""EAC: adjusted counting with the scores that leave the least variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.quantifiers.adjusted import PACC, invert
from quantifair.quantifiers.base import Labelled, group_means, mean_scores
from quantifair.quantifiers.em import binning_remainder

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points

_RAREST = 0.01
"""Least share of a group in the pilot: at zero the weight of a density ratio has no bound."""


class EAC(PACC):
    """Efficient adjusted count.

    Solves PACC's equation for another function w of the score than the score itself,

        mean of w in the deployment = sum_s q(s) * mean of w in group s.

    Any w will do under prior shift. The variance is least, counting the uncertainty of both
    samples, for

        w = (r - 1) / [(q r + 1 - q) / n + q^2 r / n1 + (1 - q)^2 / n0]

    where r is the ratio of the two groups' densities that the scores and the auxiliary
    prevalences p(s) imply, n, n1 and n0 count the deployment and the two auxiliary groups, and q
    is a pilot estimate: PACC's, kept from 0.01 to 0.99. The pilot enters the variance alone and a
    second round changes next to nothing, so there is one.

    With many groups there is one w for each,

        w(s)  proportional to  (q(s) / n + q(s)^2 / n(s)) * P(s | x) / p(s),   sum to one,

    which are the posteriors under other prevalences; for two groups that is the same equation.
    Calibrated scores make it efficient; it is consistent without. People are counted by Kish's
    effective size where they are weighted.

    References
    ----------
    Tian, Hou, Liu, Gao (2023), ELSA: efficient label shift adaptation through the lens of
    semiparametric models, arXiv:2305.19123.

    Examples
    --------
    >>> scores, groups = [0.2, 0.4, 0.6, 0.8], ["f", "f", "m", "m"]
    >>> EAC().fit(scores, groups).predict([0.5, 0.7]).round(3).tolist()
    [0.164, 0.836]
    """

    auxiliary_: Labelled

    def learn(self, auxiliary: Labelled) -> None:
        """Keep the auxiliary people: which function of their scores to use is not yet known."""
        super().learn(auxiliary)
        self.auxiliary_ = auxiliary

    def solve(self, deployment: Points) -> FloatArray:
        """Take PACC's estimate as the pilot, and solve again with the weights that follow."""
        weighting = self._weighting(deployment)
        tilt = weighting / self.auxiliary_.shares
        weighed = deployment._replace(scores=_tilted(deployment.scores, tilt))
        return invert(self._rates(tilt), mean_scores(weighed))

    def binning_error(self, points: Points, prevalence: FloatArray) -> float:  # noqa: ARG002
        """Bound the effect on the mean weights, taken through the inverse of their rates."""
        weighting, shares = self._weighting(points), self.auxiliary_.shares
        remainder = weighting * binning_remainder(points, shares, weighting)
        if not np.isfinite(remainder).all():
            return float("inf")
        inverse = np.abs(np.linalg.inv(self._rates(weighting / shares)))
        return float((inverse @ remainder).max())

    def _weighting(self, deployment: Points) -> FloatArray:
        """Variance that a person of each group would add at the pilot, one in all."""
        pilot = np.maximum(self.project(super().solve(deployment)), _RAREST)
        pilot /= pilot.sum(axis=-1, keepdims=True)
        variance = pilot / deployment.people[..., None] + pilot**2 / self.auxiliary_.people
        return np.asarray(variance / variance.sum(axis=-1, keepdims=True))

    def _rates(self, tilt: FloatArray) -> FloatArray:
        """Mean weights of each group's auxiliary people, in columns."""
        means = group_means(self.auxiliary_, _tilted(self.auxiliary_.points.scores, tilt))
        return means.swapaxes(-1, -2)


def _tilted(scores: FloatArray, tilt: FloatArray) -> FloatArray:
    """Posteriors where the groups are more common by the factors ``tilt``."""
    found = scores * tilt[..., None, :]
    return np.asarray(found / found.sum(axis=-1, keepdims=True))
