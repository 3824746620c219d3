"""Rates by group and their disparities, from counts."""

from itertools import product

import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
    false_positive_rate,
    selection_rate,
    true_negative_rate,
    true_positive_rate,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.simulation import FloatArray, examples

from quantifair import disparity
from quantifair.disparity import (
    MEASURES,
    difference,
    disparities,
    group_rates,
    pairs,
    ratio,
    smooth,
    variance,
)

# labelled[y, d, k]: people of group k with label y and decision d, for groups 0 and 1.
LABELLED = np.array(
    [
        [[40.0, 30.0], [10.0, 20.0]],  # y = 0: rejected, accepted
        [[5.0, 20.0], [45.0, 30.0]],  # y = 1: rejected, accepted
    ]
)
DECIDED = LABELLED.sum(axis=0)

RATES = {
    "share": (0.5, 0.5),
    "count": (100, 100),
    "selection_rate": (55 / 100, 50 / 100),
    "true_positive_rate": (45 / 50, 30 / 50),
    "false_positive_rate": (10 / 50, 20 / 50),
    "true_negative_rate": (40 / 50, 30 / 50),
    "positive_predictive_value": (45 / 55, 30 / 50),
    "negative_predictive_value": (40 / 45, 30 / 50),
}
DIFFERENCES = {  # Definition 1 of the paper: group 1 minus group 0
    "demographic_parity": 50 / 100 - 55 / 100,
    "true_positive_rate": 30 / 50 - 45 / 50,
    "true_negative_rate": 30 / 50 - 40 / 50,
    "positive_predictive_value": 30 / 50 - 45 / 55,
    "negative_predictive_value": 30 / 50 - 40 / 45,
    "equal_opportunity": 45 / 50 - 30 / 50,
    "equalized_odds": max(45 / 50 - 30 / 50, 20 / 50 - 10 / 50),
}
RATIOS = {
    "demographic_parity": 50 / 55,
    "true_positive_rate": 30 / 45,
    "true_negative_rate": 30 / 40,
    "positive_predictive_value": (30 / 50) / (45 / 55),
    "negative_predictive_value": (30 / 50) / (40 / 45),
    "equal_opportunity": 30 / 45,
    "equalized_odds": min(30 / 45, 10 / 20),
}

shapes = st.integers(2, 5).map(lambda groups: (2, 2, groups))
tables = arrays(np.float64, shapes, elements=st.integers(1, 30))
quickly = examples(40)


def test_rates_by_hand() -> None:
    rates = group_rates(DECIDED, LABELLED)
    assert rates.keys() == RATES.keys()
    for name, expected in RATES.items():
        assert rates[name] == pytest.approx(expected, abs=1e-15), name


def test_every_measure_by_hand() -> None:
    found = disparities(group_rates(DECIDED, LABELLED))
    assert found.keys() == MEASURES.keys() == DIFFERENCES.keys()
    for name, kinds in found.items():
        assert kinds.keys() == {"difference", "ratio", "variance"}
        assert kinds["difference"] == pytest.approx(DIFFERENCES[name], abs=1e-15), name
        assert kinds["ratio"] == pytest.approx(RATIOS[name], abs=1e-15), name
        spread = max(np.var(RATES[rate]) for rate in MEASURES[name].rates)
        assert kinds["variance"] == pytest.approx(spread, abs=1e-15), name


def test_without_labels_there_is_demographic_parity_alone() -> None:
    assert group_rates(DECIDED).keys() == {"share", "count", "selection_rate"}
    assert disparities(group_rates(DECIDED)).keys() == {"demographic_parity"}


def test_more_than_two_groups_compare_the_largest_with_the_smallest() -> None:
    rates = np.array([0.2, 0.8, 0.5, 0.3])
    for signed in (True, False):
        assert difference(rates, signed=signed) == pytest.approx(0.6)
    assert ratio(rates) == pytest.approx(0.25)
    assert variance(rates) == pytest.approx(np.mean((rates - 0.45) ** 2))
    assert pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_two_groups_keep_their_sign_only_where_asked() -> None:
    assert difference(np.array([0.7, 0.2]), signed=True) == pytest.approx(-0.5)
    assert difference(np.array([0.7, 0.2]), signed=False) == pytest.approx(0.5)


