"""PosteriorMedian: integrals by brute force, and what its prior does."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import beta, dirichlet, norm
from tests.simulation import FloatArray, draw_scores

from quantifair.errors import InputError
from quantifair.quantifiers import SLD, PosteriorMedian
from quantifair.quantifiers.medians import simplex_medians
from quantifair.sketch import Sketch

PRIOR = np.array([0.7, 0.3])
FINE = (np.arange(100_000) + 0.5) / 100_000
shifts = pytest.mark.parametrize("shift", [0.0, 0.5, 1.0])
truths = pytest.mark.parametrize("truth", [0.0, 0.1, 0.6, 1.0])


def tables(
    truth: float, people: int = 150
) -> tuple[tuple[FloatArray, FloatArray], FloatArray, FloatArray]:
    rng = np.random.default_rng(round(100 * truth))
    auxiliary = draw_scores(rng, PRIOR, 120, auxiliary=PRIOR)
    deployment, _ = draw_scores(rng, [1 - truth, truth], people, auxiliary=PRIOR)
    return auxiliary, deployment, np.bincount(auxiliary[1]) / 120


def median(log_density: FloatArray) -> float:
    mass = np.exp(log_density - log_density.max()).cumsum()
    return float(FINE[np.searchsorted(mass, mass[-1] / 2)])


def log_prior(share: float, shift: float) -> FloatArray:
    expected = beta.pdf(FINE, 50 * share, 50 * (1 - share))
    with np.errstate(divide="ignore"):
        return np.log(shift + (1 - shift) * expected)


@shifts
@truths
def test_two_groups_by_the_scores_likelihood(truth: float, shift: float) -> None:
    auxiliary, deployment, shares = tables(truth)
    expected = log_prior(shares[1], shift)
    for score in deployment[:, 1]:
        expected = expected + np.log(
            FINE * score / shares[1] + (1 - FINE) * (1 - score) / shares[0]
        )
    found = PosteriorMedian(shift=shift).fit(*auxiliary).predict(deployment)
    # Cells of 1/256 of the range that matters, here at most 1, and a line within each.
    assert found[1] == pytest.approx(median(expected), abs=5e-5)


@shifts
@truths
def test_two_groups_by_the_moments_likelihood(truth: float, shift: float) -> None:
    (scores, codes), deployment, shares = tables(truth)
    of = [scores[codes == k, 1] for k in (0, 1)]
    excess = deployment[:, 1].mean() - FINE * of[1].mean() - (1 - FINE) * of[0].mean()
    variance = (FINE * of[1].var() + (1 - FINE) * of[0].var()) / len(deployment)
    variance = variance + FINE**2 * of[1].var(ddof=1) / len(of[1])
    variance = variance + (1 - FINE) ** 2 * of[0].var(ddof=1) / len(of[0])
    expected = norm.logpdf(excess, scale=np.sqrt(variance)) + log_prior(shares[1], shift)
    quantifier = PosteriorMedian(likelihood="moments", shift=shift).fit(scores, codes)
    assert quantifier.predict(deployment)[1] == pytest.approx(median(expected), abs=5e-5)


@shifts
@pytest.mark.parametrize("likelihood", ["mixture", "moments"])
@pytest.mark.parametrize("separation", [0.7, 3.0])
def test_three_groups_by_a_grid_over_the_triangle(
    likelihood: str, shift: float, separation: float
) -> None:
    rng = np.random.default_rng(3)
    scores, codes = draw_scores(rng, np.full(3, 1 / 3), 200, separation=separation)
    deployment, _ = draw_scores(rng, [0.75, 0.2, 0.05], 150, separation=separation)
    shares = np.bincount(codes) / 200
    steps = 300
    grid = np.array([[i, j, steps - i - j] for i, j in product(range(1, steps), repeat=2)])
    grid = (grid[grid[:, 2] > 0]) / steps
    logs = np.log(shift + (1 - shift) * dirichlet.pdf(grid.T, 50 * shares) / 2)
    if likelihood == "mixture":
        logs += np.log(grid @ (deployment / shares).T).sum(axis=1)
    else:
        of = [scores[codes == k, 1:] for k in range(3)]
        excess = deployment[:, 1:].mean(axis=0) - grid @ [s.mean(axis=0) for s in of]
        within = sum(
            grid[:, g, None, None] * np.cov(s.T, ddof=0) / 150
            + grid[:, g, None, None] ** 2 * np.cov(s.T) / len(s)
            for g, s in enumerate(of)
        )
        x, y = excess.T
        a, b, c = within[:, 0, 0], within[:, 0, 1], within[:, 1, 1]
        det = a * c - b**2
        logs -= ((c * x**2 - 2 * b * x * y + a * y**2) / det + np.log(det)) / 2
    mass = np.exp(logs - logs.max())
    mass /= mass.sum()
    spread = np.sqrt(mass @ grid**2 - (mass @ grid) ** 2)
    medians = np.empty(3)
    for k, values in enumerate(grid.T):
        order = np.argsort(values, kind="stable")
        medians[k] = np.interp(0.5, mass[order].cumsum(), values[order])
    quantifier = PosteriorMedian(likelihood=likelihood, shift=shift).fit(scores, codes)
    away = np.abs(quantifier.predict(deployment) - medians / medians.sum())
    # A tenth of a posterior standard deviation, and half a step of this grid.
    assert (away < 0.1 * spread + 0.5 / steps).all()


@pytest.mark.parametrize("groups", [3, 6, 20])
def test_medians_of_a_known_density(groups: int) -> None:
    alpha = np.random.default_rng(groups).uniform(0.6, 30, groups)
    expected = beta.median(alpha, alpha.sum() - alpha)
    spread = beta.std(alpha, alpha.sum() - alpha)
    found = simplex_medians(lambda q: np.log(q) @ (alpha - 1), alpha / alpha.sum(), 100)
    assert (np.abs(found - expected / expected.sum()) < 0.12 * spread).all()


def test_a_prior_of_little_shift_pulls_towards_the_auxiliary_shares() -> None:
    auxiliary, deployment, shares = tables(0.6, people=40)
    found = [PosteriorMedian(shift=s).fit(*auxiliary).predict(deployment)[1] for s in (0, 0.5, 1)]
    assert shares[1] < found[0] < found[1] < found[2]


@pytest.mark.parametrize("groups", [2, 4])
def test_many_people_leave_nothing_to_the_prior(groups: int) -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 500, separation=1.5)
    truth = rng.dirichlet(np.ones(groups))
    deployment = Sketch.from_scores(draw_scores(rng, truth, 200_000, separation=1.5)[0])
    expected = SLD().fit(scores, codes).predict(deployment)
    found = PosteriorMedian(shift=0.5).fit(scores, codes).predict(deployment)
    # Medians and maxima differ by a fraction of the standard deviation, which is about 0.0015.
    assert found == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "normal"}, "'moments'\\), not 'normal'"),
        ({"shift": 1.5}, "shift must be from 0 to 1, not 1.5"),
        ({"shift": -0.1}, "shift must be from 0 to 1, not -0.1"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PosteriorMedian(**options).fit([0.2, 0.8], ["a", "b"])
