"""Regions: the counts that are not ruled out, for one cell, two, and sums of groups."""

import numpy as np
import pytest
from tests.simulation import FloatArray, draw_scores

from quantifair.intervals import Counted, Moments, Sample, extreme_counts
from quantifair.sketch import Sketch


def cell(
    groups: int = 2,
    *,
    people: int = 1_000,
    known: float = 0.0,
    seed: int = 0,
    separation: float = 1.5,
) -> Counted:
    rng = np.random.default_rng(seed)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 400, separation=separation)
    later, _ = draw_scores(rng, rng.dirichlet(np.full(groups, 9.0)), people, separation=separation)
    moments = Moments.of(
        Sample(scores, codes, np.ones(400)), Sketch.from_scores(later).points, people
    )
    return Counted(moments, float(people), np.full(groups, known))


def rates(counts: FloatArray) -> FloatArray:
    return counts[:, 1] / counts.sum(axis=1)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("cells", [1, 2])
def test_counts_are_those_of_everybody(groups: int, cells: int) -> None:
    some = [cell(groups, known=7.0, seed=c) for c in range(cells)]
    counts = extreme_counts(some, 3.84)
    assert counts.shape[1:] == (cells, groups)
    assert counts.sum(axis=2) == pytest.approx(1_000 + 7 * groups)
    assert (counts >= 7 - 1e-9).all()


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_nothing_allowed_has_a_rate_beyond_the_extremes(groups: int) -> None:
    """Prevalences drawn around the least deviance, and kept where theirs is allowed."""
    some = [cell(groups, seed=c) for c in range(2)]
    edge = rates(extreme_counts(some, 3.84))
    rng, allowed = np.random.default_rng(0), []
    for width in (0.02, 0.05, 0.1, 0.2):
        base = np.stack([np.linalg.lstsq(_equations(c), _observed(c), rcond=None)[0] for c in some])
        q = np.abs(base + width * rng.normal(size=(20_000, 2, groups)))
        q /= q.sum(axis=-1, keepdims=True)
        deviance = sum(c.moments.deviance(q[:, i]) for i, c in enumerate(some))  # type: ignore[union-attr]
        allowed.append(q[deviance <= 3.84])
    inside = rates(np.concatenate(allowed) * 1_000)
    assert len(inside) > 1_000
    for function in (lambda r: r, lambda r: r[:, 1:] - r[:, :1], lambda r: r[:, 1:] / r[:, :1]):
        assert (function(inside).max(axis=0) <= function(edge).max(axis=0) + 1e-3).all()
        assert (function(inside).min(axis=0) >= function(edge).min(axis=0) - 1e-3).all()


def _equations(some: Counted) -> FloatArray:
    assert some.moments is not None
    return np.vstack([some.moments.means.T, np.ones(len(some.known))])


def _observed(some: Counted) -> FloatArray:
    assert some.moments is not None
    return np.append(some.moments.mean, 1.0)


def test_sums_of_groups_have_extremes_of_their_own() -> None:
    """Two of three groups added up are what is left by the third."""
    some = [cell(3, seed=c) for c in range(2)]
    summed = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    apart, together = extreme_counts(some, 3.84), extreme_counts(some, 3.84, summed=summed)
    assert together.shape[1:] == (2, 2)
    first = rates(apart)[:, 0]
    assert rates(together)[:, 0].min() == pytest.approx(first.min(), abs=1e-3)
    assert rates(together)[:, 0].max() == pytest.approx(first.max(), abs=1e-3)


def test_a_cell_in_which_everybody_is_known_is_certain() -> None:
    sure = Counted(None, 0.0, np.array([30.0, 50.0]))
    counts = extreme_counts([cell(), sure], 3.84)
    assert (counts[:, 1] == [30, 50]).all()
    assert np.ptp(counts[:, 0, 1]) > 0
    assert extreme_counts([sure, sure], 3.84).tolist() == [[[30, 50], [30, 50]]]


@pytest.mark.parametrize("groups", [2, 3])
def test_the_order_of_the_groups_does_not_matter(groups: int) -> None:
    some = [cell(groups, seed=c) for c in range(2)]
    order = np.roll(np.arange(groups), 1)
    turned = [_reordered(c, order) for c in some]
    here, there = (rates(extreme_counts(cells, 3.84)) for cells in (some, turned))
    for end in (np.min, np.max):
        assert end(here, axis=0)[order] == pytest.approx(end(there, axis=0), abs=1e-3)


def _reordered(some: Counted, order: np.ndarray) -> Counted:
    """The same cell with its groups in another order, as if scored so."""
    assert some.moments is not None
    known = some.moments
    transform = np.vstack([-np.ones(known.scores), np.eye(known.scores)])[order][1:]
    shift = np.eye(known.scores + 1)[0][order][1:]
    return Counted(
        Moments(
            shift + transform @ known.mean,
            shift + known.means[order] @ transform.T,
            transform @ known.within[order] @ transform.T,
            transform @ known.sampling[order] @ transform.T,
            known.people,
        ),
        some.unknown,
        some.known[order],
    )


def test_cells_that_share_their_auxiliary_people_are_less_certain_of_sums() -> None:
    """Their errors go together, so that the share of a group in both is less certain."""
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, [0.5, 0.5], 400)
    sample = Sample(scores, codes, np.ones(400))
    cells = []
    for q in (0.4, 0.6):
        later, _ = draw_scores(rng, [1 - q, q], 20_000)
        moments = Moments.of(sample, Sketch.from_scores(later).points, 20_000)
        cells.append(Counted(moments, 20_000.0, np.zeros(2)))
    apart, together = (
        np.ptp(extreme_counts(cells, 3.84, shared=s).sum(axis=1)[:, 1]) for s in (False, True)
    )
    assert together > 1.2 * apart


def test_the_split_of_a_population_is_uncertain_too() -> None:
    some = [cell(people=200, seed=c) for c in range(2)]
    rows, people = (extreme_counts(some, 3.84, people=n) for n in (None, 400))
    assert np.unique(rows.sum(axis=(1, 2)).round(6)).tolist() == [400]
    assert people.sum(axis=(1, 2)) == pytest.approx(400)
    # Wilson's interval of a half of 400.
    second = people[:, 1].sum(axis=1) / 400
    assert (second.min(), second.max()) == pytest.approx((0.451, 0.549), abs=0.004)
