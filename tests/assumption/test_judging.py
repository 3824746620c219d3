"""What the tests say together, and what an audit says of its assumption."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.people import audited, codes, tables

from quantifair import Audit, InputError
from quantifair.assumption.judging import judged
from quantifair.assumption.verdicts import CONSISTENT, REJECTED, UNKNOWN, CellTest
from quantifair.report import to_html, to_markdown


def one(p_value: float | None, cell: str = "yes", detectable: float | None = 0.2) -> CellTest:
    return CellTest(cell, "features", 1.0, 3, p_value, None, detectable, UNKNOWN)


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        ([one(0.5), one(0.3)], CONSISTENT),
        ([one(0.02), one(0.5)], REJECTED),
        ([one(0.03), one(0.5)], CONSISTENT),
        ([one(0.5, detectable=0.6)], UNKNOWN),
        ([one(0.001, detectable=0.6), one(0.5)], REJECTED),
        ([one(0.5), one(0.5, "no", 0.6)], UNKNOWN),
        ([one(0.5), one(None, "no", None)], UNKNOWN),
        ([], UNKNOWN),
    ],
)
def test_one_rejection_rejects_and_every_cell_has_to_tell(tests, verdict: str) -> None:
    assert judged("prior_shift", tests).verdict == verdict


def people(rows: int, seed: int, *, share: float, drift: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    second = rng.random(rows) < share
    return pd.DataFrame(
        {
            "x": rng.normal(size=rows) + second,
            "z": rng.normal(size=rows) + drift,
            "ok": rng.choice(["yes", "no"], rows),
            "g": np.where(second, "b", "a"),
        }
    )


@pytest.mark.parametrize("training", ["folds", "all"])
def test_other_prevalences_pass_and_a_drift_does_not(training: str) -> None:
    fitted = Audit(decision="ok", group="g", training=training).fit(people(1_500, 0, share=0.5))
    same = fitted.measure(people(2_000, 1, share=0.2).drop(columns="g"))
    assert same.assumption.verdict == CONSISTENT
    assert "not_prior_shift" not in codes(same)
    other = fitted.measure(people(2_000, 1, share=0.2, drift=0.3).drop(columns="g"))
    assert other.assumption.verdict == REJECTED
    assert "not_prior_shift" in codes(other)
    (said, *_) = (w.message for w in other.warnings if w.code == "not_prior_shift")
    assert "are not those of any mix of the auxiliary groups" in said
    bins = [t for t in same.assumption.tests if t.moments == "score bins"]
    assert all((t.statistic is None) == (training == "all") for t in bins)


def test_few_people_can_not_tell() -> None:
    found = audited(*tables())
    assert found.assumption.verdict == UNKNOWN
    assert "Whether that holds can't be told" in str(found)


def test_tests_are_told_everywhere() -> None:
    found = audited(*tables())
    test = found.assumption.tests[0]
    shown = json.loads(found.to_json())["assumption"]
    assert shown["verdict"] == found.assumption.verdict
    assert shown["tests"][0]["statistic"] == test.statistic
    for report in (to_html(found), to_markdown(found)):
        assert found.assumption.sentence.split("(")[0] in " ".join(report.split()).replace(
            "&#39;", "'"
        )
        assert "score bins" in report


def test_parts_of_a_table_are_tested_as_the_whole() -> None:
    auxiliary, deployment = tables()
    fitted = Audit(decision="ok", group="g", training="split").fit(auxiliary)
    parts = fitted.sketch(deployment[:40]) + fitted.sketch(deployment[40:])
    assert fitted.measure(parts).assumption == fitted.measure(deployment).assumption


def test_declared_covariate_shift_uses_pcc_and_says_so() -> None:
    auxiliary, deployment = tables()
    found = audited(auxiliary, deployment, assume="covariate_shift", interval="none")
    plain = audited(auxiliary, deployment, quantifier="pcc", interval="none")
    assert found.demographic_parity == plain.demographic_parity
    assert found.settings["assume"] == "covariate_shift"
    assert "covariate_shift_declared" in codes(found)
    assert found.assumption.tests == ()
    assert "The auditor declared covariate shift" in to_markdown(found)
    assert "The auditor declared covariate shift" in str(found)


def test_a_declaration_and_a_correction_for_prior_shift_contradict_each_other() -> None:
    message = "SLD corrects for prior shift, but covariate shift is declared"
    with pytest.raises(InputError, match=message):
        Audit(decision="ok", group="g", assume="covariate_shift", quantifier="sld")
    auxiliary, deployment = tables()
    fitted = Audit(decision="ok", group="g", assume="covariate_shift").fit(auxiliary)
    with pytest.raises(InputError, match="PACC corrects for prior shift"):
        fitted.measure(deployment, quantifier="pacc")
    with pytest.raises(InputError, match="no assume 'covariate'; did you mean"):
        Audit(decision="ok", group="g", assume="covariate")
