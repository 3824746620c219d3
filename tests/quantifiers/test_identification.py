"""What the data can't tell is an error, never a plausible number."""

import numpy as np
import pytest
from sklearn.base import clone
from tests.simulation import ADJUSTING, BY_MOMENTS, QUANTIFIERS, draw_scores, labelled, name

from quantifair.errors import InputError, NotIdentifiedError
from quantifair.quantifiers import (
    ACC,
    EAC,
    MLPE,
    PACC,
    SLD,
    EDy,
    HDy,
    KDEy,
    Labelled,
    PosteriorMedian,
    Quantifier,
)
from quantifair.sketch import Points, Sketch

each = pytest.mark.parametrize("quantifier", QUANTIFIERS, ids=name)
adjusting = pytest.mark.parametrize("quantifier", ADJUSTING, ids=name)
searching = pytest.mark.parametrize(
    "quantifier", [SLD(), HDy(), KDEy(), EDy(), PosteriorMedian(), BY_MOMENTS], ids=name
)
adjusted = pytest.mark.parametrize("quantifier", [ACC(), PACC(), EAC()], ids=name)


def fitted(quantifier: Quantifier, groups: int = 2) -> Quantifier:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 100)
    return clone(quantifier).fit(scores, codes)


@adjusted
@pytest.mark.parametrize(
    "scores", [[0.4, 0.4, 0.4, 0.4], [0.2, 0.8, 0.2, 0.8], [0.1, 0.9, 0.4, 0.6]]
)
def test_a_classifier_whose_tpr_is_its_fpr_is_refused(
    quantifier: Quantifier, scores: list[float]
) -> None:
    with pytest.raises(NotIdentifiedError, match="tpr = fpr"):
        quantifier.fit(scores, ["a", "a", "b", "b"])


@adjusted
def test_two_of_three_groups_that_look_alike_are_refused(quantifier: Quantifier) -> None:
    scores = [[0.8, 0.1, 0.1], [0.1, 0.6, 0.3], [0.1, 0.6, 0.3]]
    with pytest.raises(NotIdentifiedError, match="no information about the group"):
        quantifier.fit(scores, ["a", "b", "c"])


@adjusted
@pytest.mark.parametrize("groups", [2, 3])
def test_a_replicate_whose_rates_are_equal_but_for_rounding_is_nan(
    quantifier: Quantifier, groups: int
) -> None:
    rng = np.random.default_rng(1)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 53)
    constant = np.full_like(scores, 0.3)
    constant[:, 0] = 1 - 0.3 * (groups - 1)
    useful, useless = labelled(scores, codes), labelled(constant, codes)
    points = Points(np.stack([scores, constant]), np.ones((2, 53)))
    quantifier.fit_labelled(Labelled(points, np.stack([useful.counts, useless.counts])))
    raw = quantifier.solve(points)
    assert np.isfinite(raw[0]).all()
    assert np.isnan(raw[1]).all()


def test_acc_refuses_a_group_that_the_classifier_never_names() -> None:
    scores = [[0.8, 0.1, 0.1], [0.1, 0.6, 0.3], [0.1, 0.5, 0.4], [0.6, 0.2, 0.2]]
    with pytest.raises(NotIdentifiedError):
        ACC().fit(scores, ["a", "b", "c", "c"])


@searching
@pytest.mark.parametrize("source", [np.asarray, Sketch.from_scores], ids=["rows", "sketch"])
@pytest.mark.parametrize("share", [1, 3, 5, 7])
def test_scores_that_say_nothing_but_the_auxiliary_share_have_no_answer(
    quantifier: Quantifier, source: type, share: int
) -> None:
    constant = np.full(10, share / 10)
    quantifier.fit(constant, ["b"] * share + ["a"] * (10 - share))
    with pytest.raises(NotIdentifiedError, match="no single answer"):
        quantifier.predict(source(constant))


@searching
@pytest.mark.parametrize("source", [np.asarray, Sketch.from_scores], ids=["rows", "sketch"])
@pytest.mark.parametrize("groups", [3, 5])
def test_constant_scores_of_many_groups_have_no_answer(
    quantifier: Quantifier, source: type, groups: int
) -> None:
    constant = np.full((groups, groups), 1 / groups)
    quantifier.fit(constant, np.arange(groups))
    with pytest.raises(NotIdentifiedError, match="no single answer"):
        quantifier.predict(source(constant))


