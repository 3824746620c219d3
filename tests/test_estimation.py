"""Estimation: from prevalences with replicates to figures, every step by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from quantifair import disparity
from quantifair.calibration import Calibration
from quantifair.cells import ACCEPTED, DECISIONS, LABELLED, Cell, Deployment
from quantifair.diagnostics import Caution
from quantifair.estimation import (
    CellEstimate,
    Options,
    TrainedCell,
    all_rates,
    estimate_cell,
    figure,
    group_results,
    joint_counts,
    measure_results,
)
from quantifair.intervals import Sample
from quantifair.learner import Scorer
from quantifair.quantifiers import CC, PACC, PCC, SLD, HDy
from quantifair.sketch import Sketch
from quantifair.training import Trained

GROUPS = ["man", "woman"]
ATTRIBUTES = [{"sex": "man"}, {"sex": "woman"}]


def cell(prevalences, people=100.0, known=None) -> CellEstimate:
    """A cell with an estimate and replicates of its prevalences."""
    rows = np.array(prevalences, dtype=float)
    known = np.zeros(rows.shape[1]) if known is None else np.array(known, dtype=float)
    return CellEstimate(rows[0], rows[1:], people, known)


def rates_of(selection, share=None, count=None) -> dict[str, np.ndarray]:
    """Rates with the estimate in front and replicates behind."""
    rates = np.array(selection, dtype=float)
    share = np.full(rates.shape, 1 / rates.shape[1]) if share is None else np.array(share)
    count = share * 1000 if count is None else np.array(count)
    return {"share": share, "count": count, "selection_rate": rates}


# Counts


def test_counts_are_the_unknown_by_prevalence_and_the_known_by_group():
    one = cell([[0.25, 0.75], [0.5, 0.5]], people=40, known=[3, 1])
    assert one.counts.tolist() == [[13, 31], [23, 21]]


def test_groups_of_a_cell_may_be_added_up():
    summed = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    one = cell([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2]], people=10, known=[1, 2, 4]).merged(summed)
    assert one.counts == pytest.approx(np.array([[7 + 5, 3 + 2], [6 + 5, 4 + 2]]))


def test_cells_are_arranged_by_label_decision_and_group():
    estimates = {
        c: cell([[0.1, 0.9], [0.5, 0.5]], people=10.0 * (1 + i))
        for i, c in enumerate(DECISIONS + LABELLED)
    }
    decided, labelled = joint_counts(estimates)
    assert decided[0].tolist() == [[1, 9], [2, 18]]
    for i, c in enumerate(LABELLED):
        assert labelled[0, c.label, c.decision].tolist() == [3 + i, 27 + 9 * i]
    assert joint_counts({c: estimates[c] for c in DECISIONS})[1] is None


def test_rates_are_those_that_labels_allow():
    even = [[0.5, 0.5], [0.5, 0.5]]
    of_labels = {
        "true_positive_rate",
        "false_positive_rate",
        "true_negative_rate",
        "positive_predictive_value",
        "negative_predictive_value",
    }

    def known(cells):
        return set(all_rates({c: cell(even) for c in cells})) & of_labels

    assert known(DECISIONS) == set()
    assert known(DECISIONS + ACCEPTED) == {"positive_predictive_value"}
    assert known(DECISIONS + LABELLED) == of_labels


# Figures


def test_an_interval_reaches_outwards_to_a_replicate():
    replicates = np.arange(11) / 10
    found = figure(0.5, replicates, replicates, Options(level=0.5))
    assert (found.low, found.high) == (0.2, 0.8)


def test_an_interval_contains_its_estimate():
    replicates = np.linspace(0.4, 0.6, 21)
    assert figure(0.1, replicates, replicates, Options()).low == 0.1
    assert figure(0.9, replicates, replicates, Options()).high == 0.9


def test_a_number_that_is_not_finite_is_not_estimated():
    for number in (np.nan, np.inf):
        found = figure(number, np.zeros(3), np.ones(3), Options())
        assert (found.estimate, found.low, found.high) == (None, None, None)


def test_without_replicates_there_is_no_interval():
    found = figure(0.3, np.empty(0), np.empty(0), Options())
    assert (found.estimate, found.low, found.high) == (0.3, None, None)


def test_the_figures_of_a_group_are_its_rates():
    rates = rates_of([[0.6, 0.2], [0.5, 0.1], [0.7, 0.4]])
    man, woman = group_results(rates, GROUPS, ATTRIBUTES, Options(level=0.5))
    assert (woman.name, woman.attributes) == ("woman", {"sex": "woman"})
    assert (woman.selection_rate.estimate, woman.selection_rate.low) == (0.2, 0.1)
    assert man.selection_rate.high == 0.7
    assert (man.count.estimate, man.share.estimate) == (500, 0.5)
    assert woman.true_positive_rate is None


def test_disparities_of_two_groups_are_the_second_minus_the_first():
    rates = rates_of([[0.6, 0.2], [0.5, 0.1], [0.7, 0.4]])
    found = measure_results(rates, GROUPS, Options(level=0.5))["demographic_parity"]
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
    found = measure_results(rates, groups, Options())["demographic_parity"]
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
    (pair,) = measure_results(rates_of(selection), GROUPS, Options())["demographic_parity"].pairs
    assert pair.ratio.estimate == pytest.approx(5)
    assert pair.ratio.low == pytest.approx(5)
    assert pair.ratio.high == np.inf


def test_a_ratio_of_zeros_may_be_anything():
    selection = [[0.1, 0.5], *[[0.0, 0.0]] * 50]
    found = measure_results(rates_of(selection), GROUPS, Options())["demographic_parity"]
    assert (found.pairs[0].ratio.low, found.pairs[0].ratio.high) == (0, np.inf)
    assert (found.ratio.low, found.ratio.high) == (0, 1)
    zero = rates_of([[0.0, 0.5], [0.1, 0.5]])
    undefined = measure_results(zero, GROUPS, Options())["demographic_parity"].pairs[0].ratio
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
        found = measure_results(rates, [str(k) for k in range(groups)], Options())[measure]
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
    man, woman = group_results(rates, GROUPS, ATTRIBUTES, Options())
    assert (man.share.low, man.share.high) == (0, 1)
    assert (woman.count.estimate, woman.count.low, woman.count.high) == (600, 0, 1000)


# One cell


def scored(people=200, seed=0):
    """Scores of two groups that are well apart, and the groups."""
    rng = np.random.default_rng(seed)
    codes = np.arange(people) % 2
    p = np.where(codes == 1, rng.beta(6, 2, people), rng.beta(2, 6, people))
    return np.column_stack([1 - p, p]), codes


def trained(scores, codes, slope=1.0) -> TrainedCell:
    scorer = Scorer((), (0, 1), Calibration(np.array(1.0), np.zeros(2)), "f")
    sample = Sample(scores, codes, np.ones(len(codes)))
    counts = tuple(np.bincount(codes).tolist())
    shares = np.array(counts) / len(codes)
    return TrainedCell("hired=1", counts, counts, shares, Trained(scorer, sample, slope))


def deployed(scores, known=(0.0, 0.0)) -> Deployment:
    one = Cell(1)
    sketch = Sketch.from_scores(scores, fingerprint="f")
    return Deployment({one: sketch}, {one: np.array(known)}, len(scores), {one: len(scores)}, {})


def estimated(cell_, deployment, quantifier=None, **options) -> CellEstimate:
    options = Options(**{"replicates": 40} | options)
    return estimate_cell(Cell(1), cell_, deployment, quantifier or SLD(), GROUPS, options)


def test_a_cell_is_estimated_by_its_quantifier():
    scores, codes = scored()
    later, _ = scored(120, seed=1)
    found = estimated(trained(scores, codes), deployed(later, known=(2.0, 5.0)), PACC())
    by_hand = PACC().fit(scores, codes).predict(later)
    # A sketch rounds scores to 2^-40.
    assert found.prevalence == pytest.approx(by_hand, abs=1e-9)
    assert found.replicates.shape == (40, 2)
    assert found.counts[0] == pytest.approx(by_hand * 120 + [2, 5], abs=1e-6)
    assert found.cautions == ()


def test_a_seed_gives_the_same_replicates_on_any_number_of_threads():
    scores, codes = scored()
    one, deployment = trained(scores, codes), deployed(scored(120, seed=1)[0])
    found = estimated(one, deployment, replicates=600).replicates
    assert np.array_equal(found, estimated(one, deployment, replicates=600, n_jobs=2).replicates)
    assert not np.array_equal(found, estimated(one, deployment, replicates=600, seed=1).replicates)


def test_smoothing_adds_one_person_spread_as_the_auxiliary_shares():
    scores, codes = scored()
    codes[:60] = 0
    one, deployment = trained(scores, codes), deployed(scored(19, seed=1)[0])
    rough, smooth = (estimated(one, deployment, smoothing=s) for s in (False, True))
    assert smooth.prevalence == pytest.approx((rough.prevalence * 19 + one.shares) / 20)
    assert smooth.replicates == pytest.approx((rough.replicates * 19 + one.shares) / 20)


def test_a_cell_without_training_has_no_answer():
    problem = Caution("group_absent", "nobody there", "hired=1")
    untrained = TrainedCell("hired=1", (9, 0), (9, 0), np.array([1.0, 0.0]), None, problem)
    found = estimated(untrained, deployed(scored()[0]))
    assert found.cautions == (problem,)
    assert np.isnan(found.counts).all()
    assert found.counts.shape == (41, 2)


def test_an_empty_cell_holds_nobody_of_any_group():
    found = estimated(trained(*scored()), deployed(np.empty((0, 2))))
    assert found.counts.tolist() == [[0, 0]] * 41
    assert [c.code for c in found.cautions] == ["empty_cell"]
    assert "nobody with hired=1" in found.cautions[0].message


def test_a_cell_of_known_people_is_not_empty():
    found = estimated(trained(*scored()), deployed(np.empty((0, 2)), known=(3.0, 4.0)))
    assert found.counts.tolist() == [[3, 4]] * 41
    assert found.cautions == ()


def noise():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.4, 0.6, 60).repeat(2)
    return np.column_stack([1 - p, p]), np.arange(120) % 2


def test_scores_that_do_not_separate_give_no_adjusted_estimate():
    found = estimated(trained(*noise()), deployed(scored()[0]))
    assert np.isnan(found.counts).all()
    assert [c.code for c in found.cautions] == ["not_separated"]


def test_scores_that_do_not_separate_can_still_be_counted():
    scores, codes = noise()
    found = estimated(trained(scores, codes, slope=0.1), deployed(scores), PCC())
    assert found.prevalence[1] == pytest.approx(scores[:, 1].mean())
    assert [c.code for c in found.cautions] == ["not_separated"]


@pytest.mark.parametrize(
    ("quantifier", "answered"),
    [(SLD(), False), (PACC(), True), (HDy(), True), (PCC(), True), (CC(), True)],
)
def test_an_overfitted_classifier_is_refused_where_its_probabilities_are_corrected(
    quantifier, answered
):
    cell = trained(*scored(), slope=0.3)
    broken = replace(cell, trained=replace(cell.trained, broken=True))
    found = estimated(broken, deployed(scored(seed=1)[0]), quantifier)
    assert np.isfinite(found.counts).all() == answered
    assert found.cautions[0].code == "broken_proxy"
    assert ("quantifier='pacc'" in found.cautions[0].message) is not answered


def test_all_that_is_odd_about_a_cell_is_told():
    scores, codes = scored(50)
    everybody = np.repeat([[0.02, 0.98]], 30, axis=0)
    found = estimated(trained(scores, codes, slope=0.3), deployed(everybody), PACC())
    told = [c.code for c in found.cautions]
    assert told == ["broken_proxy", "few_rows", "few_rows", "clipped"]
