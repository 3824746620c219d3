"""Statistics of errors: by hand, by SciPy, and by laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind_from_stats, ttest_rel
from tests.simulation import examples

from quantifair.errors import InputError
from quantifair.experiments.paper import paper_tables
from quantifair.experiments.statistics import KEYS, METHODS, mark, p_values, summarize

# Three partitions of two trials. |CC| = 0.1, 0.3, 0.2, 0.2, 0.0, 0.4 and |SLD| = 0.05 throughout.
SIX = pd.DataFrame(
    {
        "protocol": "sample-prev-D3",
        "learner": "LR",
        "dataset": "adult",
        "sub": ["rejected", "accepted"] * 3,
        "value": 0.5,
        "partition": [0, 0, 1, 1, 2, 2],
        "roles": "ABC",
        "repeat": 0,
        "CC": [0.1, -0.3, 0.2, -0.2, 0.0, 0.4],
        "SLD": [0.05, -0.05] * 3,
    }
)


def summary(errors, methods=("CC", "SLD"), **options):
    return summarize(errors, methods, **options).set_index("method")


def simulated(seed=0, methods=("CC", "PCC", "SLD")):
    """Draw the errors of a small study of all protocols, some methods hard to tell apart."""
    rng = np.random.default_rng(seed)
    cells = [
        (protocol, learner, dataset, "", value, partition, roles, 0)
        for protocol in ("sample-prev-D3", "flip-prev-D1")
        for learner in ("LR", "SVM")
        for dataset in ("adult", "compas")
        for value in (0.1, 0.9)
        for partition in range(5)
        for roles in ("ABC", "ACB")
    ]
    names = ["protocol", "learner", "dataset", "sub", "value", "partition", "roles", "repeat"]
    frame = pd.DataFrame(cells, columns=names)
    for k, method in enumerate(methods):
        frame[method] = rng.normal(scale=0.1 + 0.03 * k, size=len(frame))
    return frame


def test_every_statistic_by_hand():
    cc = summary(SIX).loc["CC"]
    assert cc["trials"] == 6
    assert cc["mae"] == pytest.approx(1.2 / 6)
    assert cc["mae_std"] == pytest.approx(np.sqrt((0.01 + 0.01 + 0 + 0 + 0.04 + 0.04) / 6))
    assert cc["mse"] == pytest.approx((0.01 + 0.09 + 0.04 + 0.04 + 0 + 0.16) / 6)
    assert cc["mse_std"] == pytest.approx(np.std([0.01, 0.09, 0.04, 0.04, 0, 0.16]))
    assert cc["p_ae_lt_0.1"] == pytest.approx(1 / 6)
    assert cc["p_ae_lt_0.2"] == pytest.approx(2 / 6)


def test_the_standard_error_is_that_of_the_means_of_partitions():
    errors = SIX.assign(CC=[0.1, 0.1, 0.2, 0.4, 0.5, 0.7])
    cc = summary(errors).loc["CC"]  # partitions' means 0.1, 0.3, 0.6, around 1/3
    spread = np.sqrt((0.7**2 + 0.1**2 + 0.8**2) / 9 / 2)
    assert cc["mae_se"] == pytest.approx(spread / np.sqrt(3))
    assert cc["p_ae_lt_0.2_se"] == pytest.approx(1 / 3)  # 1, 0, 0


def test_one_partition_has_no_standard_error():
    found = summary(SIX.assign(partition=0))
    assert found["mae_se"].isna().all()
    assert found["mae"].notna().all()


def test_one_trial_tells_no_methods_apart():
    found = summary(SIX[:1])
    assert found["mae_mark"].to_dict() == {"CC": "‡", "SLD": ""}
    assert found["mae_std"].to_dict() == {"CC": 0, "SLD": 0}


def test_the_best_is_the_lowest_error_or_the_highest_probability():
    found = summary(SIX)
    for measure in ("mae", "mse", "p_ae_lt_0.1", "p_ae_lt_0.2"):
        assert found[f"{measure}_best"].to_dict() == {"CC": False, "SLD": True}
    assert found.loc["SLD", "p_ae_lt_0.1"] == 1


def test_only_a_tie_of_all_digits_has_two_best():
    alike = summary(SIX.assign(CC=SIX["SLD"] + 1e-6))  # as in the paper, where 0.016 beats 0.016
    assert alike["mae_best"].sum() == 1
    assert alike["p_ae_lt_0.1_best"].all()
    tie = summary(SIX.assign(CC=-SIX["SLD"]))
    assert tie["mae_best"].all()
    assert (tie["mae_mark"] == "").all()


def test_the_paired_test_is_scipys():
    errors = simulated()
    scores = errors[["CC", "PCC", "SLD"]].abs().to_numpy()
    best = scores[:, scores.mean(axis=0).argmin()]
    found = p_values(scores)
    assert np.isnan(found).sum() == 1
    for p, column in zip(found, scores.T, strict=True):
        assert np.isnan(p) or p == pytest.approx(ttest_rel(column, best).pvalue, rel=1e-9)


def test_the_unpaired_test_is_what_the_reference_asks_of_scipy():
    scores = simulated()[["CC", "PCC", "SLD"]].abs().to_numpy()
    moments = [(x.mean(), np.std(x), len(x)) for x in scores.T]
    found = p_values(scores, paired=False)
    for p, one in zip(found[1:], moments[1:], strict=True):
        expected = ttest_ind_from_stats(*moments[0], *one).pvalue
        assert p == pytest.approx(expected, rel=1e-9)


def test_the_papers_own_mark_follows_from_its_means_and_deviations_unpaired():
    # SVM, sample-prev-D3, CreditCard: HDy is the best, SLD has a double dagger. 2 sub-protocols
    # x 11 values x 300 trials; half of them a deviation above the mean, half below.
    printed = paper_tables().query("protocol == 'sample-prev-D3' and learner == 'SVM'")
    printed = printed[printed["dataset"] == "creditcard"].set_index("method")
    signs = np.resize([1, -1], 6600)
    moments = printed.loc[["HDy", "SLD"], ["mae", "mae_std"]].to_numpy()
    scores = np.column_stack([mean + deviation * signs for mean, deviation in moments])
    p = p_values(scores, paired=False)[1]
    assert mark(p, paired=False) == printed.loc["SLD", "mae_mark"] == "‡"


@pytest.mark.parametrize(
    ("p", "paired", "expected"),
    [
        (0.05, True, "‡"),
        (0.0499, True, "†"),
        (0.00101, True, "†"),
        (0.001, True, ""),
        (0.05, False, "‡"),
        (0.00501, False, "†"),
        (0.005, False, ""),
        (float("nan"), True, "‡"),
    ],
)
def test_marks_say_what_is_not_significantly_worse(p, paired, expected):
    assert mark(p, paired=paired) == expected


def test_pairing_sees_a_small_but_steady_difference():
    errors = simulated(methods=["CC"])
    steady = errors.assign(SLD=errors["CC"].abs() + 0.001)
    assert set(summary(steady).loc["SLD", "mae_mark"]) == {""}
    assert set(summary(steady, paired=False).loc["SLD", "mae_mark"]) == {"‡"}


def test_each_cell_of_a_table_is_its_own():
    errors = simulated()
    together = summarize(errors, ["CC", "SLD"])
    assert len(together) == 2 * 2 * 2 * 2
    one = errors.query("protocol == 'flip-prev-D1' and learner == 'SVM' and dataset == 'adult'")
    alone = summarize(one, ["CC", "SLD"])
    same = together.merge(alone[KEYS])
    pd.testing.assert_frame_equal(same, alone)


def test_rows_are_in_the_order_of_the_paper_and_of_the_methods():
    paper = paper_tables()[KEYS]
    trial = {"sub": "", "value": 0.5, "partition": 0, "roles": "ABC", "repeat": 0}
    errors = paper.drop(columns="method").drop_duplicates().assign(**trial)
    errors = errors.assign(**dict.fromkeys(METHODS, 0.1))
    found = summarize(errors.sample(frac=1, random_state=0), METHODS)
    wanted = paper.sort_values("learner", kind="stable")  # the paper shows all of LR, then SVM
    found = found.sort_values("learner", kind="stable")
    assert found[KEYS].to_numpy().tolist() == wanted.to_numpy().tolist()
    other = pd.concat([errors.assign(dataset=name) for name in ("zoo", "bank")])
    names = summarize(pd.concat([other, errors]), ["SLD", "CC"])
    assert names["dataset"].unique().tolist() == ["adult", "compas", "creditcard", "bank", "zoo"]
    assert names["method"].unique().tolist() == ["SLD", "CC"]


@examples(20)
@given(st.integers(0, 100))
def test_the_order_of_trials_is_immaterial(seed):
    errors = simulated(seed)
    shuffled = errors.sample(frac=1, random_state=seed)
    methods = ["CC", "PCC", "SLD"]
    pd.testing.assert_frame_equal(
        summarize(shuffled, methods), summarize(errors, methods), check_exact=True
    )


@examples(20)
@given(st.integers(0, 100), st.sampled_from([-4.0, -1.0, 0.5, 2.0]), st.booleans())
def test_scaling_errors_scales_the_means_and_no_comparison(seed, factor, paired):
    methods = ["CC", "PCC", "SLD"]
    errors = simulated(seed)
    there = summarize(errors, methods, paired=paired)
    scaled = summarize(errors.assign(**factor * errors[methods]), methods, paired=paired)
    for measure, power in (("mae", 1), ("mse", 2)):
        for suffix in ("", "_std", "_se"):
            expected = abs(factor) ** power * there[measure + suffix]
            assert np.allclose(scaled[measure + suffix], expected, rtol=1e-12)
        for suffix in ("_mark", "_best"):
            assert scaled[measure + suffix].tolist() == there[measure + suffix].tolist()


def test_the_mean_absolute_error_and_its_deviation_give_the_mean_squared_error():
    found = summarize(simulated(), ["CC", "PCC", "SLD"])
    assert np.allclose(found["mse"], found["mae"] ** 2 + found["mae_std"] ** 2)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_errors_that_are_no_numbers_are_refused_with_their_count(number):
    errors = SIX.assign(CC=[number, 0.1, number, 0.1, 0.1, 0.1])
    with pytest.raises(InputError, match="2 of 6 trials"):
        summarize(errors, ["CC", "SLD"])
    assert len(summarize(errors, ["SLD"])) == 1


def test_what_lacks_is_named():
    with pytest.raises(InputError, match="lack the columns roles, PACC"):
        summarize(SIX.drop(columns="roles"), ["CC", "PACC"])
    with pytest.raises(InputError, match="0 trials"):
        summarize(SIX[:0], ["CC"])
    with pytest.raises(InputError, match="0 methods"):
        summarize(SIX, [])
