"""Figures: from rates and what else they may be to numbers with intervals, by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from quantifair import disparity
from quantifair.estimation import Options
from quantifair.figures import figure, group_results, measure_results
from quantifair.intervals import quantile, quantile_of_pairs
from quantifair.spread import Profiled, Sampled

GROUPS = ["man", "woman"]
ATTRIBUTES = [{"sex": "man"}, {"sex": "woman"}]


def sampled(rates, level=0.95) -> Sampled:
    """Rates with the estimate in front and replicates behind."""
    spread = Sampled({}, dict.fromkeys([(rate,) for rate in rates], ()), Options(level=level), None)
    vars(spread)["known"] = rates
    return spread


ALONE, ALL_PAIRS = quantile(0.95), quantile_of_pairs(0.95, 3)
DEVIANCES = {quantile(0.95, d) for d in (1, 2)} | {
    quantile_of_pairs(0.95, groups, rates) for groups in (2, 3) for rates in (1, 2)
}


def profiled(rates) -> Profiled:
    """Rates with the estimate in front and a region's edge behind, whatever deviance it allows."""
    spread = Profiled({}, dict.fromkeys([(rate,) for rate in rates], ()), Options(), None)
    vars(spread)["known"] = {(name, d): values for name, values in rates.items() for d in DEVIANCES}
    return spread


def rates_of(selection, share=None, count=None) -> dict[str, np.ndarray]:
    """Rates with the estimate in front and replicates behind."""
    rates = np.array(selection, dtype=float)
    share = np.full(rates.shape, 1 / rates.shape[1]) if share is None else np.array(share)
    count = share * 1000 if count is None else np.array(count)
    return {"share": share, "count": count, "selection_rate": rates}


def one(estimate, replicates, level=0.95):
    """The figure of a single number."""
    column = np.array([estimate, *replicates])[:, None]
    return figure(sampled({"rate": column}, level), ("rate",), lambda rates: rates[..., 0])


def test_an_interval_reaches_outwards_to_a_replicate():
    found = one(0.5, np.arange(11) / 10, level=0.5)
    assert (found.low, found.high) == (0.2, 0.8)


def test_an_interval_contains_its_estimate():
    assert one(0.1, np.linspace(0.4, 0.6, 21)).low == 0.1
    assert one(0.9, np.linspace(0.4, 0.6, 21)).high == 0.9


def test_a_number_that_is_not_finite_is_not_estimated():
    for number in (np.nan, np.inf):
        found = one(number, np.ones(3))
        assert (found.estimate, found.low, found.high) == (None, None, None)


def test_without_other_values_there_is_no_interval():
    found = one(0.3, [])
    assert (found.estimate, found.low, found.high) == (0.3, None, None)


def test_a_region_gives_its_extremes_and_the_worst_of_several_rates():
    rates = {
        "true_positive_rate": np.array([[0.5, 0.6], [0.5, 0.8], [0.5, 0.55]]),
        "false_positive_rate": np.array([[0.2, 0.3], [0.2, 0.4]]),
    }
    found = measure_results(profiled(rates), GROUPS)["equalized_odds"]
    assert found.difference.estimate == pytest.approx(0.1)
    # The false positive rates differ by 0.2 in any case, the true ones by 0.05 to 0.3.
    assert (found.difference.low, found.difference.high) == pytest.approx((0.1, 0.3))
    assert found.ratio.low == pytest.approx(0.5)


def test_the_figures_of_a_group_are_its_rates():
    rates = rates_of([[0.6, 0.2], [0.5, 0.1], [0.7, 0.4]])
    man, woman = group_results(sampled(rates, 0.5), GROUPS, ATTRIBUTES)
    assert (woman.name, woman.attributes) == ("woman", {"sex": "woman"})
    assert (woman.selection_rate.estimate, woman.selection_rate.low) == (0.2, 0.1)
    assert man.selection_rate.high == 0.7
    assert (man.count.estimate, man.share.estimate) == (500, 0.5)
    assert woman.true_positive_rate is None


def test_disparities_of_two_groups_are_the_second_minus_the_first():
    rates = rates_of([[0.6, 0.2], [0.5, 0.1], [0.7, 0.4]])
    found = measure_results(sampled(rates, 0.5), GROUPS)["demographic_parity"]
    assert found.direction == "woman minus man"
    assert found.signed
    assert found.difference.estimate == pytest.approx(-0.4)
    assert (found.difference.low, found.difference.high) == pytest.approx((-0.4, -0.3))
    assert found.ratio.estimate == pytest.approx(1 / 3)
    assert (found.ratio.low, found.ratio.high) == pytest.approx((0.2, 4 / 7))
    assert found.variance.estimate == pytest.approx(0.04)


