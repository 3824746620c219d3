"""Diagnostics: each says when, and only when, it should."""

from __future__ import annotations

import numpy as np
import pytest

from quantifair import diagnostics
from quantifair.intervals import Sample
from quantifair.quantifiers import Estimate


def two_groups(first, second, weights=None) -> Sample:
    """People of two groups with these probabilities of the second one."""
    p = np.r_[first, second]
    codes = np.repeat([0, 1], [len(first), len(second)])
    weights = np.ones(len(p)) if weights is None else np.asarray(weights)
    return Sample(np.column_stack([1 - p, p]), codes, weights)


def codes_of(cautions) -> list[str]:
    return [c.code for c in cautions]


@pytest.mark.parametrize(
    ("counts", "code"),
    [([5, 5], None), ([4, 90], "group_too_small"), ([90, 0], "group_absent"), ([30, 90], None)],
)
def test_fewer_than_five_people_of_a_group_are_too_few(counts, code):
    found = diagnostics.too_few(counts, ["man", "woman"], "hired=no")
    assert (found and found.code) == code


def test_what_is_too_few_says_who_and_where_and_what_to_do():
    found = diagnostics.too_few([40, 3], ["man", "woman"], "hired=no")
    assert found.where == "hired=no"
    assert "only 3 of group 'woman' with hired=no" in found.message
    assert "Survey more, or merge groups" in found.message
    absent = diagnostics.too_few([0, 40], ["man", "woman"], "hired=no")
    assert "nobody of group 'man' with hired=no" in absent.message
    assert "survey such people, or merge groups" in absent.message


def test_from_five_to_twenty_nine_people_are_few():
    found = diagnostics.few([4, 5, 29, 30], ["a", "b", "c", "d"], "hired=no")
    assert codes_of(found) == ["few_rows", "few_rows"]
    assert "only 5 auxiliary people of group 'b' with hired=no" in found[0].message
    assert "only 29 auxiliary people of group 'c'" in found[1].message


def brute_force_auc(chosen, scores, weights) -> float:
    """Weight of the pairs in the right order, ties counted half."""
    ours, theirs = scores[chosen][:, None], scores[~chosen][None, :]
    right = (ours > theirs) + 0.5 * (ours == theirs)
    pairs = weights[chosen][:, None] * weights[~chosen][None, :]
    return float((right * pairs).sum() / pairs.sum())


def test_the_auc_is_the_share_of_pairs_in_the_right_order():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 3, 70)
    # One digit makes many ties.
    sample = two_groups(rng.beta(2, 3, 40).round(1), rng.beta(3, 2, 30).round(1), weights)
    expected = brute_force_auc(sample.codes == 1, sample.scores[:, 1], weights)
    assert diagnostics.auc(sample) == pytest.approx(expected)
    assert diagnostics.auc(two_groups([0.1, 0.2], [0.8, 0.9])) == 1
    assert diagnostics.auc(two_groups([0.4, 0.4], [0.4, 0.4])) == 0.5


def test_of_several_groups_the_auc_is_that_of_the_least_told_apart():
    rng = np.random.default_rng(1)
    codes, scores = rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60)
    scores[codes == 0] = (0.8, 0.1, 0.1)
    weights = rng.uniform(0.5, 3, 60)
    each = [brute_force_auc(codes == k, scores[:, k], weights) for k in range(3)]
    assert diagnostics.auc(Sample(scores, codes, weights)) == pytest.approx(min(each))
    assert each[0] > max(each[1:])


def test_groups_are_apart_where_their_means_differ_by_two_standard_errors():
    """With scores 1/2 +- 1/4, a group of 100 has a standard error of sqrt(2) / 40.

    Two groups whose means are ``gap`` apart have a smallest singular value of ``gap`` as well,
    where their means lie around one half.
    """
    spread = np.tile([0.25, 0.75], 50)
    error = np.sqrt(2) * 0.25 / np.sqrt(100)

    def found(gap):
        return diagnostics.not_separated(two_groups(spread - gap / 2, spread + gap / 2), "here")

    assert codes_of(found(1.98 * error)) == ["not_separated"]
    assert found(2.02 * error) == []


def test_the_least_certain_group_decides():
    wide, narrow = np.tile([0.0, 0.8], 8), np.full(5000, 0.55)
    assert codes_of(diagnostics.not_separated(two_groups(wide, narrow), "here"))
    assert diagnostics.not_separated(two_groups(np.tile(wide, 10), narrow), "here") == []


