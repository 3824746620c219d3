"""Many groups: derivatives against differences, extremes against searches."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from tests.simulation import FloatArray, draw_scores

from quantifair.intervals import Moments, Sample, line, simplex
from quantifair.intervals.simplex import Region
from quantifair.sketch import Sketch


def region(groups: int, *, cells: int = 2, shared: bool = False, separation: float = 1.5) -> Region:
    rng = np.random.default_rng(groups)
    sample = None
    found = []
    for c in range(cells):
        if sample is None or not shared:
            scores, codes = draw_scores(
                rng, np.full(groups, 1 / groups), 400, separation=separation
            )
            sample = Sample(scores, codes, np.ones(400))
        truth = rng.dirichlet(np.full(groups, 5.0))
        later, _ = draw_scores(rng, truth, 1_000 * (c + 1), separation=separation)
        found.append(Moments.of(sample, Sketch.from_scores(later).points, len(later)))
    return Region(tuple(found), shared)


def even(groups: int, cells: int = 2) -> FloatArray:
    return np.full((cells, groups), 1 / groups)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_gradient_is_that_of_the_deviance(groups: int, shared: bool) -> None:
    some = region(groups, shared=shared)
    q = np.random.default_rng(0).dirichlet(np.full(groups, 3.0), size=2)

    def deviance(free: FloatArray) -> float:
        others = free.reshape(2, groups - 1)
        return float(some.deviance(np.column_stack([1 - others.sum(axis=1), others])))

    value, gradient, _ = some.model(q[None])
    assert value[0] == pytest.approx(deviance(q[:, 1:].ravel()))
    numeric = approx_fprime(q[:, 1:].ravel(), deviance, 1e-7)
    assert gradient[0] == pytest.approx(numeric, rel=1e-4, abs=1e-2)


def test_independent_cells_add_their_deviances() -> None:
    some = region(3)
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=2)
    apart = sum(float(cell.deviance(q[c])) for c, cell in enumerate(some.cells))
    assert some.deviance(q) == pytest.approx(apart)


def test_cells_that_share_auxiliary_people_err_together() -> None:
    """At like prevalences an excess in one cell alone is less likely than in both."""
    some = region(3, shared=True)
    q = even(3)
    covariance = some.equations(q)[1]
    both = sum(1 / 9 * s for s in some.cells[0].sampling)
    assert covariance[:2, 2:] == pytest.approx(both)
    assert covariance[2:, :2] == pytest.approx(both)


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_least_deviance_is_zero_where_the_equations_can_be_solved(groups: int) -> None:
    start, least = simplex.least(region(groups), even(groups))
    assert least == pytest.approx(0, abs=1e-3)
    assert start.sum(axis=1) == pytest.approx(1)


def extremes(some: Region, weights: FloatArray, most: float = 3.84) -> tuple[FloatArray, float]:
    """Extremes of linear functions of the prevalences, and the deviance they may have."""
    groups = len(some.cells[0].means)
    start, least = simplex.least(some, even(groups, len(some.cells)))
    found = simplex.extremes(some, start, lambda _: weights, len(weights), most)
    return found, least + most


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("groups", [3, 5])
def test_nothing_in_the_region_lies_beyond_an_extreme(groups: int, shared: bool) -> None:
    some, rng = region(groups, shared=shared), np.random.default_rng(1)
    weights = rng.normal(size=(6, 2, groups))
    found, bound = extremes(some, weights)
    assert (some.deviance(found) <= bound * (1 + 1e-9)).all()
    best = (found * weights).sum(axis=(1, 2))
    # Search: random steps from the extremes themselves, kept where they stay inside and gain.
    points = np.repeat(found, 200, axis=0)
    gains = np.repeat(weights, 200, axis=0)
    for step in np.geomspace(0.1, 1e-3, 40):
        moved = np.abs(points + step * rng.normal(size=points.shape))
        moved /= moved.sum(axis=-1, keepdims=True)
        better = (some.deviance(moved) <= bound) & (((moved - points) * gains).sum(axis=(1, 2)) > 0)
        points[better] = moved[better]
    reached = (points * gains).sum(axis=(1, 2)).reshape(6, 200).max(axis=1)
    width = best - (simplex.least(some, even(groups))[0] * weights).sum(axis=(1, 2))
    assert (reached - best <= 0.01 * width).all()


def test_two_groups_have_the_extremes_of_the_closed_form() -> None:
    some = region(2)
    weights = np.zeros((4, 2, 2))
    weights[0, 0, 1] = weights[1, 1, 1] = 1
    weights[2:] = -weights[:2]
    found, _ = extremes(some, weights)
    for c, cell in enumerate(some.cells):
        ends = line.edge((cell,), 3.84)[:, 0, 1]
        assert [found[c + 2, c, 1], found[c, c, 1]] == pytest.approx(ends, abs=2e-4)


def test_many_groups_at_once_take_a_bounded_number_of_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = region(5)
    weights = np.random.default_rng(2).normal(size=(20, 2, 5))
    found, _ = extremes(some, weights)
    monkeypatch.setattr(simplex, "_STEPS", 200)
    longer, _ = extremes(some, weights)
    value, best = ((q * weights).sum(axis=(1, 2)) for q in (found, longer))
    assert value == pytest.approx(best, abs=1e-4)
