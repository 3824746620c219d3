"""Intervals of trials, against a search of all pairs of prevalences."""

import numpy as np
import pytest
from tests.experiments import small
from tests.experiments.test_runner import ByLabel, Given, design

from quantifair.errors import InputError
from quantifair.experiments.estimates import Block
from quantifair.experiments.fits import fit_cells
from quantifair.experiments.intervals import NOTHING_RULED_OUT, intervals
from quantifair.experiments.learners import Logistic
from quantifair.experiments.methods import CROSSED, Method
from quantifair.experiments.outcomes import disparities
from quantifair.experiments.protocols import Trial
from quantifair.experiments.runner import run_unit
from quantifair.quantifiers import PACC

STEPS = 600


@pytest.fixture(scope="module")
def parts():
    return small.parts()


def trial_of(parts, *, repeated=False):
    rng = np.random.default_rng(0)
    cells = [np.flatnonzero(parts.auxiliary.label == d) for d in (0, 1)]
    sought = [np.flatnonzero(parts.deployment.label == d)[:150] for d in (0, 1)]
    if repeated:
        cells, sought = ([rng.choice(r, len(r)) for r in rows] for rows in (cells, sought))
    return Trial("", 0.0, 0, tuple(cells), tuple(sought))


def excess_squared(parts, fits, trial, cell, q):
    """The squared excess of the mean score over its variance, from its formula."""
    number = fits.people_of[fits.sample_of[0, cell]]
    rows, scores = fits.people[number], fits.crossed.known[number]
    sought = trial.deployment[cell]
    asked = fits.crossed.scores(parts.deployment.features, np.array([number]))[0, sought]
    means, within, sampling = [], [], []
    for group in (0, 1):
        chosen = parts.auxiliary.group[rows] == group
        v, who = scores[chosen], rows[chosen]
        people = np.unique(who)
        share = np.array([(v - v.mean())[who == p].sum() for p in people]) / len(v)
        correction = len(people) / (len(people) - 1)
        means.append(v.mean())
        within.append(v.var() * correction)
        sampling.append((share**2).sum() * correction)
    excess = asked.mean() - q * means[1] - (1 - q) * means[0]
    n = len(np.unique(sought))
    variance = (q * within[1] + (1 - q) * within[0]) / n
    return excess**2 / (variance + q**2 * sampling[1] + (1 - q) ** 2 * sampling[0])


@pytest.mark.parametrize("repeated", [False, True])
def test_intervals_are_the_range_of_what_is_not_ruled_out(parts, repeated):
    trial = trial_of(parts, repeated=repeated)
    rng = np.random.default_rng(0)
    fits = fit_cells(parts.auxiliary, [trial], Logistic(), pooled=False, rng=rng)
    table = run_unit(parts, design(Given(trial), [CROSSED["PACC-x"]], auditee=ByLabel(),
                                   learner=Logistic()), rng)  # fmt: skip
    q = (np.arange(STEPS) + 0.5) / STEPS
    deviance = [excess_squared(parts, fits, trial, cell, q) for cell in (0, 1)]
    total = deviance[0][:, None] + deviance[1] - deviance[0].min() - deviance[1].min()
    pairs = np.stack(np.meshgrid(q, q, indexing="ij"), axis=-1)[total <= 3.8415]
    sizes = np.broadcast_to([len(rows) for rows in trial.deployment], pairs.shape)
    held = disparities(pairs, sizes)
    blocks = [
        Block(fits, fits.sample_of[:, c], parts.auxiliary, parts.deployment, [trial.deployment[c]])
        for c in (0, 1)
    ]
    low, high = intervals(blocks, [table[f"PACC-x:{c}"] for c in (0, 1)])
    assert [low[0], high[0]] == pytest.approx([held.min(), held.max()], abs=2 / STEPS)
    assert 0.05 < high[0] - low[0] < 1


def test_a_study_keeps_the_intervals_of_the_method_that_has_them(parts):
    trials = [trial_of(parts), trial_of(parts, repeated=True)]
    plan = design(Given(*trials), CROSSED.values(), auditee=ByLabel(), learner=Logistic())
    table = run_unit(parts, plan, np.random.default_rng(0))
    assert [name for name in table if name.startswith("low:")] == ["low:PACC-x"]
    estimate = disparities(np.column_stack([table["PACC-x:0"], table["PACC-x:1"]]),
                           np.column_stack([table["size:0"], table["size:1"]]))  # fmt: skip
    assert (table["low:PACC-x"] < estimate).all()
    assert (estimate < table["high:PACC-x"]).all()


def test_nothing_is_ruled_out_where_a_group_seems_to_be_nowhere(parts):
    trial = trial_of(parts)
    fits = fit_cells(
        parts.auxiliary, [trial], Logistic(), pooled=False, rng=np.random.default_rng(0)
    )
    blocks = [
        Block(fits, fits.sample_of[:, c], parts.auxiliary, parts.deployment, [trial.deployment[c]])
        for c in (0, 1)
    ]
    low, high = intervals(blocks, [np.zeros(1), np.zeros(1)])
    assert (low[0], high[0]) == NOTHING_RULED_OUT


def test_an_interval_takes_cross_fitted_scores_of_each_cell():
    with pytest.raises(InputError, match="PACC: an interval takes training='folds'"):
        Method("PACC", PACC(), interval=True)
