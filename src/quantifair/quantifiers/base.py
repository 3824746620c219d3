"""What every quantifier promises: fit on scores with known groups, predict prevalences."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from quantifair.errors import InputError, NotIdentifiedError
from quantifair.scores import as_scores
from quantifair.sketch import Points, Sketch, kish, nested_bins

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


class Labelled(NamedTuple):
    """Auxiliary score points and how many people of each group stand at each.

    Attributes
    ----------
    points
        The score vectors and what a weight of one stands for; their weights are not used.
    counts
        Weights by group, shape ``(..., groups, points)``. Leading axes are replicates.
    """

    points: Points
    counts: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """Weight of each group, shape ``(..., groups)``."""
        return np.asarray(self.counts.sum(axis=-1))

    @property
    def people(self) -> FloatArray:
        """Effective number of people in each group, shape ``(..., groups)``."""
        return np.asarray(self.points.unit * self.sizes)

    @property
    def shares(self) -> FloatArray:
        """Prevalence of each group, shape ``(..., groups)``."""
        sizes = self.sizes
        return np.asarray(sizes / sizes.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Estimate:
    """Prevalences with what is to be known about them.

    Attributes
    ----------
    prevalence
        Share of each group; not negative, sums to one.
    raw
        The same before it was brought back to the simplex.
    clipped
        Whether ``raw`` lay outside the simplex.
    sketch_error
        Bound on the difference to the row-level estimate that binning may cause.
    """

    prevalence: FloatArray
    raw: FloatArray
    clipped: bool
    sketch_error: float = 0.0


class Quantifier(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the quantifiers.

    A quantifier sees score vectors P(group | features), never features. It is fitted on
    auxiliary scores with known groups and maps scores of unknown groups, as rows or as a
    ``Sketch``, to prevalences. Subclasses write ``learn`` and
    ``solve``, which broadcast over leading axes of replicates, so that an interval
    costs one vectorised call.

    Attributes
    ----------
    classes_
        The groups, sorted; the order of the score columns and of the prevalences.
    prevalence_
        Prevalences of the groups in the auxiliary sample.
    """

    adjusts: ClassVar[bool] = True
    """Whether the estimate corrects for shift, so that useless scores leave it undetermined."""

    uses_posteriors: ClassVar[bool] = False
    """Whether scores are read as probabilities, so that calibration changes the estimate."""

    needs_every_group: ClassVar[bool] = True

    classes_: NDArray[Any]
    prevalence_: FloatArray

    def fit(
        self, scores: ArrayLike, groups: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from scores of people whose group is known.

        Parameters
        ----------
        scores
            Shape ``(people, groups)`` with columns in the sorted order of the groups, or, for
            two groups, the probabilities of the second alone.
        groups
            The group of each person: strings, numbers or booleans.
        sample_weight
            Weight of each person.
        """
        matrix = as_scores(scores)
        weights = np.ones(len(matrix))
        if sample_weight is not None:
            weights = _checked_weights(np.asarray(sample_weight, dtype=np.float64), len(matrix))
        self.classes_, codes = _encode(matrix, np.asarray(groups))
        counts = np.where(codes == np.arange(len(self.classes_))[:, None], weights, 0.0)
        return self.fit_labelled(Labelled(Points(matrix, weights, unit=kish(weights)), counts))

    def fit_labelled(self, auxiliary: Labelled) -> Self:
        """Learn from auxiliary counts by group, of one sample or of many replicates."""
        self.__dict__.pop("prevalence_", None)  # what fails to fit must not predict
        groups = auxiliary.counts.shape[-2]
        if len(getattr(self, "classes_", ())) != groups:
            self.classes_ = np.arange(groups)
        empty = (auxiliary.sizes <= 0).reshape(-1, groups)
        if empty.any() and (self.needs_every_group or empty.all(axis=1).any()):
            names = ", ".join(repr(c) for c in self.classes_[empty.any(axis=0)].tolist())
            raise NotIdentifiedError(f"the auxiliary sample holds nobody of group {names}")
        self.learn(auxiliary)
        self.prevalence_ = auxiliary.shares
        return self

    def predict(self, scores: ArrayLike | Sketch) -> FloatArray:
        """Return the prevalence of each group among people with these scores.

        Parameters
        ----------
        scores
            Score vectors as in ``fit``, or a sketch of them.
        """
        return self.estimate(scores).prevalence

    def estimate(self, scores: ArrayLike | Sketch) -> Estimate:
        """Return the prevalences with their caveats; see ``predict``."""
        if not hasattr(self, "prevalence_"):
            raise NotIdentifiedError(f"this {type(self).__name__} is not fitted; call fit first")
        points = self._points(scores)
        raw = self.solve(points)
        if not math.isfinite(raw.sum()):
            raise NotIdentifiedError(
                f"{type(self).__name__} has no single answer: these scores are equally likely "
                "under different prevalences, so they carry no information about the group"
            )
        prevalence = self.project(raw)
        clipped = prevalence is not raw and bool(np.abs(prevalence - raw).max() > 1e-9)
        error = self.binning_error(points, prevalence) if points.width else 0.0
        return Estimate(prevalence, raw, clipped, error)

    def project(self, raw: FloatArray) -> FloatArray:
        """Bring raw estimates onto the simplex; most are there already."""
        return raw

    def binning_error(self, points: Points, prevalence: FloatArray) -> float:  # noqa: ARG002
        """Bound the effect of reading bins instead of rows; 0 where sums suffice."""
        return 0.0

    @abstractmethod
    def learn(self, auxiliary: Labelled) -> None:
        """Keep what the estimate needs of the auxiliary sample."""

    @abstractmethod
    def solve(self, deployment: Points) -> FloatArray:
        """Return raw prevalences, shape ``(..., groups)``; NaN where they are not identified."""

    def _points(self, scores: ArrayLike | Sketch) -> Points:
        if isinstance(scores, Sketch):
            points, groups = scores.points, scores.groups
        else:
            matrix = as_scores(scores)
            points, groups = Points(matrix, np.ones(len(matrix))), matrix.shape[1]
        if not len(points.weights):
            raise NotIdentifiedError("no scores: the prevalences of nobody are not defined")
        if groups != len(self.classes_):
            raise InputError(f"scores of {groups} groups, fitted on {len(self.classes_)}")
        return points


def mean_scores(points: Points) -> FloatArray:
    """Weighted mean score vector, shape ``(..., groups)``."""
    if points.weights.ndim == 1 and points.scores.ndim == 2:
        return np.asarray(np.dot(points.weights, points.scores) / points.weights.sum())
    return np.asarray(
        (points.weights[..., None, :] @ points.scores)[..., 0, :]
        / points.weights.sum(axis=-1)[..., None]
    )


def hard_shares(points: Points) -> FloatArray:
    """Share of people whose most probable group is each, shape ``(..., groups)``."""
    if points.scores.shape[-1] > 2:
        return mean_scores(points._replace(scores=one_hot(points)))
    second = (points.weights * (points.scores[..., 1] > 0.5)).sum(axis=-1)
    second = second / points.weights.sum(axis=-1)
    return np.stack([1 - second, second], axis=-1)


def one_hot(points: Points) -> FloatArray:
    """Hard decisions as score vectors of zeros and ones."""
    return np.eye(points.scores.shape[-1])[points.hard]


def axes(groups: int) -> range:
    """Scores that matter one by one: of two groups the second one's says it all."""
    return range(1, 2) if groups == 2 else range(groups)


def bins_of(points: Points, k: int) -> tuple[IntArray, FloatArray]:
    """Nested bins of group ``k``'s score, as finely as they are known, and their weights."""
    if points.marginals is not None:
        return points.marginals[k]
    if points.bins is not None:
        return points.bins, points.weights
    return nested_bins(points.scores[..., k]), points.weights


def group_means(auxiliary: Labelled, values: FloatArray) -> FloatArray:
    """Mean of ``values`` (points, columns) within each group, ``(..., groups, columns)``."""
    return np.asarray((auxiliary.counts @ values) / auxiliary.sizes[..., None])


def _encode(scores: FloatArray, groups: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    if groups.shape != (len(scores),):
        raise InputError(f"{len(scores):,} score vectors need as many groups, not {groups.shape}")
    missing = sum(g is None or (isinstance(g, float) and math.isnan(g)) for g in groups.tolist())
    if missing:
        raise InputError(f"{missing:,} of {len(groups):,} groups are missing")
    classes, codes = np.unique(groups, return_inverse=True)
    if len(classes) != scores.shape[1]:
        raise InputError(
            f"scores have {scores.shape[1]} columns but {len(classes)} groups occur: "
            f"{classes.tolist()[:5]}"
        )
    return classes, codes


def _checked_weights(weights: FloatArray, rows: int) -> FloatArray:
    wrong = int((~(np.isfinite(weights) & (weights >= 0))).sum()) if weights.size else 0
    if weights.shape != (rows,) or wrong:
        raise InputError(f"sample_weight needs {rows:,} numbers of at least 0; {wrong:,} are not")
    return weights
