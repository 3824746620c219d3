"""Sketches: exact to merge, strict about what goes in, bounded in size."""

from math import ceil, comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation import FloatArray, draw_scores, examples, score_vectors

from quantifair.errors import InputError, SketchMismatchError
from quantifair.quantifiers import HDy
from quantifair.scores import MAX_GROUPS
from quantifair.sketch import (
    NESTED_BINS,
    Sketch,
    as_scores,
    joint_resolution,
    merge,
    nested_bins,
    score_bits,
)

HDY_BINS = range(10, 111, 10)
exactly = examples(40)


@st.composite
def partitioned(draw: st.DrawFn) -> tuple[FloatArray, FloatArray | None, list[list[int]]]:
    """Rows, perhaps their weights, and the rows of each part of a partition in any order."""
    scores = draw(score_vectors(draw(st.integers(2, 6))))
    rows = len(scores)
    weight = st.one_of(st.just(0.0), st.floats(0.001, 1000))
    weights = draw(st.none() | st.lists(weight, min_size=rows, max_size=rows).map(np.array))
    part = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    order = draw(st.permutations(range(rows)))
    return scores, weights, [[i for i in order if part[i] == p] for p in range(4)]


@exactly
@given(partitioned())
def test_any_partition_in_any_order_merges_to_the_same_bytes(
    case: tuple[FloatArray, FloatArray | None, list[list[int]]],
) -> None:
    scores, weights, parts = case
    whole = Sketch.from_scores(scores, weights=weights, fingerprint="f")
    sketches = [
        Sketch.from_scores(
            scores[part], weights=None if weights is None else weights[part], fingerprint="f"
        )
        for part in parts
    ]
    assert merge(sketches).to_bytes() == whole.to_bytes()
    assert merge(reversed(sketches)).to_bytes() == whole.to_bytes()
    a, b, c, d = sketches
    assert ((a + b) + (c + d)).to_bytes() == (a + (b + (c + d))).to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("groups", [2, 3])
def test_the_builtin_sum_adds_sketches_up(groups: int) -> None:
    scores, _ = draw_scores(np.random.default_rng(0), np.full(groups, 1 / groups), 90)
    parts = [Sketch.from_scores(scores[i : i + 30]) for i in (0, 30, 60)]
    assert sum(parts).to_bytes() == Sketch.from_scores(scores).to_bytes()


@pytest.mark.parametrize("weights", [None, [1.5, 2.0]])
@pytest.mark.parametrize("groups", [2, 3, 6])
def test_an_empty_sketch_is_the_zero_of_addition(groups: int, weights: list[float] | None) -> None:
    some = Sketch.from_scores(np.eye(groups)[:2], weights=weights, fingerprint="f")
    empty = Sketch.from_scores(
        np.empty((0, groups)), weights=None if weights is None else [], fingerprint="f"
    )
    assert (some + empty).to_bytes() == (empty + some).to_bytes() == some.to_bytes()
    assert (empty.rows, empty.weight, empty.effective_rows) == (0, 0.0, 0.0)


def test_different_people_give_different_bytes() -> None:
    one = Sketch.from_scores([0.2, 0.6]).to_bytes()
    assert one != Sketch.from_scores([0.2, 0.6000001]).to_bytes()
    assert one != Sketch.from_scores([0.2, 0.6, 0.6]).to_bytes()
    assert one != Sketch.from_scores([0.2, 0.6], fingerprint="f").to_bytes()


@pytest.mark.parametrize(
    "other",
    [
        Sketch.from_scores([0.5], fingerprint="another"),
        Sketch.from_scores([[0.2, 0.3, 0.5]], fingerprint="f"),
        Sketch.from_scores([0.5], weights=[1.0], fingerprint="f"),
        Sketch.from_scores([], fingerprint="another"),
    ],
    ids=["fingerprint", "groups", "weighted", "empty"],
)
def test_sketches_that_do_not_belong_together_refuse_to_merge(other: Sketch) -> None:
    mine = Sketch.from_scores([0.5], fingerprint="f")
    with pytest.raises(SketchMismatchError, match="do not add up"):
        mine + other
    with pytest.raises(SketchMismatchError, match="do not add up"):
        sum([other, mine])


def test_a_sketch_does_not_add_to_a_number() -> None:
    with pytest.raises(TypeError):
        sum([Sketch.from_scores([0.5])], start=1)


