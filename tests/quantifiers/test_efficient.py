"""EAC: the published weights, in plain formulas, and a variance below PACC's."""

import numpy as np
import pytest
from tests.simulation import FloatArray, draw_scores

from quantifair.quantifiers import EAC, PACC
from quantifair.sketch import Sketch


def of_two(s: FloatArray, codes: FloatArray, t: FloatArray, pilot: float) -> float:
    """Estimate from the density ratio r, as the class's documentation writes it."""
    share, n1, n0, n = codes.mean(), (codes == 1).sum(), (codes == 0).sum(), len(t)

    def weight(scores: FloatArray) -> FloatArray:
        r = scores / share / ((1 - scores) / (1 - share))
        q = pilot
        return (r - 1) / ((q * r + 1 - q) / n + q**2 * r / n1 + (1 - q) ** 2 / n0)

    w, w3 = weight(s), weight(t).mean()
    w1, w0 = w[codes == 1].mean(), w[codes == 0].mean()
    return (w3 - w0) / (w1 - w0)


@pytest.mark.parametrize("truth", [0.0, 0.05, 0.4, 0.9, 1.0])
@pytest.mark.parametrize("separation", [0.5, 1.5])
def test_two_groups_solve_the_moment_equation_of_the_efficient_score(
    truth: float, separation: float
) -> None:
    rng = np.random.default_rng(round(100 * truth))
    prior = [0.7, 0.3]
    scores, codes = draw_scores(rng, prior, 300, auxiliary=prior, separation=separation)
    deployment, _ = draw_scores(
        rng, [1 - truth, truth], 200, auxiliary=prior, separation=separation
    )
    pilot = np.maximum(PACC().fit(scores, codes).predict(deployment), 0.01)
    pilot /= pilot.sum()
    expected = of_two(scores[:, 1], codes, deployment[:, 1], pilot[1])
    found = EAC().fit(scores, codes).estimate(deployment)
    assert found.raw[1] == pytest.approx(expected, abs=1e-10)
    assert found.prevalence[1] == pytest.approx(np.clip(expected, 0, 1), abs=1e-10)


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_the_errors_are_smaller_than_paccs_where_groups_are_rare(groups: int) -> None:
    rng = np.random.default_rng(groups)
    prior = np.full(groups, 1 / groups)
    truth = np.r_[1 - 0.03 * (groups - 1), np.full(groups - 1, 0.03)]
    squares = []
    for _ in range(200):
        scores, codes = draw_scores(rng, prior, 300, separation=1.5)
        deployment, unknown = draw_scores(rng, truth, 300, separation=1.5)
        real = np.bincount(unknown, minlength=groups) / 300
        raw = [q.fit(scores, codes).estimate(deployment).raw for q in (EAC(), PACC())]
        squares.append([((r - real) ** 2).sum() for r in raw])
    mine, theirs = np.mean(squares, axis=0)
    # Less by a half in the long run; the ratio of two paired sums of 200 wavers by about 0.1.
    assert mine < 0.8 * theirs


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_bound_of_the_binning_error_holds(groups: int) -> None:
    rng = np.random.default_rng(groups)
    prior = np.full(groups, 1 / groups)
    scores, codes = draw_scores(rng, prior, 1000)
    deployment, _ = draw_scores(rng, prior, 2000)
    fitted = EAC().fit(scores, codes)
    estimate = fitted.estimate(Sketch.from_scores(deployment))
    difference = np.abs(estimate.raw - fitted.estimate(deployment).raw).max()
    assert 0 < difference <= estimate.sketch_error
    if groups == 2:
        assert estimate.sketch_error < 1e-8