@quickly
@given(tables)
def test_exchanging_two_groups_flips_the_sign_of_the_signed_measures_alone(
    table: FloatArray,
) -> None:
    two = table[..., :2]
    there = disparities(group_rates(two.sum(axis=0), two))
    back = disparities(group_rates(two.sum(axis=0)[..., ::-1], two[..., ::-1]))
    for name, measure in MEASURES.items():
        sign = -1 if measure.signed else 1
        assert back[name]["difference"] == sign * there[name]["difference"]
        assert back[name]["ratio"] == there[name]["ratio"]


@quickly
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_many_groups_is_immaterial(table: FloatArray, random: object) -> None:
    order = list(range(table.shape[-1]))
    random.shuffle(order)  # type: ignore[attr-defined]
    there = disparities(group_rates(table.sum(axis=0), table))
    back = disparities(group_rates(table.sum(axis=0)[..., order], table[..., order]))
    for name, kinds in there.items():
        for kind, value in kinds.items():
            # Sums in another order.
            assert abs(back[name][kind]) == pytest.approx(abs(value), abs=1e-14)


@examples(8)
@given(tables)
def test_fairlearn_agrees_on_the_rows_behind_the_counts(table: FloatArray) -> None:
    groups = table.shape[-1]
    y, d, k = (
        np.repeat(axis.ravel(), table.ravel().astype(int)) for axis in np.indices(table.shape)
    )
    rates = group_rates(table.sum(axis=0), table)
    frame = MetricFrame(
        metrics={
            "selection_rate": selection_rate,
            "true_positive_rate": true_positive_rate,
            "false_positive_rate": false_positive_rate,
            "true_negative_rate": true_negative_rate,
        },
        y_true=y,
        y_pred=d,
        sensitive_features=k,
    ).by_group
    for name in frame.columns:
        assert rates[name] == pytest.approx(frame[name].to_numpy(), abs=1e-12)
    found = disparities(rates)
    people = {"y_true": y, "y_pred": d, "sensitive_features": k}
    unsigned = abs(found["demographic_parity"]["difference"])
    assert unsigned == pytest.approx(demographic_parity_difference(**people), abs=1e-12)
    for name, theirs, their_ratio in (
        ("demographic_parity", None, demographic_parity_ratio),
        ("equal_opportunity", equal_opportunity_difference, equal_opportunity_ratio),
        ("equalized_odds", equalized_odds_difference, equalized_odds_ratio),
    ):
        if theirs is not None:
            assert found[name]["difference"] == pytest.approx(theirs(**people), abs=1e-12)
        assert found[name]["ratio"] == pytest.approx(their_ratio(**people), abs=1e-12)
    assert rates["count"].tolist() == np.bincount(k, minlength=groups).tolist()


def test_replicates_are_leading_axes() -> None:
    rng = np.random.default_rng(0)
    many = rng.integers(1, 50, size=(4, 3, 2, 2, 5)).astype(float)
    batch = disparities(group_rates(many.sum(axis=-3), many))
    for at in np.ndindex(4, 3):
        one = disparities(group_rates(many[at].sum(axis=0), many[at]))
        for name, kinds in one.items():
            for kind, value in kinds.items():
                assert batch[name][kind].shape == (4, 3)
                assert batch[name][kind][at] == pytest.approx(value, abs=1e-15)


def test_a_group_of_nobody_has_rates_that_are_nan_and_no_warning() -> None:
    counts = np.array([[10.0, 0.0], [30.0, 0.0]])
    rates = group_rates(counts)
    assert rates["share"].tolist() == [1, 0]
    assert rates["selection_rate"][0] == 0.75
    assert np.isnan(rates["selection_rate"][1])
    assert all(np.isnan(value) for value in disparities(rates)["demographic_parity"].values())


