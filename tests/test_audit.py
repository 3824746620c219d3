"""Audits end to end: what comes out of two tables, and when nothing does."""

from __future__ import annotations

import json
import pickle
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.people import audited, tables

from quantifair import Audit, InputError, SketchMismatchError
from quantifair.datasets import simulate_lender
from quantifair.quantifiers import QUANTIFIERS

LABEL_MEASURES = (
    "true_positive_rate",
    "true_negative_rate",
    "positive_predictive_value",
    "negative_predictive_value",
    "equal_opportunity",
    "equalized_odds",
)
PERFECT = {"man": "p_man", "woman": "p_woman"}
NOISY = {"man": "q_man", "woman": "q_woman"}


def table(rows=400, seed=0, women=(0.6, 0.3), accuracy=0.8, repeat=False):
    """People with decision, label, group, and scores: perfect ones, and noisy ones (q).

    ``women`` are their shares among those rejected and hired. A noisy score is right with
    probability ``accuracy`` and says so.
    """
    rng = np.random.default_rng(seed)
    hired = (rng.random(rows) < 0.45).astype(int)
    woman = (rng.random(rows) < np.where(hired == 1, women[1], women[0])).astype(int)
    stayed = (rng.random(rows) < 0.3 + 0.3 * hired + 0.1 * woman).astype(int)
    right = rng.random(rows) < accuracy
    noisy = np.where(right == woman, accuracy, 1 - accuracy)
    frame = pd.DataFrame(
        {
            "x": rng.normal(1.5 * woman),
            "z": rng.normal(size=rows),
            "p_man": 1.0 - woman,
            "p_woman": woman.astype(float),
            "q_man": 1 - noisy,
            "q_woman": noisy,
            "hired": hired,
            "stayed": stayed,
            "sex": np.array(["man", "woman"])[woman],
        }
    )
    return pd.concat([frame, frame], ignore_index=True) if repeat else frame


def audit(**options) -> Audit:
    given = {"decision": "hired", "group": "sex", "label": "stayed", "replicates": 30}
    if not {"scores", "learner", "features", "classifier"} & set(options):
        given["scores"] = NOISY
    return Audit(**given | options)


def without_group(frame):
    return frame.drop(columns="sex")


def measured(auxiliary, deployment, measure_with=None, **options):
    fitted = audit(**options).fit(auxiliary)
    return fitted.measure(without_group(deployment), quantifier=measure_with)


def codes_of(result) -> list[str]:
    return [w.code for w in result.warnings]


def of_learner(**options):
    return {"features": ["x", "z"], "learner": LogisticRegression(), "folds": 2} | options


# Against the truth


@pytest.mark.parametrize("quantifier", ["cc", "pcc", "acc", "pacc", "sld"])
def test_a_perfect_group_classifier_gives_the_true_disparities(quantifier):
    deployment = table(500, seed=1, women=(0.3, 0.5))
    result = measured(table(), deployment, scores=PERFECT, quantifier=quantifier)
    comparison = result.compare(deployment)
    assert {r.name for r in comparison.rows} >= {f"{m} difference" for m in LABEL_MEASURES}
    assert len(comparison.rows) == 7 + 1 + 2 * 7
    for row in comparison.rows:
        # Perfect scores are calibrated to 1e-9 or better, not to 0 and 1.
        assert row.error == pytest.approx(0, abs=1e-7), row.name


@pytest.mark.parametrize("names", [("man", "woman"), ("woman", "man")])
def test_fairlearn_finds_the_same_where_groups_are_known(names):
    deployment = table(500, seed=1, women=(0.3, 0.5))
    result = measured(table(), deployment, scores=PERFECT, reference=names[0])
    truth = {"y_true": deployment["stayed"], "y_pred": deployment["hired"]}
    truth["sensitive_features"] = deployment["sex"]
    exactly = {"abs": 1e-7}  # as above
    for name in ("demographic_parity", "equal_opportunity", "equalized_odds"):
        measure = getattr(result, name)
        difference = getattr(metrics, f"{name}_difference")(**truth)
        assert abs(measure.difference.estimate) == pytest.approx(difference, **exactly)
        ratio = getattr(metrics, f"{name}_ratio")(**truth)
        assert measure.ratio.estimate == pytest.approx(ratio, **exactly)
    by_group = metrics.MetricFrame(
        metrics={
            "selection_rate": metrics.selection_rate,
            "true_positive_rate": metrics.true_positive_rate,
            "false_positive_rate": metrics.false_positive_rate,
            "true_negative_rate": metrics.true_negative_rate,
            "count": metrics.count,
        },
        **truth,
    ).by_group
    for group in result.groups:
        for name, value in by_group.loc[group.name].items():
            assert getattr(group, name).estimate == pytest.approx(value, abs=1e-5)


def test_shifted_groups_are_found_behind_noisy_scores():
    deployment = table(20_000, seed=1, women=(0.3, 0.6))
    result = measured(table(4000), deployment)
    (row,) = (
        r for r in result.compare(deployment).rows if r.name == "demographic_parity difference"
    )
    assert row.truth > 0.2
    # Four standard errors of a noisy score's prevalence, tpr - fpr = 0.6, from 2,000 people a cell.
    assert row.estimate.estimate == pytest.approx(row.truth, abs=4 * 0.4 / np.sqrt(1000) / 0.6)
    assert row.covered


