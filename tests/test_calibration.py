"""Calibration is the maximum likelihood fit of a slope and a bias, and harmless otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax
from tests.simulation import FloatArray, IntArray, draw_scores, examples, score_vectors, softmax

from quantifair.calibration import Calibration, fit_calibration

RIDGE = 1e-3


def counted(codes: IntArray, groups: int) -> FloatArray:
    return (codes == np.arange(groups)[:, None]).astype(float)


def distorted(scores: FloatArray, slope: float, bias: FloatArray) -> FloatArray:
    """Scores that ``slope`` and ``bias`` would bring back to ``scores``."""
    return softmax((np.log(scores) - bias) / slope)


def negative_log_likelihood(theta: FloatArray, scores: FloatArray, codes: IntArray) -> float:
    logits = theta[0] * np.log(np.maximum(scores, 1e-12)) + np.r_[0.0, theta[1:]]
    return -float(log_softmax(logits, axis=1)[np.arange(len(codes)), codes].sum())


def fitted_by_scipy(scores: FloatArray, codes: IntArray, *, ridge: float = 0.0) -> FloatArray:
    """Slope and biases but the first, by a method that knows neither gradient nor Hessian."""
    start = np.r_[1.0, np.zeros(scores.shape[1] - 1)]

    def objective(theta: FloatArray) -> float:
        penalty = ridge / 2 * ((theta - start) ** 2).sum()
        return negative_log_likelihood(theta, scores, codes) + float(penalty)

    found = minimize(
        objective,
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 10_000, "maxfev": 10_000},
    )
    assert found.success
    return found.x


def test_two_groups_are_platt_scaling_of_the_logit() -> None:
    scores, codes = draw_scores(np.random.default_rng(0), [0.6, 0.4], 3000)
    scores = distorted(scores, 0.5, np.array([0.0, 0.8]))
    logit = np.log(scores[:, 1] / scores[:, 0])

    def loss(theta: FloatArray) -> float:
        z = theta[0] * logit + theta[1]
        return float(np.logaddexp(0, np.where(codes == 1, -z, z)).sum())

    platt = minimize(
        loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11}
    )
    assert platt.success
    found = fit_calibration(scores, counted(codes, 2))
    # The ridge of 1e-3 against an information of several hundred.
    assert [found.slope, found.bias[1]] == pytest.approx(platt.x, abs=1e-5)
    expected = 1 / (1 + np.exp(-(platt.x[0] * logit + platt.x[1])))
    assert found(scores)[:, 1] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_it_is_the_maximum_likelihood_fit(groups: int) -> None:
    rng = np.random.default_rng(groups)
    scores, codes = draw_scores(rng, rng.dirichlet(np.full(groups, 9.0)), 1500)
    scores = distorted(scores, 2.0, rng.normal(size=groups) / 2)
    found = fit_calibration(scores, counted(codes, groups))
    assert found.bias[0] == 0
    theta = np.r_[found.slope, found.bias[1:]]
    # Nelder and Mead's simplex ends at about 1e-7; the ridge moves the fit by its weight over
    # the information, 1e-3 / 100 at most.
    assert theta == pytest.approx(fitted_by_scipy(scores, codes, ridge=RIDGE), abs=1e-6)
    assert theta == pytest.approx(fitted_by_scipy(scores, codes), abs=1e-4)


@pytest.mark.parametrize("groups", [2, 3])
def test_a_distortion_is_undone(groups: int) -> None:
    rng = np.random.default_rng(3)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 20_000)
    bias = np.r_[0.0, 0.7, -0.4][:groups]
    found = fit_calibration(distorted(scores, 0.4, bias), counted(codes, groups))
    # Four standard errors, which are 0.0075 and 0.019 (from 25 simulations).
    assert found.slope == pytest.approx(0.4, abs=0.03)
    assert found.bias == pytest.approx(bias, abs=0.08)


@pytest.mark.parametrize("groups", [2, 4])
def test_calibrated_scores_stay_as_they_are(groups: int) -> None:
    rng = np.random.default_rng(1)
    prior = np.arange(1, groups + 1) / np.arange(1, groups + 1).sum()
    scores, codes = draw_scores(rng, prior, 50_000, auxiliary=prior)
    found = fit_calibration(scores, counted(codes, groups))
    # Four standard errors, which are 0.01, 0.023 and 0.0032 (from 25 simulations).
    assert found.slope == pytest.approx(1, abs=0.04)
    assert found.bias == pytest.approx(0, abs=0.09)
    assert found(scores) == pytest.approx(scores, abs=0.013)


def test_scores_without_information_become_the_groups_shares() -> None:
    rng = np.random.default_rng(2)
    scores, _ = draw_scores(rng, [0.5, 0.5], 20_000)
    codes = (rng.random(20_000) < 0.3).astype(int)
    found = fit_calibration(scores, counted(codes, 2))
    # Four standard errors of the slope, 0.01; the farthest score is off by 0.013 +- 0.0074.
    assert found.slope == pytest.approx(0, abs=0.04)
    assert found(scores)[:, 1] == pytest.approx(0.3, abs=0.045)


def test_a_slope_of_one_and_no_bias_is_the_identity() -> None:
    scores, _ = draw_scores(np.random.default_rng(0), [0.2, 0.3, 0.5], 50)
    assert Calibration(np.array(1.0), np.zeros(3))(scores) == pytest.approx(scores, abs=1e-15)


@pytest.mark.parametrize("groups", [2, 3])
def test_a_batch_of_replicates_is_a_loop_over_them(groups: int) -> None:
    rng = np.random.default_rng(4)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 300)
    counts = counted(codes, groups) * rng.poisson(1.0, size=(2, 3, 1, 300))
    batch = fit_calibration(scores, counts)
    assert (batch.slope.shape, batch.bias.shape) == ((2, 3), (2, 3, groups))
    calibrated = batch(scores)
    for at in np.ndindex(2, 3):
        alone = fit_calibration(scores, counts[at])
        # Newton stops at steps of 1e-10.
        assert batch.slope[at] == pytest.approx(alone.slope, abs=1e-9)
        assert batch.bias[at] == pytest.approx(alone.bias, abs=1e-9)
        assert calibrated[at] == pytest.approx(alone(scores), abs=1e-9)


def test_samples_with_scores_of_their_own_are_a_loop_over_them() -> None:
    rng = np.random.default_rng(3)
    drawn = [draw_scores(rng, [0.4, 0.6], 200) for _ in range(3)]
    samples = np.stack([scores for scores, _ in drawn])
    counts = np.stack([counted(codes, 2) for _, codes in drawn])
    together = fit_calibration(samples, counts)
    applied = together(samples)
    for k, (scores, known) in enumerate(zip(samples, counts, strict=True)):
        alone = fit_calibration(scores, known)
        assert together.slope[k] == pytest.approx(alone.slope, abs=1e-9)
        assert applied[k] == pytest.approx(alone(scores), abs=1e-9)


def test_counts_are_numbers_of_people() -> None:
    rng = np.random.default_rng(5)
    scores, codes = draw_scores(rng, [0.5, 0.5], 200)
    times = rng.integers(0, 4, size=200)
    weighted = fit_calibration(scores, counted(codes, 2) * times)
    again = np.repeat(np.arange(200), times)
    repeated = fit_calibration(scores[again], counted(codes[again], 2))
    assert weighted.slope == pytest.approx(repeated.slope, abs=1e-9)
    assert weighted.bias == pytest.approx(repeated.bias, abs=1e-9)


SEPARATED = {
    "zeros and ones": np.repeat([0.0, 1.0], 50),
    "far apart": np.r_[np.linspace(0.01, 0.1, 50), np.linspace(0.9, 0.99, 50)],
    "hardly apart": np.r_[np.linspace(0.4, 0.49, 50), np.linspace(0.51, 0.6, 50)],
    "apart the wrong way round": np.r_[np.linspace(0.9, 0.99, 50), np.linspace(0.01, 0.1, 50)],
}


@pytest.mark.parametrize("second", SEPARATED.values(), ids=SEPARATED)
def test_groups_that_separate_perfectly_stay_finite(second: FloatArray) -> None:
    scores = np.column_stack([1 - second, second])
    codes = np.repeat([0, 1], 50)
    found = fit_calibration(scores, counted(codes, 2))
    calibrated = found(scores)
    assert np.isfinite([found.slope, *found.bias]).all()
    assert (calibrated[:, 1] > 0.5).tolist() == (codes == 1).tolist()
    assert calibrated.sum(axis=1) == pytest.approx(1, abs=1e-15)


def penalised_gradient(found: Calibration, scores: FloatArray, codes: IntArray) -> FloatArray:
    """Derivatives by slope and biases of the objective that the fit should have minimised."""
    groups = scores.shape[1]
    excess = found(scores) - np.eye(groups)[codes]
    by_slope = (excess * np.log(np.maximum(scores, 1e-12))).sum()
    penalty = RIDGE * np.r_[found.slope - 1, found.bias[1:]]
    return np.r_[by_slope, excess[:, 1:].sum(axis=0)] + penalty


@examples(100)
@given(score_vectors(3, min_size=3, max_size=40), st.integers(0, 2**32 - 1))
def test_whatever_the_scores_it_reaches_its_minimum(scores: FloatArray, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 3, size=len(scores))
    found = fit_calibration(scores, counted(codes, 3))
    assert np.isfinite(found(scores)).all()
    # Steps end at 1e-10, and logarithms of up to 28 in up to 40 rows multiply that.
    assert penalised_gradient(found, scores, codes) == pytest.approx(0, abs=1e-5)


def test_an_absent_group_keeps_a_small_share() -> None:
    scores, codes = draw_scores(np.random.default_rng(6), [0.5, 0.5, 0.0], 200)
    found = fit_calibration(scores, counted(codes, 3))
    assert np.isfinite(found.bias).all()
    assert found(scores)[:, 2].max() < 0.01
