"""Cross-fitting, against the package's own training on the same folds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from tests.experiments import small
from tests.simulation import examples

from quantifair.experiments.choice import cross_fit
from quantifair.experiments.folds import FOLDS, CrossFitted, Folds
from quantifair.experiments.learners import Estimator
from quantifair.intervals import Sample
from quantifair.training import Recipe

EXACT = Estimator("exact", LogisticRegression(solver="newton-cholesky", tol=1e-10))


@pytest.fixture(scope="module")
def part():
    return small.parts().auxiliary


class Dealt(Recipe):
    """The package's training with folds of ours."""

    def given(self, fold):
        everybody = np.arange(len(fold))
        splits = [(everybody[fold != k], everybody[fold == k]) for k in range(FOLDS)]
        object.__setattr__(self, "_folds", lambda *_: splits)
        return self


def by_the_package(part, rows, fold):
    frame = pd.DataFrame(part.features[rows]).add_prefix("x")
    sample = Sample(np.zeros((len(rows), 2)), part.group[rows], np.ones(len(rows)))
    return Dealt(EXACT.estimator).given(fold).train(frame, sample, ["0", "1"])


def crossed(part, samples, learner=EXACT):
    folds = Folds.deal(samples, part.group)
    fitted = cross_fit(learner, part.features, part.group, folds)
    return CrossFitted.of(fitted, folds, part.features, part.group), folds


def test_scores_are_those_of_the_packages_own_training(part):
    rng = np.random.default_rng(0)
    samples = [rng.permutation(len(part))[:200], rng.choice(len(part), 400)]
    people = small.parts().deployment.features
    found, folds = crossed(part, samples)
    scored = found.scores(people, np.array([1, 0]))[::-1]
    for s, rows in enumerate(samples):
        oracle = by_the_package(part, rows, folds.fold[s])
        assert found.known[s] == pytest.approx(oracle.sample.scores[:, 1], abs=1e-9)
        assert found.calibration.slope[s] == pytest.approx(oracle.slope, abs=1e-7)
        theirs = oracle.scorer(pd.DataFrame(people).add_prefix("x"))[:, 1]
        assert scored[s] == pytest.approx(theirs, abs=1e-9)
        assert not found.broken[s]


def test_an_overfitted_classifier_is_left_uncalibrated_as_by_the_package(part):
    noise = np.random.default_rng(1).normal(size=(len(part), 60))
    guessing = type(part)(noise, part.group, part.label)
    rows = np.arange(100)
    found, folds = crossed(guessing, [rows])
    oracle = by_the_package(guessing, rows, folds.fold[0])
    assert oracle.broken
    assert found.broken.tolist() == [True]
    assert found.known[0] == pytest.approx(oracle.sample.scores[:, 1], abs=1e-9)


@examples(100)
@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_a_person_is_in_one_fold_and_groups_are_in_all(zeros, ones, seed):
    groups = np.repeat([0, 1], [zeros, ones])
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.r_[np.arange(len(groups)), rng.integers(len(groups), size=20)])
    folds = Folds.deal([rows], groups)
    (fold,) = folds.fold
    for person in range(len(groups)):
        assert len(set(fold[rows == person])) == 1
    for group, people in enumerate((zeros, ones)):
        first = np.unique(rows[groups[rows] == group], return_index=True)[1]
        held = np.bincount(fold[groups[rows] == group][first], minlength=FOLDS)
        assert held.max() - held.min() <= 1
        assert held.sum() == people
    for k, training in enumerate(folds.trainings):
        assert np.array_equal(np.sort(training), np.sort(rows[fold != k]))
        assert len(set(groups[training])) == 2