def test_the_simulated_lender_is_audited_by_the_default_learner():
    lender = simulate_lender(auxiliary_rows=1500, deployment_rows=6000, seed=3)
    spec = Audit(decision="approved", group="gender", replicates=100)
    result = spec.fit(lender.auxiliary).measure(lender.deployment)
    comparison = result.compare(lender.truth, group="true_gender")
    parity = comparison.rows[0]
    assert parity.truth < -0.35
    assert parity.covered
    worst = {r.name: abs(r.error) for r in comparison.estimators}
    assert worst["sld"] < worst["pcc"] < worst["mlpe"]


# Symmetries


def test_the_other_reference_flips_the_sign():
    auxiliary, deployment = table(), table(500, seed=1)
    one = measured(auxiliary, deployment, quantifier="pacc")
    other = measured(auxiliary, deployment, quantifier="pacc", reference="woman")
    assert (one.demographic_parity.direction, other.demographic_parity.direction) == (
        "woman minus man",
        "man minus woman",
    )
    assert [g.name for g in other.groups] == ["woman", "man"]
    for name, measure in one.measures.items():
        sign = -1 if measure.signed else 1
        # Sums in another order.
        flipped = pytest.approx(sign * measure.difference.estimate, abs=1e-9)
        assert other.measures[name].difference.estimate == flipped
        assert other.measures[name].ratio.estimate == pytest.approx(measure.ratio.estimate)


def test_names_of_groups_do_not_matter():
    def renamed(frame):
        return frame.replace({"sex": {"man": "zebra", "woman": "aardvark"}})

    auxiliary, deployment = table(), table(500, seed=1)
    options = of_learner(quantifier="pacc", label=None)
    one = measured(auxiliary, deployment, **options).demographic_parity
    other = measured(renamed(auxiliary), renamed(deployment), **options).demographic_parity
    assert other.direction == "zebra minus aardvark"
    # Folds and classifiers are the same but for the sign, as exact as the solver.
    assert other.difference.estimate == pytest.approx(-one.difference.estimate, abs=1e-3)


def test_the_order_of_the_deployment_rows_does_not_matter():
    fitted = audit().fit(table())
    deployment = without_group(table(500, seed=1))
    shuffled = deployment.sample(frac=1, random_state=0)
    assert fitted.measure(shuffled).to_json() == fitted.measure(deployment).to_json()


def test_the_order_of_the_auxiliary_rows_does_not_matter():
    auxiliary, deployment = table(), table(500, seed=1)
    one = measured(auxiliary, deployment)
    other = measured(auxiliary.sample(frac=1, random_state=0), deployment)
    for name, measure in one.measures.items():
        for kind in ("estimate", "low", "high"):
            # Calibration sums in another order.
            same = pytest.approx(getattr(measure.difference, kind), abs=1e-9)
            assert getattr(other.measures[name].difference, kind) == same


def test_the_seed_decides_and_the_number_of_threads_does_not():
    auxiliary, deployment = table(), table(500, seed=1)
    options = of_learner(replicates=300, label=None)

    def result(**changes):
        shown = measured(auxiliary, deployment, **options | changes).to_dict()
        shown["settings"].pop("seed")
        return shown

    assert result() == result()
    assert result(n_jobs=2) == result()
    assert result(seed=1)["measures"] != result()["measures"]


# Sketches


def test_sketches_of_parts_are_the_sketch_of_the_whole():
    fitted = audit().fit(table())
    whole = without_group(table(500, seed=1))
    one, two, three = (fitted.sketch(p) for p in (whole[:100], whole[100:101], whole[101:]))
    expected = fitted.measure(whole).to_json()
    assert fitted.measure(one + two + three).to_json() == expected
    assert fitted.measure(three + (one + two)).to_json() == expected


def test_one_sketch_serves_every_quantifier():
    fitted = audit().fit(table())
    deployment = without_group(table(500, seed=1))
    sketch = fitted.sketch(deployment)
    for name in QUANTIFIERS:
        expected = fitted.measure(deployment, quantifier=name)
        found = fitted.measure(sketch, quantifier=name)
        assert found.to_json() == expected.to_json()
        difference = found.demographic_parity.difference.estimate
        assert found.estimators[name] == pytest.approx(difference, abs=1e-12)


def test_one_scoring_function_a_cell_serves_every_quantifier(monkeypatch):
    fits = []
    fit = LogisticRegression.fit

    def counted(self, *args, **kwargs):
        fits.append(self)
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(LogisticRegression, "fit", counted)
    fitted = audit(**of_learner(folds=3, replicates=5)).fit(table())
    deployment = without_group(table(300, seed=1))
    for name in QUANTIFIERS:
        fitted.measure(deployment, quantifier=name)
    assert len(fits) == 3 * len(fitted.cells) == 3 * 6


@pytest.mark.parametrize(
    "other",
    [
        of_learner(seed=1),
        of_learner(learner=LogisticRegression(C=0.1)),
        of_learner(features=["x"]),
        of_learner(calibrate=False),
        of_learner(favourable=0),
        of_learner(favourable_label=0),
        of_learner(reference="woman"),
    ],
)
@pytest.mark.parametrize("per_cell", [True, False])
def test_sketches_of_another_audit_are_refused(other, per_cell):
    auxiliary, deployment = table(), without_group(table(300, seed=1))
    mine = audit(**of_learner(per_cell=per_cell)).fit(auxiliary)
    theirs = audit(**other, per_cell=per_cell).fit(auxiliary)
    sketch = theirs.sketch(deployment)
    with pytest.raises(SketchMismatchError, match="not made by this audit's scoring function"):
        mine.measure(sketch)
    with pytest.raises(SketchMismatchError):
        mine.sketch(deployment) + sketch


