"""Samples: of the right size and prevalence, without replacement where the pool allows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation import examples

from quantifair.experiments.protocols import SIZE, sample, sample_at

seeds = st.integers(0, 2**32 - 1)
tenths = st.integers(0, 10).map(lambda k: k / 10)


@examples(100)
@given(st.integers(1, 60), st.integers(0, 60), seeds)
def test_a_sample_repeats_rows_only_where_the_pool_is_too_small(pool, size, seed):
    rows = np.arange(100, 100 + pool)
    found = sample(rows, size, np.random.default_rng(seed))
    assert len(found) == size
    assert np.isin(found, rows).all()
    if size <= pool:
        assert len(np.unique(found)) == size


@examples(100)
@given(tenths, st.integers(1, 700), st.integers(1, 700), seeds)
def test_a_sample_has_the_prevalence_to_the_person(prevalence, zeros, ones, seed):
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat([0, 1, 0, 1], [zeros, ones, 9, 9]))
    rows = np.sort(rng.choice(len(group), zeros + ones, replace=False))
    if len(np.unique(group[rows])) < 2:
        return
    found = sample_at(rows, group, prevalence, rng)
    assert len(found) == SIZE == 500
    assert group[found].sum() == 500 * prevalence
    assert np.isin(found, rows).all()
    for value in (0, 1):
        drawn = found[group[found] == value]
        if len(drawn) <= (group[rows] == value).sum():
            assert len(np.unique(drawn)) == len(drawn)


def test_a_sample_is_in_random_order():
    """What takes its first rows, as folds and splits do, takes people of both groups."""
    group = np.repeat([0, 1], 1_000)
    found = sample_at(np.arange(2_000), group, 0.5, np.random.default_rng(0))
    assert 90 < group[found[:250]].sum() < 160


def test_every_row_is_as_likely():
    rng = np.random.default_rng(1)
    times = np.bincount(np.concatenate([sample(np.arange(20), 5, rng) for _ in range(4_000)]))
    assert np.abs(times - 1_000).max() < 5 * np.sqrt(4_000 * 0.25 * 0.75)


@pytest.mark.parametrize("prevalence", [0.0, 0.5, 1.0])
def test_of_nobody_nobody_is_drawn(prevalence):
    """A trial with such a cell is refused, and counted, where the trial is run."""
    nobody = np.array([], dtype=np.int64)
    rng = np.random.default_rng(0)
    assert len(sample(nobody, 500, rng)) == 0
    assert len(sample_at(nobody, np.array([0, 1]), prevalence, rng)) == 0


def test_a_prevalence_that_the_pool_can_not_give_is_not_given():
    """Rather nobody than a sample of another prevalence under its name."""
    group, rng = np.zeros(50, dtype=np.int64), np.random.default_rng(0)
    everybody = np.arange(50)
    assert len(sample_at(everybody, group, 0.1, rng)) == 0
    assert len(sample_at(everybody, group, 0.0, rng)) == 500
