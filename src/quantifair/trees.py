"""Gradient boosting on one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SmallTrees(HistGradientBoostingClassifier):  # type: ignore[misc]
    """``HistGradientBoostingClassifier`` on one thread.

    Its loops over small trees are so short that threads wait for each other: on a machine that is
    busy otherwise, many times as long as one thread needs.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SmallTrees:
        """Fit."""
        with threadpool_limits(1, user_api="openmp"):
            super().fit(X, y, sample_weight)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class."""
        with threadpool_limits(1, user_api="openmp"):
            scores: NDArray[np.float64] = super().predict_proba(X)
        return scores