def test_the_same_audit_made_again_takes_the_sketch():
    auxiliary, deployment = table(), without_group(table(300, seed=1))
    first, again = (audit(**of_learner()).fit(auxiliary) for _ in range(2))
    assert again.measure(first.sketch(deployment)).to_json() == first.measure(deployment).to_json()


# Options


def test_smoothing_is_the_papers_formula():
    auxiliary, deployment = table(), table(300, seed=1)
    result = measured(auxiliary, deployment, scores=PERFECT, label=None, smoothing=True)
    counts = {}
    for decision in (0, 1):
        cell = deployment[deployment["hired"] == decision]
        share = (auxiliary.loc[auxiliary["hired"] == decision, "sex"] == "woman").mean()
        women = (cell["sex"] == "woman").sum()
        counts[decision] = (women + share) / (len(cell) + 1) * len(cell)
    rate = counts[1] / (counts[0] + counts[1])
    assert result.groups[1].selection_rate.estimate == pytest.approx(rate, abs=1e-7)


def test_cells_may_share_one_quantifier():
    auxiliary, deployment = table(), table(300, seed=1)
    shares = {}
    for per_cell in (True, False):
        result = measured(auxiliary, deployment, quantifier="mlpe", per_cell=per_cell, label=None)
        shares[per_cell] = [c.prevalence["woman"].estimate for c in result.cells]
        warned = "one_quantifier" in [w.code for w in result.warnings]
        assert warned is not per_cell
    woman = auxiliary["sex"] == "woman"
    assert shares[False] == pytest.approx([woman.mean()] * 2)
    assert shares[True] == pytest.approx(woman.groupby(auxiliary["hired"]).mean().tolist())


def test_balanced_class_weights_change_little_where_scores_are_calibrated():
    auxiliary, deployment = table(3000, women=(0.2, 0.2)), table(3000, seed=1, women=(0.5, 0.3))
    found = {}
    for calibrate in (True, False):
        for weight in (None, "balanced"):
            learner = LogisticRegression(class_weight=weight)
            options = of_learner(learner=learner, calibrate=calibrate, label=None, replicates=0)
            result = measured(auxiliary, deployment, **options)
            found[calibrate, weight] = result.demographic_parity.difference.estimate
    # A thirtieth of a standard error with calibration, many without.
    assert found[True, "balanced"] == pytest.approx(found[True, None], abs=0.005)
    assert abs(found[False, "balanced"] - found[False, None]) > 0.05


def test_every_interval_contains_its_estimate():
    for seed in range(4):
        deployment = table(150, seed=seed + 1, women=(0.1, 0.02 * seed))
        result = measured(table(200, seed=seed), deployment, level=0.5)
        figures = [f for m in result.measures.values() for f in (m.difference, m.ratio, m.variance)]
        figures += [p.ratio for m in result.measures.values() for p in m.pairs]
        figures += [f for g in result.groups for f in (g.count, g.share, g.selection_rate)]
        figures += [f for c in result.cells for f in c.prevalence.values()]
        estimated = [f for f in figures if f.estimate is not None]
        assert len(estimated) > 20
        assert all(f.low <= f.estimate <= f.high for f in estimated)


def test_a_higher_level_gives_a_wider_interval():
    auxiliary, deployment = table(), table(300, seed=1)
    widths = []
    for level in (0.5, 0.8, 0.95):
        found = measured(auxiliary, deployment, level=level).demographic_parity.difference
        widths.append(found.high - found.low)
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.parametrize(
    "learner",
    [
        "logistic",
        "svm",
        "boosting",
        GaussianNB(),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        make_pipeline(
            ColumnTransformer([("n", StandardScaler(), ["x"]), ("t", OneHotEncoder(), ["town"])]),
            LogisticRegression(),
        ),
    ],
    ids=str,
)
def test_any_classifier_serves_by_column_names(learner):
    def with_town(frame):
        return frame.assign(town=np.where(frame["z"] > 0, "here", "there"))

    features = ["z", "x"] if isinstance(learner, GaussianNB | DecisionTreeClassifier) else None
    auxiliary, deployment = with_town(table(600)), with_town(table(2000, seed=1, women=(0.2, 0.7)))
    columns = [f"{k}_{g}" for k in "pq" for g in ("man", "woman")]
    options = {"learner": learner, "features": features, "label": None}
    options |= {"replicates": 0, "folds": 2, "quantifier": "pacc"}
    result = measured(auxiliary.drop(columns=columns), deployment.drop(columns=columns), **options)
    # The truth is 0.5; each finds the sign, at least.
    assert result.demographic_parity.difference.estimate > 0.1


# Where there is no answer


def spoilt(kind, frame):
    """Make the auxiliary cell of those hired who left unusable."""
    cell = (frame["hired"] == 1) & (frame["stayed"] == 0)
    women = frame.index[cell & (frame["sex"] == "woman")]
    if kind == "group_absent":
        return frame.drop(index=women)
    if kind == "group_too_small":
        return frame.drop(index=women[4:])
    noise = np.where(np.arange(cell.sum()) % 3, 0.2, 0.8)
    return frame.assign(
        q_woman=frame["q_woman"].mask(cell, pd.Series(noise, frame.index[cell])),
        q_man=frame["q_man"].mask(cell, pd.Series(1 - noise, frame.index[cell])),
    )


ADVICE = {
    "group_absent": "survey such people, or merge groups",
    "group_too_small": "Survey more, or merge groups",
    "not_separated": "add features related to the group, or survey more people",
}


