"""Verdicts: what an interval says of a margin, in one word and in one sentence."""

from __future__ import annotations

import dataclasses
import json
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from tests.people import ROLES, audited, draw, tables

from quantifair import Audit, Figure, InputError
from quantifair.experiments.coverage import Setting, replicate
from quantifair.verdicts import Better, Margins, advice, of_difference, of_ratio, verdicts

RATE = st.floats(-1, 1)
RATIO = st.floats(0.05, 20)
MARGIN = st.floats(0, 0.99)
LIMIT = st.floats(0.05, 1)


def interval(low: float, high: float) -> Figure:
    return Figure((low + high) / 2, low, high)


# Three values


@pytest.mark.parametrize(
    ("low", "high", "value"),
    [
        (-0.05, 0.05, "fair"),
        (0.01, 0.04, "fair"),
        (0.0, 0.0, "fair"),
        (0.051, 0.2, "unfair"),
        (-0.2, -0.051, "unfair"),
        (0.05, 0.2, "inconclusive"),
        (0.04, 0.06, "inconclusive"),
        (-0.06, 0.01, "inconclusive"),
        (-0.2, 0.2, "inconclusive"),
    ],
)
def test_the_whole_interval_of_a_difference_lies_on_one_side_or_there_is_no_verdict(
    low: float, high: float, value: str
) -> None:
    assert of_difference(interval(low, high), 0.05).value == value


@pytest.mark.parametrize(
    ("low", "high", "value"),
    [
        (0.8, 1.0, "fair"),
        (0.8, 1.25, "fair"),
        (1.0, 1.1, "fair"),
        (0.5, 0.79, "unfair"),
        (0.0, 0.1, "unfair"),
        (1.26, math.inf, "unfair"),
        (0.7, 0.8, "inconclusive"),
        (0.7, 1.0, "inconclusive"),
        (0.9, 1.3, "inconclusive"),
        (0.5, 2.0, "inconclusive"),
        (0.0, math.inf, "inconclusive"),
    ],
)
def test_a_ratio_is_judged_with_the_smaller_rate_on_top(
    low: float, high: float, value: str
) -> None:
    assert of_ratio(Figure(1.0, low, high), 0.8).value == value


@pytest.mark.parametrize("judge", [of_difference, of_ratio])
@pytest.mark.parametrize("figure", [Figure(None), Figure(0.9), Figure(0.0), Figure(1.0)])
def test_an_estimate_alone_never_decides(judge, figure) -> None:
    assert judge(figure, 0.5).value == "inconclusive"


def test_a_margin_of_zero_asks_whether_zero_is_excluded() -> None:
    assert of_difference(interval(0.001, 0.1), 0.0).value == "unfair"
    assert of_difference(interval(0.0, 0.1), 0.0).value == "inconclusive"


# Laws


@given(RATE, RATE, MARGIN)
def test_swapping_the_groups_keeps_the_verdict(one: float, other: float, margin: float) -> None:
    low, high = sorted((one, other))
    here, there = interval(low, high), interval(-high, -low)
    assert of_difference(here, margin).value == of_difference(there, margin).value


@given(RATIO, RATIO, LIMIT)
def test_swapping_the_groups_of_a_ratio_keeps_the_verdict(
    one: float, other: float, limit: float
) -> None:
    low, high = sorted((one, other))
    # 1 / (1 / x) is not always x: an end that lies on the limit may fall on either side of it.
    ends = [end for x in (low, high) for end in (x, 1 / x)]
    assume(all(abs(end - limit) > 1e-12 for end in ends))
    swapped = of_ratio(Figure(1.0, 1 / high, 1 / low), limit)
    assert of_ratio(Figure(1.0, low, high), limit).value == swapped.value


@given(RATE, RATE, MARGIN, st.floats(0, 1), st.floats(0, 1))
def test_a_wider_interval_never_decides_what_a_narrower_left_open(
    one: float, other: float, margin: float, below: float, above: float
) -> None:
    low, high = sorted((one, other))
    narrow = of_difference(interval(low, high), margin).value
    wide = of_difference(interval(low - below, high + above), margin).value
    assert wide in {narrow, "inconclusive"}


