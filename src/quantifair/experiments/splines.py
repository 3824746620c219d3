"""Logistic regression on curves: numbers may count for more in one range than in another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.experiments.learners import Logistic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.learners import Classifiers

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

_QUANTILES = 10
_KNOTS = 5


@dataclass(frozen=True, eq=False)
class Curves:
    """The features with cubic splines of the numbers' ranks beside them.

    Attributes
    ----------
    columns
        The features with more than ten values, of which a curve can differ from steps and lines.
    splines
        A fitted transformer; ranks, as knots at quantiles coincide where many share a value.
    """

    columns: IntArray
    splines: Any

    @classmethod
    def of(cls, features: FloatArray) -> Curves:
        """Learn the ranks of a part's numbers; no group is looked at."""
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import QuantileTransformer, SplineTransformer

        many = [len(np.unique(values)) > _QUANTILES for values in features.T]
        columns = np.flatnonzero(many)
        ranks = QuantileTransformer(n_quantiles=_QUANTILES, random_state=0)
        splines = make_pipeline(ranks, SplineTransformer(n_knots=_KNOTS, include_bias=False))
        return cls(columns, splines.fit(features[:, columns]) if len(columns) else None)

    def __call__(self, features: FloatArray) -> FloatArray:
        """Return the features with the new columns."""
        if self.splines is None:
            return features
        return np.hstack([features, self.splines.transform(features[:, self.columns])])


@dataclass(frozen=True, eq=False)
class CurvedClassifiers:
    """Classifiers that read the features with their curves."""

    curves: Curves
    classifiers: Classifiers

    def scores(self, features: FloatArray, models: IntArray) -> FloatArray:
        """Return posteriors."""
        return self.classifiers.scores(self.curves(features), models)

    def decisions(self, features: FloatArray, models: IntArray) -> BoolArray:
        """Return which margins are positive."""
        return self.classifiers.decisions(self.curves(features), models)

    def select(self, models: IntArray) -> CurvedClassifiers:
        """Return some of the classifiers."""
        return CurvedClassifiers(self.curves, self.classifiers.select(models))


@dataclass(frozen=True)
class Splines:
    """Logistic regression on the features and splines of those that are numbers.

    Ranks are those of the whole auxiliary part, which all samples are drawn from.

    Attributes
    ----------
    name
        What tables call it.
    strength
        C of the logistic regression.
    """

    name: str = "splines"
    strength: float = 0.1

    def fit(
        self,
        features: FloatArray,
        groups: IntArray,
        samples: Sequence[IntArray],
        *,
        near: Classifiers | None = None,
    ) -> CurvedClassifiers:
        """Fit all at once."""
        start = near.classifiers if isinstance(near, CurvedClassifiers) else None
        curves = Curves.of(features)
        logistic = Logistic(self.name, self.strength)
        return CurvedClassifiers(
            curves, logistic.fit(curves(features), groups, samples, near=start)
        )