@pytest.mark.parametrize("kind", ADVICE)
def test_what_depends_on_an_unusable_cell_is_not_estimated(kind):
    result = measured(spoilt(kind, table(800)), table(500, seed=1))
    estimable = {n for n, m in result.measures.items() if m.difference.estimate is not None}
    assert estimable == {
        "demographic_parity",
        "true_positive_rate",
        "equal_opportunity",
        "negative_predictive_value",
    }
    woman = result.groups[1]
    assert woman.true_positive_rate.estimate is not None
    for rate in ("false_positive_rate", "true_negative_rate", "positive_predictive_value"):
        figure = getattr(woman, rate)
        assert (figure.estimate, figure.low, figure.high) == (None, None, None)
    (warning,) = (w for w in result.warnings if w.code == kind)
    assert warning.where == "stayed=0, hired=1"
    assert ADVICE[kind] in warning.message
    json.loads(result.to_json())


def test_without_a_decisions_cell_there_is_no_demographic_parity():
    auxiliary = table(800)
    women = auxiliary.index[(auxiliary["hired"] == 1) & (auxiliary["sex"] == "woman")]
    result = measured(auxiliary.drop(index=women), table(500, seed=1), label=None)
    assert result.demographic_parity.difference.estimate is None
    assert result.demographic_parity.pairs[0].difference.estimate is None
    assert [g.share.estimate for g in result.groups] == [None, None]
    assert set(result.estimators.values()) == {None}


@pytest.mark.parametrize("quantifier", ["cc", "pcc", "mlpe"])
def test_what_does_not_correct_for_shift_is_estimated_from_anything(quantifier):
    auxiliary = spoilt("not_separated", table(800))
    result = measured(auxiliary, table(500, seed=1), quantifier=quantifier)
    assert result.true_negative_rate.difference.estimate is not None
    assert codes_of(result).count("not_separated") == 1


@pytest.mark.parametrize(
    ("quantifier", "calibrate", "estimated"),
    [
        ("sld", True, False),
        ("sld", False, True),
        ("pacc", True, True),
        ("pcc", True, True),
    ],
)
def test_an_overfitted_classifier_is_refused_by_what_corrects_its_probabilities(
    quantifier, calibrate, estimated
):
    overfitted = of_learner(learner=DecisionTreeClassifier(random_state=0), label=None)
    options = overfitted | {"quantifier": quantifier, "calibrate": calibrate}
    result = measured(table(), table(300, seed=1), **options)
    assert (result.demographic_parity.difference.estimate is not None) is estimated
    warnings = [w for w in result.warnings if w.code == "broken_proxy"]
    assert [w.where for w in warnings] == ["hired=0", "hired=1"]
    advice = "use quantifier='pacc'"
    assert all((advice in w.message) is not estimated for w in warnings)


def test_estimates_outside_the_possible_are_flagged():
    surer = table(500, seed=1, women=(0.5, 0.0), accuracy=0.95)
    result = measured(table(), surer, label=None, quantifier="pacc")
    clipped = [w for w in result.warnings if w.code == "clipped"]
    assert [w.where for w in clipped] == ["hired=1"]


def test_groups_with_few_people_are_flagged():
    auxiliary = table(800)
    women = auxiliary.index[(auxiliary["hired"] == 1) & (auxiliary["sex"] == "woman")]
    auxiliary = auxiliary.drop(index=women[10:])
    result = measured(auxiliary, table(500, seed=1), label=None, scores=PERFECT)
    (warning,) = result.warnings
    assert (warning.code, warning.where) == ("few_rows", "hired=1")
    assert "only 10 auxiliary people of group 'woman'" in warning.message


def test_an_empty_deployment_cell_holds_nobody():
    deployment = table(500, seed=1)
    deployment = deployment[(deployment["hired"] == 1) | (deployment["stayed"] == 0)]
    result = measured(table(800), deployment)
    # Nobody who stayed was rejected.
    assert [g.true_positive_rate.estimate for g in result.groups] == [1, 1]
    assert result.true_positive_rate.difference.estimate == 0
    assert [w.where for w in result.warnings if w.code == "empty_cell"] == ["stayed=1, hired=0"]


def test_a_deployment_with_one_decision_is_an_error():
    deployment = table(300, seed=1)
    with pytest.raises(InputError, match="deployment rows have hired=1; an audit compares"):
        measured(table(), deployment[deployment["hired"] == 1])


def test_labels_among_those_hired_allow_the_positive_predictive_value():
    auxiliary, deployment = table(800), table(500, seed=1)
    whole = measured(auxiliary, deployment)
    for known in ("auxiliary", "deployment", "both"):
        tables = [
            frame.assign(stayed=frame["stayed"].where((frame["hired"] == 1) | (known == other)))
            for frame, other in ((auxiliary, "deployment"), (deployment, "auxiliary"))
        ]
        result = measured(*tables)
        assert list(result.measures) == ["demographic_parity", "positive_predictive_value"]
        expected = whole.positive_predictive_value.difference
        assert result.positive_predictive_value.difference == expected
        assert "labels_among_accepted" in codes_of(result)
        with pytest.raises(InputError, match="labels among unfavourable decisions"):
            result.equalized_odds  # noqa: B018


@pytest.mark.parametrize(("missing", "count"), [(51, "51 of 300"), (300, "300 of 300")])
def test_missing_labels_are_an_error_that_counts_all_of_them(missing, count):
    deployment = table(300, seed=1)
    deployment["stayed"] = deployment["stayed"].where(deployment.index >= missing)
    with pytest.raises(InputError, match=f"^{count} rows of the deployment table have no label"):
        measured(table(), deployment)