def test_weights_make_fewer_people():
    spread = np.tile([0.25, 0.75], 50)
    even = two_groups(spread - 0.05, spread + 0.05)
    heavy = np.tile(np.r_[20.0, 20.0, np.full(18, 0.1)], 10)
    assert diagnostics.not_separated(even, "here") == []
    weighted = two_groups(spread - 0.05, spread + 0.05, heavy)
    assert codes_of(diagnostics.not_separated(weighted, "here")) == ["not_separated"]


def test_scores_that_are_all_the_same_tell_nothing():
    flat = two_groups(np.full(50, 0.4), np.full(50, 0.4))
    assert codes_of(diagnostics.not_separated(flat, "here")) == ["not_separated"]


def test_perfect_scores_tell_everything():
    assert diagnostics.not_separated(two_groups(np.zeros(5), np.ones(5)), "here") == []


@pytest.mark.parametrize("second", [0.6, 0.7, 0.9])
def test_scores_may_be_the_same_within_each_group(second):
    sample = two_groups(np.full(49, 0.1), np.full(49, second))
    assert diagnostics.not_separated(sample, "here") == []


def test_every_group_has_to_be_told_from_the_others():
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 3

    def sample(looks_like):
        scores = 0.2 + 0.4 * np.eye(3)[looks_like] + rng.uniform(0, 0.1, (300, 3))
        return Sample(scores / scores.sum(axis=1, keepdims=True), codes, np.ones(300))

    twins = sample(np.minimum(codes, 1))
    assert diagnostics.not_separated(sample(codes), "here") == []
    assert codes_of(diagnostics.not_separated(twins, "here")) == ["not_separated"]


def test_noise_is_taken_for_information_as_rarely_as_two_standard_errors_say():
    rng = np.random.default_rng(1)
    alarms = [
        bool(diagnostics.not_separated(two_groups(*rng.uniform(size=(2, 60))), "here"))
        for _ in range(400)
    ]
    # Where groups are alike, the gap has sqrt(2) standard errors of a group's score and the score
    # vector's is sqrt(2) of it: beyond two with chance 0.046, binomial error 0.01.
    assert np.mean(alarms) == pytest.approx(0.954, abs=0.03)


def test_what_does_not_separate_says_whether_there_is_a_number():
    flat = two_groups(np.full(50, 0.4), np.full(50, 0.4))
    (none,) = diagnostics.not_separated(flat, "hired=no")
    (some,) = diagnostics.not_separated(flat, "hired=no", estimated=True)
    assert "with hired=no" in none.message
    assert "so there is no estimate; add features" in none.message
    assert "so the estimate says nothing of the deployment; add features" in some.message


@pytest.mark.parametrize(
    ("slope", "broken"), [(0.49, True), (0.5, False), (1.3, False), (-1, True)]
)
def test_a_calibration_slope_below_a_half_is_a_broken_proxy(slope, broken):
    found = diagnostics.broken_proxy(slope, "hired=no")
    assert codes_of(found) == ["broken_proxy"] * broken
    assert all(f"slope {slope:.2f}" in c.message and "hired=no" in c.message for c in found)


def estimate(prevalence, raw=None, **caveats) -> Estimate:
    raw = prevalence if raw is None else raw
    clipped = not np.array_equal(prevalence, raw)
    return Estimate(np.array(prevalence), np.array(raw), clipped, **caveats)


def test_an_ordinary_estimate_needs_no_words():
    assert diagnostics.of_estimate(estimate([0.3, 0.7]), ["a", "b"], "here") == []


def test_a_clipped_estimate_is_shown_as_it_was():
    (found,) = diagnostics.of_estimate(estimate([0.0, 1.0], [-0.12, 1.12]), ["a", "b"], "here")
    assert found.code == "clipped"
    assert "(a: -0.120, b: 1.120)" in found.message


def test_an_estimate_on_the_edge_is_flagged_though_nothing_was_clipped():
    (found,) = diagnostics.of_estimate(estimate([0.0, 1.0]), ["a", "b"], "here")
    assert found.code == "clipped"
    assert "exactly 0 or 1" in found.message


@pytest.mark.parametrize(("error", "told"), [(0.0009, False), (0.002, True), (np.inf, True)])
def test_a_large_error_of_binning_is_told(error, told):
    found = diagnostics.of_estimate(estimate([0.3, 0.7], sketch_error=error), ["a", "b"], "here")
    assert codes_of(found) == ["sketch_error"] * told
