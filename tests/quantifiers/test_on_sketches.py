"""A sketch gives what its rows give."""

import numpy as np
import pytest
from sklearn.base import clone
from tests.simulation import BY_MOMENTS, QUANTIFIERS, FloatArray, draw_scores, name, on_rows

from quantifair.quantifiers import (
    ACC,
    CC,
    EAC,
    MLPE,
    PACC,
    PCC,
    SLD,
    EDy,
    HDy,
    KDEy,
    PosteriorMedian,
    Quantifier,
)
from quantifair.sketch import Sketch, merge

BY_SUMS = [CC(), PCC(), ACC(), PACC(), HDy(), MLPE(), KDEy(), EDy(), BY_MOMENTS]
by_sums = pytest.mark.parametrize("quantifier", BY_SUMS, ids=name)
separations = pytest.mark.parametrize("separation", [0.5, 1.0, 3.0])

SLD_GRID = {3: 1e-5, 4: 1e-3, 5: 2e-3, 6: 1e-2}
"""Measured on 72 simulations with a separation of 0.5 to 3, rounded up: SLD's largest difference
to the rows, by number of groups. The grid over score vectors has 512, 64, 32, 16 steps an axis."""

GRID = {
    "SLD()": SLD_GRID,
    "SLD(converged=False)": SLD_GRID,
    "EAC()": {3: 5e-5, 5: 3e-3},
    # A walk that turns elsewhere once: a few hundredths of the posterior's standard deviation.
    "PosteriorMedian()": {3: 1e-3, 5: 5e-3},
    # Weighted scores are rounded to 2^-20, so that some fall into a neighbouring cell.
    "KDEy()": {3: 5e-5, 5: 5e-5},
}
"""The largest differences measured with three and five groups, doubled or more."""


