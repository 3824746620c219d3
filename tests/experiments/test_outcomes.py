"""Signed errors by hand, smoothed as in the paper, and as the reference has them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation import examples

from quantifair.experiments.outcomes import disparities, method_names, refused, signed_errors

ONE = {
    "dataset": "adult",
    "learner": "LR",
    "protocol": "sample-prev-D3",
    "sub": "accepted",
    "value": 0.3,
    "partition": 0,
    "roles": "ABC",
    "repeat": 0,
    "natural": 0.4,
    "problem": "",
    # 40 rejected, of whom 10 are of group 1; 20 accepted, of whom 5 are.
    "size:0": 40,
    "size:1": 20,
    "true:0": 0.25,
    "true:1": 0.25,
    "prior:0": 0.5,
    "prior:1": 0.9,
    "SLD:0": 0.5,
    "SLD:1": 0.0,
    "CC:0": 0.25,
    "CC:1": 0.25,
}


def table(**changes):
    return pd.DataFrame([{**ONE, **changes}])


def error(trials=None, method="SLD", **options):
    return signed_errors(table() if trials is None else trials, [method], **options)[method][0]


def acceptance(rejected, accepted):
    """Of a group: so many rejected, so many accepted."""
    return accepted / (rejected + accepted)


def test_the_truth_by_hand():
    """5 of 15 people of group 1 are accepted, and 15 of 45 of group 0."""
    found = signed_errors(table(), ["SLD"])
    assert found["truth"][0] == pytest.approx(5 / 15 - 15 / 45)
    found = signed_errors(table(**{"true:1": 0.75}), ["SLD"])
    assert found["truth"][0] == pytest.approx(15 / 25 - 5 / 35)


def test_the_papers_error_by_hand():
    """One person joins each cell, half of group 1 among the rejected, 0.9 of it among the accepted.

    Smoothed shares are taken of the 40 and 20 people that are there.
    """
    rejected, accepted = (0.5 * 40 + 0.5) / 41, (0.0 * 20 + 0.9) / 21
    ones = acceptance(40 * rejected, 20 * accepted)
    zeros = acceptance(40 * (1 - rejected), 20 * (1 - accepted))
    assert error() == pytest.approx((ones - zeros) - 0.0, rel=1e-12)
    assert error() < 0, "the estimate has nobody of group 1 accepted"


def test_as_the_reference_the_accepted_persons_group_is_the_true_one():
    rejected, accepted = (0.5 * 40 + 0.5) / 41, (0.0 * 20 + 0.25) / 21
    ones = acceptance(40 * rejected, 20 * accepted)
    zeros = acceptance(40 * (1 - rejected), 20 * (1 - accepted))
    assert error(prior_of_truth=True) == pytest.approx(ones - zeros, rel=1e-12)


def test_as_the_reference_the_truth_is_smoothed_too():
    rejected, accepted = (0.25 * 40 + 0.5) / 41, (0.25 * 20 + 0.9) / 21
    ones = acceptance(40 * rejected, 20 * accepted)
    zeros = acceptance(40 * (1 - rejected), 20 * (1 - accepted))
    found = signed_errors(table(), ["SLD"], smoothed_truth=True)
    assert found["truth"][0] == pytest.approx(ones - zeros, rel=1e-12)
    assert found["SLD"][0] == pytest.approx(error() - (ones - zeros), rel=1e-12)


def test_right_prevalences_err_by_their_smoothing_alone():
    """With the paper's truth; the reference smooths it alike, and finds no error."""
    smoothed = signed_errors(table(), ["CC"], smoothed_truth=True)["truth"][0]
    assert error(method="CC") == pytest.approx(smoothed)
    assert error(method="CC", smoothed_truth=True) == 0
    both = {"prior_of_truth": True, "smoothed_truth": True}
    assert error(method="CC", **both) == 0


