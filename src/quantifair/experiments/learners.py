"""Learners of the group classifier: many classifiers in, scores and decisions out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from quantifair.experiments.linear import LOGISTIC, SQUARED_HINGE, Problem, fit_linear
from quantifair.experiments.linear.narrow import Narrow
from quantifair.experiments.linear.newton import minimise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

_FOLDS = 5
_FAINT = 1e-9


class Classifiers(Protocol):
    """Fitted classifiers of two groups, numbered as the samples that they were fitted on."""

    def scores(self, features: FloatArray, models: IntArray) -> FloatArray:
        """Return P(S=1 | x) by some of the models, shape ``(models, rows)``."""
        ...

    def decisions(self, features: FloatArray, models: IntArray) -> BoolArray:
        """Return whether each model takes each row for the group 1."""
        ...

    def select(self, models: IntArray) -> Self:
        """Return some of the classifiers, perhaps more than once."""
        ...


class Learner(Protocol):
    """What fits the group classifiers of a study."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def fit(
        self,
        features: FloatArray,
        groups: IntArray,
        samples: Sequence[IntArray],
        *,
        near: Classifiers | None = None,
    ) -> Classifiers:
        """Fit one classifier on each sample.

        Parameters
        ----------
        features, groups
            Of the auxiliary part.
        samples
            Rows of each sample in random order; some may repeat.
        near
            Classifiers of the same learner on samples much like these, one each, to start from.
        """
        ...


def margins(coef: FloatArray, features: FloatArray) -> FloatArray:
    """Return the margins of linear models, shape ``(models, rows)``."""
    return np.asarray(coef[:, :-1] @ features.T + coef[:, -1:])


def sigmoid(values: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-x)), by the tanh that NumPy has fast."""
    half = np.tanh(values / 2)
    half += 1
    half /= 2
    return half


@dataclass(frozen=True, eq=False)
class LogisticClassifiers:
    """Logistic regressions."""

    coef: FloatArray

    def scores(self, features: FloatArray, models: IntArray) -> FloatArray:
        """Return posteriors."""
        return sigmoid(margins(self.coef[models], features))

    def decisions(self, features: FloatArray, models: IntArray) -> BoolArray:
        """Return which margins are positive."""
        return margins(self.coef[models], features) > 0

    def select(self, models: IntArray) -> LogisticClassifiers:
        """Return some of the classifiers."""
        return LogisticClassifiers(self.coef[models])


@dataclass(frozen=True)
class Logistic:
    """``LogisticRegression()`` of scikit-learn, converged.

    Attributes
    ----------
    name
        What tables call it.
    strength
        Its C; less regularises more.
    """

    name: str = "LR"
    strength: float = 1.0

    def fit(
        self,
        features: FloatArray,
        groups: IntArray,
        samples: Sequence[IntArray],
        *,
        near: Classifiers | None = None,
    ) -> LogisticClassifiers:
        """Fit all at once."""
        start = near.coef if isinstance(near, LogisticClassifiers) else None
        problems = [Problem(rows) for rows in samples]
        penalty = 1 / self.strength
        return LogisticClassifiers(
            fit_linear(features, groups, problems, loss=LOGISTIC, penalty=penalty, start=start)
        )


@dataclass(frozen=True, eq=False)
class CalibratedMachines:
    """Support vector machines, and their five calibrated versions.

    Attributes
    ----------
    coef
        Machines fitted on whole samples, which decide: ``(models, features + 1)``.
    fold_coef
        Machines fitted without one fold: ``(models, folds, features + 1)``.
    sigmoids
        Slope and intercept of Platt's sigmoid of each, ``(models, folds, 2)``.
    """

    coef: FloatArray
    fold_coef: FloatArray
    sigmoids: FloatArray

    def scores(self, features: FloatArray, models: IntArray) -> FloatArray:
        """Return the mean of the calibrated machines' probabilities."""
        total = np.zeros((len(models), len(features)))
        for fold in range(self.fold_coef.shape[1]):
            slope, intercept = self.sigmoids[models, fold].T[:, :, None]
            total += sigmoid(slope * margins(self.fold_coef[models, fold], features) + intercept)
        return np.asarray(total / self.fold_coef.shape[1])

    def decisions(self, features: FloatArray, models: IntArray) -> BoolArray:
        """Return which margins are positive; probabilities play no part."""
        return margins(self.coef[models], features) > 0

    def select(self, models: IntArray) -> CalibratedMachines:
        """Return some of the classifiers."""
        return CalibratedMachines(self.coef[models], self.fold_coef[models], self.sigmoids[models])


