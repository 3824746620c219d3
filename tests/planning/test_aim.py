"""Aims: what is reached, by how many times the people, and how often."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from benchmarks import planner
from scipy.stats import norm
from tests.planning.surveys import assumed_survey, drawn_survey
from tests.planning.test_survey import by_hand

from quantifair.errors import InputError
from quantifair.planning import Aim, Survey, parity, scaled, times_needed
from quantifair.planning.aim import beyond, narrower, spanned, within
from quantifair.results import Figure


@pytest.mark.parametrize("wished", [0.04, 0.1, 0.5])
def test_the_factor_just_reaches_the_width(wished: float) -> None:
    spread = assumed_survey().spread
    times = times_needed(spread, parity, partial(narrower, width=wished))
    assert spanned(parity(scaled(spread, times))) <= wished
    assert spanned(parity(scaled(spread, 0.997 * times))) > wished


def test_no_factor_reaches_what_the_deployment_s_own_noise_forbids() -> None:
    spread = assumed_survey(rows=2_000).spread
    floor = spanned(parity(scaled(spread, math.inf)))
    assert times_needed(spread, parity, partial(narrower, width=0.99 * floor)) == math.inf
    assert math.isfinite(times_needed(spread, parity, partial(narrower, width=1.01 * floor)))


def test_what_the_estimate_forbids_no_factor_certifies() -> None:
    spread = assumed_survey(disparity=0.1).spread
    assert times_needed(spread, parity, partial(within, margin=0.09)) == math.inf
    assert times_needed(spread, parity, partial(beyond, margin=0.11)) == math.inf
    assert times_needed(spread, parity, partial(within, margin=0.13)) < math.inf
    assert times_needed(spread, parity, partial(beyond, margin=0.07)) < math.inf


def test_equal_groups_are_never_told_apart() -> None:
    assert times_needed(drawn_survey(3).spread, parity, beyond) == math.inf


def test_without_an_estimate_no_factor_is_named() -> None:
    spread = assumed_survey().spread
    lost = {c: replace(e, prevalence=np.full(2, np.nan)) for c, e in spread.estimates.items()}
    assert math.isnan(times_needed(replace(spread, estimates=lost), parity, beyond))


def test_an_interval_lies_within_beyond_or_neither() -> None:
    assert within(Figure(0.0, -0.1, 0.1), margin=0.1)
    assert not within(Figure(0.0, -0.1, 0.11), margin=0.1)
    assert beyond(Figure(-0.3, -0.4, -0.2), margin=0.1)
    assert not beyond(Figure(0.3, 0.0, 0.4))
    assert not within(Figure(None), margin=1)
    assert not beyond(Figure(None))


@pytest.mark.parametrize("power", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_large_surveys_find_as_often_as_the_normal_formula_says(
    power: float, margin: float
) -> None:
    """(z + z_power) standard errors between difference and margin; the rest is curvature."""
    survey = assumed_survey(disparity=0.06, rows=400_000)
    aim = Aim(detect=0.06, power=power, margin=margin)
    sizes = survey.people * np.geomspace(0.001, 1, 400)[:, None, None]
    least = next(n for n in sizes if aim.reached_by(survey.asking(n)))
    z = float(norm.ppf(0.975))
    error = by_hand(survey, least) / (2 * z)
    assert (0.06 - margin) / error == pytest.approx(z + norm.ppf(power), rel=0.03)
    # A step of the sizes changes the power by less than 0.01; bisection by less than 0.003.
    assert aim.power_of(survey.asking(least)) == pytest.approx(power, abs=0.013)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, "give one of them"),
        ({"width": 0.1, "detect": 0.1}, "give one of them"),
        ({"width": 0.0}, "width lies between 0 and 2, not 0.0"),
        ({"width": "wide"}, "width lies between 0 and 2, not 'wide'"),
        ({"width": True}, "width lies between 0 and 2, not True"),
        ({"detect": 1.0}, "detect lies between 0 and 1, not 1.0"),
        ({"detect": 0.1, "power": 0.3}, "power lies between 0.5 and 1, not 0.3"),
        ({"detect": 0.1, "margin": 0.2}, "margin lies between 0 and 0.1, not 0.2"),
        ({"width": 0.1, "margin": 0.1}, "margin has no use without --detect"),
    ],
)
def test_an_aim_that_is_none_is_refused(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        Aim(**given)


@pytest.mark.parametrize(
    "setting",
    [planner.Setting(0.75, 0.3, 0.4, -0.2, 4_000), planner.Setting(0.85, 0.1, 0.2, 0.1, 4_000)],
)
def test_planned_widths_are_the_median_of_realised_ones(setting: planner.Setting) -> None:
    """A median's standard error is below 1.25 of a mean's; widths vary by the 80% range / 2.56."""
    row = planner.widths(setting, 1_000, 150)
    error = 1.25 * (row.high - row.low) / 2.56 / np.sqrt(150)
    assert row.realised == pytest.approx(row.planned, abs=4 * error)
    assert 4 * error < 0.1 * row.planned


def test_differences_are_found_as_often_as_planned() -> None:
    row = planner.powers(planner.Setting(0.75, 0.3, 0.4, 0.2, 20_000), 400)
    assert row is not None
    # Half the interval of the row is two standard errors of a share.
    assert row.realised == pytest.approx(0.8, abs=1.5 * (row.high - row.low) / 2)


def test_a_survey_knows_the_people_that_it_has() -> None:
    survey = drawn_survey()
    assert isinstance(survey, Survey)
    same, now = parity(survey.asking(survey.people)), parity(scaled(survey.spread, 1))
    assert (same.low, same.high) == (now.low, now.high)


def test_numbers_of_numpy_are_numbers() -> None:
    assert Aim(width=np.float32(0.25)).width == 0.25
