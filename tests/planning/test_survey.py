"""Surveys of other sizes, and people whose rates differ by something else."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from tests.planning.surveys import ROWS, assumed_survey, drawn_survey
from tests.simulation import examples

from quantifair.cells import DECISIONS
from quantifair.disparity import group_rates
from quantifair.errors import InputError
from quantifair.planning import Survey, at_difference, parity, scaled
from quantifair.planning.aim import spanned

Z = float(norm.ppf(0.975))


def counts(survey: Survey) -> np.ndarray:
    return survey.spread.estimated(list(DECISIONS))[0]


def by_hand(survey: Survey, people: np.ndarray | float) -> float:
    """The width of Wald's interval by the delta method, for two groups."""
    found = counts(survey)
    groups, sizes = found.sum(axis=0), found.sum(axis=1)
    rates = found[1] / groups
    # A rate's derivative by its group's people in a cell, times the cell's people.
    slopes = np.array([-rates / groups, (1 - rates) / groups]) * sizes[:, None]
    total = 0.0
    for c, estimate in enumerate(survey.spread.estimates.values()):
        moments, q = estimate.moments, estimate.prevalence
        assert moments is not None
        within, means = moments.within[:, 0, 0], moments.means[:, 0]
        noise = q @ within / moments.people
        noise += (q**2 * within / np.broadcast_to(people, (2, 2))[c]).sum()
        by_second = slopes[c, 1] + slopes[c, 0]
        total += (by_second / (means[1] - means[0])) ** 2 * noise
    return 2 * Z * float(np.sqrt(total))


@pytest.mark.parametrize("people", [20_000.0, [[9_000.0, 4_000.0], [8_000.0, 30_000.0]]])
def test_large_surveys_have_the_width_of_the_delta_method(people: float) -> None:
    """The score interval's third-order difference is below one percent at these sizes."""
    survey = assumed_survey()
    asked = np.broadcast_to(people, (2, 2))
    assert spanned(parity(survey.asking(asked))) == pytest.approx(by_hand(survey, asked), rel=0.01)


def test_endlessly_many_people_leave_the_noise_of_the_deployment() -> None:
    survey = assumed_survey()
    endless = spanned(parity(scaled(survey.spread, np.inf)))
    assert endless == pytest.approx(by_hand(survey, np.inf), rel=0.01)
    quarter = spanned(parity(scaled(assumed_survey(rows=4 * ROWS).spread, np.inf)))
    assert quarter == pytest.approx(endless / 2, rel=0.01)


@pytest.mark.parametrize("groups", [2, 3])
def test_twice_the_people_are_the_same_people_twice(groups: int) -> None:
    """But for n / (n - 1) in their variances, about one in 200 here."""
    once, twice = drawn_survey(groups), drawn_survey(groups, copies=2)
    expected = spanned(parity(scaled(twice.spread, 1)))
    assert spanned(parity(scaled(once.spread, 2))) == pytest.approx(expected, rel=0.01)
    assert spanned(parity(once.asking(twice.people))) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("groups", [2, 3])
def test_the_expected_interval_is_around_the_estimate(groups: int) -> None:
    q = np.array([[0.6, 0.4], [0.3, 0.7]]) if groups == 2 else [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]
    survey = drawn_survey(groups, prevalences=q)
    cells = survey.spread.estimates
    endless = {c: replace(e, moments=replace(e.moments, people=1e9)) for c, e in cells.items()}
    figure = parity(scaled(replace(survey.spread, estimates=endless), 1e6))
    assert figure.estimate is not None
    assert [figure.low, figure.high] == pytest.approx([figure.estimate] * 2, abs=1e-3)


@examples(30)
@given(
    auc=st.floats(0.6, 0.95),
    share=st.floats(0.1, 0.9),
    rate=st.floats(0.2, 0.8),
    times=st.floats(0.01, 10),
)
def test_more_people_never_widen(auc: float, share: float, rate: float, times: float) -> None:
    survey = assumed_survey(auc=auc, share=share, rate=rate, disparity=0)
    widths = [spanned(parity(scaled(survey.spread, t))) for t in (times, 2 * times, np.inf)]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("wished", [0.05, 0.3])
def test_rates_move_to_a_difference_and_nobody_appears(groups: int, wished: float) -> None:
    q = np.array([[0.6, 0.4], [0.3, 0.7]]) if groups == 2 else [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]
    survey = drawn_survey(groups, prevalences=q)
    before = counts(survey)
    after = at_difference(survey.spread, wished).estimated(list(DECISIONS))[0]
    assert after.sum(axis=0) == pytest.approx(before.sum(axis=0))
    assert after.sum(axis=1) == pytest.approx(before.sum(axis=1))
    rates, earlier = (group_rates(n)["selection_rate"] for n in (after, before))
    assert np.ptp(rates) == pytest.approx(wished)
    assert np.argsort(rates).tolist() == np.argsort(earlier).tolist()


def test_of_equal_rates_the_last_group_s_becomes_the_greater() -> None:
    moved = at_difference(drawn_survey(3).spread, 0.2).estimated(list(DECISIONS))[0]
    rates = group_rates(moved)["selection_rate"]
    assert rates == pytest.approx([rates[0], rates[0], rates[0] + 0.2])


def test_an_impossible_difference_is_refused_with_the_greatest_possible_one() -> None:
    spread = assumed_survey(share=0.5, rate=0.1, disparity=0).spread
    with pytest.raises(InputError, match=r"can't differ by 0\.3: .* the most is 0\.200"):
        at_difference(spread, 0.3)
    assert parity(at_difference(spread, 0.2)).estimate == pytest.approx(0.2)
