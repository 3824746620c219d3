"""Spread: the rates that cells allow, from replicates and from a region's edge."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulation import draw_scores

from quantifair.cells import ACCEPTED, DECISIONS, LABELLED
from quantifair.disparity import group_rates
from quantifair.estimation import CellEstimate, Options
from quantifair.figures import figure
from quantifair.intervals import Moments, Sample, quantile
from quantifair.sketch import Sketch
from quantifair.spread import Profiled, Sampled, shares_of, spread_of

OF_LABELS = {
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "positive_predictive_value",
    "negative_predictive_value",
}
OF_DECISIONS = {"count", "share", "selection_rate"}


def drawn(prevalences, people=100.0, known=None) -> CellEstimate:
    """A cell with an estimate and replicates of its prevalences."""
    rows = np.array(prevalences, dtype=float)
    known = np.zeros(rows.shape[1]) if known is None else np.array(known, dtype=float)
    return CellEstimate(rows[0], people, known, rows[1:])


def scored(groups=2, seed=0, people=2_000, known=0.0) -> CellEstimate:
    """A cell with moments of scores that tell the groups well apart."""
    rng = np.random.default_rng(seed)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 600, separation=2.0)
    later, _ = draw_scores(rng, np.full(groups, 1 / groups), people, separation=2.0)
    points = Sketch.from_scores(later).points
    moments = Moments.of(Sample(scores, codes, np.ones(600)), points, people)
    share = np.full(groups, 1 / groups)
    return CellEstimate(
        share, people, np.full(groups, known), np.empty((0, groups)), moments, people
    )


@pytest.mark.parametrize(
    ("cells", "allowed"),
    [
        (DECISIONS, set()),
        (DECISIONS + ACCEPTED, {"positive_predictive_value"}),
        (DECISIONS + LABELLED, OF_LABELS),
    ],
)
def test_rates_are_those_that_labels_allow(cells, allowed):
    for spread in (
        spread_of({c: drawn([[0.5, 0.5]] * 3) for c in cells}, Options()),
        spread_of({c: scored() for c in cells}, Options()),
    ):
        assert set(spread.rates) == OF_DECISIONS | allowed


def test_cells_with_replicates_are_sampled_and_others_profiled():
    assert isinstance(
        spread_of(dict.fromkeys(DECISIONS, drawn([[0.5, 0.5]] * 2)), Options()), Sampled
    )
    assert isinstance(spread_of(dict.fromkeys(DECISIONS, scored()), Options()), Profiled)


def test_rates_follow_from_counts_by_label_decision_and_group():
    cells = {
        c: drawn([[0.1, 0.9], [0.5, 0.5]], people=10.0 * (1 + i))
        for i, c in enumerate(DECISIONS + LABELLED)
    }
    spread = spread_of(cells, Options())
    labelled = np.array([[[3, 27], [4, 36]], [[5, 45], [6, 54]]], dtype=float)
    by_hand = group_rates(np.array([[1.0, 9.0], [2.0, 18.0]]))
    by_hand |= {k: v for k, v in group_rates(labelled.sum(0), labelled).items() if k in OF_LABELS}
    for rate, values in by_hand.items():
        assert spread.values(rate, 1)[0] == pytest.approx(values), rate


def test_groups_may_be_added_up():
    summed = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    cells = {
        c: drawn([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2]], people=10, known=[1, 2, 4]) for c in DECISIONS
    }
    counts = spread_of(cells, Options(), summed=summed).values("count", 1)
    assert counts == pytest.approx(2 * np.array([[7 + 5, 3 + 2], [6 + 5, 4 + 2]]))


def test_more_deviance_leaves_more_open():
    spread = spread_of({c: scored(seed=i) for i, c in enumerate(DECISIONS)}, Options())
    width = [np.ptp(spread.values("selection_rate", d), axis=0) for d in (1, 2, 3)]
    assert (width[0] < width[1]).all()
    assert (width[1] < width[2]).all()


def test_a_higher_level_leaves_more_open():
    cells = {c: scored(seed=i) for i, c in enumerate(DECISIONS)}
    some, most = (
        figure(spread_of(cells, Options(level=level)), ("selection_rate",), lambda r: r[..., 0])
        for level in (0.5, 0.99)
    )
    assert most.low < some.low < some.high < most.high


@pytest.mark.parametrize("groups", [2, 3])
def test_without_intervals_there_is_the_estimate_alone(groups):
    cells = {c: scored(groups) for c in DECISIONS}
    spread = spread_of(cells, Options(interval="none"))
    assert spread.values("selection_rate", 1).shape == (1, groups)


def test_a_cell_without_an_answer_leaves_the_estimate_alone():
    cells = {c: scored() for c in DECISIONS}
    broken = scored()
    cells[DECISIONS[1]] = CellEstimate(np.full(2, np.nan), 10, np.zeros(2), broken.replicates)
    assert np.isnan(spread_of(cells, Options()).values("selection_rate", 1)).tolist() == [
        [True] * 2
    ]


@pytest.mark.parametrize("groups", [2, 3])
def test_the_shares_of_a_cell_surround_its_estimate(groups):
    shares = shares_of(scored(groups), Options()).values("share", quantile(0.9999))
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares[1:].min(axis=0) < 1 / groups).all()
    assert (shares[1:].max(axis=0) > 1 / groups).all()


def test_known_people_narrow_what_is_open():
    alone, among = (
        np.ptp(shares_of(scored(known=n), Options()).values("share", 1), axis=0) for n in (0, 1000)
    )
    assert among == pytest.approx(alone / 2, rel=1e-6)


def test_the_population_behind_the_rows_is_less_certain_than_the_rows():
    cells = {c: scored(seed=i, people=300) for i, c in enumerate(DECISIONS)}
    rows, population = (
        np.ptp(spread_of(cells, Options(target=t)).values("selection_rate", 1), axis=0)
        for t in ("rows", "population")
    )
    assert (rows < population).all()


def test_people_without_replicates_or_moments_leave_the_estimate_alone():
    """No replicates were asked for: that rules nothing in, and no interval is shown."""
    cells = {c: drawn([[0.4, 0.6]]) for c in DECISIONS}
    assert spread_of(cells, Options(replicates=0)).values("selection_rate", 1).tolist() == [
        [0.5] * 2
    ]
    assert shares_of(cells[DECISIONS[0]], Options()).values("share", 1).tolist() == [[0.4, 0.6]]