@pytest.mark.parametrize("where", ["auxiliary", "deployment"])
def test_missing_labels_are_counted_among_those_hired_where_only_they_have_any(where):
    def partly(frame):
        kept = (frame["hired"] == 1) & (frame.index > 50)
        return frame.assign(stayed=frame["stayed"].where(kept))

    people = table(300, seed=1)
    hired = people["hired"] == 1
    tables = {"auxiliary": table(), "deployment": table(), where: partly(people)}
    count = f"{hired[:51].sum()} of {hired.sum()} rows with .* have no label"
    with pytest.raises(InputError, match=count):
        measured(*tables.values())


# Several groups and attributes


def three_groups(rows, seed, shares):
    rng = np.random.default_rng(seed)
    hired = rng.integers(0, 2, rows)
    codes = np.array([rng.choice(3, p=shares[h]) for h in hired])
    stated = np.where(rng.random(rows) < 0.8, codes, rng.integers(0, 3, rows))
    scores = 0.1 + 0.7 * np.eye(3)[stated]
    frame = pd.DataFrame(scores, columns=["p_a", "p_b", "p_c"])
    return frame.assign(hired=hired, origin=np.array(["a", "b", "c"])[codes])


@pytest.mark.parametrize("quantifier", ["sld", "pacc"])
def test_three_groups_are_compared_in_pairs(quantifier):
    auxiliary = three_groups(900, 0, [[0.3, 0.3, 0.4], [0.5, 0.3, 0.2]])
    deployment = three_groups(6000, 1, [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    scores = {g: f"p_{g}" for g in "abc"}
    spec = audit(scores=scores, group="origin", label=None, quantifier=quantifier)
    result = spec.fit(auxiliary).measure(deployment.drop(columns="origin"))
    rates = deployment.groupby("origin")["hired"].mean()
    estimates = [g.selection_rate.estimate for g in result.groups]
    assert estimates == pytest.approx(rates.tolist(), abs=0.1)
    found = result.demographic_parity
    assert (found.signed, found.direction) == (False, "largest minus smallest")
    assert found.difference.estimate == pytest.approx(max(estimates) - min(estimates))
    assert found.ratio.estimate == pytest.approx(min(estimates) / max(estimates))
    assert found.variance.estimate == pytest.approx(np.var(estimates))
    differences = {(p.group, p.reference): p.difference.estimate for p in found.pairs}
    by_name = dict(zip("abc", estimates, strict=True))
    assert differences == pytest.approx(
        {(x, y): by_name[x] - by_name[y] for x, y in (("b", "a"), ("c", "a"), ("c", "b"))}
    )


def test_attributes_are_sums_over_intersections():
    rng = np.random.default_rng(0)

    def people(rows):
        frame = table(rows, seed=rows)
        old = rng.random(rows) < np.where(frame["hired"] == 1, 0.6, 0.3)
        frame["age"] = np.where(old, "old", "young")
        woman = frame["sex"] == "woman"
        return frame.assign(x=rng.normal(3.0 * woman), z=rng.normal(3.0 * old))

    deployment = people(500)
    spec = audit(**of_learner(group=["sex", "age"], label=None))
    result = spec.fit(people(900)).measure(deployment.drop(columns=["sex", "age"]))
    names = [g.name for g in result.groups]
    assert names == ["man & old", "man & young", "woman & old", "woman & young"]
    assert result.groups[2].attributes == {"sex": "woman", "age": "old"}
    assert list(result.attributes) == ["sex", "age"]
    for column, levels in {"sex": ["man", "woman"], "age": ["old", "young"]}.items():
        alone = result.attributes[column]
        assert [g.name for g in alone.groups] == levels
        for group in alone.groups:
            parts = [g for g in result.groups if g.attributes[column] == group.name]
            for figure in ("count", "share"):
                summed = sum(getattr(g, figure).estimate for g in parts)
                assert getattr(group, figure).estimate == pytest.approx(summed)
            hired = sum(g.count.estimate * g.selection_rate.estimate for g in parts)
            assert group.selection_rate.estimate == pytest.approx(hired / group.count.estimate)
        first, second = (g.selection_rate.estimate for g in alone.groups)
        difference = alone.measures["demographic_parity"].difference.estimate
        assert difference == pytest.approx(second - first)


def crossed(rows, seed=0, old_women=None):
    """Two attributes that ``x`` and ``z`` tell apart, with few old women among those hired."""
    rng = np.random.default_rng(seed + 100)
    frame = table(rows, seed=seed)
    old, woman = rng.random(rows) < 0.4, frame["sex"] == "woman"
    frame["age"] = np.where(old, "old", "young")
    frame = frame.assign(x=rng.normal(3.0 * woman), z=rng.normal(3.0 * old))
    chosen = frame.index[(frame["hired"] == 1) & woman & old]
    return frame if old_women is None else frame.drop(index=chosen[old_women:])


@pytest.mark.parametrize("old_women", [0, 3])
def test_attributes_are_audited_alone_where_an_intersection_is_too_small(old_women):
    auxiliary, deployment = crossed(900, old_women=old_women), crossed(500, seed=1)
    deployment = deployment.drop(columns=["sex", "age"])
    options = of_learner(label=None)
    fitted = audit(**options, group=["sex", "age"], reference="woman & young").fit(auxiliary)
    result = fitted.measure(deployment)
    assert {g.share.estimate for g in result.groups} == {None}
    for column, reference in {"sex": "woman", "age": "young"}.items():
        spec = audit(**options, group=column, reference=reference)
        alone = spec.fit(auxiliary).measure(deployment)
        assert result.attributes[column].measures == alone.measures
        assert result.attributes[column].groups == alone.groups
    assert codes_of(result) == ["audited_alone", "group_too_small" if old_women else "group_absent"]
    parts = fitted.sketch(deployment.head(100)) + fitted.sketch(deployment.tail(400))
    assert fitted.measure(parts).attributes == result.attributes


def test_an_intersection_of_one_leaves_the_attributes():
    auxiliary = crossed(900)
    auxiliary.loc[0, "age"] = "unknown"
    spec = audit(**of_learner(group=["sex", "age"], label=None))
    result = spec.fit(auxiliary).measure(crossed(500, seed=1))
    sex, age = (result.attributes[c].measures["demographic_parity"] for c in ("sex", "age"))
    assert sex.difference.estimate is not None
    assert age.difference.estimate is None
    assert any("group 'unknown' with hired=" in w.message for w in result.warnings)


def test_a_sketch_of_other_attributes_is_refused():
    auxiliary, deployment = crossed(900, old_women=0), crossed(500, seed=1)
    options = of_learner(label=None)
    sketch = audit(**options, group="sex").fit(auxiliary).sketch(deployment)
    with pytest.raises(SketchMismatchError, match="other attributes"):
        audit(**options, group=["sex", "age"]).fit(auxiliary).measure(sketch)


def test_probabilities_of_intersections_tell_nothing_of_an_attribute_alone():
    def scored(people):
        shares = np.random.default_rng(0).dirichlet(np.ones(4), len(people)).T
        return people.assign(**dict(zip(scores.values(), shares, strict=True)))

    names = ["man & old", "man & young", "woman & old", "woman & young"]
    scores = {name: f"p{i}" for i, name in enumerate(names)}
    spec = audit(group=["sex", "age"], scores=scores, label=None)
    result = spec.fit(scored(crossed(900, old_women=0))).measure(scored(crossed(500, seed=1)))
    assert "audited_alone" not in codes_of(result)
    assert result.attributes["sex"].measures["demographic_parity"].difference.estimate is None


# Weights and people


def test_weights_of_the_deployment_make_weighted_rates():
    deployment = table(300, seed=1)
    weights = np.random.default_rng(2).uniform(0.5, 3, 300)
    result = measured(
        table().assign(w=1.0), deployment.assign(w=weights), scores=PERFECT, weight="w"
    )
    for group in result.groups:
        ours = deployment["sex"] == group.name
        hired = np.average(deployment.loc[ours, "hired"], weights=weights[ours])
        # Weights are kept to 2^-20.
        assert group.selection_rate.estimate == pytest.approx(hired, abs=1e-5)
        assert group.count.estimate == pytest.approx(weights[ours].sum(), abs=1e-3)


# Weights have mean one, so calibration's ridge weighs a little more against fewer rows.
@pytest.mark.parametrize(("calibrate", "tolerance"), [(False, 1e-9), (True, 1e-3)])
def test_weights_of_the_auxiliary_table_are_the_people_they_stand_for(calibrate, tolerance):
    auxiliary = table()
    times = np.random.default_rng(2).integers(1, 4, len(auxiliary))
    repeated = auxiliary.loc[auxiliary.index.repeat(times)]
    deployment = table(300, seed=1)
    # One that weighs the two samples against each other counts weighted people by Kish's rule.
    options = {"calibrate": calibrate, "replicates": 0, "quantifier": "sld"}
    weighted = measured(auxiliary.assign(w=times * 1.0), deployment, weight="w", **options)
    counted = measured(repeated, deployment, **options)
    assert "deployment_unweighted" in codes_of(weighted)
    for name, measure in weighted.measures.items():
        expected = counted.measures[name].difference.estimate
        assert measure.difference.estimate == pytest.approx(expected, abs=tolerance)


def test_only_the_proportions_of_the_auxiliary_weights_matter():
    weights = np.random.default_rng(3).uniform(0.5, 3, 200)
    found = {}
    for scale in (1e-4, 1.0, 1e4):
        auxiliary, deployment = tables(city=None)
        auxiliary = auxiliary.assign(w=scale * weights)
        result = audited(auxiliary, deployment, weight="w", replicates=100)
        found[scale] = result.demographic_parity.difference
    for scale in (1e-4, 1e4):
        assert astuple(found[scale]) == pytest.approx(astuple(found[1.0]), abs=1e-6)


def test_people_in_both_tables_keep_their_known_group():
    auxiliary = table(300).assign(id=np.arange(300))
    deployment = table(300).assign(id=[str(i) for i in range(300)])
    result = measured(auxiliary, deployment, id="id", scores=NOISY)
    for row in result.compare(deployment).rows:
        assert row.error == pytest.approx(0, abs=1e-12)
        assert row.covered
    assert result.demographic_parity.difference.low == result.demographic_parity.difference.high
    assert "known_people" in codes_of(result)
    assert result.cells[0].known == dict(
        auxiliary[auxiliary["hired"] == 0].groupby("sex").size().astype(float)
    )


def test_known_people_are_counted_as_rows_not_as_weights():
    auxiliary = table(300).assign(id=np.arange(300), w=3.0)
    result = measured(auxiliary, auxiliary.head(200), id="id", weight="w")
    assert sum(sum(cell.known.values()) for cell in result.cells[:2]) == 600
    (message,) = [w.message for w in result.warnings if w.code == "known_people"]
    assert message.startswith("200 deployment rows are of people in the auxiliary table")


def test_repeated_people_are_counted_once_in_the_interval():
    auxiliary = table(600).assign(id=-1 - np.arange(600))
    deployment = table(200, seed=1, repeat=True)
    alone = deployment.assign(id=np.arange(400))
    twice = deployment.assign(id=np.arange(400) % 200)
    fitted = audit(id="id", replicates=200).fit(auxiliary)
    apart, together = (fitted.measure(without_group(d)) for d in (alone, twice))
    assert apart.demographic_parity.difference.estimate == pytest.approx(
        together.demographic_parity.difference.estimate
    )
    assert "repeated_people" in codes_of(together)
    assert "repeated_people" not in codes_of(apart)
    narrow, wide = (r.demographic_parity.difference for r in (apart, together))
    assert wide.high - wide.low > narrow.high - narrow.low


# Without decisions, or with a classifier that decides


def test_prevalences_are_estimated_without_a_decision():
    deployment = table(500, seed=1)
    spec = audit(scores=PERFECT, decision=None, label=None)
    result = spec.fit(table()).quantify(without_group(deployment))
    (cell,) = result.cells
    shares = deployment["sex"].value_counts(normalize=True)
    assert cell.prevalence["woman"].estimate == pytest.approx(shares["woman"], abs=1e-7)
    assert cell.deployment_rows == 500
    with pytest.raises(InputError, match="an audit needs decision= or classifier="):
        spec.fit(table()).measure(without_group(deployment))


def test_prevalences_are_estimated_by_decision():
    deployment = table(500, seed=1)
    result = audit(scores=PERFECT, label=None).fit(table()).quantify(without_group(deployment))
    shares = (deployment["sex"] == "woman").groupby(deployment["hired"]).mean()
    assert [c.name for c in result.cells] == ["hired=0", "hired=1"]
    found = [c.prevalence["woman"].estimate for c in result.cells]
    assert found == pytest.approx(shares.tolist(), abs=1e-7)


def test_the_audited_system_may_decide_itself():
    auxiliary, deployment = table(), table(500, seed=1)
    decided = [f.assign(hired=(f["z"] > 0).astype(int)) for f in (auxiliary, deployment)]
    options = of_learner(label=None)
    expected = measured(*decided, **options)
    columns = ["x", "z", "sex"]
    spec = Audit(
        group="sex",
        classifier=lambda frame: (frame["z"] > 0).astype(int),
        replicates=30,
        **{k: v for k, v in options.items() if k != "label"},
    )
    found = spec.fit(auxiliary[columns]).measure(deployment[["x", "z"]])
    assert found.demographic_parity.difference == expected.demographic_parity.difference
    assert found.demographic_parity.pairs == expected.demographic_parity.pairs


def test_a_function_that_decides_sees_columns_that_are_no_features():
    columns = ["x", "z", "sex"]
    spec = Audit(group="sex", features=["x"], classifier=lambda frame: frame["z"] > 0, replicates=0)
    found = spec.fit(table()[[*columns, "p_man"]]).measure(table(500, seed=1)[["x", "z"]])
    truth = table(500, seed=1)
    assert found.settings["features"] == ["x"]
    assert found.cells[1].deployment_rows == (truth["z"] > 0).sum()


def fails(frame):
    return frame["salary"] > 0


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (LogisticRegression(), "LogisticRegression can't decide on the auxiliary .*: NotFittedE"),
        (fails, "audited classifier fails can't decide on the auxiliary table: KeyError: 'salary'"),
    ],
)
def test_a_classifier_that_can_not_decide_says_why_in_one_sentence(classifier, message):
    with pytest.raises(InputError, match=message) as raised:
        Audit(group="sex", classifier=classifier).fit(table()[["x", "z", "sex"]])
    assert "\n" not in str(raised.value)


