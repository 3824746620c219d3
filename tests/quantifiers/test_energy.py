"""EDy: the mixture of the groups' scores at the least energy distance."""

import numpy as np
import pytest
from quapy.method._energy import _EnergyDistanceCore
from scipy.optimize import minimize
from scipy.stats import energy_distance
from sklearn.metrics.pairwise import manhattan_distances
from tests.simulation import FloatArray, IntArray, draw_scores

from quantifair.quantifiers import EDy
from quantifair.sketch import NESTED_BINS, nested_bins


def read(scores: FloatArray) -> FloatArray:
    """Scores as the quantifier reads them: by bin of the sketch."""
    return nested_bins(scores) / NESTED_BINS


def tables(groups: int, truth: float) -> tuple[FloatArray, IntArray, FloatArray]:
    rng = np.random.default_rng(groups)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 150)
    shifted = np.r_[np.full(groups - 1, (1 - truth) / (groups - 1)), truth]
    return scores, codes, draw_scores(rng, shifted, 120)[0]


@pytest.mark.parametrize("truth", [0.0, 0.1, 0.5, 0.95])
def test_no_other_prevalence_of_two_groups_is_nearer(truth: float) -> None:
    scores, codes, deployment = tables(2, truth)
    second, seen = read(scores[:, 1]), read(deployment[:, 1])

    def distance(q: float) -> float:
        shares = np.where(codes == 1, q / (codes == 1).sum(), (1 - q) / (codes == 0).sum())
        return energy_distance(second, seen, shares) ** 2

    found = EDy().fit(scores, codes).predict(deployment)[1]
    grid = np.linspace(0, 1, 201)
    near = [max(found - 1e-4, 0), min(found + 1e-4, 1)]
    assert distance(found) <= min(distance(q) for q in [*grid, *near]) + 1e-15


@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("truth", [0.0, 0.4, 0.9])
def test_the_program_is_quapys_with_manhattan_distances(groups: int, truth: float) -> None:
    scores, codes, deployment = tables(groups, truth)
    core = _EnergyDistanceCore()
    clouds = [read(scores[codes == k]) for k in range(groups)]
    sizes = np.array([[len(c)] for c in clouds], dtype=float)
    between, quadratic, *_ = core._compute_ed_param_train(manhattan_distances, clouds, sizes)
    linear = core._compute_ed_param_test(
        manhattan_distances, clouds, read(deployment), between, sizes
    )
    raw = np.linalg.solve(quadratic, linear)
    found = EDy().fit(scores, codes).estimate(deployment)
    assert found.raw[:-1] == pytest.approx(raw, abs=1e-9)

    # Their solver, quadprog, is not installed; another one minimises the same program.
    rest = {"type": "ineq", "fun": lambda q: 1 - q.sum()}
    best = minimize(
        lambda q: q @ quadratic @ q / 2 - linear @ q,
        np.full(groups - 1, 1 / groups),
        jac=lambda q: quadratic @ q - linear,
        bounds=[(0, 1)] * (groups - 1),
        constraints=rest,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    # SLSQP stops where the objective, of the order of 0.01, changes by less than 1e-15.
    assert found.prevalence[:-1] == pytest.approx(best.x, abs=1e-5)


def test_so_many_people_that_they_are_counted_first_make_no_difference() -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, [0.5, 0.5], 100)
    deployment, _ = draw_scores(rng, [0.8, 0.2], 1_000)
    fitted = EDy().fit(scores, codes)
    many = np.tile(deployment, (300, 1))
    assert len(many) > NESTED_BINS
    assert fitted.predict(many) == pytest.approx(fitted.predict(deployment), abs=1e-12)
