"""SLD: the paper's algorithm where it is stopped, the maximum of the likelihood where not."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from tests.simulation import FloatArray, draw_scores, on_rows

from quantifair.quantifiers import SLD
from quantifair.sketch import Points

CORNERS = [0.0, 0.01, 0.3, 0.5, 0.9, 1.0]


def papers_em(prior: FloatArray, scores: FloatArray, *, tolerance: float = 1e-4) -> FloatArray:
    """Algorithm 1 of the paper as it is written, and QuaPy's rule when to stop it."""
    prevalence, step, stop = list(prior), 0, False
    while not stop:
        old = prevalence
        posteriors = []
        for row in scores:
            tilted = [q / p * s for q, p, s in zip(old, prior, row, strict=True)]
            posteriors.append([t / sum(tilted) for t in tilted])
        prevalence = [sum(column) / len(scores) for column in zip(*posteriors, strict=True)]
        change = sum(abs(a - b) for a, b in zip(prevalence, old, strict=True)) / len(prior)
        stop = step > 10 and change < tolerance
        step += 1
    return np.array(prevalence)


def log_likelihood(prior: FloatArray, scores: FloatArray, q: FloatArray) -> float:
    with np.errstate(divide="ignore"):
        return float(np.log(scores @ (q / prior)).mean())


@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_stopped_it_is_the_papers_loop(groups: int, tolerance: float) -> None:
    rng = np.random.default_rng(groups)
    prior = np.arange(1, groups + 1) / np.arange(1, groups + 1).sum()
    scores, codes = draw_scores(rng, prior, 200, auxiliary=prior)
    deployment, _ = draw_scores(rng, prior[::-1], 100, auxiliary=prior)
    fitted = SLD(converged=False, tolerance=tolerance).fit(scores, codes)
    expected = papers_em(fitted.prevalence_, deployment, tolerance=tolerance)
    assert fitted.predict(deployment) == pytest.approx(expected, abs=1e-12)


def test_stopped_it_takes_at_least_twelve_steps() -> None:
    scores, codes = draw_scores(np.random.default_rng(0), [0.5, 0.5], 100)
    lazy = SLD(converged=False, tolerance=1.0).fit(scores, codes)
    expected = lazy.prevalence_
    for _ in range(12):
        tilted = scores[:50] * expected / lazy.prevalence_
        expected = (tilted / tilted.sum(axis=1, keepdims=True)).mean(axis=0)
    assert lazy.predict(scores[:50]) == pytest.approx(expected, abs=1e-14)


def test_stopped_before_it_settles_it_warns() -> None:
    scores, codes = draw_scores(np.random.default_rng(0), [0.5, 0.5], 100)
    impatient = SLD(converged=False, tolerance=1e-9, max_iter=20).fit(scores, codes)
    with pytest.warns(
        RuntimeWarning, match="last of 20 steps, on 1 of its samples; converged=True"
    ):
        impatient.predict(draw_scores(np.random.default_rng(1), [0.1, 0.9], 100)[0])


def test_the_stopped_estimate_lies_between_the_auxiliary_prevalence_and_the_maximum() -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, [0.5, 0.5], 1000, separation=0.4)
    deployment, _ = draw_scores(rng, [0.1, 0.9], 1000, separation=0.4)
    stopped = SLD(converged=False).fit(scores, codes).predict(deployment)[1]
    maximum = SLD().fit(scores, codes).predict(deployment)[1]
    assert codes.mean() < stopped < maximum - 1e-3


