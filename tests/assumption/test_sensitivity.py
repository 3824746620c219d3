"""How wrong the assumption may be: against a search by brute force, and by hand."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.intervals.test_moments import drawn
from tests.people import audited, tables

from quantifair import InputError, disparity
from quantifair.intervals import Counted, Moments, extreme_counts, quantile


def cells(groups: int) -> list[Counted]:
    return [
        Counted(Moments.of(*drawn(groups, people=400, seed=s), 900), 900.0, np.zeros(groups))
        for s in (0, 5)
    ]


def rates(counts: np.ndarray) -> np.ndarray:
    return disparity.group_rates(counts)["selection_rate"]


@pytest.mark.parametrize("share", [0.01, 0.05, 0.15])
def test_two_groups_against_a_grid_of_prevalences_and_strangers(share: float) -> None:
    """The grid's steps are 1/300: differences move by less than 0.01 between its points."""
    both, most = cells(2), quantile(0.95, 1)
    found = disparity.difference(rates(extreme_counts(both, most, strangers=share)), signed=True)
    second = np.linspace(0, 1, 301)
    q = np.stack([1 - second, second], axis=-1)
    by_cell = []
    for cell in both:
        assert cell.moments is not None
        strangers = np.linspace(0, 1, 101)
        by_cell.append(
            np.min(
                [cell.moments.contaminated(share, np.array([a])).deviance(q) for a in strangers],
                axis=0,
            )
        )
    total = by_cell[0][:, None] + by_cell[1][None, :]
    inside = total <= most + total.min()
    counts = np.stack(
        [np.broadcast_to(q[:, None], (301, 301, 2)), np.broadcast_to(q[None], (301, 301, 2))],
        axis=-2,
    )
    brute = np.nan_to_num(disparity.difference(rates(counts), signed=True))[inside]
    assert [found.min(), found.max()] == pytest.approx([brute.min(), brute.max()], abs=0.01)


def test_three_groups_against_a_general_optimiser() -> None:
    both, share, most = cells(3), 0.03, quantile(0.95, 2)
    found = rates(extreme_counts(both, most, strangers=share))
    moments = [c.moments for c in both if c.moments is not None]

    def unpacked(logits: np.ndarray) -> np.ndarray:
        powers = np.exp(logits.reshape(4, 3) - logits.max())
        return powers / powers.sum(axis=1, keepdims=True)

    def left(logits: np.ndarray) -> float:
        x = unpacked(logits)
        spent = sum(
            float(m.contaminated(share, x[2 + k, 1:]).deviance(x[k])) for k, m in enumerate(moments)
        )
        return most - spent

    def gap(logits: np.ndarray) -> float:
        rate = rates(unpacked(logits)[:2])
        return float(rate[0] - rate[1])

    rules = {"type": "ineq", "fun": left}
    tries = [
        minimize(gap, np.random.default_rng(s).normal(size=12), constraints=rules, method="SLSQP")
        for s in range(4)
    ]
    best = max(-t.fun for t in tries if left(t.x) >= -1e-3)
    assert (found[:, 1] - found[:, 0]).max() == pytest.approx(best, abs=2e-3)


def test_the_curve_widens_and_findings_are_lost_where_it_says() -> None:
    result = audited(*tables())
    found = result.sensitivity([0.0, 0.05, 0.1, 0.3])
    low, high = (np.array([getattr(p.difference, e) for p in found.curve]) for e in ("low", "high"))
    assert (np.diff(low) <= 1e-9).all()
    assert (np.diff(high) >= -1e-9).all()
    parity = result.demographic_parity
    assert found.curve[0].difference == parity.difference
    assert found.curve[0].ratio == parity.ratio
    known = [found.sign_lost_at, found.four_fifths_lost_at]
    for lost, kind, value in zip(known, ("difference", "ratio"), (0.0, 0.8), strict=True):
        ends = [result.sensitivity([s]).curve[0] for s in (max(0.0, lost - 0.002), lost)]
        inside = [getattr(p, kind).low <= value <= getattr(p, kind).high for p in ends]
        assert inside == [lost == 0, True]


def test_a_perfect_classifier_loses_the_sign_by_hand() -> None:
    """Of two cells of 100 people, 0.2 and 0.8 look like the second group.

    Where a share e may have any score, the prevalences reach up to 0.2 / (1 - e) and down to
    (0.8 - e) / (1 - e): they meet at e = 0.6, and with them the groups' selection rates.
    """
    sharp = []
    for share in (0.2, 0.8):
        mean, means = np.array([share]), np.array([[0.0], [1.0]])
        none = np.zeros((2, 1, 1))
        sharp.append(Counted(Moments(mean, means, none, none, 100.0), 100.0, np.zeros(2)))
    for strangers in (0.1, 0.59, 0.61):
        counts = extreme_counts(sharp, 1e-6, strangers=strangers)
        found = disparity.difference(rates(counts), signed=True)
        assert (found.min() > 0) == (strangers < 0.6)


def test_nothing_is_lost_that_was_not_found() -> None:
    auxiliary, deployment = tables(ok=lambda t, rng: rng.choice(["yes", "no"], len(t)))
    found = audited(auxiliary, deployment).sensitivity()
    assert found.sign_lost_at == 0
    assert "do not tell the sign of the difference, even if the assumption holds" in str(found)


def test_where_everybody_is_known_nothing_rests_on_the_assumption() -> None:
    auxiliary, _ = tables()
    people = auxiliary.assign(id=np.arange(len(auxiliary)))
    found = audited(people, people.drop(columns="g"), id="id").sensitivity()
    assert found.sign_lost_at == found.four_fifths_lost_at == np.inf
    assert "whether the assumption holds or not" in str(found)
    assert found.to_dict()["sign_lost_at"] is None


def test_without_score_intervals_there_is_none() -> None:
    found = audited(*tables(), quantifier="pcc")
    assert not found.has_sensitivity
    with pytest.raises(InputError, match="that of score intervals under prior shift"):
        found.sensitivity()
    with pytest.raises(InputError, match="shares lie between 0 and 1"):
        audited(*tables()).sensitivity([1.5])


def test_the_curve_is_drawn_on_given_axes() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    found = audited(*tables()).sensitivity()
    assert found.plot(ax=axes) is axes
    assert axes.get_ylabel().startswith("demographic parity difference")
    assert found.plot() is not axes
    line = next(line for line in axes.lines if len(line.get_xdata()) == len(found.curve))
    assert list(line.get_xdata()) == [p.share for p in found.curve]
