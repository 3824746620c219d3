"""Quantifiers keep scikit-learn's conventions and take groups of any type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from tests.simulation import (
    ADJUSTING,
    COUNTING_PEOPLE,
    QUANTIFIERS,
    FloatArray,
    IntArray,
    draw_scores,
    examples,
    labelled,
    name,
)

from quantifair.errors import InputError, NotIdentifiedError
from quantifair.quantifiers import (
    ACC,
    CC,
    EAC,
    MLPE,
    PACC,
    PCC,
    SLD,
    EDy,
    HDy,
    KDEy,
    Labelled,
    PosteriorMedian,
    Quantifier,
    named_quantifier,
)
from quantifair.quantifiers import QUANTIFIERS as QUANTIFIER_NAMES
from quantifair.sketch import Points

each = pytest.mark.parametrize("quantifier", QUANTIFIERS, ids=name)

LABELS = {
    "numbers from 1": [1, 2],
    "numbers with a sign": [-1, 1],
    "booleans": [False, True],
    "strings": ["f", "m"],
    "floats": [0.5, 1.5],
    "objects": np.array(["f", "m"], dtype=object),
}


def auxiliary(groups: int = 2) -> tuple[FloatArray, IntArray]:
    return draw_scores(np.random.default_rng(0), np.full(groups, 1 / groups), 120)


def deployment(groups: int = 2) -> FloatArray:
    shifted = np.r_[np.full(groups - 1, 0.6 / (groups - 1)), 0.4]
    return draw_scores(np.random.default_rng(1), shifted, 150)[0]


@each
def test_fit_returns_self(quantifier: Quantifier) -> None:
    fresh = clone(quantifier)
    assert fresh.fit(*auxiliary()) is fresh


@each
def test_clone_keeps_parameters_and_forgets_what_was_learned(quantifier: Quantifier) -> None:
    fitted = clone(quantifier).fit(*auxiliary())
    again = clone(fitted)
    assert again.get_params() == fitted.get_params()
    assert not [key for key in vars(again) if key.endswith("_")]


def test_parameters_can_be_read_and_set() -> None:
    assert SLD().get_params() == {"converged": True, "tolerance": 1e-4, "max_iter": 1000}
    assert SLD().set_params(converged=False, max_iter=7).max_iter == 7
    with pytest.raises(ValueError, match="Invalid parameter"):
        CC().set_params(converged=False)


@each
def test_what_is_not_fitted_refuses_to_predict(quantifier: Quantifier) -> None:
    with pytest.raises(NotIdentifiedError, match="not fitted; call fit first"):
        clone(quantifier).predict([0.5])


@each
@pytest.mark.parametrize("order", [(2, 4), (4, 2)])
def test_refitting_on_other_groups_forgets_the_first(
    quantifier: Quantifier, order: tuple[int, int]
) -> None:
    first, second = order
    refitted = clone(quantifier).fit(*auxiliary(first))
    scores, codes = auxiliary(second)
    names = np.array(["a", "b", "c", "d"])[codes]
    refitted.fit(scores, names)
    fresh = clone(quantifier).fit(scores, names)
    assert refitted.classes_.tolist() == sorted(set(names))
    assert (refitted.predict(deployment(second)) == fresh.predict(deployment(second))).all()


@each
@pytest.mark.parametrize("order", [(2, 4), (4, 2)])
def test_refitting_on_counts_of_other_groups_forgets_the_first(
    quantifier: Quantifier, order: tuple[int, int]
) -> None:
    first, second = order
    refitted = clone(quantifier).fit_labelled(labelled(*auxiliary(first)))
    refitted.fit_labelled(labelled(*auxiliary(second)))
    fresh = clone(quantifier).fit_labelled(labelled(*auxiliary(second)))
    assert refitted.classes_.tolist() == list(range(second))
    assert (refitted.predict(deployment(second)) == fresh.predict(deployment(second))).all()


@pytest.mark.parametrize("quantifier", ADJUSTING, ids=name)
def test_what_failed_to_fit_does_not_predict_from_an_earlier_fit(quantifier: Quantifier) -> None:
    scores, codes = auxiliary()
    fitted = clone(quantifier).fit(scores, codes)
    with pytest.raises(NotIdentifiedError):
        fitted.fit(scores, codes, sample_weight=codes)
    with pytest.raises(NotIdentifiedError, match="not fitted"):
        fitted.predict(scores)


@each
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_names_of_groups_make_no_difference(quantifier: Quantifier, labels: list[object]) -> None:
    scores, codes = auxiliary()
    plain = clone(quantifier).fit(scores, codes)
    named = clone(quantifier).fit(scores, np.asarray(labels)[codes])
    assert named.classes_.tolist() == list(labels)
    assert (named.predict(deployment()) == plain.predict(deployment())).all()
    assert named.prevalence_.tolist() == pytest.approx([np.mean(codes == 0), np.mean(codes == 1)])


@each
def test_lists_are_as_good_as_arrays(quantifier: Quantifier) -> None:
    scores, codes = auxiliary(3)
    names = np.array(["x", "y", "z"])[codes]
    arrays = clone(quantifier).fit(scores, names).predict(deployment(3))
    lists = clone(quantifier).fit(scores.tolist(), names.tolist()).predict(deployment(3).tolist())
    assert (arrays == lists).all()


@each
def test_a_vector_holds_the_second_groups_scores(quantifier: Quantifier) -> None:
    scores, codes = auxiliary()
    matrix = clone(quantifier).fit(scores, codes).predict(deployment())
    vector = clone(quantifier).fit(scores[:, 1], codes).predict(deployment()[:, 1])
    # 1 - s rounds otherwise than the softmax does.
    assert vector == pytest.approx(matrix, abs=1e-12)


@each
def test_nothing_that_was_given_is_changed(quantifier: Quantifier) -> None:
    scores, codes = auxiliary()
    weights, sample = np.full(len(codes), 2.0), deployment()
    before = [a.copy() for a in (scores, codes, weights, sample)]
    clone(quantifier).fit(scores, codes, sample_weight=weights).predict(sample)
    after = (scores, codes, weights, sample)
    assert all((a == b).all() for a, b in zip(after, before, strict=True))


@pytest.mark.parametrize(
    "quantifier", [q for q in QUANTIFIERS if name(q) not in map(name, COUNTING_PEOPLE)], ids=name
)
@pytest.mark.parametrize("groups", [2, 3])
def test_a_weight_is_a_number_of_repetitions(quantifier: Quantifier, groups: int) -> None:
    scores, codes = auxiliary(groups)
    times = np.random.default_rng(2).integers(0, 4, size=len(codes))
    weighted = clone(quantifier).fit(scores, codes, sample_weight=times)
    repeated = clone(quantifier).fit(np.repeat(scores, times, axis=0), np.repeat(codes, times))
    # Sums in another order.
    assert weighted.prevalence_ == pytest.approx(repeated.prevalence_, abs=1e-14)
    assert weighted.predict(deployment(groups)) == pytest.approx(
        repeated.predict(deployment(groups)), abs=1e-11
    )


@pytest.mark.parametrize("quantifier", COUNTING_PEOPLE, ids=name)
@pytest.mark.parametrize("groups", [2, 3])
def test_weighted_people_are_as_many_as_kish_says(quantifier: Quantifier, groups: int) -> None:
    scores, codes = auxiliary(groups)
    # Half of each group counts three times: (n/2 * 4)^2 / (n/2 * 10) people for n rows.
    weights = np.where(np.arange(len(codes)) % 2, 3.0, 1.0)
    fitted = clone(quantifier).fit(scores, codes, sample_weight=weights)
    counts = labelled(scores, codes, weights).counts
    effective = labelled(scores, codes, weights * 4 / 10)
    assert fitted.fit_labelled(Labelled(Points(scores, weights, unit=4 / 10), counts)).predict(
        deployment(groups)
    ) == pytest.approx(
        clone(quantifier).fit_labelled(effective).predict(deployment(groups)), abs=1e-12
    )
    assert clone(quantifier).fit(scores, codes, sample_weight=weights).predict(
        deployment(groups)
    ) == pytest.approx(fitted.predict(deployment(groups)), abs=1e-12)


@each
@examples(10)
@given(st.floats(0.01, 100))
def test_the_scale_of_weights_is_immaterial(quantifier: Quantifier, scale: float) -> None:
    scores, codes = auxiliary()
    scaled = clone(quantifier).fit(scores, codes, sample_weight=np.full(len(codes), scale))
    plain = clone(quantifier).fit(scores, codes)
    assert scaled.predict(deployment()) == pytest.approx(plain.predict(deployment()), abs=1e-11)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "needs 4 numbers of at least 0"),
        ([1.0, -1.0, np.nan, np.inf], "3 are not"),
    ],
)
def test_weights_that_are_none_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PCC().fit([0.1, 0.2, 0.3, 0.4], list("abab"), sample_weight=weights)


@pytest.mark.parametrize(
    ("scores", "groups", "message"),
    [
        ([0.1, 0.2], ["a"], "2 score vectors need as many groups"),
        ([0.1, 0.2], ["a", "a"], "2 columns but 1 groups occur"),
        ([0.1, 0.2, 0.3], ["a", "b", "c"], "2 columns but 3 groups occur"),
        ([0.1, 0.2, 0.3], ["a", None, "b"], "1 of 3 groups are missing"),
        ([0.1, 0.2, 0.3], [1.0, np.nan, np.nan], "2 of 3 groups are missing"),
        ([], [], "2 columns but 0 groups occur"),
        ([0.1, 1.2], ["a", "b"], "1 of 2 score vectors"),
    ],
)
def test_groups_that_do_not_fit_the_scores_are_refused(
    scores: list[float], groups: list[object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        PCC().fit(scores, groups)


def test_a_quantifier_is_found_by_its_name_or_is_itself() -> None:
    names = {"cc": CC, "pcc": PCC, "acc": ACC, "pacc": PACC, "sld": SLD, "hdy": HDy, "mlpe": MLPE}
    names |= {"eac": EAC, "kdey": KDEy, "edy": EDy, "posterior": PosteriorMedian}
    assert names == QUANTIFIER_NAMES
    assert all(type(named_quantifier(key)) is kind for key, kind in names.items())
    assert type(named_quantifier("HDy")) is HDy
    mine = SLD(converged=False)
    assert named_quantifier(mine) is mine
    with pytest.raises(InputError, match="did you mean 'pacc'"):
        named_quantifier("paccc")