def reference(true, estimated, sizes, prior):
    """The reference's formula: P(Y=1|S=1) + P(Y=0|S=0) - 1, everything smoothed."""
    sizes = np.array(sizes, dtype=float)
    accepted = sizes[1] / sizes.sum()

    def disparity(shares):
        low, high = (
            (p * n + q) / (n + 1)
            for p, n, q in zip(shares, sizes, (prior[0], true[1]), strict=True)
        )
        ones = high * accepted + low * (1 - accepted)
        return high * accepted / ones + (1 - low) * (1 - accepted) / (1 - ones) - 1

    return disparity(estimated) - disparity(true)


share = st.floats(0, 1)
inner = st.floats(0.01, 0.99)
pair = st.tuples(share, share)


@examples(200)
@given(pair, pair, st.tuples(st.integers(1, 2_000), st.integers(1, 2_000)), st.tuples(inner, inner))
def test_both_deviations_together_are_the_references_formula(estimated, true, sizes, prior):
    true = (true[0], min(max(true[1], 0.01), 0.99))
    cells = {"size": sizes, "true": true, "prior": prior, "SLD": estimated}
    trials = table(**{f"{k}:{d}": v[d] for k, v in cells.items() for d in (0, 1)})
    found = error(trials, prior_of_truth=True, smoothed_truth=True)
    assert found == pytest.approx(reference(true, estimated, sizes, prior), abs=1e-9)


@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=4, max_size=60).filter(
        lambda people: len(set(people)) == 4
    )
)
def test_disparities_are_counted_people(people):
    group, accepted = np.array(people).T
    sizes = np.bincount(accepted)
    by_decision = [group[accepted == d].mean() for d in (0, 1)]
    found = disparities(np.array([by_decision]), np.array([sizes]))[0]
    counted = accepted[group == 1].mean() - accepted[group == 0].mean()
    assert found == pytest.approx(counted, abs=1e-12)


@examples(100)
@given(pair, pair, st.tuples(st.integers(1, 2_000), st.integers(1, 2_000)), st.tuples(inner, inner))
def test_swapped_groups_swap_the_sign(estimated, true, sizes, prior):
    def trials(swap):
        cells = {"size": sizes, "true": true, "prior": prior, "SLD": estimated}
        return table(
            **{
                f"{k}:{d}": 1 - v[d] if swap and k != "size" else v[d]
                for k, v in cells.items()
                for d in (0, 1)
            }
        )

    options = {"smoothed_truth": True}
    one, other = (error(trials(swap), **options) for swap in (False, True))
    assert one == pytest.approx(-other, abs=1e-9)


def test_trials_are_described_and_refused_ones_are_left_out():
    trials = pd.concat([table(), table(problem="nobody", repeat=1), table(repeat=2)])
    found = signed_errors(trials, ["SLD", "CC"])
    keys = ["dataset", "learner", "protocol", "sub", "value", "partition", "roles", "repeat"]
    assert list(found.columns) == [*keys, "natural", "truth", "SLD", "CC"]
    assert found["repeat"].tolist() == [0, 2]
    assert found["natural"].tolist() == [0.4, 0.4]


def test_refused_trials_are_counted_beside_all():
    trials = pd.concat(
        [
            *[table()] * 5,
            *[table(problem="nobody")] * 2,
            table(problem="few"),
            *[table(dataset="compas")] * 3,
            table(dataset="compas", problem="few"),
        ]
    )
    found = refused(trials)
    counted = found[["dataset", "problem", "refused", "trials"]].to_numpy().tolist()
    assert sorted(counted) == [
        ["adult", "few", 1, 8],
        ["adult", "nobody", 2, 8],
        ["compas", "few", 1, 4],
    ]
    assert refused(table()).empty


def test_methods_are_told_from_what_is_known_of_trials():
    columns = {"lost:SLD:0": 0.0, "f1:CC:0": 1.0, "accuracy:CC:0": 1.0, "PCC-nosD2:0": 0.5}
    assert method_names(table(**columns)) == ["SLD", "CC", "PCC-nosD2"]