def draw(
    groups: int, separation: float, *, rarest: float | None = None, seed: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    prior = np.full(groups, 1 / groups) if rarest is None else np.array([1 - rarest, rarest])
    scores, codes = draw_scores(rng, prior, 4000, auxiliary=prior, separation=separation)
    truth = rng.dirichlet(np.ones(groups))
    deployment, _ = draw_scores(rng, truth, 5000, auxiliary=prior, separation=separation)
    return scores, codes, deployment


@by_sums
@separations
def test_two_groups_agree_to_rounding(quantifier: Quantifier, separation: float) -> None:
    scores, codes, deployment = draw(2, separation)
    fitted = clone(quantifier).fit(scores, codes)
    estimate = fitted.estimate(Sketch.from_scores(deployment))
    assert estimate.prevalence == pytest.approx(fitted.predict(deployment), abs=1e-12)
    assert estimate.sketch_error == 0


@pytest.mark.parametrize("rarest", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("converged", [True, False])
@separations
def test_sld_of_two_groups_agrees_to_a_millionth(
    rarest: float, separation: float, converged: bool
) -> None:
    for seed in range(3):
        scores, codes, deployment = draw(2, separation, rarest=rarest, seed=seed)
        fitted = SLD(converged=converged).fit(scores, codes)
        estimate = fitted.estimate(Sketch.from_scores(deployment))
        assert estimate.prevalence == pytest.approx(fitted.predict(deployment), abs=1e-6)
        assert estimate.sketch_error < 1e-5


@pytest.mark.parametrize("quantifier", [EAC(), PosteriorMedian()], ids=name)
@pytest.mark.parametrize("rarest", [0.5, 0.1])
@separations
def test_what_bends_the_scores_of_two_groups_agrees_to_a_millionth(
    quantifier: Quantifier, rarest: float, separation: float
) -> None:
    scores, codes, deployment = draw(2, separation, rarest=rarest)
    fitted = clone(quantifier).fit(scores, codes)
    estimate = fitted.estimate(Sketch.from_scores(deployment))
    assert estimate.prevalence == pytest.approx(fitted.predict(deployment), abs=1e-6)
    assert estimate.sketch_error < 1e-5


@pytest.mark.parametrize("rarest", [0.05, 0.01])
@separations
def test_eac_of_a_rare_group_agrees_within_the_bound_that_it_reports(
    rarest: float, separation: float
) -> None:
    scores, codes, deployment = draw(2, separation, rarest=rarest)
    fitted = EAC().fit(scores, codes)
    estimate = fitted.estimate(Sketch.from_scores(deployment))
    difference = np.abs(estimate.prevalence - fitted.predict(deployment)).max()
    assert difference <= estimate.sketch_error + 1e-12


@pytest.mark.parametrize("rarest", [0.5, 0.05, 0.01, 0.002])
@separations
def test_sld_of_two_groups_agrees_within_the_bound_that_it_reports(
    rarest: float, separation: float
) -> None:
    for seed in range(3):
        scores, codes, deployment = draw(2, separation, rarest=rarest, seed=seed)
        fitted = SLD().fit(scores, codes)
        estimate = fitted.estimate(Sketch.from_scores(deployment))
        difference = np.abs(estimate.prevalence - fitted.predict(deployment)).max()
        # Newton's own precision is 1e-12; steeper likelihoods of rare groups lose a digit.
        assert difference <= estimate.sketch_error + 1e-11
        assert estimate.sketch_error < 1e-3


def test_the_bound_is_not_idle() -> None:
    # One bin wide, everybody at its far ends: the likelihood of the mean is not theirs.
    fitted = SLD().fit([0.0] * 9999 + [1.0], ["a"] * 9999 + ["b"])
    ends = np.repeat([1e-9, 3.6e-6], [600, 400])
    estimate = fitted.estimate(Sketch.from_scores(np.r_[ends, np.full(40, 0.5)]))
    difference = np.abs(estimate.prevalence - fitted.predict(np.r_[ends, np.full(40, 0.5)])).max()
    assert 1e-9 < difference <= estimate.sketch_error < 1e-2


@by_sums
@pytest.mark.parametrize("groups", [3, 4, 5, 6])
@separations
def test_many_groups_agree_to_rounding(
    quantifier: Quantifier, groups: int, separation: float
) -> None:
    scores, codes, deployment = draw(groups, separation)
    fitted = clone(quantifier).fit(scores, codes)
    estimate = fitted.estimate(Sketch.from_scores(deployment))
    # Scores are rounded to 2^-36; PACC divides by the differences of the groups' mean scores.
    assert estimate.prevalence == pytest.approx(fitted.predict(deployment), abs=1e-9)
    assert estimate.sketch_error == 0


@pytest.mark.parametrize("groups", SLD_GRID)
@pytest.mark.parametrize("converged", [True, False])
@separations
def test_sld_of_many_groups_is_off_by_little(
    groups: int, separation: float, converged: bool
) -> None:
    scores, codes, deployment = draw(groups, separation)
    fitted = SLD(converged=converged).fit(scores, codes)
    estimate = fitted.estimate(Sketch.from_scores(deployment))
    difference = np.abs(estimate.prevalence - fitted.predict(deployment)).max()
    assert difference < SLD_GRID[groups]
    assert difference <= estimate.sketch_error  # which may be infinite


@pytest.mark.parametrize("quantifier", QUANTIFIERS, ids=name)
@pytest.mark.parametrize("groups", [2, 3, 5])
@separations
def test_weighted_sketches_agree_with_weighted_rows(
    quantifier: Quantifier, groups: int, separation: float
) -> None:
    scores, codes, deployment = draw(groups, separation)
    weights = np.random.default_rng(9).uniform(0.1, 5, size=len(deployment))
    fitted = clone(quantifier).fit(scores, codes)
    found = fitted.predict(Sketch.from_scores(deployment, weights=weights))
    tolerance = 1e-6 if groups == 2 else GRID.get(name(quantifier), {}).get(groups, 1e-6)
    assert found == pytest.approx(on_rows(fitted, deployment, weights), abs=tolerance)


@pytest.mark.parametrize("quantifier", QUANTIFIERS, ids=name)
def test_merged_sketches_are_as_good_as_one(quantifier: Quantifier) -> None:
    scores, codes, deployment = draw(2, 1.0)
    fitted = clone(quantifier).fit(scores, codes)
    parts = merge(Sketch.from_scores(part) for part in np.array_split(deployment, 7))
    assert (fitted.predict(parts) == fitted.predict(Sketch.from_scores(deployment))).all()


def test_rows_report_no_error_of_binning() -> None:
    scores, codes, deployment = draw(3, 1.0)
    assert SLD().fit(scores, codes).estimate(deployment).sketch_error == 0
