"""Group classifiers of which only the AUC is known, and how it is measured."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from benchmarks.planner import posteriors
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm
from tests.planning.surveys import assumed_survey, drawn_survey
from tests.simulation import examples

from quantifair.diagnostics import auc
from quantifair.errors import InputError
from quantifair.intervals import Sample
from quantifair.planning import Survey, better_classifier, parity, times_needed, with_auc
from quantifair.planning.aim import narrower, within
from quantifair.planning.classifier import binormal

EVEN = np.array([0.5, 0.5])


@pytest.mark.parametrize("area", [0.55, 0.75, 0.95, 0.99])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_moments_are_the_integrals(area: float, share: float) -> None:
    apart = np.sqrt(2) * norm.ppf(area)

    def expected(power: int, group: int) -> float:
        def integrand(x: float) -> float:
            score = expit(logit(share) + apart * x - apart**2 / 2)
            return float(score**power * norm.pdf(x - apart * group))

        return float(quad(integrand, -15, 15 + apart, limit=200, epsabs=1e-12)[0])

    found = binormal(area, share, EVEN, 100.0, np.array([10.0, 20.0]))
    for group in (0, 1):
        mean = expected(1, group)
        assert found.means[group, 0] == pytest.approx(mean, abs=1e-7)
        variance = expected(2, group) - mean**2
        assert found.within[group, 0, 0] == pytest.approx(variance, abs=1e-7)
        people = (10, 20)[group]
        assert found.sampling[group, 0, 0] == pytest.approx(variance / people, abs=1e-7)


@examples(40)
@given(area=st.floats(0.51, 0.99), share=st.floats(0.02, 0.98))
def test_scores_are_calibrated(area: float, share: float) -> None:
    """Of posteriors the mean is the share, and the groups' means differ by var / (s (1 - s))."""
    shares = np.array([1 - share, share])
    found = binormal(area, share, shares, 100.0, np.ones(2), population=True)
    assert found.mean[0] == pytest.approx(share, abs=1e-6)
    apart = float(found.means[1, 0] - found.means[0, 0])
    assert found.within[0, 0, 0] == pytest.approx(apart * share * (1 - share), abs=1e-6)


@pytest.mark.parametrize("area", [0.6, 0.85])
def test_drawn_scores_have_these_moments_and_this_auc(area: float) -> None:
    rng, codes = np.random.default_rng(0), np.arange(40_000) % 2
    scores = posteriors(codes, area, 0.3, rng)
    assert auc(Sample(scores, codes, np.ones(40_000))) == pytest.approx(area, abs=0.01)
    found = binormal(area, 0.3, EVEN, 100.0, np.ones(2))
    for group in (0, 1):
        ours = scores[codes == group, 1]
        # Four standard errors.
        assert ours.mean() == pytest.approx(found.means[group, 0], abs=4 * ours.std() / 141)
        assert ours.std() == pytest.approx(found.within[group, 0, 0] ** 0.5, rel=0.04)


def test_the_auc_counts_weighted_pairs_and_halves_ties_of_the_group_told_worst() -> None:
    rng = np.random.default_rng(1)
    codes, weights = rng.integers(3, size=60), rng.uniform(0.5, 2, 60)
    scores = rng.integers(1, 6, size=(60, 3)) / 10
    by_hand = []
    for group in range(3):
        inside, outside = codes == group, codes != group
        higher = scores[inside, group][:, None] - scores[outside, group]
        pair = weights[inside][:, None] * weights[outside]
        by_hand.append((pair * ((higher > 0) + (higher == 0) / 2)).sum() / pair.sum())
    assert auc(Sample(scores, codes, weights)) == pytest.approx(min(by_hand))


def test_the_same_auc_gives_about_the_same_intervals() -> None:
    """Scores of two unit normals at separation 1.2 are binormal with an AUC of Phi(1.2)."""
    survey = drawn_survey(people=5_000)
    replaced = with_auc(survey, float(norm.cdf(1.2)))
    ours, theirs = (parity(s.asking(s.people)) for s in (survey, replaced))
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.1)


def test_a_better_classifier_is_the_least_that_would_do() -> None:
    survey = assumed_survey(auc=0.7, disparity=0, rows=10_000)
    reached = partial(within, margin=0.03)
    assert times_needed(survey.spread, parity, reached) == np.inf
    found = better_classifier(survey, parity, reached, above=0.7)
    assert found is not None
    assert found.times == times_needed(with_auc(survey, found.auc).spread, parity, reached)
    worse = with_auc(survey, round(found.auc - 0.05, 2))
    assert times_needed(worse.spread, parity, reached) == np.inf
    fewer = better_classifier(survey, parity, reached, above=0.7, most=found.times / 2)
    assert fewer is None or (fewer.auc > found.auc and fewer.times <= found.times / 2)


def test_no_classifier_makes_up_for_a_disparity() -> None:
    survey = assumed_survey(disparity=0.2)
    assert better_classifier(survey, parity, partial(within, margin=0.1)) is None


def test_an_auc_is_of_two_groups() -> None:
    survey = drawn_survey(3)
    assert better_classifier(survey, parity, partial(narrower, width=0.5)) is None
    with pytest.raises(InputError, match="of two groups, not of 3"):
        with_auc(survey, 0.8)


def test_where_all_are_known_or_a_group_was_not_asked_nothing_is_classified() -> None:
    survey = drawn_survey()
    first, second = survey.spread.estimates
    known = replace(survey.spread.estimates[first], unknown=0.0, moments=None)
    cells = survey.spread.estimates | {first: known}
    replaced = with_auc(
        Survey(replace(survey.spread, estimates=cells), np.array([[5.0, 5.0], [9.0, 0.0]])), 0.8
    )
    assert replaced.spread.estimates[first].moments is None
    assert replaced.spread.estimates[second].moments is cells[second].moments


@pytest.mark.parametrize("area", [0.5, 1.0, 0.3])
def test_an_auc_lies_between_a_coin_s_and_certainty(area: float) -> None:
    with pytest.raises(InputError, match=r"auc lies between 0\.5 and 1"):
        with_auc(drawn_survey(), area)