@given(RATIO, RATIO, LIMIT, st.floats(0, 1), st.floats(1, 5))
def test_a_wider_interval_of_a_ratio_never_decides_either(
    one: float, other: float, limit: float, below: float, above: float
) -> None:
    low, high = sorted((one, other))
    narrow = of_ratio(Figure(1.0, low, high), limit).value
    assert of_ratio(Figure(1.0, low * below, high * above), limit).value in {narrow, "inconclusive"}


@given(RATE, RATE, MARGIN, MARGIN)
def test_more_is_fair_within_a_wider_margin(
    one: float, other: float, margin: float, wider: float
) -> None:
    order = ["unfair", "inconclusive", "fair"]
    low, high = sorted((one, other))
    found = [of_difference(interval(low, high), m).value for m in sorted((margin, wider))]
    assert order.index(found[0]) <= order.index(found[1])
    ratios = [Figure(1.0, low + 1, high + 1)] * 2
    limits = sorted((1 - margin, 1 - wider), reverse=True)
    found = [of_ratio(r, limit).value for r, limit in zip(ratios, limits, strict=True)]
    assert order.index(found[0]) <= order.index(found[1])


@given(RATE, RATE, RATE, MARGIN)
def test_the_estimate_takes_no_part(
    estimate: float, one: float, other: float, margin: float
) -> None:
    low, high = sorted((one, other))
    expected = of_difference(interval(low, high), margin)
    assert of_difference(Figure(estimate, low, high), margin) == expected


# Error rates


def test_a_verdict_at_the_margin_is_wrong_as_often_as_each_end_of_the_interval() -> None:
    """Two tests of level 2.5%; the tolerance is three Monte-Carlo errors."""
    trials, margin, error = 20_000, 0.05, 0.01
    estimates = np.random.default_rng(0).normal(margin, error, trials)
    reach = 1.959964 * error
    found = [of_difference(Figure(e, e - reach, e + reach), margin).value for e in estimates]
    tolerance = 3 * math.sqrt(0.025 * 0.975 / trials)
    assert found.count("fair") / trials == pytest.approx(0.025, abs=tolerance)
    assert found.count("unfair") / trials == pytest.approx(0.025, abs=tolerance)


def test_a_system_at_the_margin_is_seldom_called_fair_or_unfair() -> None:
    """Whole audits of two groups, the margin where the truth of each trial lies."""
    rng, trials = np.random.default_rng(1), 250
    setting = Setting((0.7, 0.3), (0.3, 0.7), 0.75, 4)
    found = []
    for _ in range(trials):
        low, truth, high = replicate(setting, rng)["difference"]
        found.append(of_difference(Figure(truth, low, high), abs(truth)).value)
    tolerance = 3 * math.sqrt(0.025 * 0.975 / trials)
    assert found.count("fair") / trials <= 0.025 + tolerance
    assert found.count("unfair") / trials <= 0.025 + tolerance