def test_rows_and_weight_count_people() -> None:
    assert Sketch.from_scores([0.1, 0.1, 0.9]).rows == 3
    assert Sketch.from_scores([0.1, 0.1, 0.9]).weight == 3
    weighted = Sketch.from_scores([0.1, 0.1, 0.9], weights=[0.5, 0.25, 4.0])
    assert (weighted.rows, weighted.weight) == (3, 4.75)


@pytest.mark.parametrize("groups", [2, 4])
def test_people_of_weight_zero_are_left_out(groups: int) -> None:
    scores, _ = draw_scores(np.random.default_rng(1), np.full(groups, 1 / groups), 40)
    weights = np.tile([0.0, 2.0], 20)
    left = Sketch.from_scores(scores, weights=weights)
    assert left.to_bytes() == Sketch.from_scores(scores[1::2], weights=weights[1::2]).to_bytes()
    assert left.rows == 20


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0, 1e-4, 1e5])
def test_weights_out_of_range_are_refused_and_counted(wrong: float) -> None:
    with pytest.raises(InputError, match="2 of 4 weights"):
        Sketch.from_scores([0.1, 0.2, 0.3, 0.4], weights=[1.0, wrong, 0.0, wrong])


def test_weights_must_be_as_many_as_rows() -> None:
    with pytest.raises(InputError, match="2 rows need as many weights"):
        Sketch.from_scores([0.1, 0.2], weights=[1.0])


def test_weights_whose_sum_would_overflow_are_refused() -> None:
    heavy = Sketch.from_scores(np.full(16_000, 0.1234567), weights=np.full(16_000, 65_536.0))
    with pytest.raises(InputError, match="divide the weights by their mean"):
        merge([heavy] * 8)
    with pytest.raises(InputError, match="divide the weights by their mean"):
        Sketch.from_scores(np.full(32_000, 0.1234567), weights=np.full(32_000, 65_536.0))


@pytest.mark.parametrize("scale", [0.001, 0.02, 1.0, 300.0])
@pytest.mark.parametrize("groups", [2, 3])
def test_effective_rows_are_kishs_and_do_not_depend_on_the_scale_of_weights(
    groups: int, scale: float
) -> None:
    rng = np.random.default_rng(2)
    scores, _ = draw_scores(rng, np.full(groups, 1 / groups), 500)
    weights = scale * rng.uniform(1, 5, size=500)
    kish = weights.sum() ** 2 / (weights**2).sum()
    half = Sketch.from_scores(scores[:250], weights=weights[:250])
    rest = Sketch.from_scores(scores[250:], weights=weights[250:])
    # Weights are kept to 2^-20, at worst 5e-4 of the smallest weight; 500 roundings cancel.
    assert (half + rest).effective_rows == pytest.approx(kish, rel=1e-4)


def test_effective_rows_without_weights_are_the_rows() -> None:
    assert Sketch.from_scores(np.linspace(0, 1, 77)).effective_rows == 77


@exactly
@given(st.integers(0, 2**40))
def test_bins_nest_in_every_histogram_of_hdy_and_are_closed_on_the_right(grid: int) -> None:
    (fine,) = nested_bins(np.array([grid / 2**40])).tolist()
    assert fine == max(ceil(grid * NESTED_BINS / 2**40) - 1, 0)
    for bins in HDY_BINS:
        assert fine // (NESTED_BINS // bins) == max(ceil(grid * bins / 2**40) - 1, 0)


@pytest.mark.parametrize("bins", HDY_BINS)
def test_the_nested_bins_divide_evenly(bins: int) -> None:
    assert NESTED_BINS % bins == 0