def test_features_that_the_deployment_lacks_are_left_out():
    auxiliary, deployment = table()[["x", "z", "hired", "sex"]], table(500, seed=1)[["x", "hired"]]
    spec = Audit(decision="hired", group="sex", replicates=30)
    result = spec.fit(auxiliary).measure(deployment)
    expected = spec.fit(auxiliary[["x", "hired", "sex"]]).measure(deployment)
    assert result.settings["features"] == ["x"]
    assert result.measures == expected.measures
    assert "not_shared" in codes_of(result)


def test_one_feature_may_be_named_alone():
    options = of_learner(label=None)
    alone, listed = (
        measured(table(), table(300, seed=1), **(options | {"features": f}))
        for f in ("q_man", ["q_man"])
    )
    assert alone.settings["features"] == ["q_man"]
    assert alone.measures == listed.measures


@pytest.mark.parametrize("reference", [1, 1.0, "1"], ids=repr)
def test_the_reference_and_the_scores_may_name_numbered_groups_in_any_way(reference):
    numbered = table().assign(sex=lambda t: (t["sex"] == "woman").astype(float))
    scores = {0.0: "q_man", 1.0: "q_woman"}
    fitted = audit(scores=scores, label=None, reference=reference).fit(numbered)
    assert fitted.groups == ["1", "0"]


