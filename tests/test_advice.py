"""Advice: what would settle a verdict that the data leave open, checked by doing it."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from quantifair import Audit


def people(rows: int, seed: int, *, apart: float, scale: int = 1) -> pd.DataFrame:
    """People of two groups with probabilities of a classifier; ``scale`` repeats the draw."""
    rng = np.random.default_rng(seed)
    woman = np.tile(rng.integers(0, 2, rows), scale)
    hired = np.tile(rng.random(rows), scale) < np.where(woman == 1, 0.4, 0.6)
    logit = np.tile(rng.normal(size=rows), scale) * apart + apart**2 * (woman - 0.5)
    p = 1 / (1 + np.exp(-logit))
    sex = np.array(["man", "woman"])[woman]
    return pd.DataFrame({"p_man": 1 - p, "p_woman": p, "hired": hired.astype(int), "sex": sex})


FEW = people(300, 0, apart=1.2)
DEPLOYMENT = people(20_000, 1, apart=1.2).drop(columns="sex")


def parity(auxiliary: pd.DataFrame = FEW, **options):
    """Disparity by PACC, whose estimate is where its interval is narrowest."""
    scores = {"man": "p_man", "woman": "p_woman"}
    given = {"quantifier": "pacc", "calibrate": False} | options
    spec = Audit(decision="hired", group="sex", scores=scores, **given)
    return spec.fit(auxiliary).measure(DEPLOYMENT).demographic_parity


@pytest.fixture(scope="module")
def size() -> float:
    return abs(parity().difference.estimate)


def needed(advice: str) -> int:
    found = re.search(r"with such an AUC about ([\d,]+) would be needed", advice)
    assert found, advice
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(("away", "value"), [(-0.05, "unfair"), (0.05, "fair")])
def test_so_many_people_lead_to_a_verdict_and_fewer_do_not(
    size: float, away: float, value: str
) -> None:
    """The same people over again have the same moments, and so the same estimate."""
    margin = size + away
    left_open = parity(margin=margin).verdict
    assert left_open.value == "inconclusive"
    times = needed(left_open.advice) / len(FEW)
    assert times > 2
    for factor, expected in ((1.25, value), (0.8, "inconclusive")):
        many = people(300, 0, apart=1.2, scale=round(factor * times))
        assert parity(many, margin=margin).verdict.value == expected


def test_no_number_of_people_helps_where_the_estimate_lies_on_the_margin(size: float) -> None:
    assert "nor with any number of them" in parity(margin=size).verdict.advice


def test_a_better_classifier_is_named_where_very_many_people_would_be_needed(
    size: float,
) -> None:
    advice = parity(margin=size - 0.05).verdict.advice
    better = re.search(r"with an AUC of (0\.\d\d) about ([\d,]+) would do", advice)
    assert better, advice
    assert 0.8 < float(better[1]) < 1
    assert int(better[2].replace(",", "")) <= 2 * len(FEW)
    assert needed(advice) > 10 * len(FEW)


@pytest.mark.parametrize(
    "options", [{"interval": "bootstrap", "replicates": 50}, {"quantifier": "pcc"}], ids=repr
)
def test_where_intervals_come_from_replicates_no_number_is_promised(options) -> None:
    margin = abs(parity(**options).difference.estimate)
    advice = parity(margin=margin, **options).verdict.advice
    assert advice.endswith("more of them, or features that tell more of the group, would help.")