@pytest.mark.parametrize("truth", CORNERS)
@pytest.mark.parametrize("separation", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("people", [1, 7, 300])
def test_two_groups_reach_the_maximum_of_the_likelihood(
    truth: float, separation: float, people: int
) -> None:
    rng = np.random.default_rng(people)
    prior = np.array([0.7, 0.3])
    scores, codes = draw_scores(rng, prior, 400, auxiliary=prior, separation=separation)
    deployment, _ = draw_scores(
        rng, [1 - truth, truth], people, auxiliary=prior, separation=separation
    )
    fitted = SLD().fit(scores, codes)
    found = fitted.predict(deployment)
    p = fitted.prevalence_
    grid = np.linspace(0, 1, 1001)
    heights = [log_likelihood(p, deployment, np.array([1 - q, q])) for q in grid]
    assert log_likelihood(p, deployment, found) >= max(heights) - 1e-14

    first, second = (deployment / p).T

    def slope(q: float) -> float:
        return float(((second - first) / ((1 - q) * first + q * second)).mean())

    if slope(0) <= 0:
        best = 0.0
    elif slope(1) >= 0:
        best = 1.0
    else:
        best = brentq(slope, 0, 1, xtol=1e-15, rtol=1e-14)
    # Newton stops at steps of 1e-12; rounding moves a flat slope's root a little more.
    assert found[1] == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("groups", [3, 4, 5])
@pytest.mark.parametrize("truth", ["inside", "edge", "corner", "rare"])
@pytest.mark.parametrize("separation", [0.5, 1.0, 3.0])
def test_many_groups_reach_the_maximum_of_the_likelihood(
    groups: int, truth: str, separation: float
) -> None:
    rng = np.random.default_rng(groups)
    prior = np.r_[0.01 if truth == "rare" else 0.2, np.ones(groups - 1)]
    prior = prior / prior.sum()
    prevalence = {
        "inside": prior[::-1],
        "edge": np.r_[0.5, 0.5, np.zeros(groups - 2)],
        "corner": np.eye(groups)[-1],
        "rare": np.full(groups, 1 / groups),
    }[truth]
    codes = np.repeat(np.arange(groups), np.rint(prior * 1000).astype(int))
    deployment, _ = draw_scores(rng, prevalence, 500, auxiliary=prior, separation=separation)
    fitted = SLD().fit(np.eye(groups)[codes], codes)
    found = fitted.predict(deployment)
    p = fitted.prevalence_

    # Karush, Kuhn, Tucker: of a concave function on the simplex only the maximum passes.
    pull = (deployment / p / (deployment @ (found / p))[:, None]).mean(axis=0)
    assert pull[found > 0] == pytest.approx(1, abs=1e-9)
    assert (pull <= 1 + 1e-9).all()
    assert found.sum() == pytest.approx(1, abs=1e-15)
    assert (found >= 0).all()

    best = minimize(
        lambda q: -log_likelihood(p, deployment, q),
        np.full(groups, 1 / groups),
        jac=lambda q: -(deployment / p / (deployment @ (q / p))[:, None]).mean(axis=0),
        bounds=[(0, 1)] * groups,
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert log_likelihood(p, deployment, found) >= -best.fun - 1e-13
    # SLSQP's own precision, where the likelihood is flat to rounding.
    assert found == pytest.approx(best.x, abs=1e-4)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("converged", [True, False])
def test_weights_are_numbers_of_people(groups: int, converged: bool) -> None:
    rng = np.random.default_rng(6)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 200)
    times = rng.integers(0, 4, size=200)
    fitted = SLD(converged=converged).fit(scores, codes)
    # Sums in another order.
    assert on_rows(fitted, scores, times / 3) == pytest.approx(
        fitted.predict(np.repeat(scores, times, axis=0)), abs=1e-10
    )


@pytest.mark.parametrize(
    "scores", [[1.0, 0.5, 0.2, 0.2, 0.01, 0.9], [0.0, 0.5, 0.8, 0.8, 0.99, 0.1]]
)
def test_people_of_weight_zero_do_not_stop_newton_at_a_corner(scores: list[float]) -> None:
    second = np.array(scores)
    matrix = np.column_stack([1 - second, second])
    weights = np.array([0.0, 1, 3, 3, 1, 1])
    fitted = SLD().fit([0.4, 0.6], ["a", "b"])
    expected = fitted.solve(Points(matrix[1:], weights[1:]))
    assert fitted.solve(Points(matrix, weights)) == pytest.approx(expected, abs=1e-12)
    assert 0 < expected[1] < 1


def test_a_perfect_classifier_and_an_absent_group_meet_at_the_corner() -> None:
    fitted = SLD().fit([0.0, 1.0, 1.0], ["a", "b", "b"])
    assert fitted.predict([1.0, 1.0]).tolist() == [0, 1]
    assert fitted.predict([0.0, 0.0]).tolist() == [1, 0]
