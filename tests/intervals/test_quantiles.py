"""How much deviance a confidence level allows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, studentized_range

from quantifair.intervals import quantile, quantile_of_pairs


@pytest.mark.parametrize("degrees", [1, 2, 7])
def test_of_one_figure_it_is_a_chi_square_quantile(degrees: int) -> None:
    assert quantile(0.95, degrees) == pytest.approx(chi2.ppf(0.95, degrees))


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_two_groups_are_one_pair(level: float) -> None:
    assert quantile_of_pairs(level, 2) == pytest.approx(quantile(level), rel=1e-9)


@pytest.mark.parametrize("groups", [3, 4, 20])
def test_of_all_pairs_it_follows_from_the_studentised_range(groups: int) -> None:
    width = studentized_range.ppf(0.95, groups, np.inf)
    assert quantile_of_pairs(0.95, groups) == pytest.approx(width**2 / 2, rel=1e-4)


@pytest.mark.parametrize("groups", [3, 5, 20])
def test_pairs_need_more_than_one_figure_and_less_than_all_contrasts(groups: int) -> None:
    assert quantile(0.95) < quantile_of_pairs(0.95, groups) < quantile(0.95, groups - 1)


def test_the_pairs_of_two_rates_hold_together() -> None:
    """Of two independent rates, each holds with the root of the level: Sidak."""
    assert quantile_of_pairs(0.95, 4, 2) == pytest.approx(quantile_of_pairs(0.95**0.5, 4))


def test_all_pairs_of_equal_groups_hold_as_often_as_it_says() -> None:
    """Of 40,000 draws; the tolerance is three Monte-Carlo standard errors, .0033."""
    drawn = np.random.default_rng(0).normal(size=(40_000, 4))
    gaps = np.ptp(drawn, axis=1) ** 2 / 2
    held = np.mean(gaps <= quantile_of_pairs(0.95, 4))
    assert held == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 40_000))
