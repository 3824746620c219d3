"""Counting: what a classifier says, taken at its word."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from quantifair.quantifiers.base import Labelled, Quantifier, hard_shares, mean_scores

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points


class CC(Quantifier):
    """Classify and count: the share of people whose most probable group is each.

        q(s) = 1/n sum_i k(s, x_i),  k(s, x) = 1 where s is most probable given x, else 0

    The naive threshold estimator. Biased wherever the group classifier errs, and the more so
    the farther the prevalences are from the auxiliary ones.

    References
    ----------
    Forman (2008), Quantifying counts and costs via classification,
    doi:10.1007/s10618-008-0097-y.

    Examples
    --------
    >>> CC().fit([0.2, 0.9], ["f", "m"]).predict([0.1, 0.3, 0.8, 0.6]).tolist()
    [0.5, 0.5]
    """

    adjusts: ClassVar[bool] = False
    needs_every_group: ClassVar[bool] = False

    def learn(self, auxiliary: Labelled) -> None:
        """Nothing is needed of the auxiliary sample."""

    def solve(self, deployment: Points) -> FloatArray:
        """Count the hard decisions."""
        return hard_shares(deployment)


class PCC(Quantifier):
    """Probabilistic classify and count: the mean score.

        q(s) = 1/n sum_i P(s | x_i)

    Right where P(group | features) is the same in both tables (covariate shift, or none) and
    the scores are calibrated; pulled towards the auxiliary prevalences under prior shift.

    References
    ----------
    Bella et al. (2010), Quantification via probability estimators, doi:10.1109/ICDM.2010.75.

    Examples
    --------
    >>> PCC().fit([0.2, 0.9], ["f", "m"]).predict([0.25, 0.75, 0.5, 1.0]).tolist()
    [0.375, 0.625]
    """

    adjusts: ClassVar[bool] = False
    uses_posteriors: ClassVar[bool] = True
    needs_every_group: ClassVar[bool] = False

    def learn(self, auxiliary: Labelled) -> None:
        """Nothing is needed of the auxiliary sample."""

    def solve(self, deployment: Points) -> FloatArray:
        """Average the scores."""
        return mean_scores(deployment)