def test_disparities_of_three_groups_are_largest_minus_smallest_and_by_pair():
    groups = ["a", "b", "c"]
    rates = rates_of([[0.5, 0.2, 0.8], [0.5, 0.4, 0.8]])
    found = measure_results(sampled(rates), groups)["demographic_parity"]
    assert found.direction == "largest minus smallest"
    assert not found.signed
    assert found.difference.estimate == pytest.approx(0.6)
    assert found.difference.low == pytest.approx(0.4)
    assert found.ratio.estimate == pytest.approx(0.25)
    assert found.variance.estimate == pytest.approx(0.06)
    pairs = {(p.group, p.reference): p for p in found.pairs}
    assert list(pairs) == [("b", "a"), ("c", "a"), ("c", "b")]
    assert pairs["c", "b"].difference.estimate == pytest.approx(0.6)
    assert pairs["b", "a"].difference.estimate == pytest.approx(-0.3)
    assert pairs["c", "b"].ratio.estimate == pytest.approx(4.0)
    assert pairs["c", "b"].ratio.low == pytest.approx(2.0)


# What replicates leave open


def test_a_ratio_over_a_rate_that_may_be_zero_has_no_upper_end():
    selection = [[0.1, 0.5], *[[0.0, 0.5]] * 5, *[[0.1, 0.5]] * 45]
    (pair,) = measure_results(sampled(rates_of(selection)), GROUPS)["demographic_parity"].pairs
    assert pair.ratio.estimate == pytest.approx(5)
    assert pair.ratio.low == pytest.approx(5)
    assert pair.ratio.high == np.inf


def test_a_ratio_of_zeros_may_be_anything():
    selection = [[0.1, 0.5], *[[0.0, 0.0]] * 50]
    found = measure_results(sampled(rates_of(selection)), GROUPS)["demographic_parity"]
    assert (found.pairs[0].ratio.low, found.pairs[0].ratio.high) == (0, np.inf)
    assert (found.ratio.low, found.ratio.high) == (0, 1)
    zero = rates_of([[0.0, 0.5], [0.1, 0.5]])
    undefined = measure_results(sampled(zero), GROUPS)["demographic_parity"].pairs[0].ratio
    assert undefined.estimate is None


@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("measure", ["demographic_parity", "equal_opportunity"])
def test_a_rate_that_a_replicate_leaves_undefined_may_be_anything(groups, measure):
    """The interval of a single replicate is the range over all that its rates may be."""
    rng = np.random.default_rng(groups)
    grid = np.array(list(product(np.linspace(0, 1, 9), repeat=groups)))
    for undefined in product([False, True], repeat=groups):
        replicate = rng.integers(1, 9, groups) / 8
        rates = rates_of([replicate, np.where(undefined, np.nan, replicate)])
        rates["true_positive_rate"] = rates["selection_rate"]
        found = measure_results(sampled(rates), [str(k) for k in range(groups)])[measure]
        possible = np.where(undefined, grid, replicate)
        names = ("selection_rate", "true_positive_rate")
        within = disparity.disparities(dict.fromkeys(names, possible))[measure]
        for kind in ("difference", "ratio"):
            shown, values = getattr(found, kind), np.nan_to_num(within[kind])
            if shown.estimate is not None:
                assert shown.low == pytest.approx(values.min())
                assert shown.high == pytest.approx(values.max())
        # The least variance may lie between the points of the grid.
        assert found.variance.low <= within["variance"].min() + 1e-12
        assert found.variance.high == pytest.approx(within["variance"].max())


def test_a_count_that_a_replicate_leaves_undefined_may_be_everybody():
    rates = rates_of([[0.5, 0.5], [np.nan, np.nan]], share=[[0.4, 0.6], [np.nan, np.nan]])
    man, woman = group_results(sampled(rates), GROUPS, ATTRIBUTES)
    assert (man.share.low, man.share.high) == (0, 1)
    assert (woman.count.estimate, woman.count.low, woman.count.high) == (600, 0, 1000)


def test_of_the_groups_that_differ_most_the_far_end_is_a_pairs_and_the_near_end_holds_for_all():
    alone = np.array([[0.5, 0.4, 0.8], [0.4, 0.4, 0.9], [0.6, 0.4, 0.7]])
    together = np.array([[0.5, 0.4, 0.8], [0.3, 0.4, 1.0], [0.7, 0.4, 0.6]])
    spread = profiled({"selection_rate": together})
    spread.known["selection_rate", ALONE] = alone
    found = measure_results(spread, ["a", "b", "c"])["demographic_parity"]
    assert found.difference.high == pytest.approx(0.9 - 0.4)
    assert found.difference.low == pytest.approx(0.6 - 0.4)
    assert found.ratio.low == pytest.approx(0.4 / 0.9)
    assert found.ratio.high == pytest.approx(0.4 / 0.6)
    pair = {(p.group, p.reference): p.difference for p in found.pairs}["c", "a"]
    assert (pair.low, pair.high) == pytest.approx((0.1, 0.5))


def test_a_region_that_rates_change_places_in_reaches_equality():
    """Its edge is a set of points, none with equal rates; replicates are all there is."""
    rates = {"selection_rate": np.array([[0.5, 0.4, 0.6], [0.3, 0.5, 0.6], [0.7, 0.5, 0.4]])}
    groups = ["a", "b", "c"]
    region = measure_results(profiled(rates), groups)["demographic_parity"]
    assert (region.difference.low, region.ratio.high, region.variance.low) == (0, 1, 0)
    replicates = measure_results(sampled(rates), groups)["demographic_parity"]
    assert replicates.difference.low == pytest.approx(0.2)
    assert replicates.ratio.high == pytest.approx(2 / 3)
