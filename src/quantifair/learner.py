"""The group classifier: how it is trained, calibrated, and applied to people without a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from quantifair.errors import InputError, explained
from quantifair.pipelines import encoder
from quantifair.roles import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.calibration import Calibration
    from quantifair.roles import Features

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Scorer:
    """A scoring function: rows to P(group | features).

    Attributes
    ----------
    models
        The fitted classifiers; their calibrated scores are averaged.
    order
        For each group, the column of the classifiers' probabilities.
    calibration
        Applied to each classifier's scores; ``None`` if they are used as they come.
    fingerprint
        Hash of all of the above: sketches of different scoring functions refuse to merge.
    cell
        How messages call the cell that it serves.
    """

    models: tuple[Any, ...]
    order: tuple[int, ...]
    calibration: Calibration | None
    fingerprint: str
    cell: str = "any decision"

    def __call__(self, frame: pd.DataFrame) -> FloatArray:
        """Score rows, shape ``(rows, groups)``."""
        return self.mean(self.each(frame))

    def each(self, frame: pd.DataFrame) -> Iterator[FloatArray]:
        """Yield the scores by each classifier."""
        for model in self.models:
            rows = f"deployment rows with {self.cell}"
            scores = probabilities(model, frame, rows)[:, list(self.order)]
            yield scores if self.calibration is None else self.calibration(scores)

    def mean(self, scores: Iterable[FloatArray]) -> FloatArray:
        """Average the scores by each classifier."""
        return np.asarray(sum(scores) / len(self.models))


class WeightedMargins(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Pass weights on to where a learner takes them; scikit-learn's calibration does not.

    Parameters
    ----------
    learner
        A classifier or pipeline with ``decision_function``.
    """

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, y: IntArray, sample_weight: FloatArray | None = None) -> WeightedMargins:
        """Fit the learner."""
        model = clone(self.learner)
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.model_ = model.fit(X, y, **weight_argument(model, weights))
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the learner's margins."""
        return np.asarray(self.model_.decision_function(X))


class ScoreColumns:
    """A classifier that reads the probabilities from columns that the user brings."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns
        self.classes_ = np.arange(len(columns))

    def predict_proba(self, frame: pd.DataFrame) -> FloatArray:
        """Read the columns; what sums to one within 1% is made to."""
        scores = frame[self.columns].to_numpy(dtype=np.float64)
        wrong = ~((scores >= 0).all(axis=1) & (np.abs(scores.sum(axis=1) - 1) <= 0.01))
        if wrong.any():
            raise InputError(
                f"{int(wrong.sum()):,} of {len(scores):,} rows in the score columns "
                f"{', '.join(self.columns)} are not probabilities that sum to one"
            )
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def prepared(learner: Any, features: Features) -> Any:
    """Put the default encoder in front of a learner that does not prepare the columns itself.

    One that holds a pipeline does; and a part that is fitted already knows its columns.
    """
    from sklearn.pipeline import Pipeline, make_pipeline

    parts = [p for p in (learner, *_parameters(learner).values()) if isinstance(p, BaseEstimator)]
    if any(isinstance(p, Pipeline) or is_external(p) for p in parts):
        return learner
    return make_pipeline(encoder(features), learner)


def by_code(learner: Any, groups: Sequence[str]) -> Any:
    """Clone a learner; what it maps from groups (``class_weight``) is mapped from their codes."""
    codes = {group: code for code, group in enumerate(groups)}

    def coded(value: Any) -> Any:
        if isinstance(value, list):
            return [coded(v) for v in value]
        if not isinstance(value, dict):
            return value
        if all(name_of(key) in codes for key in value):
            return {codes[name_of(key)]: v for key, v in value.items()}
        return {key: coded(v) for key, v in value.items()}

    model = clone(learner)
    mapped = {name: v for name, v in _parameters(model).items() if isinstance(v, dict)}
    return model.set_params(**{name: coded(v) for name, v in mapped.items()}) if mapped else model


def searches(model: Any) -> bool:
    """Tell whether a search for parameters (``GridSearchCV``) is part of a model."""
    return any(name.rpartition("__")[2] == "refit" for name in _parameters(model))


def _parameters(learner: Any) -> dict[str, Any]:
    """Return the parameters of a learner and of all its parts."""
    return dict(learner.get_params(deep=True)) if hasattr(learner, "get_params") else {}


def is_external(learner: Any) -> bool:
    """Tell whether a learner has been fitted by its owner, or can't be cloned and fitted at all."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if learner is None or isinstance(learner, str):
        return False
    if not (hasattr(learner, "fit") and hasattr(learner, "get_params")):
        return True
    try:
        check_is_fitted(learner)
    except NotFittedError:
        return False
    return True


