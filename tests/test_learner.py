"""The group classifier: what learners may be, and what becomes of the features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from quantifair.errors import InputError
from quantifair.learner import (
    ScoreColumns,
    Scorer,
    is_external,
    probabilities,
    reweights_classes,
    weight_argument,
)
from quantifair.pipelines import LEARNERS, days, default_learner
from quantifair.roles import Features

KINDS = {"income": "number", "empty": "number", "opened": "date", "sector": "text"}


def applicants(rows: int = 200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Applicants of two groups that differ in each usable feature, with gaps in all of them."""
    rng = np.random.default_rng(seed)
    codes = np.arange(rows) % 2
    opened = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), unit="D")
    frame = pd.DataFrame(
        {
            "income": rng.normal(codes, 1.0),
            "empty": np.full(rows, np.nan),
            "opened": pd.Series(opened).where(rng.random(rows) > 0.1),
            "sector": np.where(rng.random(rows) < 0.2 + 0.6 * codes, "care", "industry"),
        }
    )
    frame.loc[::10, "income"] = np.nan
    frame.loc[::7, "sector"] = None
    return frame, codes


class Stated(ClassifierMixin, BaseEstimator):
    """A classifier that returns what it is told."""

    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):  # noqa: ARG002
        return np.asarray(self.scores)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_default_learner_reads_numbers_dates_and_text_with_gaps(name):
    frame, codes = applicants()
    learner = default_learner(Features(KINDS), name)
    if name == "svm":
        learner = CalibratedClassifierCV(learner)
    scores = probabilities(learner.fit(frame, codes), applicants(seed=1)[0])
    assert scores.sum(axis=1) == pytest.approx(1)
    assert scores[codes == 1, 1].mean() > scores[codes == 0, 1].mean() + 0.3


def test_categories_that_are_rare_or_unknown_share_one_column():
    sectors = ["care"] * 40 + ["industry"] * 40 + ["mining"] * 2 + ["fishing"] * 2
    frame = pd.DataFrame({"sector": sectors})
    codes = np.array([0] * 30 + [1] * 10 + [0] * 10 + [1] * 30 + [0, 1, 0, 0])
    learner = default_learner(Features({"sector": "text"})).fit(frame, codes)
    asked = pd.DataFrame({"sector": ["mining", "fishing", "forestry", "care"]})
    mining, fishing, forestry, care = probabilities(learner, asked)[:, 1]
    assert mining == fishing == forestry
    assert mining != care


