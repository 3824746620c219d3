"""Two groups: closed forms against searches over a fine grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation import examples

from quantifair.disparity import difference, group_rates
from quantifair.intervals import Moments, line

unit = st.floats(0.01, 0.99)
spread = st.floats(1e-4, 0.25)


@st.composite
def moments(draw: st.DrawFn) -> Moments:
    """Any cell of two groups, good and useless classifiers among them."""
    variances = np.array([draw(spread), draw(spread)])
    sizes = np.array([draw(st.integers(5, 2_000)), draw(st.integers(5, 2_000))])
    means = np.array([draw(unit), draw(unit)])
    return Moments(
        np.array([draw(unit)]),
        means[:, None],
        variances[:, None, None],
        (variances / sizes)[:, None, None],
        draw(st.integers(5, 10**6)),
    )


GRID = np.linspace(0, 1, 401)


def on_grid(cell: Moments) -> np.ndarray:
    return cell.deviance(np.column_stack([1 - GRID, GRID]))


@examples(100)
@given(moments())
def test_the_least_deviance_is_the_least_on_the_line(cell: Moments) -> None:
    at, least = line.least(cell)
    assert least <= on_grid(cell).min() * (1 + 1e-9) + 1e-9
    assert cell.deviance(np.array([1 - at, at])) == pytest.approx(least)


@examples(100)
@given(moments())
def test_where_no_more_than_the_least_is_allowed_its_places_are_left(cell: Moments) -> None:
    _, least = line.least(cell)
    low, high = (float(end[0]) for end in line.range_below(cell, np.array([least])))
    for end in (low, high):
        assert cell.deviance(np.array([1 - end, end])) == pytest.approx(least, rel=1e-6, abs=1e-9)


@examples(100)
@given(moments(), st.floats(0.1, 20))
def test_the_range_is_that_of_the_prevalences_with_less_deviance(
    cell: Moments, most: float
) -> None:
    bound = line.least(cell)[1] + most
    low, high = (float(end[0]) for end in line.range_below(cell, np.array([bound])))
    allowed = GRID[on_grid(cell) <= bound]
    assert 0 <= low <= high <= 1
    if len(allowed):
        assert low <= allowed[0] + 1e-9
        assert allowed[-1] <= high + 1e-9
    for end in (low, high):
        if 1e-9 < end < 1 - 1e-9:
            at = float(cell.deviance(np.array([1 - end, end])))
            assert at == pytest.approx(bound, rel=1e-5, abs=1e-6)


@examples(40)
@given(moments(), moments())
def test_the_range_of_a_disparity_is_that_on_a_fine_grid(one: Moments, other: Moments) -> None:
    def disparity(rejected: np.ndarray, accepted: np.ndarray) -> np.ndarray:
        second = np.stack(np.broadcast_arrays(rejected, accepted), axis=-1) * [600, 400]
        counts = np.stack([np.array([600.0, 400.0]) - second, second], axis=-1)
        return difference(group_rates(counts)["selection_rate"], signed=True)

    edge = line.edge((one, other), 3.84)
    found = disparity(edge[:, 0, 1], edge[:, 1, 1])
    first, second = on_grid(one), on_grid(other)
    deviance = first[:, None] - first.min() + (second - second.min())
    allowed = disparity(GRID[:, None], GRID[None])[deviance <= 3.84]
    allowed = allowed[np.isfinite(allowed)]
    # Nothing on the grid may lie outside but for the edge's own steps, of which there are 257.
    if len(allowed) and np.isfinite(found).all():
        assert found.min() <= allowed.min() + 1e-3
        assert found.max() >= allowed.max() - 1e-3


def test_one_cell_has_two_ends() -> None:
    cell = Moments(
        np.array([0.5]), np.array([[0.3], [0.7]]), np.full((2, 1, 1), 0.04),
        np.full((2, 1, 1), 1e-4), 1_000,
    )  # fmt: skip
    ends = line.edge((cell,), 3.84)
    assert ends.shape == (2, 1, 2)
    assert ends.sum(axis=-1) == pytest.approx(1)
    assert ends[0, 0, 1] < 0.5 < ends[1, 0, 1]


def test_scores_that_say_nothing_leave_every_prevalence_open() -> None:
    useless = Moments(
        np.array([0.5]), np.array([[0.5], [0.5]]), np.full((2, 1, 1), 0.04),
        np.full((2, 1, 1), 1e-3), 100,
    )  # fmt: skip
    assert line.edge((useless,), 3.84)[:, 0, 1].tolist() == [0, 1]