def reweights_classes(learner: Any) -> bool:
    """Tell whether a learner weights classes, so that its probabilities have other priors."""
    return any(
        name.rpartition("__")[2] in {"class_weight", "scale_pos_weight"} and value not in (None, 1)
        for name, value in _parameters(learner).items()
    )


def probabilities(model: Any, frame: pd.DataFrame, rows: str = "rows") -> FloatArray:
    """Return a classifier's probabilities, checked; ``rows`` is how messages call the rows."""
    name, asked = called(model), _asked(model, frame)
    with explained(f"the learner {name} can't score people"):
        scores = np.asarray(model.predict_proba(asked), dtype=np.float64)
    known = getattr(model, "classes_", scores.T)
    if scores.ndim != 2 or scores.shape != (len(frame), len(known)):
        raise InputError(
            f"the learner {name} returned probabilities of shape {scores.shape} for "
            f"{len(frame):,} rows; each row needs one, and each group a column"
        )
    wrong = int((~np.isfinite(scores).all(axis=1)).sum())
    if wrong:
        raise InputError(
            f"the learner {name} gave probabilities that are not finite for {wrong:,} of "
            f"{len(scores):,} {rows}; look for missing and extreme values in the features, "
            "regularise the learner more, or use learner='logistic'"
        )
    return scores


def _asked(model: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that a classifier was fitted on, in its order."""
    asked = list(getattr(model, "feature_names_in_", frame.columns))
    columns = getattr(model, "n_features_in_", len(asked))
    if columns != len(asked):
        raise InputError(
            f"the learner {called(model)} was fitted on {columns} columns without names, "
            f"the features are {len(asked)} ({', '.join(asked)}); name its columns with features=, "
            "in its order, or fit it on a frame"
        )
    if asked == list(frame.columns):
        return frame
    absent = [name for name in asked if name not in frame.columns]
    if absent:
        raise InputError(
            f"the fitted learner needs column {absent[0]!r}, which is not a feature of both tables"
        )
    return frame[asked]


def called(learner: Any) -> str:
    """Return how messages call a learner: what learns, inside of pipelines and calibration."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import Pipeline

    while isinstance(learner, Pipeline | CalibratedClassifierCV | WeightedMargins):
        if isinstance(learner, Pipeline):
            learner = learner.steps[-1][1]
        else:
            learner = learner.learner if isinstance(learner, WeightedMargins) else learner.estimator
    return type(learner).__name__


def weight_argument(model: Any, weights: FloatArray) -> dict[str, FloatArray]:
    """Return the argument by which weights reach the last step of a learner's pipelines."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if (weights == 1).all():
        return {}
    prefix = ""
    while isinstance(model, Pipeline):
        name, model = model.steps[-1]
        prefix += f"{name}__"
    if not has_fit_parameter(model, "sample_weight"):
        raise InputError(
            f"the learner {type(model).__name__} can't be fitted with weights; choose one whose "
            "fit takes sample_weight, or leave out weight="
        )
    return {f"{prefix}sample_weight": weights}