def test_a_rate_of_nobody_is_nan_and_leaves_the_others_alone() -> None:
    nobody_positive = LABELLED.copy()
    nobody_positive[1, :, 1] = 0
    rates = group_rates(nobody_positive.sum(axis=0), nobody_positive)
    assert np.isnan(rates["true_positive_rate"]).tolist() == [False, True]
    assert not np.isnan(rates["true_negative_rate"]).any()
    found = disparities(rates)
    unknown = {name for name, kinds in found.items() if np.isnan(kinds["difference"])}
    assert unknown == {"true_positive_rate", "equal_opportunity", "equalized_odds"}


def test_a_ratio_of_nothing_to_nothing_is_nan() -> None:
    assert np.isnan(ratio(np.array([0.0, 0.0])))
    assert ratio(np.array([0.0, 0.5])) == 0


def test_with_labels_of_the_accepted_alone_only_the_ppv_is_known() -> None:
    accepted = LABELLED.copy()
    accepted[:, 0, :] = np.nan
    rates = group_rates(DECIDED, accepted)
    known = {name for name, value in rates.items() if np.isfinite(value).all()}
    assert known == {"share", "count", "selection_rate", "positive_predictive_value"}
    found = disparities(rates)
    for name, kinds in found.items():
        reported = name in {"demographic_parity", "positive_predictive_value"}
        assert all(np.isfinite(value) == reported for value in kinds.values())
    expected = DIFFERENCES["positive_predictive_value"]
    assert found["positive_predictive_value"]["difference"] == pytest.approx(expected)


def test_smoothing_adds_one_person_spread_as_the_auxiliary_shares() -> None:
    # Step 6 of the paper's Method, alpha = 1/2 and two decisions: (p n + p_aux) / (n + 1).
    assert smooth([0.2, 0.8], 4, [0.3, 0.7]) == pytest.approx([1.1 / 5, 3.9 / 5])
    three = smooth([0.0, 0.25, 0.75], 8, [0.5, 0.3, 0.2])
    assert three == pytest.approx([0.5 / 9, 2.3 / 9, 6.2 / 9])
    assert three.sum() == pytest.approx(1)


def test_smoothing_an_empty_cell_leaves_the_auxiliary_shares() -> None:
    assert smooth([1.0, 0.0], 0, [0.3, 0.7]).tolist() == [0.3, 0.7]


def test_smoothing_takes_replicates_and_sizes_of_several_cells() -> None:
    prevalence = np.array([[[0.0, 1.0], [0.5, 0.5]], [[1.0, 0.0], [0.25, 0.75]]])
    found = smooth(prevalence, [1, 3], [[0.5, 0.5], [0.0, 1.0]])
    expected = [[[0.25, 0.75], [0.375, 0.625]], [[0.75, 0.25], [0.1875, 0.8125]]]
    assert found == pytest.approx(np.array(expected))


@examples(60)
@given(st.integers(2, 4), st.integers(0, 10_000))
def test_nothing_between_is_nearer_to_equality_than_the_bounds(groups: int, seed: int) -> None:
    """Rates anywhere in the box that their extremes span are a connected set."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 1, groups)
    high = low + rng.uniform(0, 0.5, groups) * (1 - low)
    corners = np.array(list(product(*zip(low, high, strict=True))))
    inside = rng.uniform(low, high, (500, groups))
    kinds = disparity.kinds(signed=False, groups=groups)
    for name, sign in (("difference", 1), ("variance", 1), ("ratio", -1)):
        bound = kinds[name].nearest(corners)
        assert sign * bound <= (sign * kinds[name].of(inside)).min() + 1e-12, name


def test_bounds_reach_equality_where_rates_change_places() -> None:
    kinds = disparity.kinds(signed=False, groups=2)
    across = np.array([[0.2, 0.6], [0.5, 0.4]])
    apart = np.array([[0.2, 0.6], [0.3, 0.4]])
    assert [kinds[k].nearest(across) for k in ("difference", "ratio", "variance")] == [0, 1, 0]
    found = [kinds[k].nearest(apart) for k in ("difference", "ratio", "variance")]
    assert found == pytest.approx([0.1, 0.75, 0.0025])


def test_a_signed_difference_of_two_groups_is_smooth() -> None:
    assert disparity.kinds(signed=True, groups=2)["difference"].nearest is None
    assert disparity.kinds(signed=True, groups=3)["difference"].nearest is not None
