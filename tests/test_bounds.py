"""Bounds of demographic parity, against a linear program over all joint tables."""

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.people import audited, tables

from quantifair import Audit, InputError, Sketch, SketchMismatchError
from quantifair.bounds import parity_bounds


def sketches(scores: list[float], rejected: list[int], accepted: list[int]) -> list[Sketch]:
    return [Sketch.from_scores(np.repeat(scores, counts)) for counts in (rejected, accepted)]


def by_linear_program(scores: np.ndarray, people: np.ndarray, chosen: np.ndarray) -> list[float]:
    """Least and greatest difference over P(group, decision | score), written out in full.

    Variables: for each score, the shares of (first, second) x (rejected, accepted).
    """
    bins = len(scores)
    second = float(people @ scores)
    first = float(people.sum()) - second
    cost = np.zeros((bins, 2, 2))
    cost[:, 1, 1], cost[:, 0, 1] = people / second, -people / first
    rows, values = [], []
    for b in range(bins):
        for group, share in ((0, 1 - scores[b]), (1, scores[b])):
            row = np.zeros((bins, 2, 2))
            row[b, group] = 1
            rows.append(row.ravel())
            values.append(share)
        row = np.zeros((bins, 2, 2))
        row[b, :, 1] = 1
        rows.append(row.ravel())
        values.append(chosen[b])
    found = []
    for sign in (1, -1):
        solved = linprog(sign * cost.ravel(), A_eq=np.array(rows), b_eq=values, bounds=(0, 1))
        found.append(sign * solved.fun)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_bounds_are_those_of_the_linear_program(seed: int) -> None:
    """Each of four scores has a quarter of the people, and so bins of its own."""
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.integers(1, 100, 4) / 100 + np.arange(4) * 1e-3)
    accepted = rng.integers(1, 300, 4)
    found = parity_bounds(*sketches(scores.tolist(), (300 - accepted).tolist(), accepted.tolist()))
    assert found.bins == 4
    expected = by_linear_program(scores, np.full(4, 300.0), accepted / 300)
    assert found.difference == pytest.approx(expected, abs=1e-6)


def test_the_truth_lies_within_whatever_the_decision_looks_at() -> None:
    """Decisions by group itself: the features say nothing of them, and no score helps."""
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 2, 20_000)
    second = rng.random(20_000) < scores
    accepted = rng.random(20_000) < np.where(second, 0.2, 0.8)
    both = [Sketch.from_scores(scores[accepted == d]) for d in (False, True)]
    low, high = parity_bounds(*both).difference
    assert low < accepted[second].mean() - accepted[~second].mean() < high


def test_swapping_the_groups_turns_the_bounds_round() -> None:
    one = parity_bounds(*sketches([0.2, 0.7], [300, 100], [100, 300]))
    other = parity_bounds(*sketches([0.8, 0.3], [300, 100], [100, 300]))
    assert other.difference == pytest.approx([-one.difference[1], -one.difference[0]])
    assert other.first == pytest.approx(one.second)


def test_known_people_count_with_their_group() -> None:
    both = sketches([0.5], [200], [200])
    found = parity_bounds(*both, known_accepted=np.array([0.0, 200.0]))
    assert found.second == pytest.approx((200 / 400, 400 / 400))


def test_few_people_share_one_bin_so_that_bounds_do_not_shrink_by_chance() -> None:
    rng = np.random.default_rng(0)
    both = [Sketch.from_scores(rng.random(40)) for _ in range(2)]
    assert parity_bounds(*both).bins == 1


def test_an_audit_trains_blind_to_the_decision() -> None:
    auxiliary, deployment = tables()
    fitted = Audit(decision="ok", group="g", training="split").fit(auxiliary)
    found = fitted.bounds(deployment)
    estimate = audited(auxiliary, deployment).demographic_parity.difference.estimate
    assert estimate is not None
    assert -1 <= found.difference[0] < found.difference[1] <= 1
    again = Audit(decision="ok", group="g", training="split", per_cell=False).fit(auxiliary)
    assert again.bounds(deployment) == found


def test_what_can_not_be_bounded_is_refused() -> None:
    with pytest.raises(InputError, match="two groups, not of 3"):
        parity_bounds(*[Sketch.from_scores([[0.2, 0.3, 0.5]])] * 2)
    with pytest.raises(InputError, match="one sketch is empty"):
        parity_bounds(*sketches([0.5], [3], [0]))
    other = Sketch.from_scores([0.5], fingerprint="other")
    with pytest.raises(SketchMismatchError, match="two scoring functions"):
        parity_bounds(Sketch.from_scores([0.5]), other)
