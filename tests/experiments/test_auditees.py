"""Audited classifiers, against scikit-learn's; the fair one is fair."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight
from tests.experiments import small
from tests.simulation import examples

from quantifair.errors import InputError
from quantifair.experiments.auditees import (
    BalancedLogistic,
    EstimatorAuditee,
    FairTree,
    balanced_weights,
)
from quantifair.experiments.catalogue import STOPPED, Catalogue
from quantifair.experiments.parts import parts_of
from quantifair.experiments.protocols import PROTOCOLS, Training

RNG = np.random.default_rng


def margins(training, part, features):
    model = LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=10_000)
    model.fit(part.features[training.rows], training.labels)
    return model.decision_function(features)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_papers_is_scikit_learns_balanced_logistic_regression(compas, protocol):
    parts = parts_of(compas, 0, "ABC")
    trainings = PROTOCOLS[protocol].trainings(parts.training, repeats=1, rng=RNG(0))[::3]
    decided = BalancedLogistic().decide(parts, trainings)
    for said, part in zip(decided, (parts.auxiliary, parts.deployment), strict=True):
        assert said.shape == (len(trainings), len(part))
        for favourable, training in zip(said, trainings, strict=True):
            margin = margins(training, parts.training, part.features)
            clear = np.abs(margin) > 1e-4
            assert clear.mean() > 0.99
            assert (favourable == (margin > 0))[clear].all()


@examples(50)
@given(st.lists(st.integers(0, 1), min_size=2, max_size=40).filter(lambda y: 0 < sum(y) < len(y)))
def test_balanced_weights_are_scikit_learns(labels):
    found = balanced_weights(np.array(labels))
    np.testing.assert_allclose(found, compute_sample_weight("balanced", labels))


def test_labels_that_are_all_alike_are_decided_alike():
    parts = small.parts()
    rows = np.arange(50)
    trainings = [Training(rows, np.full(50, label)) for label in (0, 1)]
    for said in BalancedLogistic().decide(parts, trainings):
        assert not said[0].any()
        assert said[1].all()


def test_any_classifier_of_scikit_learn_can_be_audited():
    parts = small.parts()
    trainings = PROTOCOLS["flip-prev-D1"].trainings(parts.training, repeats=1, rng=RNG(0))[::5]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    known, sought = EstimatorAuditee("tree", tree).decide(parts, trainings)
    for k, training in enumerate(trainings):
        tree.fit(parts.training.features[training.rows], training.labels)
        assert (known[k] == tree.predict(parts.auxiliary.features)).all()
        assert (sought[k] == tree.predict(parts.deployment.features)).all()


def test_the_references_classifier_stops_where_scikit_learn_does(compas):
    parts = parts_of(compas, 0, "ABC")
    training = Training(np.arange(len(parts.training)), parts.training.label)
    known, _ = Catalogue().auditees[STOPPED].decide(parts, [training])
    model = LogisticRegression(class_weight="balanced")
    model.fit(parts.training.features, parts.training.label)
    assert (known[0] == model.predict(parts.auxiliary.features)).all()


def disparity(part, favourable):
    return favourable[part.group == 1].mean() - favourable[part.group == 0].mean()


@pytest.mark.filterwarnings("ignore:Setting a")  # fairlearn in pandas 3.1
def test_the_fair_tree_is_fair_to_people_it_has_not_seen(compas):
    """The disparity of the paper's other classifier is several times as large."""
    parts = parts_of(compas, 0, "ABC")
    training = [Training(np.arange(len(parts.training)), parts.training.label)]
    _, unfair = BalancedLogistic().decide(parts, training)
    known, fair = FairTree().decide(parts, training)
    before, after = disparity(parts.deployment, unfair[0]), disparity(parts.deployment, fair[0])
    assert abs(before) > 0.2
    assert abs(after) < abs(before) / 3
    assert (fair[0] == parts.deployment.label).mean() > 0.55
    assert (known[0] == parts.auxiliary.label).mean() > 0.55
    again = FairTree().decide(parts, training)[1]
    assert (again == fair).all()


def test_without_fairlearn_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fairlearn.reductions", None)
    parts = small.parts(200)
    with pytest.raises(InputError, match=r"pip install quantifair\[experiments\]"):
        FairTree().decide(parts, [Training(np.arange(10), parts.training.label[:10])])