def test_a_result_can_be_kept_and_compared_later_without_the_people():
    deployment = table(300, seed=1)
    result = measured(table(), deployment)
    kept = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert kept == result
    assert kept.compare(deployment) == result.compare(deployment)
    larger = measured(table(4000), deployment)
    # A row more or less of a sum has another number of bytes, the rows themselves many.
    assert len(pickle.dumps(larger)) < len(pickle.dumps(result)) + 400


def test_features_that_were_asked_for_have_to_be_there():
    deployment = table(500, seed=1)[["x", "hired"]]
    with pytest.raises(InputError, match="deployment table has no column 'z'"):
        audit(**of_learner(label=None)).fit(table()).measure(deployment)


def test_a_group_column_in_the_deployment_is_ignored_and_told():
    fitted = audit(label=None).fit(table())
    deployment = table(300, seed=1)
    blind, seeing = fitted.measure(without_group(deployment)), fitted.measure(deployment)
    assert seeing.measures == blind.measures
    assert codes_of(seeing) == ["group_in_deployment", *codes_of(blind)]


def test_what_is_said_of_a_table_stays_with_its_sketch_and_is_said_once():
    fitted = audit(label=None, weight="w").fit(table().assign(w=1.0))
    deployment = table(300, seed=1)
    parts = deployment[:100], deployment[100:200], without_group(deployment[200:])
    result = fitted.measure(sum(fitted.sketch(part) for part in parts))
    assert result.warnings == fitted.measure(deployment).warnings
    assert codes_of(result)[:2] == ["group_in_deployment", "deployment_unweighted"]


