"""Where to ask: no other way of asking needs fewer people."""

from functools import partial

import numpy as np
import pytest
from tests.planning.surveys import assumed_survey, drawn_survey

from quantifair.planning import Survey, allocate, parity
from quantifair.planning.aim import least_times, narrower, spanned
from quantifair.planning.allocation import proportional
from quantifair.spread import Spread

CELLS = np.array([[0, 0], [1, 1]])
BOTH = np.array([[0, 1], [2, 3]])


def reached(spread: Spread, width: float = 0.08) -> bool:
    return narrower(parity(spread), width=width)


def total(survey: Survey, people: np.ndarray) -> float:
    """People in all, in these proportions."""
    times = least_times(lambda t: reached(survey.asking(t * people)))
    return float(times * people.sum())


@pytest.mark.parametrize(("share", "rate"), [(0.5, 0.5), (0.3, 0.2), (0.1, 0.5)])
def test_no_other_division_by_decision_needs_fewer(share: float, rate: float) -> None:
    survey = assumed_survey(share=share, rate=rate, disparity=0.05)
    found = allocate(survey, parity, reached, CELLS)
    assert found is not None
    assert reached(survey.asking(found))
    inside = survey.people / survey.people.sum(axis=1, keepdims=True)
    others = [total(survey, inside * [[1 - s], [s]]) for s in np.linspace(0.1, 0.9, 33)]
    # Half a percent for the steps of the search.
    assert found.sum() <= 1.005 * min(others)
    assert found / found.sum(axis=1, keepdims=True) == pytest.approx(inside)


def test_no_other_division_by_decision_and_group_needs_fewer() -> None:
    survey = assumed_survey(share=0.2, rate=0.3, disparity=0.05)
    found = allocate(survey, parity, reached, BOTH)
    assert found is not None
    rng = np.random.default_rng(0)
    near = found * rng.uniform(0.6, 1.6, size=(60, 2, 2))
    far = rng.dirichlet(np.ones(4), size=60).reshape(60, 2, 2)
    assert found.sum() <= 1.005 * min(total(survey, n) for n in [*near, *far])


def test_the_more_freely_people_are_chosen_the_fewer_are_needed() -> None:
    survey = assumed_survey(share=0.1, rate=0.3, disparity=0.05)
    ways = [proportional(survey, reached)]
    ways += [allocate(survey, parity, reached, strata) for strata in (CELLS, BOTH)]
    sums = [way.sum() for way in ways if way is not None]
    assert len(sums) == 3
    assert sums == sorted(sums, reverse=True)
    assert sums[2] < 0.9 * sums[0]


def test_where_all_is_alike_all_are_asked_alike() -> None:
    survey = assumed_survey(share=0.5, rate=0.5, disparity=0)
    found = allocate(survey, parity, reached, BOTH)
    assert found is not None
    assert found == pytest.approx(np.full((2, 2), found.mean()), rel=0.01)


def test_everywhere_at_least_some_are_asked() -> None:
    survey = assumed_survey(share=0.1, rate=0.1, disparity=0, rows=10**6)
    easy = partial(reached, width=1.0)
    found = allocate(survey, parity, easy, BOTH, least=30)
    assert found is not None
    assert found.min() == 30
    assert easy(survey.asking(found))


def test_an_aim_beyond_reach_has_no_allocation() -> None:
    survey = assumed_survey(rows=1_000)
    assert proportional(survey, reached) is None
    assert allocate(survey, parity, reached, CELLS) is None


def test_three_groups_are_allocated_too() -> None:
    survey = drawn_survey(3, people=4_000, prevalences=[[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    wide = partial(reached, width=1.2 * spanned(parity(survey.asking(survey.people * 4))))
    ways = [proportional(survey, wide), allocate(survey, parity, wide, np.arange(6).reshape(2, 3))]
    asked = [way for way in ways if way is not None]
    assert len(asked) == 2
    assert asked[1].sum() < asked[0].sum()
    assert all(wide(survey.asking(people)) for people in asked)
