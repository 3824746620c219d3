"""The group classifier: how it is trained, calibrated, and applied to people without a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.calibration import Calibration, fit_calibration
from quantifair.errors import InputError
from quantifair.intervals import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.roles import Features

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

TRAININGS = ("folds", "all", "split")
BROKEN_SLOPE = 0.5
_MOST_CATEGORIES = 100
_RARE = 5
_HELD_OUT = 0.4
_EPOCH = "1970-01-01"


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
    """

    models: tuple[Any, ...]
    order: tuple[int, ...]
    calibration: Calibration | None
    fingerprint: str

    def __call__(self, frame: pd.DataFrame) -> FloatArray:
        """Score rows, shape ``(rows, groups)``."""
        total = np.zeros((len(frame), len(self.order)))
        for model in self.models:
            scores = probabilities(model, frame)[:, list(self.order)]
            total += scores if self.calibration is None else self.calibration(scores)
        return total / len(self.models)


@dataclass(frozen=True, eq=False)
class Trained:
    """A scoring function with the auxiliary people scored by it.

    Attributes
    ----------
    scorer
        The scoring function.
    sample
        Auxiliary people whose scores stand for unseen people's.
    slope
        Slope of the scores' calibration; near 1 for an honest classifier.
    fits
        How many classifiers were fitted.
    """

    scorer: Scorer
    sample: Sample
    slope: float
    fits: int


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


def default_learner(features: Features, name: str = "logistic") -> Any:
    """Return a classifier on imputed, scaled numbers and one-hot categories.

    Categories beyond the hundred most frequent, or met fewer than five times, share one column;
    so do categories that the auxiliary table lacks. Dates count as days.

    Parameters
    ----------
    features
        The columns that it will read.
    name
        ``logistic`` regression, linear ``svm`` (with Platt's probabilities), or gradient
        ``boosting``.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    def scaled() -> tuple[Any, Any]:
        impute = SimpleImputer(add_indicator=True, keep_empty_features=True)
        return impute, StandardScaler()

    by_kind: dict[str, list[str]] = {"number": [], "date": [], "text": []}
    for column, kind in features.kinds.items():
        by_kind[kind].append(column)
    categories = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=_MOST_CATEGORIES,
        min_frequency=_RARE,
        sparse_output=name != "boosting",
    )
    encode = ColumnTransformer(
        [
            ("numbers", make_pipeline(*scaled()), by_kind["number"]),
            ("dates", make_pipeline(FunctionTransformer(days), *scaled()), by_kind["date"]),
            ("categories", categories, by_kind["text"]),
        ]
    )
    return make_pipeline(encode, LEARNERS[name]())


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _svm() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC()


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=100, learning_rate=0.05, max_leaf_nodes=8)


LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic": _logistic,
    "svm": _svm,
    "boosting": _boosting,
}


def days(dates: pd.DataFrame) -> pd.DataFrame:
    """Turn dates into days since 1970."""
    import pandas as pd

    since = {name: (dates[name] - pd.Timestamp(_EPOCH)) / pd.Timedelta(days=1) for name in dates}
    return pd.DataFrame(since)


def is_fitted(learner: Any) -> bool:
    """Tell whether a learner has been fitted by its owner."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(learner)
    except (NotFittedError, TypeError):
        return False
    return True


def reweights_classes(learner: Any) -> bool:
    """Tell whether a learner weights classes, so that its probabilities have other priors."""
    parameters = learner.get_params(deep=True) if hasattr(learner, "get_params") else {}
    return any(
        name.rpartition("__")[2] in {"class_weight", "scale_pos_weight"} and value not in (None, 1)
        for name, value in parameters.items()
    )


def probabilities(model: Any, frame: pd.DataFrame) -> FloatArray:
    """Return a classifier's probabilities, checked."""
    scores = np.asarray(model.predict_proba(frame), dtype=np.float64)
    wrong = int((~np.isfinite(scores).all(axis=1)).sum())
    if wrong:
        raise InputError(
            f"the group classifier returned probabilities that are not finite for {wrong:,} of "
            f"{len(scores):,} rows; check the learner, and missing values in the features"
        )
    return scores