def test_sld_has_no_answer_where_two_of_three_groups_are_exchangeable() -> None:
    second = np.linspace(0.2, 0.45, 20)
    scores = np.column_stack([1 - 2 * second, second, second])
    sld = SLD().fit(np.eye(3), ["a", "b", "c"])
    with pytest.raises(NotIdentifiedError, match="no single answer"):
        sld.predict(scores)


def test_sld_has_an_answer_where_exchangeable_groups_are_plainly_absent() -> None:
    scores = np.tile([0.9, 0.05, 0.05], (5, 1))
    assert SLD().fit(np.eye(3), ["a", "b", "c"]).predict(scores).tolist() == [1, 0, 0]


def test_hdy_has_no_answer_for_scores_that_nobody_of_the_auxiliary_sample_has() -> None:
    hdy = HDy().fit([0.1, 0.1, 0.9, 0.9], ["a", "a", "b", "b"])
    with pytest.raises(NotIdentifiedError, match="no single answer"):
        hdy.predict([0.5, 0.5])


@adjusting
@pytest.mark.parametrize("absent", ["a", "b", "c"])
def test_a_group_without_weight_is_named(quantifier: Quantifier, absent: str) -> None:
    scores, codes = draw_scores(np.random.default_rng(0), [0.3, 0.3, 0.4], 30)
    names = np.array(["a", "b", "c"])[codes]
    with pytest.raises(NotIdentifiedError, match=f"holds nobody of group '{absent}'$"):
        clone(quantifier).fit(scores, names, sample_weight=(names != absent).astype(float))


@each
def test_an_auxiliary_sample_of_nobody_is_refused(quantifier: Quantifier) -> None:
    with pytest.raises(NotIdentifiedError, match="holds nobody of group 'a', 'b'"):
        clone(quantifier).fit([0.2, 0.9], ["a", "b"], sample_weight=[0, 0])


@adjusting
def test_one_replicate_without_a_group_is_refused(quantifier: Quantifier) -> None:
    scores, codes = draw_scores(np.random.default_rng(0), [0.3, 0.3, 0.4], 30)
    points, counts = labelled(scores, codes)
    batch = np.stack([counts, counts * np.array([[1], [0], [1]])])
    with pytest.raises(NotIdentifiedError, match=r"holds nobody of group 1$"):
        clone(quantifier).fit_labelled(Labelled(points, batch))


@adjusting
@pytest.mark.parametrize("groups", [2, 4])
def test_one_replicate_without_a_group_is_nan_where_that_is_not_asked(
    quantifier: Quantifier, groups: int
) -> None:
    scores, codes = draw_scores(np.random.default_rng(0), np.full(groups, 1 / groups), 60)
    points, counts = labelled(scores, codes)
    without = counts.copy()
    without[1] = 0
    batch = Labelled(points, np.stack([counts, without]))
    bare = clone(quantifier)
    bare.classes_ = np.arange(groups)
    bare.prevalence_ = batch.shares
    with np.errstate(all="ignore"):
        bare.learn(batch)
        found = bare.project(bare.solve(Points(scores, np.ones((2, len(scores))))))
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


@each
@pytest.mark.parametrize(
    "empty", [[], np.empty((0, 2)), Sketch.from_scores([])], ids=["list", "array", "sketch"]
)
def test_nobody_has_no_prevalences(quantifier: Quantifier, empty: object) -> None:
    with pytest.raises(NotIdentifiedError, match="prevalences of nobody"):
        fitted(quantifier).predict(empty)


@each
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.1, 1.1])
def test_scores_that_are_no_probabilities_are_refused(quantifier: Quantifier, wrong: float) -> None:
    with pytest.raises(InputError, match="1 of 3 score vectors"):
        fitted(quantifier).predict([0.2, wrong, 0.3])
    with pytest.raises(InputError, match="1 of 3 score vectors"):
        clone(quantifier).fit([0.2, wrong, 0.3], ["a", "b", "b"])


@each
@pytest.mark.parametrize(("known", "asked"), [(2, 3), (3, 2)])
def test_scores_of_another_number_of_groups_are_refused(
    quantifier: Quantifier, known: int, asked: int
) -> None:
    scores = np.full((5, asked), 1 / asked)
    for source in (scores, Sketch.from_scores(scores)):
        with pytest.raises(InputError, match=f"scores of {asked} groups, fitted on {known}"):
            fitted(quantifier, known).predict(source)


def test_the_baseline_answers_even_where_scores_say_nothing() -> None:
    assert MLPE().fit([0.5] * 4, ["a", "b", "b", "b"]).predict([0.5]).tolist() == [0.25, 0.75]