@dataclass(frozen=True)
class SupportVectors:
    """``LinearSVC()`` of scikit-learn, with Platt's probabilities from five folds."""

    name: str = "SVM"

    def fit(
        self,
        features: FloatArray,
        groups: IntArray,
        samples: Sequence[IntArray],
        *,
        near: Classifiers | None = None,
    ) -> CalibratedMachines:
        """Fit the machines, then those without a fold, then their sigmoids."""
        start = near.coef if isinstance(near, CalibratedMachines) else None
        whole = [Problem(rows) for rows in samples]
        coef = fit_linear(features, groups, whole, loss=SQUARED_HINGE, start=start)
        held = [fold for rows in samples for fold in _folds(rows, groups)]
        kept = [Problem(rows[~h]) for rows, h in zip(_each(samples), held, strict=True)]
        near_folds = np.repeat(coef, _FOLDS, axis=0)
        fold_coef = fit_linear(features, groups, kept, loss=SQUARED_HINGE, start=near_folds)
        sigmoids = _platt(features, groups, fold_coef, _each(samples), held)
        shape = (len(samples), _FOLDS, -1)
        return CalibratedMachines(coef, fold_coef.reshape(shape), sigmoids.reshape(shape))


def _each(samples: Sequence[IntArray]) -> list[IntArray]:
    """Return each sample once for each fold."""
    return [rows for rows in samples for _ in range(_FOLDS)]


def _folds(rows: IntArray, groups: IntArray) -> list[BoolArray]:
    """Deal out each group's rows to the folds in turn, so that folds are stratified."""
    order = np.argsort(groups[rows], kind="stable")
    fold = np.empty(len(rows), dtype=np.int64)
    fold[order] = np.arange(len(rows)) % _FOLDS
    return [fold == k for k in range(_FOLDS)]


def _platt(
    features: FloatArray,
    groups: IntArray,
    coef: FloatArray,
    samples: Sequence[IntArray],
    held: Sequence[BoolArray],
) -> FloatArray:
    """Fit Platt's sigmoids on held-out margins, with his targets short of 0 and 1."""
    most = max(int(h.sum()) for h in held)
    values, targets = np.zeros((len(held), most, 2)), np.zeros((len(held), most))
    weights = np.zeros((len(held), most))
    for i, (rows, out) in enumerate(zip(samples, held, strict=True)):
        chosen = rows[out]
        n, ones = len(chosen), int(groups[chosen].sum())
        values[i, :n, 0] = features[chosen] @ coef[i, :-1] + coef[i, -1]
        values[i, :n, 1] = 1.0
        high, low = (ones + 1) / (ones + 2), 1 / (n - ones + 2)
        targets[i, :n] = np.where(groups[chosen] == 1, high, low)
        weights[i, :n] = 1.0
    batch = Narrow(values, targets, weights, np.full(2, _FAINT), LOGISTIC)
    return minimise(batch, np.tile([1.0, 0.0], (len(held), 1)))


@dataclass(frozen=True, eq=False)
class EstimatorClassifiers:
    """Fitted scikit-learn classifiers."""

    models: tuple[Any, ...]

    def scores(self, features: FloatArray, models: IntArray) -> FloatArray:
        """Return their probabilities."""
        return np.array([self.models[m].predict_proba(features)[:, 1] for m in models])

    def decisions(self, features: FloatArray, models: IntArray) -> BoolArray:
        """Return which probabilities exceed one half."""
        return self.scores(features, models) > 0.5

    def select(self, models: IntArray) -> EstimatorClassifiers:
        """Return some of the classifiers."""
        return EstimatorClassifiers(tuple(self.models[m] for m in models))


@dataclass(frozen=True)
class Estimator:
    """Any scikit-learn classifier with probabilities, fitted one by one.

    Attributes
    ----------
    name
        What tables call it.
    estimator
        Cloned for each sample.
    """

    name: str
    estimator: Any

    def fit(
        self,
        features: FloatArray,
        groups: IntArray,
        samples: Sequence[IntArray],
        *,
        near: Classifiers | None = None,  # noqa: ARG002
    ) -> EstimatorClassifiers:
        """Fit one after the other, each as far as the estimator goes."""
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            models = (clone(self.estimator).fit(features[rows], groups[rows]) for rows in samples)
            return EstimatorClassifiers(tuple(models))


LEARNERS: dict[str, Learner] = {"LR": Logistic(), "SVM": SupportVectors()}