@dataclass(frozen=True)
class Recipe:
    """How a scoring function comes about.

    Attributes
    ----------
    learner
        A scikit-learn classifier or pipeline; a fitted one is used as it is.
    training
        ``folds``: one classifier a fold, auxiliary people scored by the one that has not seen
        them. ``split``: one classifier on 60%, the other 40% scored. ``all``: one classifier on
        everybody, scored on the people it was fitted on.
    folds
        Number of folds.
    calibrate
        Whether scores are calibrated on the auxiliary people.
    seed
        Seed of the folds.
    """

    learner: Any
    training: str = "folds"
    folds: int = 5
    calibrate: bool = True
    seed: int = 0

    def train(self, frame: pd.DataFrame, sample: Sample, classes: list[str]) -> Trained:
        """Train on auxiliary people; ``sample.scores`` is not read."""
        if isinstance(self.learner, ScoreColumns) or is_fitted(self.learner):
            order = self._order(classes)
            scores = probabilities(self.learner, frame)[:, order]
            everybody = np.arange(len(frame))
            return self._finish((self.learner,), order, scores, sample, everybody, fits=0)
        models, scores, rows = self._fit(frame, sample)
        order = list(range(len(classes)))
        return self._finish(models, order, scores, sample, rows, fits=len(models))

    def _fit(
        self, frame: pd.DataFrame, sample: Sample
    ) -> tuple[tuple[Any, ...], FloatArray, IntArray]:
        people = np.arange(len(frame))
        if self.training == "all":
            model = self._fit_one(frame, sample, people)
            return (model,), probabilities(model, frame), people
        splits = self._splits(sample)
        models = tuple(self._fit_one(frame, sample, train) for train, _ in splits)
        scores = np.zeros((len(frame), sample.scores.shape[1]))
        for model, (_, held) in zip(models, splits, strict=True):
            scores[held] = probabilities(model, frame.iloc[held])
        rows = np.sort(np.concatenate([held for _, held in splits]))
        return models, scores[rows], rows

    def _splits(self, sample: Sample) -> list[tuple[IntArray, IntArray]]:
        from sklearn.model_selection import (
            StratifiedGroupKFold,
            StratifiedKFold,
            StratifiedShuffleSplit,
        )

        everybody = np.zeros(len(sample.codes))
        if self.training == "split":
            once = StratifiedShuffleSplit(1, test_size=_HELD_OUT, random_state=self.seed)
            return list(once.split(everybody, sample.codes))
        folds = min(self.folds, int(np.bincount(sample.codes).min()))
        if sample.clusters is None:
            each = StratifiedKFold(folds, shuffle=True, random_state=self.seed)
            return list(each.split(everybody, sample.codes))
        whole = StratifiedGroupKFold(folds, shuffle=True, random_state=self.seed)
        return list(whole.split(everybody, sample.codes, sample.clusters))

    def _fit_one(self, frame: pd.DataFrame, sample: Sample, rows: IntArray) -> Any:
        from sklearn.base import clone

        model = clone(self.learner)
        codes, weights = sample.codes[rows], sample.weights[rows]
        if not hasattr(model, "predict_proba"):
            from sklearn.calibration import CalibratedClassifierCV

            folds = min(5, int(np.bincount(codes).min()))
            model = CalibratedClassifierCV(model, method="sigmoid", cv=folds)
        return model.fit(frame.iloc[rows], codes, **_weight_argument(model, weights))

    def _order(self, classes: list[str]) -> list[int]:
        """Map the groups to the classes that a fitted classifier knows."""
        known = [str(c) for c in self.learner.classes_.tolist()]
        if isinstance(self.learner, ScoreColumns):
            return list(range(len(known)))
        if sorted(known) != sorted(classes):
            raise InputError(
                f"the fitted learner knows the groups {known}, the auxiliary table holds {classes}"
            )
        return [known.index(c) for c in classes]

    def _finish(
        self,
        models: tuple[Any, ...],
        order: list[int],
        scores: FloatArray,
        sample: Sample,
        rows: IntArray,
        *,
        fits: int,
    ) -> Trained:
        """Calibrate, and apply to the auxiliary people what is applied to everybody."""
        import joblib

        kept = Sample(
            scores,
            sample.codes[rows],
            sample.weights[rows],
            None if sample.clusters is None else sample.clusters[rows],
        )
        fitted = fit_calibration(scores, kept.labelled.counts)
        slope = float(fitted.slope)
        # Calibrating a broken proxy makes the estimate worse, so leave it as it is and warn.
        use = self.calibrate and slope >= BROKEN_SLOPE
        calibration = fitted if use else None
        if use:
            kept = Sample(fitted(scores), kept.codes, kept.weights, kept.clusters)
        identity = (models, order, fitted.slope, fitted.bias) if use else (models, order)
        fingerprint = joblib.hash(identity)
        return Trained(Scorer(models, tuple(order), calibration, fingerprint), kept, slope, fits)


def _weight_argument(model: Any, weights: FloatArray) -> dict[str, FloatArray]:
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if (weights == 1).all():
        return {}
    last, prefix = model, ""
    if isinstance(model, Pipeline):
        prefix, last = model.steps[-1][0] + "__", model.steps[-1][1]
    if not has_fit_parameter(last, "sample_weight"):
        raise InputError(
            f"the learner {type(last).__name__} can't be fitted with weights; choose one whose "
            "fit takes sample_weight, or leave out weight="
        )
    return {prefix + "sample_weight": weights}
