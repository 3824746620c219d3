"""What is summed for the tests: exact, in any order, and linear in the people."""

import numpy as np
import pandas as pd
import pytest
from tests.simulation import draw_scores

from quantifair.assumption.evidence import Evidence
from quantifair.intervals import Sample
from quantifair.profiles import MOST_COLUMNS, Encoded, Profile

RNG = np.random.default_rng(0)


def people(groups: int = 2, size: int = 300) -> tuple[Sample, Evidence]:
    scores, codes = draw_scores(np.random.default_rng(1), np.full(groups, 1 / groups), size)
    encoded = np.random.default_rng(2).integers(0, 10, (4, size)).astype(np.int8)
    sample = Sample(scores, codes, np.ones(size))
    return sample, Evidence.of(sample, encoded, in_sample=False)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_parts_add_up_and_give_the_rows_means(groups: int, weighted: bool) -> None:
    sample, evidence = people(groups)
    there, _ = draw_scores(RNG, np.full(groups, 1 / groups), 1_000)
    other = there[::-1]
    encoded = RNG.integers(0, 10, (4, 1_000)).astype(np.int8)
    weights = RNG.uniform(0.5, 2, 1_000) if weighted else None

    def sums(rows: slice) -> np.ndarray:
        places = [evidence.places(s[rows]) for s in (there, other)]
        return evidence.sums(encoded[:, rows], places, None if weights is None else weights[rows])

    whole = sums(slice(None))
    assert (sums(slice(300, None)) + sums(slice(0, 300))).tolist() == whole.tolist()
    assert len(whole) == evidence.columns
    given = np.ones(1_000) if weights is None else weights
    features = evidence.moments_of_features(sample, whole, 1_000.0)
    assert features.mean == pytest.approx(np.average(encoded, axis=1, weights=given), rel=1e-5)
    bins = evidence.moments_of_bins(sample, whole, 1_000.0)
    expected = [
        np.average((np.searchsorted(edges, s[:, k]) == b), weights=given)
        for k, edges in enumerate(evidence.edges, start=1)
        for b in range(1, len(edges) + 1)
        for s in (there, other)
    ]
    assert bins.mean == pytest.approx(np.reshape(expected, (-1, 2)).mean(axis=1), rel=1e-5)


def test_bins_hold_as_many_auxiliary_people_each() -> None:
    sample, evidence = people()
    assert np.bincount(evidence.places(sample.scores)[0]).tolist() == [30] * 10


def test_ties_leave_fewer_bins() -> None:
    scores = np.repeat([0.2, 0.8], 50)
    sample = Sample(np.column_stack([1 - scores, scores]), np.arange(100) % 2, np.ones(100))
    evidence = Evidence.of(sample, np.zeros((0, 100), dtype=np.int8), in_sample=False)
    assert len(evidence.edges[0]) == 2


def test_numbers_are_encoded_by_their_tenth_and_categories_by_their_name() -> None:
    table = pd.DataFrame(
        {
            "x": np.r_[np.arange(90.0), np.full(10, np.nan)],
            "town": ["Rome"] * 60 + ["Pisa"] * 37 + ["Lucca"] * 3,
        }
    )
    profile = Profile.of(table)
    assert profile.columns == (
        Encoded("x"), Encoded("town", 0), Encoded("town", 1), Encoded("x", -1)
    )  # fmt: skip
    there = pd.DataFrame({"x": [-1.0, 1e9, np.nan], "town": ["Pisa", "Rome", "Ostia"]})
    encoded = profile.read(there)[1]
    assert encoded.tolist() == [[0, 9, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_no_more_columns_than_the_cap() -> None:
    wide = pd.DataFrame(RNG.normal(size=(40, MOST_COLUMNS + 9)))
    assert len(Profile.of(wide.rename(columns=str)).columns) == MOST_COLUMNS
