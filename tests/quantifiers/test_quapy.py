"""QuaPy 0.2.3 gives the same prevalences."""

from typing import Self

import numpy as np
import pytest
from quapy.method import aggregative as quapy
from sklearn.base import BaseEstimator
from tests.simulation import FloatArray, IntArray, draw_scores

from quantifair.quantifiers import ACC, CC, PACC, PCC, SLD, HDy

TRUTHS = [0.0, 0.1, 0.45, 0.9, 1.0]
truths = pytest.mark.parametrize("truth", TRUTHS)
many = pytest.mark.parametrize("groups", [2, 3, 4])


class Posteriors(BaseEstimator):
    """A classifier whose features are the posteriors themselves."""

    def fit(self, X: FloatArray, y: IntArray) -> Self:  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: FloatArray) -> IntArray:
        return self.classes_[X.argmax(axis=1)]

    def predict_proba(self, X: FloatArray) -> FloatArray:
        return X


def oracle(method: quapy.AggregativeQuantifier, scores: FloatArray, codes: IntArray) -> object:
    method.classifier = Posteriors().fit(scores, codes)
    crisp = isinstance(method, quapy.AggregativeCrispQuantifier)
    method.aggregation_fit(method.classifier.predict(scores) if crisp else scores, codes)
    return method


def tables(groups: int, truth: float = 0.3) -> tuple[FloatArray, IntArray, FloatArray]:
    rng = np.random.default_rng(groups)
    prior = np.arange(2, groups + 2) / np.arange(2, groups + 2).sum()
    scores, codes = draw_scores(rng, prior, 500, auxiliary=prior, separation=1.5)
    shifted = np.r_[np.full(groups - 1, (1 - truth) / (groups - 1)), truth]
    return scores, codes, draw_scores(rng, shifted, 400, auxiliary=prior, separation=1.5)[0]


@many
def test_cc(groups: int) -> None:
    scores, codes, deployment = tables(groups)
    theirs = oracle(quapy.CC(), scores, codes).predict(deployment)
    assert CC().fit(scores, codes).predict(deployment) == pytest.approx(theirs, abs=1e-12)


@many
def test_pcc(groups: int) -> None:
    scores, codes, deployment = tables(groups)
    theirs = oracle(quapy.PCC(), scores, codes).predict(deployment)
    assert PCC().fit(scores, codes).predict(deployment) == pytest.approx(theirs, abs=1e-12)


@truths
@pytest.mark.parametrize(("ours", "theirs"), [(ACC, quapy.ACC), (PACC, quapy.PACC)])
def test_acc_and_pacc_of_two_groups_clip_alike(
    ours: type[ACC], theirs: type[quapy.ACC], truth: float
) -> None:
    scores, codes, deployment = tables(2, truth)
    exact = oracle(theirs(solver="exact-raise"), scores, codes)
    found = ours().fit(scores, codes).predict(deployment)
    assert found == pytest.approx(exact.predict(deployment), abs=1e-12)


@pytest.mark.parametrize("groups", [3, 4])
@pytest.mark.parametrize(("ours", "theirs"), [(ACC, quapy.ACC), (PACC, quapy.PACC)])
def test_acc_and_pacc_of_many_groups_solve_the_same_system(
    ours: type[ACC], theirs: type[quapy.ACC], groups: int
) -> None:
    scores, codes, deployment = tables(groups)
    exact = oracle(theirs(solver="exact-raise", norm=None), scores, codes)
    found = ours().fit(scores, codes).estimate(deployment)
    assert found.raw == pytest.approx(exact.predict(deployment), abs=1e-12)


@many
@truths
def test_sld_stopped(groups: int, truth: float) -> None:
    scores, codes, deployment = tables(groups, truth)
    fitted = SLD(converged=False).fit(scores, codes)
    theirs, _ = quapy.EMQ.EM(fitted.prevalence_, deployment)
    assert fitted.predict(deployment) == pytest.approx(theirs, abs=1e-12)


@truths
def test_hdy_within_a_step_of_either_grid(truth: float) -> None:
    scores, codes, deployment = tables(2, truth)
    theirs = oracle(quapy.HDy(), scores, codes).predict(deployment)
    found = HDy().fit(scores, codes).predict(deployment)
    # The distance is convex in alpha, so the best point of a grid lies within a step of the best
    # alpha; their grid has steps of 1/99, ours of 1/100. Medians keep the bound.
    assert found == pytest.approx(theirs, abs=1 / 99 + 1 / 100)
