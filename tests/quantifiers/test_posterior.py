"""PosteriorMedian: integrals by brute force, and what its prior does."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta, dirichlet, norm
from tests.simulation import FloatArray, draw_scores

from quantifair.errors import InputError
from quantifair.quantifiers import SLD, PosteriorMedian
from quantifair.quantifiers.medians import Part, simplex_medians
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


def pseudo_people(auxiliary: int) -> float:
    return 1 / (1 / 1000 + 1 / auxiliary)


def part_of_the_deployment(
    auxiliary: tuple[FloatArray, FloatArray], prevalences: FloatArray, people: int
) -> float:
    """Variance of the mean score that comes from the deployment, as a part of all of it."""
    scores, codes = auxiliary
    groups = [scores[codes == k] for k in range(len(prevalences))]
    spread = [g.var(axis=0).sum() for g in groups]
    own = sum(q * v / people for q, v in zip(prevalences, spread, strict=True))
    rest = sum(q**2 * v / len(g) for q, v, g in zip(prevalences, spread, groups, strict=True))
    return own / (own + rest)


def of_these(scores: FloatArray, shares: FloatArray, prevalences: FloatArray) -> FloatArray:
    """Mean of the posteriors of people where the groups have other prevalences."""
    members = scores * prevalences / shares
    return (members / members.sum(axis=1, keepdims=True)).mean(axis=0)


def log_prior(share: float, shift: float) -> FloatArray:
    pseudo = pseudo_people(120)
    expected = beta.pdf(FINE, pseudo * share, pseudo * (1 - share))
    with np.errstate(divide="ignore"):
        return np.log(shift + (1 - shift) * expected)


@shifts
@truths
def test_two_groups_by_the_scores_likelihood(truth: float, shift: float) -> None:
    auxiliary, deployment, shares = tables(truth)
    likeliest = SLD().fit(*auxiliary).predict(deployment)
    power = part_of_the_deployment(auxiliary, likeliest, len(deployment))
    expected = log_prior(shares[1], shift)
    for score in deployment[:, 1]:
        mixture = FINE * score / shares[1] + (1 - FINE) * (1 - score) / shares[0]
        expected = expected + power * np.log(mixture)
    found = PosteriorMedian(shift=shift).fit(*auxiliary).predict(deployment)
    second = median(expected)
    # Cells of 1/256 of the range that matters, here at most 1, and a line within each.
    these = of_these(deployment, shares, np.array([1 - second, second]))
    assert found == pytest.approx(these, abs=5e-5)


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
    pseudo = pseudo_people(200) * shares
    logs = np.log(shift + (1 - shift) * dirichlet.pdf(grid.T, pseudo) / 2)
    if likelihood == "mixture":
        likeliest = SLD().fit(scores, codes).predict(deployment)
        power = part_of_the_deployment((scores, codes), likeliest, len(deployment))
        logs += power * np.log(grid @ (deployment / shares).T).sum(axis=1)
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
    expected = medians / medians.sum()
    if likelihood == "mixture":
        expected = of_these(deployment, shares, expected)
    away = np.abs(quantifier.predict(deployment) - expected)
    # A tenth of a posterior standard deviation, and half a step of this grid.
    assert (away < 0.1 * spread + 0.5 / steps).all()


@pytest.mark.parametrize("groups", [3, 6, 20])
def test_medians_of_a_known_density(groups: int) -> None:
    alpha = np.random.default_rng(groups).uniform(0.6, 30, groups)
    expected = beta.median(alpha, alpha.sum() - alpha)
    spread = beta.std(alpha, alpha.sum() - alpha)
    part = Part(lambda q: np.log(q) @ (alpha - 1), alpha / alpha.sum(), 100)
    found = simplex_medians([part])
    assert (np.abs(found - expected / expected.sum()) < 0.12 * spread).all()


def test_parts_of_a_density_count_by_their_mass() -> None:
    """Three quarters of one Dirichlet and a quarter of another, far away."""
    parts, weights = [np.array([60, 20, 20.0]), np.array([20, 20, 60.0])], [0.75, 0.25]

    def part(alpha: FloatArray, weight: float) -> Part:
        constant = np.log(weight) - (gammaln(alpha).sum() - gammaln(alpha.sum()))
        return Part(lambda q: constant + np.log(q) @ (alpha - 1), alpha / alpha.sum(), alpha.sum())

    found = simplex_medians([part(a, w) for a, w in zip(parts, weights, strict=True)])
    below = sum(w * beta.cdf(FINE, a[0], a[1:].sum()) for a, w in zip(parts, weights, strict=True))
    first = FINE[np.searchsorted(below, 0.5)]
    # The medians are renormalised, which moves them in common.
    assert found[0] / found[1] == pytest.approx(first / 0.2, rel=0.03)


def test_a_prior_of_little_shift_pulls_towards_the_auxiliary_shares() -> None:
    auxiliary, deployment, shares = tables(0.6, people=20)
    found = [PosteriorMedian(shift=s).fit(*auxiliary).predict(deployment)[1] for s in (0, 0.5, 1)]
    assert shares[1] < found[0] < found[1] < found[2]


@pytest.mark.parametrize("groups", [2, 4])
def test_many_people_leave_nothing_to_the_prior(groups: int) -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 20_000, separation=1.5)
    truth = rng.dirichlet(np.ones(groups))
    deployment = Sketch.from_scores(draw_scores(rng, truth, 200_000, separation=1.5)[0])
    expected = SLD().fit(scores, codes).predict(deployment)
    found = PosteriorMedian(shift=0.5).fit(scores, codes).predict(deployment)
    # Medians and maxima differ by a fraction of the standard deviation, which is about 0.004.
    assert found == pytest.approx(expected, abs=2e-3)


def test_where_the_scores_leave_no_doubt_these_people_are_counted() -> None:
    auxiliary = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 0, 1]
    found = PosteriorMedian().fit(*auxiliary).predict([[0.0, 1.0]] * 3 + [[1.0, 0.0]])
    assert found == pytest.approx([0.25, 0.75])


def test_a_large_deployment_does_not_take_a_small_samples_error_for_a_shift() -> None:
    """Nothing shifts: errors stay near those of the auxiliary shares, whatever the deployment."""
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores, codes = draw_scores(rng, PRIOR, 300, auxiliary=PRIOR)
        deployment = Sketch.from_scores(draw_scores(rng, PRIOR, 50_000, auxiliary=PRIOR)[0])
        both = (PosteriorMedian(shift=0.5), SLD())
        found = [q.fit(scores, codes).predict(deployment)[1] - PRIOR[1] for q in both]
        errors.append(np.abs(found))
    posterior, likeliest = np.mean(errors, axis=0)
    assert posterior < 0.75 * likeliest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "normal"}, "'moments'\\), not 'normal'"),
        ({"shift": 1.5}, "shift must be from 0 to 1, not 1.5"),
        ({"shift": -0.1}, "shift must be from 0 to 1, not -0.1"),
        ({"shift": "half"}, "shift must be from 0 to 1, not 'half'"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PosteriorMedian(**options).fit([0.2, 0.8], ["a", "b"])
