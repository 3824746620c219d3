"""Comparison: estimates beside a known truth."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from quantifair import Audit, InputError
from quantifair.results import ESTIMATORS, Figure

SCORES = {"man": "p_man", "woman": "p_woman"}


def table(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    woman, hired = rng.integers(0, 2, (2, rows))
    p = np.where(rng.random(rows) < 0.85, woman, 1 - woman) * 0.7 + 0.15
    return pd.DataFrame(
        {
            "p_man": 1 - p,
            "p_woman": p,
            "hired": hired,
            "stayed": rng.integers(0, 2, rows),
            "sex": np.array(["man", "woman"])[woman],
        }
    )


TRUTH = table(200, seed=1)


def audited(**options):
    given = {"decision": "hired", "group": "sex", "label": "stayed", "scores": SCORES}
    auxiliary = table().assign(w=1.0, region=np.tile(["north", "south"], 150))
    fitted = Audit(**given | {"replicates": 20} | options).fit(auxiliary)
    return fitted.measure(TRUTH.drop(columns="sex"))


@pytest.fixture(scope="module")
def result():
    return audited()


def rows_of(comparison):
    return {row.name: row for row in comparison.rows}


def test_the_truth_is_that_of_the_table(result):
    rows = rows_of(result.compare(TRUTH))
    women, men = (TRUTH[TRUTH["sex"] == s] for s in ("woman", "man"))
    assert rows["share of woman"].truth == pytest.approx(len(women) / 200)
    difference = women["hired"].mean() - men["hired"].mean()
    assert rows["demographic_parity difference"].truth == pytest.approx(difference)
    tpr = women.loc[women["stayed"] == 1, "hired"].mean()
    assert rows["true_positive_rate of woman"].truth == pytest.approx(tpr)
    npv = 1 - men.loc[men["hired"] == 0, "stayed"].mean()
    assert rows["negative_predictive_value of man"].truth == pytest.approx(npv)


def test_every_estimate_has_its_row(result):
    rows = rows_of(result.compare(TRUTH))
    assert len(rows) == len(result.measures) + 1 + 2 * 7
    for name, measure in result.measures.items():
        assert rows[f"{name} difference"].estimate == measure.difference
    assert rows["share of man"].estimate == result.groups[0].share


def test_each_verdict_is_set_beside_that_of_the_truth(result):
    rows = rows_of(result.compare(TRUTH))
    judged = {name: row for name, row in rows.items() if row.verdict is not None}
    names = {f"{name} difference" for name in result.measures}
    assert set(judged) == names | {"demographic_parity ratio"}
    for name, measure in result.measures.items():
        row = judged[f"{name} difference"]
        assert row.verdict == measure.verdict.value
        assert row.true_verdict == ("fair" if abs(row.truth) <= 0.05 else "unfair")
    ratio = judged["demographic_parity ratio"]
    assert ratio.estimate == result.demographic_parity.ratio
    assert ratio.verdict == result.demographic_parity.ratio_verdict.value
    rates = [TRUTH.loc[TRUTH["sex"] == s, "hired"].mean() for s in ("man", "woman")]
    assert ratio.truth == pytest.approx(min(rates) / max(rates))
    assert ratio.true_verdict == ("fair" if ratio.truth >= 0.8 else "unfair")


def test_the_error_is_the_estimate_minus_the_truth(result):
    for row in result.compare(TRUTH).rows:
        assert row.error == row.estimate.estimate - row.truth
        inside = row.estimate.low <= row.truth <= row.estimate.high
        assert row.covered is inside
    assert {row.covered for row in result.compare(TRUTH).rows} == {True, False}


def test_estimators_are_compared_on_demographic_parity(result):
    comparison = result.compare(TRUTH)
    truth = comparison.rows[0].truth
    assert [r.name for r in comparison.estimators] == list(ESTIMATORS)
    for row in comparison.estimators:
        assert row.estimate == Figure(result.estimators[row.name])
        assert row.error == pytest.approx(result.estimators[row.name] - truth)
        assert row.covered is None


def test_the_true_groups_may_be_in_another_column(result):
    renamed = TRUTH.rename(columns={"sex": "true_sex"})
    assert result.compare(renamed, group="true_sex") == result.compare(TRUTH)
    assert result.compare(renamed, group=["true_sex"]) == result.compare(TRUTH)


def test_the_order_of_the_groups_is_that_of_the_audit():
    result = audited(reference="woman")
    rows = rows_of(result.compare(TRUTH))
    assert rows["share of woman"].truth == pytest.approx((TRUTH["sex"] == "woman").mean())
    men, women = (TRUTH.loc[TRUTH["sex"] == s, "hired"].mean() for s in ("man", "woman"))
    assert rows["demographic_parity difference"].truth == pytest.approx(men - women)


def test_intersections_are_compared_as_such():
    truth = TRUTH.assign(region=np.tile(["south", "north"], 100))
    result = audited(group=["region", "sex"], scores=None, features=["p_woman"], label=None)
    rows = rows_of(result.compare(truth))
    chosen = (truth["region"] == "north") & (truth["sex"] == "woman")
    rate = truth.loc[chosen, "hired"].mean()
    assert rows["selection_rate of north & woman"].truth == pytest.approx(rate)


def test_the_truth_is_weighted_where_the_deployment_is():
    weights = np.random.default_rng(0).uniform(1, 3, 200)
    rows = rows_of(audited(weight="w").compare(TRUTH.assign(w=weights)))
    women = TRUTH["sex"] == "woman"
    share = weights[women].sum() / weights.sum()
    assert rows["share of woman"].truth == pytest.approx(share)
    unweighted = rows_of(audited(weight="w").compare(TRUTH))
    assert unweighted["share of woman"].truth == pytest.approx(women.mean())


def test_the_audited_system_decides_on_the_truth_too():
    def decide(frame):
        return (frame["p_woman"] > 0.5).astype(int)

    columns = ["p_woman", "sex"]
    spec = Audit(group="sex", classifier=decide, replicates=0)
    result = spec.fit(table()[columns]).measure(TRUTH[["p_woman"]])
    rate = decide(TRUTH)[TRUTH["sex"] == "man"].mean()
    rows = rows_of(result.compare(TRUTH))
    assert rows["selection_rate of man"].truth == pytest.approx(rate)
    with pytest.raises(InputError, match=r"no column 'p_woman' \(the feature\)"):
        result.compare(TRUTH[["sex"]])


def test_labels_among_those_hired_are_enough_where_they_were_for_the_audit():
    def accepted(frame):
        return frame.assign(stayed=frame["stayed"].where(frame["hired"] == 1))

    spec = Audit(decision="hired", group="sex", label="stayed", scores=SCORES, replicates=0)
    result = spec.fit(accepted(table())).measure(accepted(TRUTH))
    rows = rows_of(result.compare(accepted(TRUTH)))
    hired = TRUTH[(TRUTH["hired"] == 1) & (TRUTH["sex"] == "man")]
    assert rows["positive_predictive_value of man"].truth == pytest.approx(hired["stayed"].mean())
    assert not any("true_positive_rate" in name for name in rows)


def test_what_is_not_estimated_has_a_truth_but_no_error():
    auxiliary = table()
    auxiliary = auxiliary[(auxiliary["hired"] == 0) | (auxiliary["sex"] == "man")]
    spec = Audit(decision="hired", group="sex", scores=SCORES, replicates=5)
    comparison = spec.fit(auxiliary).measure(TRUTH).compare(TRUTH)
    row = comparison.rows[0]
    assert row.truth is not None
    assert (row.estimate.estimate, row.error, row.covered) == (None, None, None)
    assert json.loads(comparison.to_json())["rows"][0]["error"] is None


def test_a_true_rate_that_is_not_defined_has_no_error(result):
    nobody = TRUTH.assign(stayed=TRUTH["stayed"].where(TRUTH["sex"] == "man", 0))
    row = rows_of(result.compare(nobody))["true_positive_rate of woman"]
    assert (row.truth, row.error, row.covered) == (None, None, None)
    judged = rows_of(result.compare(nobody))["true_positive_rate difference"]
    assert (judged.truth, judged.true_verdict) == (None, None)
    assert judged.verdict == result.true_positive_rate.verdict.value


def test_without_interval_nothing_is_covered():
    row = audited(interval="none").compare(TRUTH).rows[0]
    assert row.error is not None
    assert row.covered is None


def test_the_text_sets_estimates_beside_the_truth(result):
    comparison = result.compare(TRUTH)
    text = str(comparison)
    for row in comparison.rows:
        (line,) = (x for x in text.splitlines() if x.startswith(f"{row.name} "))
        assert f"{row.truth:.3f}" in line
        assert f"{row.error:.3f}" in line
        words = [row.verdict, row.true_verdict] if row.verdict else []
        assert line.split()[-1 - len(words) :] == ["yes" if row.covered else "no", *words]
    assert all(long in text for long in ESTIMATORS.values())


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (TRUTH.drop(columns="sex"), r"no column 'sex' \(the true group\)"),
        (TRUTH.drop(columns="hired"), r"no column 'hired' \(the decision\)"),
        (TRUTH.drop(columns="stayed"), r"no column 'stayed' \(the label\)"),
        (TRUTH.iloc[:0], "is empty"),
        (TRUTH.head(100), "with the truth has 100 rows, but 200 were audited; compare with the"),
        (
            TRUTH.replace({"sex": {"man": "male"}}),
            "true group 'male' of the deployment table does not occur .* known are man, woman",
        ),
        (
            TRUTH.assign(sex=TRUTH["sex"].where(TRUTH.index > 4)),
            "5 of 200 rows of the deployment table have no true group",
        ),
        (
            TRUTH.assign(hired=TRUTH["hired"].where(TRUTH.index > 4)),
            "5 of 200 rows of the deployment table have no decision",
        ),
    ],
)
def test_a_table_that_does_not_hold_the_truth_is_an_error(result, truth, message):
    with pytest.raises(InputError, match=message):
        result.compare(truth)
