"""Counting, corrected by the classifier's known error rates."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from quantifair.errors import NotIdentifiedError
from quantifair.quantifiers.base import (
    Labelled,
    Quantifier,
    group_means,
    hard_shares,
    mean_scores,
    one_hot,
)

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points

_SINGULAR = 1e-9


class _Adjusted(Quantifier):
    """Solve ``rates @ prevalence = observed`` where ``rates[j, k]`` is P(j said | k true)."""

    rates_: FloatArray

    def learn(self, auxiliary: Labelled) -> None:
        """Keep what the classifier says of each group on average."""
        self.rates_ = group_means(auxiliary, self.said(auxiliary.points)).swapaxes(-1, -2)
        if self.rates_.ndim == 2 and np.linalg.svd(self.rates_, compute_uv=False)[-1] < _SINGULAR:
            raise NotIdentifiedError(
                "the scores have the same mean in every group (tpr = fpr), so they carry no "
                "information about the group; better features or a better learner are needed"
            )

    @abstractmethod
    def said(self, points: Points) -> FloatArray:
        """Return what the classifier says of each point, as score vectors."""

    @abstractmethod
    def observed(self, deployment: Points) -> FloatArray:
        """Return the mean of what it says on the deployment."""

    def solve(self, deployment: Points) -> FloatArray:
        """Invert the rates."""
        return invert(self.rates_, self.observed(deployment))

    def project(self, raw: FloatArray) -> FloatArray:
        """Clip two groups; for more, take the prevalences that explain the rates best."""
        return nearest_shares(self.rates_, raw)


class ACC(_Adjusted):
    """Adjusted classify and count.

        q(s) = (CC(s) - fpr) / (tpr - fpr)

    clipped to [0, 1]; for more than two groups the confusion matrix takes the place of the two
    rates. Fisher-consistent under prior shift.

    References
    ----------
    Forman (2008), doi:10.1007/s10618-008-0097-y.

    Examples
    --------
    >>> scores, groups = [0.2, 0.6, 0.7, 0.9], ["f", "f", "m", "m"]  # fpr 1/2, tpr 1
    >>> ACC().fit(scores, groups).predict([0.1, 0.8, 0.9, 0.7]).tolist()
    [0.5, 0.5]
    """

    def said(self, points: Points) -> FloatArray:
        """Hard decisions."""
        return one_hot(points)

    def observed(self, deployment: Points) -> FloatArray:
        """Shares of the hard decisions."""
        return hard_shares(deployment)


class PACC(_Adjusted):
    """Probabilistic adjusted classify and count.

        q(s) = (PCC(s) - fpr) / (tpr - fpr)

    where the two rates are the mean scores of people inside and outside the group. Linear in
    the scores, so it needs them cross-fitted but not calibrated. Fisher-consistent under prior
    shift.

    References
    ----------
    Bella et al. (2010), doi:10.1109/ICDM.2010.75.

    Examples
    --------
    >>> scores, groups = [0.2, 0.4, 0.6, 0.8], ["f", "f", "m", "m"]  # rates 0.3 and 0.7
    >>> PACC().fit(scores, groups).predict([0.5, 0.7]).round(3).tolist()
    [0.25, 0.75]
    """

    def said(self, points: Points) -> FloatArray:
        """The scores themselves."""
        return points.scores

    def observed(self, deployment: Points) -> FloatArray:
        """Mean scores."""
        return mean_scores(deployment)


def invert(rates: FloatArray, observed: FloatArray) -> FloatArray:
    """Solve ``rates @ prevalence = observed``, whose columns sum to one; NaN without a solution."""
    if rates.shape[-1] > 2:
        return _solve_systems(rates, observed)
    tpr, fpr = rates[..., 1, 1], rates[..., 1, 0]
    second = (observed[..., 1] - fpr) / np.where(abs(tpr - fpr) < _SINGULAR, np.nan, tpr - fpr)
    return np.stack([1 - second, second], axis=-1)


def nearest_shares(rates: FloatArray, raw: FloatArray) -> FloatArray:
    """Bring prevalences to the simplex: the q in it that minimises |rates (q - raw)|^2."""
    if raw.shape[-1] == 2:
        return np.clip(raw, 0.0, 1.0)
    if (raw >= 0).all():
        return raw
    rates = np.broadcast_to(rates, (*raw.shape, raw.shape[-1]))
    systems = rates.reshape(-1, *rates.shape[-2:])
    pairs = zip(systems, raw.reshape(-1, raw.shape[-1]), strict=True)
    nearest = [_least_squares(r, q) if (q < 0).any() else q for r, q in pairs]
    return np.array(nearest).reshape(raw.shape)


def _solve_systems(rates: FloatArray, observed: FloatArray) -> FloatArray:
    """Solve each replicate's system; one without a solution is NaN."""
    known = np.asarray(np.isfinite(rates).all(axis=(-2, -1)))
    finite = np.where(known[..., None, None], rates, 0.0)
    solvable = np.linalg.svd(finite, compute_uv=False)[..., -1] > _SINGULAR
    safe = np.where(solvable[..., None, None], rates, np.eye(rates.shape[-1]))
    found = np.linalg.solve(safe, observed[..., None])[..., 0]
    return np.where(solvable[..., None], found, np.nan)


def _least_squares(rates: FloatArray, raw: FloatArray) -> FloatArray:
    """Minimise |rates (q - raw)|^2 over the simplex.

    A heavy row all but enforces the sum; that finds the groups that are present, whose prevalences
    then follow exactly.
    """
    heavy = 1e4
    target = rates @ raw
    q, _ = nnls(np.vstack([rates, np.full(len(raw), heavy)]), np.append(target, heavy))
    first, *others = np.flatnonzero(q)
    away = rates[:, others] - rates[:, [first]]
    exact, *_ = np.linalg.lstsq(away, target - rates[:, first], rcond=None)
    if (exact < 0).any() or exact.sum() > 1:
        return np.asarray(q / q.sum())
    q[others], q[first] = exact, 1 - exact.sum()
    return np.asarray(q)
