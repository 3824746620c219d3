"""Group classifiers: each sample is fitted once, and split 60/40 alike in group."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.experiments import small
from tests.experiments.protocols.test_protocols import run
from tests.simulation import examples

from quantifair.experiments.fits import _split, fit_cells
from quantifair.experiments.learners import Logistic
from quantifair.experiments.protocols import Trial


class Counting:
    """Logistic regression that remembers what it was fitted on."""

    name = "counting"

    def __init__(self):
        self.asked = []

    def fit(self, features, groups, samples, *, near=None):
        self.asked.append((samples, near))
        return Logistic().fit(features, groups, samples, near=near)


@pytest.fixture(scope="module")
def cells():
    return small.cells(small.parts())


def fitted(cells, trials, *, pooled=False, seed=0):
    learner = Counting()
    rng = np.random.default_rng(seed)
    return fit_cells(cells.auxiliary, trials, learner, pooled=pooled, rng=rng), learner


def usable(cells, protocol):
    return run(protocol, cells)[1]


def same_people(one, other):
    return Counter(one.tolist()) == Counter(other.tolist())


@pytest.mark.parametrize(
    ("protocol", "samples"),
    [("sample-prev-D3", 2), ("sample-prev-D2", 2 * 2 * 9 * 2), ("sample-size-D2", 2 * 5 * 2)],
)
def test_trials_that_share_a_sample_share_its_fits(cells, protocol, samples):
    fits, learner = fitted(cells, usable(cells, protocol))
    assert len(fits.samples) == len(fits.held) == samples
    assert learner.asked == []
    assert fits.split is fits.split
    assert fits.crossed is fits.crossed
    (whole, _), (split, near), (folds, _) = learner.asked
    assert len(whole) == len(fits.people) <= samples
    assert len(split) == samples
    assert near is not None
    assert len(folds) == 5 * len(whole)


@pytest.mark.parametrize("protocol", ["sample-prev-D3", "sample-prev-D2", "sample-size-D2"])
@pytest.mark.parametrize("pooled", [False, True])
def test_each_cell_of_each_trial_finds_its_people(cells, protocol, pooled):
    trials = usable(cells, protocol)
    fits, learner = fitted(cells, trials, pooled=pooled)
    assert fits.split
    whole, split = learner.asked[0][0], learner.asked[1][0]
    assert fits.sample_of.shape == (len(trials), 3 if pooled else 2)
    for trial, at in zip(trials, fits.sample_of, strict=True):
        wanted = [*trial.auxiliary, np.concatenate(trial.auxiliary)][: len(at)]
        for rows, sample in zip(wanted, at, strict=True):
            assert same_people(fits.samples[sample], rows)
            assert same_people(whole[fits.people_of[sample]], rows)
            assert same_people(np.concatenate([split[sample], fits.held[sample]]), rows)


def test_samples_of_the_same_people_share_the_fit_on_all_but_not_the_split(cells):
    rows = cells.auxiliary_rows
    trials = [Trial("", k, 0, (r.copy(), rows[1]), cells.deployment_rows)
              for k, r in enumerate([rows[0], rows[0][::-1]])]  # fmt: skip
    fits, learner = fitted(cells, trials)
    assert len(fits.samples) == 3
    assert fits.whole
    assert len(learner.asked[0][0]) == 2
    one, other = fits.sample_of[:, 0]
    assert fits.people_of[one] == fits.people_of[other]
    assert not same_people(fits.held[one], fits.held[other])


def test_samples_are_in_random_order(cells):
    """The folds of Platt's calibration take them as they come."""
    fits, _ = fitted(cells, usable(cells, "sample-prev-D3"))
    for rows in fits.samples:
        middle = len(rows) / 2
        assert abs(np.argsort(rows)[: len(rows) // 2].mean() - middle) < 0.1 * len(rows)


def test_the_seed_decides_the_split(cells):
    trials = usable(cells, "sample-prev-D3")
    one, again, other = (fitted(cells, trials, seed=s)[0].held[0] for s in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not same_people(one, other)


@examples(100)
@given(st.integers(5, 60), st.integers(5, 60), st.integers(0, 2**32 - 1))
def test_60_of_100_people_of_each_group_train(zeros, ones, seed):
    groups = np.repeat([0, 1], [zeros, ones])
    rows = np.random.default_rng(seed).permutation(len(groups))
    train, held = _split(rows, groups)
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(len(groups)))
    for group, people in enumerate((zeros, ones)):
        assert (groups[train] == group).sum() == round(0.6 * people)
        assert (groups[held] == group).any()