def test_progress_is_told_in_rows():
    told = []
    fitted = audit(label=None).fit(table())
    fitted.measure(table(300, seed=1), progress=lambda *rows: told.append(rows))
    assert told[-1] == (300, 300)


# Options that can't be


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": ()}, "group= is needed"),
        ({"training": "fold"}, "no training 'fold'; did you mean 'folds'"),
        ({"level": 95}, "level is a probability such as 0.95, not 95"),
        ({"level": 0.0}, "level is a probability"),
        ({"folds": 1}, "folds must be at least 2, not 1"),
        ({"replicates": -1}, "replicates must be at least 0, not -1"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"seed": None}, "seed is a whole number or a NumPy generator, not None"),
        ({"seed": 2**32}, "seed must be below 4294967296, not 4294967296"),
        ({"level": "0.9"}, "level is a probability such as 0.95, not '0.9'"),
        ({"replicates": 10.5}, "replicates is a whole number, not 10.5"),
        ({"folds": 2.5}, "folds is a whole number, not 2.5"),
        ({"n_jobs": "2"}, "n_jobs is a whole number, not '2'"),
        ({"n_jobs": 0}, "n_jobs is a number of threads"),
        ({"learner": "logistics"}, "no learner 'logistics'; did you mean 'logistic'"),
        ({"learner": LogisticRegression}, r"instance, such as LogisticRegression\(\)"),
        ({"learner": "svm", "scores": NOISY}, "learner= has no use"),
        ({"scores": ["p_man", "p_woman"]}, "scores= maps each group to a column"),
        ({"features": ["x"], "scores": NOISY}, "scores= .* features= has no use"),
        ({"training": "split", "scores": NOISY}, "scores= .* training= has no use"),
        ({"folds": 3, "scores": NOISY}, "scores= .* folds= has no use"),
        ({"favourable": 1, "decision": None}, r"\(favourable=\) has no use .* \(decision=\)"),
        ({"favourable_label": 1}, r"\(favourable_label=\) has no use without .* \(label=\)"),
        ({"quantifier": "sdl"}, "no quantifier 'sdl'; did you mean 'sld'"),
    ],
)
def test_options_are_checked_before_the_work(options, message):
    with pytest.raises(InputError, match=message):
        Audit(**{"decision": "hired", "group": "sex"} | options)


def test_a_generator_gives_the_seed_which_is_recorded():
    one, same = (audit(seed=np.random.default_rng(3)) for _ in range(2))
    assert one.seed == same.seed
    result = one.fit(table()).measure(without_group(table(300, seed=1)))
    assert json.loads(result.to_json())["seed"] == one.seed
    rng = np.random.default_rng(3)
    assert audit(seed=rng).seed != audit(seed=rng).seed


def test_numbers_of_numpy_are_recorded_as_numbers():
    given = {"seed": np.int64(7), "folds": np.int32(3), "level": np.float32(0.5)}
    spec = Audit(decision="hired", group="sex", **given)
    assert [type(getattr(spec, name)) for name in given] == [int, int, float]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            {"man": "p_man"},
            r"scores= names the groups \['man'\], the table holds \['man', 'woman'\]",
        ),
        ({"man": "p_man", "woman": "p"}, "no column 'p'"),
        ({"man": "p_man", "woman": "town"}, "score column 'town' holds texts, not probabilities"),
        ({"man": "p_man", "woman": "x"}, "not probabilities that sum to one"),
    ],
)
def test_score_columns_are_checked(scores, message):
    with pytest.raises(InputError, match=message):
        audit(scores=scores).fit(table().assign(town="here"))


def test_score_columns_of_the_deployment_are_checked():
    deployment = table(300, seed=1)
    deployment.loc[deployment.index[deployment["hired"] == 0][:3], "q_man"] = np.nan
    rejected = int((deployment["hired"] == 0).sum())
    with pytest.raises(InputError, match=f"3 of {rejected} rows in the score columns q_man, q_"):
        measured(table(), deployment)


@pytest.mark.parametrize("calibrate", [True, False])
def test_scores_that_mean_the_contrary_give_no_estimate(calibrate):
    """Columns of the wrong groups: no number, whether scores are calibrated or not."""
    rng = np.random.default_rng(0)
    man = rng.random(600) < 0.5
    score = np.clip(np.where(man, 0.7, 0.3) + rng.normal(0, 0.1, 600), 0.01, 0.99)
    frame = pd.DataFrame({"p": score, "q": 1 - score, "hired": rng.integers(0, 2, 600)})
    auxiliary = frame.assign(sex=np.where(man, "man", "woman"))
    swapped = {"man": "q", "woman": "p"}
    spec = Audit(decision="hired", group="sex", scores=swapped, calibrate=calibrate)
    result = spec.fit(auxiliary).measure(frame)
    assert result.demographic_parity.difference.estimate is None
    assert "broken_proxy" in codes_of(result)
