"""Estimation: one cell's prevalences, and what their uncertainty follows from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quantifair.calibration import Calibration
from quantifair.cells import Cell, Deployment
from quantifair.diagnostics import Caution
from quantifair.estimation import CellEstimate, Options, TrainedCell, estimate_cell
from quantifair.intervals import Sample
from quantifair.learner import Scorer
from quantifair.quantifiers import CC, MLPE, PACC, PCC, SLD, HDy
from quantifair.sketch import Sketch
from quantifair.training import Trained

GROUPS = ["man", "woman"]


def test_counts_are_the_unknown_by_prevalence_and_the_known_by_group():
    one = CellEstimate(
        np.array([0.25, 0.75]), 40, np.array([3, 1]), replicates=np.array([[0.5, 0.5]])
    )
    assert one.counts.tolist() == [[13, 31], [23, 21]]


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
    options = Options(**{"replicates": 40, "interval": "bootstrap"} | options)
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
    assert smooth.counts == pytest.approx((rough.counts * 19 + 19 * one.shares) / 20)


def test_smoothing_is_the_same_for_score_intervals():
    scores, codes = scored()
    one, deployment = trained(scores, codes), deployed(scored(19, seed=1)[0], known=(2.0, 5.0))
    found = estimated(one, deployment, smoothing=True, interval="score")
    counted = found.counted
    assert found.prevalence * counted.unknown + counted.known == pytest.approx(found.counts[0])


@pytest.mark.parametrize("quantifier", [CC(), PCC(), MLPE()])
def test_estimators_that_assume_no_shift_are_resampled(quantifier):
    one, deployment = trained(*scored()), deployed(scored(120, seed=1)[0])
    found = estimated(one, deployment, quantifier, interval="score")
    assert (found.replicates.shape, found.moments) == ((40, 2), None)


@pytest.mark.parametrize("quantifier", [SLD(), PACC(), HDy()])
def test_estimators_that_correct_for_shift_invert_the_score(quantifier):
    one, deployment = trained(*scored()), deployed(scored(120, seed=1)[0])
    found = estimated(one, deployment, quantifier, interval="score")
    assert found.replicates.shape == (0, 2)
    assert found.moments.people == 120


def test_without_intervals_nothing_is_resampled_or_kept():
    found = estimated(trained(*scored()), deployed(scored()[0]), interval="none")
    assert (found.replicates.shape, found.moments) == ((0, 2), None)


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