# Sentences


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (
            Figure(0.12, 0.09, 0.15),
            "The rates differ by 9.0 to 15.0 points, more than the margin of 5: unfair.",
        ),
        (
            Figure(-0.12, -0.15, -0.09),
            "The rates differ by 9.0 to 15.0 points, more than the margin of 5: unfair.",
        ),
        (
            Figure(0.0, -0.03, 0.02),
            "The rates differ by at most 3.0 points, within the margin of 5: fair.",
        ),
        (
            Figure(0.05, -0.02, 0.12),
            (
                "Can't tell: the difference in rates may be -2.0 to 12.0 points, on both sides of "
                "the margin of 5."
            ),
        ),
        (
            Figure(0.06, -0.0004, 0.06),
            (
                "Can't tell: the difference in rates may be 0.0 to 6.0 points, on both sides of "
                "the margin of 5."
            ),
        ),
        (
            Figure(0.2, 0.2, 0.2),
            "The rates differ by 20.0 points, more than the margin of 5: unfair.",
        ),
        (Figure(0.2), "Can't tell: an estimate without an interval may be chance."),
        (Figure(None), "Can't tell: there is no estimate."),
    ],
)
def test_a_difference_is_judged_in_a_sentence(figure: Figure, sentence: str) -> None:
    assert of_difference(figure, 0.05).sentence == sentence


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (
            Figure(0.6, 0.5, 0.7),
            "The smallest rate is 50.0 to 70.0% of the largest, less than 80%: unfair.",
        ),
        (
            Figure(1.1, 0.9, 1.2),
            "The smallest rate is at least 83.3% of the largest, no less than 80%: fair.",
        ),
        (
            Figure(0.8, 0.7, 0.9),
            (
                "Can't tell: the smallest rate may be 70.0 to 90.0% of the largest, on both sides "
                "of 80%."
            ),
        ),
        (Figure(0.8), "Can't tell: an estimate without an interval may be chance."),
        (Figure(None), "Can't tell: there is no estimate."),
    ],
)
def test_a_ratio_is_judged_in_a_sentence(figure: Figure, sentence: str) -> None:
    assert of_ratio(figure, 0.8).sentence == sentence


def test_a_margin_is_shown_to_its_digits() -> None:
    assert "margin of 2.5:" in of_difference(interval(0.1, 0.2), 0.025).sentence
    assert "less than 87.5%" in of_ratio(interval(0.1, 0.2), 0.875).sentence


def test_the_sentence_names_the_rates_and_the_ratio_is_of_selection_rates_only() -> None:
    figures = interval(0.1, 0.2), interval(0.5, 0.6)
    parity = verdicts("demographic_parity", ("selection_rate",), *figures, Margins(0.07, 0.9))
    assert parity.difference.sentence.startswith("The selection rates differ by")
    assert parity.ratio is not None
    assert parity.ratio.sentence.startswith("The smallest selection rate is")
    assert (parity.difference.margin, parity.ratio.margin) == (0.07, 0.9)
    assert (parity.difference.kind, parity.ratio.kind) == ("difference", "ratio")
    rates = ("true_positive_rate", "false_positive_rate")
    odds = verdicts("equalized_odds", rates, *figures, Margins())
    assert odds.difference.sentence.startswith(
        "The true positive rates or false positive rates differ by"
    )
    assert odds.ratio is None


CELLS = {"hired=no": 0.62, "hired=yes": 0.6}


@pytest.mark.parametrize(
    ("needed", "better", "end"),
    [
        (
            5_180.0,
            None,
            "; if the estimate is right, with such an AUC about 5,200 would be needed.",
        ),
        (1_234_567.0, None, "with such an AUC about 1,200,000 would be needed."),
        (
            51_800.0,
            Better(0.85, 2_340),
            "about 52,000 would be needed; with an AUC of 0.85 about 2,300 would do.",
        ),
        (math.inf, None, "too near to the margin; a higher AUC or a larger deployment might do."),
        (
            math.inf,
            Better(0.9, 1_000),
            "too near to the margin; with an AUC of 0.90 about 1,000 would do.",
        ),
        (None, None, "; more of them, or features that tell more of the group, would help."),
    ],
)
def test_advice_says_what_the_classifier_can_do_and_what_would_be_needed(
    needed: float | None, better: Better | None, end: str
) -> None:
    said = advice(CELLS, 1_400, needed, better)
    head = "This group classifier (AUC 0.62 with hired=no, 0.60 with hired=yes) can't certify it"
    assert said.startswith(f"{head} with 1,400 auxiliary people")
    assert said.endswith(end)
    assert ("nor with any number of them" in said) == (needed == math.inf)


# In audits


def both(**roles):
    return audited(*tables(), **roles)