def test_of_many_categories_the_hundred_most_frequent_keep_their_column():
    frame = pd.DataFrame({"town": [f"town {i:03}" for i in range(150) for _ in range(5 + i // 10)]})
    learner = default_learner(Features({"town": "text"})).fit(frame, np.arange(len(frame)) % 2)
    encoder = learner.named_steps["columntransformer"].named_transformers_["categories"]
    assert encoder.transform(frame[["town"]]).shape[1] == 100


def test_dates_count_as_days_since_1970():
    dates = pd.DataFrame({"opened": pd.to_datetime(["1970-01-01 00:00", "1971-01-01 12:00", None])})
    assert days(dates)["opened"].tolist() == pytest.approx([0.0, 365.5, np.nan], nan_ok=True)


def test_score_columns_are_read_in_the_order_of_the_groups():
    frame = pd.DataFrame({"b": [0.25, 1.0], "x": [9.0, 9.0], "a": [0.75, 0.0]})
    assert ScoreColumns(["a", "b"]).predict_proba(frame).tolist() == [[0.75, 0.25], [0.0, 1.0]]


def test_score_columns_that_miss_one_by_rounding_are_made_to_sum_to_one():
    frame = pd.DataFrame({"a": [0.50, 0.33], "b": [0.505, 0.665]})
    scores = ScoreColumns(["a", "b"]).predict_proba(frame)
    assert scores[:, 0].tolist() == pytest.approx([0.50 / 1.005, 0.33 / 0.995])


@pytest.mark.parametrize("wrong", [(0.5, 0.52), (np.nan, 1.0), (-0.1, 1.1), (np.inf, 0.0)])
def test_score_columns_that_are_no_probabilities_are_counted(wrong):
    frame = pd.DataFrame([(0.5, 0.5), wrong, wrong], columns=["p_man", "p_woman"])
    message = r"2 of 3 rows in the score columns p_man, p_woman are not probabilities"
    with pytest.raises(InputError, match=message):
        ScoreColumns(["p_man", "p_woman"]).predict_proba(frame)


def test_probabilities_that_are_not_finite_are_an_error_with_their_number():
    learner = Stated([[0.5, 0.5], [np.nan, 1.0], [np.inf, 0.0]]).fit(None, [0, 1])
    with pytest.raises(InputError, match="not finite for 2 of 3 rows"):
        probabilities(learner, pd.DataFrame({"x": [0, 1, 2]}))


def test_a_fitted_learner_gets_its_own_columns_in_its_own_order():
    frame, codes = applicants()
    frame = frame[["income", "empty"]].fillna(0)
    learner = LogisticRegression().fit(frame, codes)
    wider = frame.assign(other=1.0)[["other", "empty", "income"]]
    expected = learner.predict_proba(frame)
    assert np.array_equal(probabilities(learner, wider), expected)
    with pytest.raises(InputError, match="needs column 'income', which is not a feature"):
        probabilities(learner, wider[["empty"]])


def test_a_learner_fitted_without_names_has_to_have_as_many_columns():
    frame, codes = applicants()
    learner = LogisticRegression().fit(frame[["income", "empty"]].fillna(0).to_numpy(), codes)
    message = r"LogisticRegression was fitted on 2 columns without names, the features are 1 \(x\)"
    with pytest.raises(InputError, match=message):
        probabilities(learner, pd.DataFrame({"x": [0.0]}))


def test_what_fails_in_a_learner_is_told_in_one_sentence():
    frame, codes = applicants()
    learner = LogisticRegression().fit(frame[["income"]].fillna(0), codes)
    with pytest.raises(
        InputError, match="LogisticRegression can't score people: ValueError: Input X"
    ):
        probabilities(learner, frame)


@pytest.mark.parametrize("scores", [[0.5, 0.5], [[0.5, 0.5]], [[0.2, 0.3, 0.5]] * 2])
def test_probabilities_have_a_row_for_each_person_and_a_column_for_each_group(scores):
    learner = Stated(scores).fit(None, [0, 1])
    with pytest.raises(InputError, match="the learner Stated returned probabilities of shape"):
        probabilities(learner, pd.DataFrame({"x": [0, 1]}))


def test_a_scoring_function_is_the_mean_of_its_calibrated_models():
    frame = pd.DataFrame({"x": [0.0, 1.0]})
    models = (
        Stated([[0.2, 0.8], [0.6, 0.4]]).fit(None, [0, 1]),
        Stated([[0.4, 0.6], [0.0, 1.0]]).fit(None, [0, 1]),
    )
    assert Scorer(models, (0, 1), None, "")(frame) == pytest.approx(
        np.array([[0.3, 0.7], [0.3, 0.7]])
    )
    assert Scorer(models, (1, 0), None, "")(frame)[:, 0] == pytest.approx([0.7, 0.7])
    squared = Scorer(models, (0, 1), lambda scores: scores**2, "")(frame)
    assert squared == pytest.approx(np.array([[0.10, 0.50], [0.18, 0.58]]))


def fitted(learner):
    return learner.fit(np.arange(20)[:, None], np.arange(20) % 2)


class NotToBeFitted:
    """Scores from elsewhere: there is no ``fit``."""

    classes_ = ("a", "b")

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(
    ("learner", "external"),
    [
        (None, False),
        ("svm", False),
        (LogisticRegression(), False),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
        (GridSearchCV(LogisticRegression(), {"C": [1.0]}), False),
        (fitted(LogisticRegression()), True),
        (fitted(make_pipeline(StandardScaler(), LogisticRegression())), True),
        (FrozenEstimator(fitted(LogisticRegression())), True),
        (NotToBeFitted(), True),
        (ScoreColumns(["a", "b"]), True),
    ],
)
def test_an_external_learner_is_fitted_or_can_not_be(learner, external):
    assert is_external(learner) is external


BALANCED = LogisticRegression(class_weight="balanced")


@pytest.mark.parametrize(
    ("learner", "reweights"),
    [
        (None, False),
        ("logistic", False),
        (NotToBeFitted(), False),
        (LogisticRegression(), False),
        (RandomForestClassifier(), False),
        (BALANCED, True),
        (LogisticRegression(class_weight={0: 1, 1: 5}), True),
        (make_pipeline(StandardScaler(), BALANCED), True),
        (make_pipeline(StandardScaler(), make_pipeline(BALANCED)), True),
        (CalibratedClassifierCV(LinearSVC(class_weight="balanced")), True),
        (GridSearchCV(BALANCED, {"C": [1.0]}), True),
        (VotingClassifier([("one", LogisticRegression()), ("other", BALANCED)]), True),
    ],
)
def test_reweighting_of_classes_is_found_however_deep(learner, reweights):
    assert reweights_classes(learner) is reweights


def test_weights_are_addressed_to_the_last_step_however_deep():
    weights = np.array([1.0, 2.0])

    def names(learner):
        return list(weight_argument(learner, weights))

    deep = make_pipeline(StandardScaler(), make_pipeline(LogisticRegression()))
    columns = ColumnTransformer([("all", StandardScaler(), ["x"])])
    assert names(LogisticRegression()) == ["sample_weight"]
    assert names(make_pipeline(columns, LinearSVC())) == ["linearsvc__sample_weight"]
    assert names(deep) == ["pipeline__logisticregression__sample_weight"]


def test_weights_of_one_ask_nothing_of_a_learner():
    assert weight_argument(KNeighborsClassifier(), np.ones(3)) == {}


@pytest.mark.parametrize(
    "learner", [KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())]
)
def test_a_learner_that_takes_no_weights_is_refused_by_name(learner):
    with pytest.raises(InputError, match="KNeighborsClassifier can't be fitted with weights"):
        weight_argument(learner, np.array([1.0, 2.0]))