def test_more_probable_than_not_is_a_set_of_whole_bins() -> None:
    scores = np.r_[np.linspace(0, 1, 4001), 0.5 + 2.0**-40, 0.5 - 2.0**-40]
    assert ((nested_bins(scores) >= NESTED_BINS // 2) == (scores > 0.5)).all()


@exactly
@given(score_vectors(2, min_size=1))
def test_points_of_two_groups_keep_the_mean_score_of_each_bin(scores: FloatArray) -> None:
    points = Sketch.from_scores(scores).points
    bins = nested_bins(scores[:, 1])
    assert points.bins is not None
    assert points.bins.tolist() == sorted(set(bins.tolist()))
    for fine, weight, score in zip(points.bins, points.weights, points.scores, strict=True):
        assert weight == (bins == fine).sum()
        assert score[1] == pytest.approx(scores[bins == fine, 1].mean(), abs=2.0**-40)
        assert score.sum() == 1


@exactly
@given(score_vectors(4, min_size=1))
def test_points_of_many_groups_keep_mean_scores_and_each_groups_histogram(
    scores: FloatArray,
) -> None:
    points = Sketch.from_scores(scores).points
    assert points.weights.sum() == len(scores)
    mean = points.weights @ points.scores / len(scores)
    assert mean == pytest.approx(scores.mean(axis=0), abs=2.0**-36)
    assert points.marginals is not None
    grid = np.rint(scores * 2.0**36) / 2.0**36
    for k, (bins, weights) in enumerate(points.marginals):
        expected, counts = np.unique(nested_bins(grid[:, k]), return_counts=True)
        assert (bins.tolist(), weights.tolist()) == (expected.tolist(), counts.tolist())


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, np.nan, 0.5], "1 of 3 score vectors hold values that are not probabilities"),
        ([np.inf, -np.inf, 0.5], "2 of 3 score vectors hold values"),
        ([0.5, 1.1, -0.1], "2 of 3 score vectors hold values"),
        ([[0.5, 0.5], [np.nan, 0.5]], "1 of 2 score vectors hold values"),
        ([[1.5, -0.5], [0.5, 0.5]], "1 of 2 score vectors hold values"),
        ([[0.5, 0.6], [0.5, 0.5], [0.2, 0.2]], "2 of 3 score vectors do not sum to one"),
        ([[[0.5, 0.5]]], "scores need a column for each group"),
        ([[1.0], [1.0]], "scores need a column for each group"),
    ],
)
def test_scores_that_are_no_probabilities_are_refused_and_counted(
    scores: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Sketch.from_scores(scores)  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("beyond", [1e-15, 9e-14, 2e-13, 5e-10])
def test_a_score_beyond_one_by_rounding_stays_within_the_bins(groups: int, beyond: float) -> None:
    scores = np.eye(groups) * (1 + beyond)
    assert nested_bins(as_scores(scores)).max() == NESTED_BINS - 1
    same = Sketch.from_scores(scores).to_bytes() == Sketch.from_scores(np.eye(groups)).to_bytes()
    assert same


def test_scores_off_by_rounding_are_brought_back() -> None:
    scores = as_scores([[1 + 5e-10, -5e-10], [-5e-10, 1 + 5e-10], [0.0, 1 + 5e-10]])
    assert scores.min() == 0
    assert scores.max() == 1
    near = np.array([[0.0, 1 + 5e-10], [1.0, 0.0]])
    assert HDy().fit(near, ["a", "b"][::-1]).predict(near).tolist() == [0.5, 0.5]


def test_a_vector_of_scores_is_the_second_groups() -> None:
    assert as_scores([0.25, 1.0]).tolist() == [[0.75, 0.25], [0.0, 1.0]]


def test_twenty_groups_are_supported_and_one_more_is_not() -> None:
    scores, _ = draw_scores(np.random.default_rng(3), np.full(MAX_GROUPS, 0.05), 200)
    assert Sketch.from_scores(scores).points.scores.shape[1] == MAX_GROUPS == 20
    with pytest.raises(InputError, match="21 groups are more than the 20 supported"):
        Sketch.from_scores(np.full((5, 21), 1 / 21))


def test_two_groups_never_need_more_than_the_nested_bins() -> None:
    scores = np.linspace(0, 1, 600_001)
    sketch = Sketch.from_scores(scores)
    assert len(sketch.joint.keys) == NESTED_BINS == 277_200
    assert (sketch + sketch).joint.keys.tolist() == sketch.joint.keys.tolist()


@pytest.mark.parametrize("groups", range(3, MAX_GROUPS + 1))
def test_the_grid_for_many_groups_has_a_bounded_number_of_cells(groups: int) -> None:
    resolution = joint_resolution(groups)
    # Cells of the cubic grid that the simplex meets: their corners sum to 0 .. K-1 steps less
    # than the whole.
    crossed = sum(
        comb(resolution - less + groups - 1, groups - 1)
        for less in range(min(groups, resolution + 1))
    )
    assert crossed < 2**20
    assert 2 ** score_bits(groups, weighted=True) % resolution == 0


def test_sums_of_scores_can_not_overflow_below_a_trillion_people() -> None:
    widest = 2 ** score_bits(2, weighted=False) / NESTED_BINS
    assert 1e12 * widest < 2**62
