"""The classifiers that are audited: h in the paper."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from quantifair.errors import InputError
from quantifair.experiments.learners import margins
from quantifair.experiments.linear import LOGISTIC, Problem, fit_linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.parts import Parts
    from quantifair.experiments.protocols import Training

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]


class Auditee(Protocol):
    """What trains the audited classifiers."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    def decide(self, parts: Parts, trainings: Sequence[Training]) -> tuple[BoolArray, BoolArray]:
        """Train on each training, and decide on the auxiliary and the deployment part.

        Returns
        -------
        tuple
            Whether the decision is favourable, shape ``(trainings, rows)``, for both parts.
        """
        ...


def balanced_weights(labels: IntArray) -> FloatArray:
    """Weights inversely proportional to the frequency of the label, of mean one.

    Examples
    --------
    >>> balanced_weights(np.array([0, 0, 0, 1])).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    counts = np.bincount(labels, minlength=2)
    return np.asarray(len(labels) / (2 * np.maximum(counts, 1))[labels])


@dataclass(frozen=True)
class BalancedLogistic:
    """Logistic regression with balanced class weights, as in the paper."""

    name: str = "LR"

    def decide(self, parts: Parts, trainings: Sequence[Training]) -> tuple[BoolArray, BoolArray]:
        """Train all at once."""
        part = parts.training
        problems = [Problem(t.rows, t.labels, balanced_weights(t.labels)) for t in trainings]
        coef = fit_linear(part.features, part.label, problems, loss=LOGISTIC)
        auxiliary, deployment = parts.auxiliary.features, parts.deployment.features
        return margins(coef, auxiliary) > 0, margins(coef, deployment) > 0


@dataclass(frozen=True)
class FairTree:
    """A decision tree made fair by reductions, which knows the group while it is trained.

    Fairlearn's ``ExponentiatedGradient`` with demographic parity around scikit-learn's tree. The
    paper does not say how deep; a tree without bound knows the training part by heart, and is
    fair there alone.

    References
    ----------
    Agarwal, Beygelzimer, Dudík, Langford, Wallach (2018), A reductions approach to fair
    classification, arXiv:1803.02453.
    """

    name: str = "fair-tree"
    depth: int = 5
    seed: int = 0

    def decide(self, parts: Parts, trainings: Sequence[Training]) -> tuple[BoolArray, BoolArray]:
        """Train one after the other."""
        models = [self._train(parts, training) for training in trainings]
        both = (parts.auxiliary.features, parts.deployment.features)
        found = (
            np.array([m.predict(x, random_state=self.seed) == 1 for m in models]) for x in both
        )
        return next(found), next(found)

    def _train(self, parts: Parts, training: Training) -> Any:
        try:
            from fairlearn.reductions import DemographicParity, ExponentiatedGradient
        except ImportError as error:
            raise InputError(
                "the fairness-aware classifier takes fairlearn: pip install quantifair[experiments]"
            ) from error
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(max_depth=self.depth, random_state=self.seed)
        model = ExponentiatedGradient(tree, DemographicParity())
        features, group = parts.training.features, parts.training.group
        return model.fit(
            features[training.rows],
            training.labels,
            sensitive_features=group[training.rows],
        )


@dataclass(frozen=True)
class EstimatorAuditee:
    """Any scikit-learn classifier, fitted one by one.

    Attributes
    ----------
    name
        What results call it.
    estimator
        Cloned for each training.
    """

    name: str
    estimator: Any

    def decide(self, parts: Parts, trainings: Sequence[Training]) -> tuple[BoolArray, BoolArray]:
        """Train one after the other."""
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning

        features = parts.training.features
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            models = [clone(self.estimator).fit(features[t.rows], t.labels) for t in trainings]
        both = (parts.auxiliary.features, parts.deployment.features)
        found = (np.array([m.predict(x) == 1 for m in models]) for x in both)
        return next(found), next(found)


AUDITEES: dict[str, Auditee] = {"LR": BalancedLogistic(), "fair-tree": FairTree()}
