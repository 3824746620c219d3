"""Logistic regression on splines, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, SplineTransformer

from quantifair.experiments.splines import Curves, Splines

BOTH = np.arange(2)


@pytest.fixture(scope="module")
def data():
    """Two numbers, one of them nearly always zero, and an indicator."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(800, 3))
    features[:, 1] = np.where(rng.random(800) < 0.9, 0, np.exp(features[:, 1]))
    features[:, 2] = features[:, 2] > 0
    said = 1 - 2 * features[:, 0] ** 2 + features[:, 2]
    return features, (rng.random(800) < 1 / (1 + np.exp(-said))).astype(np.int64)


def oracle(strength):
    curves = make_pipeline(
        FunctionTransformer(lambda x: x[:, :2]),
        QuantileTransformer(n_quantiles=10, random_state=0),
        SplineTransformer(n_knots=5, include_bias=False),
    )
    both = make_union(FunctionTransformer(), curves)
    return both, LogisticRegression(C=strength, tol=1e-10, max_iter=10_000)


@pytest.mark.parametrize("strength", [0.1, 1.0])
def test_it_is_logistic_regression_on_the_features_and_splines_of_their_ranks(data, strength):
    features, groups = data
    samples = [np.arange(300), np.arange(800)]
    found = Splines(strength=strength).fit(features, groups, samples)
    curves, model = oracle(strength)
    columns = curves.fit_transform(features)
    for number, rows in enumerate(samples):
        model.fit(columns[rows], groups[rows])
        theirs = model.predict_proba(columns)[:, 1]
        assert found.scores(features, BOTH)[number] == pytest.approx(theirs, abs=1e-4)
        decided = found.select(np.array([number])).decisions(features, np.array([0]))[0]
        assert (decided == (theirs > 0.5)).mean() > 0.998


def test_a_fit_may_start_from_another(data):
    features, groups = data
    whole = Splines().fit(features, groups, [np.arange(800)])
    one, other = (Splines().fit(features, groups, [np.arange(700)], near=n) for n in (None, whole))
    first = np.array([0])
    assert one.scores(features, first) == pytest.approx(other.scores(features, first), abs=1e-4)


def test_indicators_have_no_curve(data):
    assert Curves.of(data[0]).columns.tolist() == [0, 1]
    alone = data[0][:, 2:]
    assert Curves.of(alone)(alone) is alone
