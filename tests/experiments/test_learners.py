"""Learners of the group classifier, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.experiments import small
from tests.simulation import examples

from quantifair.experiments.catalogue import STOPPED, Catalogue
from quantifair.experiments.learners import (
    LEARNERS,
    Estimator,
    Logistic,
    SupportVectors,
    _folds,
)
from quantifair.experiments.parts import parts_of

BOTH = np.arange(2)


@pytest.fixture(scope="module")
def part():
    return small.parts().auxiliary


def samples_of(part, sizes=(120, 550)):
    rng = np.random.default_rng(0)
    return [rng.choice(len(part), size, replace=False) for size in sizes]


def calibrated(part, rows):
    """The paper's group classifier: LinearSVC with Platt's calibration in the same five folds."""
    held = _folds(rows, part.group)
    folds = [(np.flatnonzero(~h), np.flatnonzero(h)) for h in held]
    machine = LinearSVC(dual=False, tol=1e-10, max_iter=100_000)
    model = CalibratedClassifierCV(machine, method="sigmoid", cv=folds, ensemble=True)
    return model.fit(part.features[rows], part.group[rows])


def test_the_papers_learners_have_its_names():
    assert list(LEARNERS) == ["LR", "SVM"]
    assert [learner.name for learner in LEARNERS.values()] == ["LR", "SVM"]


@pytest.mark.parametrize("strength", [1.0, 0.01])
def test_logistic_regression_is_scikit_learns_converged(part, strength):
    samples = samples_of(part)
    found = Logistic(strength=strength).fit(part.features, part.group, samples)
    for model, rows in enumerate(samples):
        oracle = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000)
        oracle.fit(part.features[rows], part.group[rows])
        scores = found.scores(part.features, np.array([model]))[0]
        assert np.abs(scores - oracle.predict_proba(part.features)[:, 1]).max() < 1e-4
        decisions = found.decisions(part.features, np.array([model]))[0]
        assert (decisions == oracle.predict(part.features)).all()


def test_platts_probabilities_are_those_of_scikit_learn(part):
    samples = samples_of(part)
    found = SupportVectors().fit(part.features, part.group, samples)
    scores = found.scores(part.features, BOTH)
    for model, rows in enumerate(samples):
        oracle = calibrated(part, rows).predict_proba(part.features)[:, 1]
        assert np.abs(scores[model] - oracle).max() < 1e-4


@pytest.mark.parametrize("name", ["compas", "creditcard"])
def test_platts_probabilities_on_the_papers_data(paper_data, name):
    part = parts_of(paper_data[name], 0, "ABC").auxiliary
    rows = np.random.default_rng(1).choice(len(part), 500, replace=False)
    found = SupportVectors().fit(part.features, part.group, [rows])
    scores = found.scores(part.features, np.array([0]))[0]
    oracle = calibrated(part, rows).predict_proba(part.features)[:, 1]
    assert np.abs(scores - oracle).max() < 1e-4


def test_probabilities_play_no_part_in_a_machines_decisions(part):
    """A rare group: no probability exceeds one half, and yet margins do."""
    samples = samples_of(part)
    found = SupportVectors().fit(part.features, part.group, samples)
    said = found.decisions(part.features, BOTH)
    for model, rows in enumerate(samples):
        oracle = LinearSVC(dual=False, tol=1e-10, max_iter=100_000)
        oracle.fit(part.features[rows], part.group[rows])
        assert (said[model] == oracle.predict(part.features)).all()
    assert (said != (found.scores(part.features, BOTH) > 0.5)).any()


def test_an_estimator_of_scikit_learn_is_fitted_on_each_sample(part):
    samples = samples_of(part)
    found = Estimator("NB", GaussianNB()).fit(part.features, part.group, samples)
    for model, rows in enumerate(samples):
        oracle = GaussianNB().fit(part.features[rows], part.group[rows])
        at = np.array([model])
        expected = oracle.predict_proba(part.features)[:, 1]
        assert (found.scores(part.features, at)[0] == expected).all()
        assert (found.decisions(part.features, at)[0] == oracle.predict(part.features)).all()


def test_the_references_logistic_regression_stops_where_scikit_learn_does(compas):
    part = parts_of(compas, 0, "ABC").auxiliary
    rows = np.arange(len(part))
    found = Catalogue().learners[STOPPED].fit(part.features, part.group, [rows])
    oracle = LogisticRegression().fit(part.features, part.group)
    scores = found.scores(part.features, np.array([0]))[0]
    assert (scores == oracle.predict_proba(part.features)[:, 1]).all()


@pytest.mark.parametrize(
    "learner",
    [Logistic(), SupportVectors(), Estimator("NB", GaussianNB())],
    ids=lambda learner: learner.name,
)
class TestEveryLearner:
    def test_near_classifiers_are_a_start_and_no_more(self, learner, part):
        samples = samples_of(part)
        near = learner.fit(part.features, part.group, samples[::-1])
        cold = learner.fit(part.features, part.group, samples)
        warm = learner.fit(part.features, part.group, samples, near=near)
        apart = cold.scores(part.features, BOTH) - warm.scores(part.features, BOTH)
        assert np.abs(apart).max() < 1e-4

    def test_selected_classifiers_say_the_same(self, learner, part):
        every = learner.fit(part.features, part.group, samples_of(part, (120, 200, 300)))
        chosen = np.array([2, 0, 2])
        some = every.select(chosen)
        places = np.arange(3)
        for said in ("scores", "decisions"):
            expected = getattr(every, said)(part.features, chosen)
            assert (getattr(some, said)(part.features, places) == expected).all()

    def test_scores_are_probabilities_and_some_models_may_be_asked(self, learner, part):
        found = learner.fit(part.features, part.group, samples_of(part))
        scores = found.scores(part.features, BOTH)
        assert scores.shape == (2, len(part))
        assert ((scores >= 0) & (scores <= 1)).all()
        alone = found.scores(part.features, np.array([1]))
        np.testing.assert_allclose(alone[0], scores[1], rtol=1e-12)

    def test_three_of_a_group_suffice(self, learner, part):
        """The fewest that a 60/40 split of five leaves."""
        ones, zeros = np.flatnonzero(part.group == 1)[:3], np.flatnonzero(part.group == 0)[:60]
        found = learner.fit(part.features, part.group, [np.concatenate([zeros, ones])])
        assert np.isfinite(found.scores(part.features, np.array([0]))).all()


@examples(100)
@given(st.lists(st.integers(0, 1), min_size=10, max_size=60), st.integers(0, 2**32 - 1))
def test_five_folds_share_out_each_group_evenly(groups, seed):
    rows = np.random.default_rng(seed).permutation(len(groups))
    groups = np.array(groups)
    folds = np.array(_folds(rows, groups))
    assert folds.shape == (5, len(rows))
    assert (folds.sum(axis=0) == 1).all()
    assert np.ptp(folds.sum(axis=1)) <= 1
    for group in (0, 1):
        assert np.ptp(folds[:, groups[rows] == group].sum(axis=1)) <= 1
