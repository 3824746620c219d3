"""Systematic draws: the right people, with the right chances, and exact numbers by stratum."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quantifair.stress.drawing import draw


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=40),
    st.integers(0, 2**32),
)
def test_of_each_stratum_as_many_are_drawn_as_are_expected_but_for_one(rows, seed):
    strata = np.array([s for s, _ in rows])
    keep = np.array([k for _, k in rows])
    kept = draw(keep, strata, 5, np.random.default_rng(seed))
    for stratum in set(strata.tolist()):
        expected = keep[strata == stratum].sum()
        assert (abs(kept[:, strata == stratum].sum(axis=1) - expected) < 1 + 1e-9).all()


def test_each_row_is_drawn_with_its_probability():
    keep = np.array([0.1, 0.5, 0.5, 0.9, 0.0, 1.0])
    share = draw(keep, np.zeros(6, dtype=int), 20_000, np.random.default_rng(0)).mean(axis=0)
    errors = np.sqrt(keep * (1 - keep) / 20_000)
    assert (abs(share - keep) <= 4 * errors).all()


def test_people_of_one_probability_are_drawn_independently_of_their_place():
    kept = draw(np.full(6, 0.5), np.zeros(6, dtype=int), 20_000, np.random.default_rng(1))
    assert (kept.sum(axis=1) == 3).all()
    together = (kept[:, 0] & kept[:, 1]).mean()  # both of two among 3 of 6: (3/6) (2/5)
    assert abs(together - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 20_000)