def test_an_audit_judges_every_measure_and_pair() -> None:
    survey, deployment = tables(y=lambda t, rng: rng.integers(0, 2, len(t)))
    result = audited(survey, deployment, label="y", margin=0.1, ratio_margin=0.7)
    assert len(result.measures) == 7
    for name, measure in result.measures.items():
        judged = [measure, *measure.pairs]
        for each in judged:
            assert each.verdict.value == of_difference(each.difference, 0.1).value
            assert (each.verdict.measure, each.verdict.margin) == (name, 0.1)
            assert (each.ratio_verdict is None) == (name != "demographic_parity")
    parity = result.demographic_parity
    assert parity.ratio_verdict is not None
    assert parity.ratio_verdict.value == of_ratio(parity.ratio, 0.7).value
    (pair,) = parity.pairs
    assert pair.ratio_verdict is not None
    assert pair.ratio_verdict.value == parity.ratio_verdict.value
    assert (result.settings["margin"], result.settings["ratio_margin"]) == (0.1, 0.7)
    assert json.loads(result.to_json())["settings"]["margin"] == 0.1


def test_the_margin_decides() -> None:
    survey, deployment = draw(1_500, 1), draw(1_500, 2).drop(columns="g")
    difference = audited(survey, deployment).demographic_parity.difference
    assert difference.low is not None
    assert difference.high is not None
    assert difference.high < 0
    near, far = -difference.high, -difference.low
    found = [
        audited(survey, deployment, margin=margin).demographic_parity.verdict.value
        for margin in (near - 1e-6, near, far - 1e-6, far)
    ]
    assert found == ["unfair", "inconclusive", "inconclusive", "fair"]


def test_the_reference_group_does_not_matter() -> None:
    one, other = (both(reference=g).demographic_parity for g in ("a", "b"))
    assert one.direction != other.direction
    assert one.verdict.value == other.verdict.value
    assert one.ratio_verdict == other.ratio_verdict


def test_what_is_open_is_told_with_the_classifier_and_the_people_of_its_cells() -> None:
    result = both(margin=0.2)
    verdict = result.demographic_parity.verdict
    assert verdict.value == "inconclusive"
    aucs = {cell.name: cell.auc for cell in result.cells}
    assert verdict.advice.startswith(advice(aucs, 200, None).partition(";")[0])
    assert str(verdict) == f"{verdict.sentence} {verdict.advice}"
    assert str(verdict) in " ".join(str(result).split())


def test_what_is_decided_needs_no_advice() -> None:
    parity = both(margin=0.99).demographic_parity
    assert parity.verdict.advice == ""
    assert str(parity.verdict) == parity.verdict.sentence


def test_without_an_interval_nothing_is_decided_and_nobody_is_to_be_asked() -> None:
    parity = both(interval="none").demographic_parity
    for verdict in (parity.verdict, parity.ratio_verdict):
        assert verdict.value == "inconclusive"
        assert verdict.advice == ""


def test_attributes_have_verdicts_of_their_own() -> None:
    survey, deployment = tables(h=lambda t, _: np.where(t["city"] == "Rome", "near", "far"))
    deployment = deployment.drop(columns="h")
    result = audited(survey, deployment, group=["g", "h"], margin=0.2)
    assert set(result.attributes) == {"g", "h"}
    for alone in result.attributes.values():
        parity = alone.measures["demographic_parity"]
        assert parity.verdict.value == of_difference(parity.difference, 0.2).value
        assert bool(parity.verdict.advice) == (parity.verdict.value == "inconclusive")


def test_a_verdict_is_frozen() -> None:
    verdict = of_difference(Figure(None), 0.05)
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.value = "fair"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("margin", -0.01),
        ("margin", 1),
        ("margin", 5),
        ("margin", math.nan),
        ("margin", "0.05"),
        ("margin", None),
        ("ratio_margin", 0),
        ("ratio_margin", 1.01),
        ("ratio_margin", math.nan),
        ("ratio_margin", "80%"),
    ],
)
def test_a_margin_out_of_range_is_refused(option: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"^{option} is a .*not {value!r}"):
        Audit(**{**ROLES, option: value})  # type: ignore[arg-type]
