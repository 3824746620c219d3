"""Results: frozen, printable, and the same in JSON and in frames."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from quantifair import Audit, Figure, InputError
from quantifair.results import RATES
from quantifair.serialisation import SCHEMA_VERSION
from quantifair.text import aligned, percent

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


def audited(auxiliary=None, **options):
    given = {"decision": "hired", "group": "sex", "scores": SCORES, "replicates": 20}
    fitted = Audit(**given | options).fit(table() if auxiliary is None else auxiliary)
    return fitted.measure(table(200, seed=1).drop(columns="sex"))


@pytest.fixture(scope="module")
def result():
    return audited(label="stayed")


@pytest.fixture(scope="module")
def unknown():
    """A result without any estimate: hired women were not surveyed."""
    auxiliary = table()
    return audited(auxiliary[(auxiliary["hired"] == 0) | (auxiliary["sex"] == "man")])


# Figures


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(0.1234, 0.05, 0.2), "0.123 [0.050, 0.200]"),
        (Figure(-0.5), "-0.500"),
        (Figure(4.0, 2.0, math.inf), "4.000 [2.000, inf]"),
        (Figure(None), "not estimable"),
    ],
)
def test_a_figure_is_shown_with_its_interval(figure, text):
    assert str(figure) == text


@pytest.mark.parametrize("level", [(0.95, "95%"), (0.975, "97.5%"), (0.999, "99.9%"), (0.8, "80%")])
def test_a_level_is_shown_to_the_digit(level):
    assert percent(level[0]) == level[1]


def test_results_are_frozen(result):
    for part in (result, result.groups[0], result.demographic_parity, result.cells[0]):
        name = dataclasses.fields(part)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, name, None)


def test_results_with_the_same_figures_are_equal(result):
    assert audited(label="stayed") == result
    assert audited(label="stayed", seed=1) != result


# Text


def test_the_repr_is_one_short_line(result, unknown):
    difference = result.demographic_parity.difference
    assert repr(result) == (
        f"AuditResult(demographic_parity={difference}, groups=2, warnings={len(result.warnings)})"
    )
    assert repr(unknown) == ("AuditResult(demographic_parity=not estimable, groups=2, warnings=1)")


def test_the_text_shows_every_measure_group_and_warning(unknown, result):
    lines = str(result).splitlines()
    assert lines[0] == "Audit of hired=1 by sex: 200 deployment rows, 95% intervals"
    assert "label: stayed=1 counts as +" in lines
    assert "counts as +" not in str(unknown)
    parity = result.demographic_parity.difference
    signed = f"{parity.estimate:+.3f} [{parity.low:+.3f}, {parity.high:+.3f}]"
    shown = next(line for line in lines if line.startswith("demographic_parity"))
    assert signed in shown
    assert "woman minus man" in shown
    starts = {line.split()[0] for line in lines if line}
    assert starts >= {*result.measures, "man", "woman"}
    assert all(f"- {w.code}: " in str(unknown) for w in unknown.warnings)
    assert "not estimable" in str(unknown)
    assert max(len(line) for line in str(unknown).splitlines()) <= 100


def test_the_text_has_a_table_for_each_attribute():
    auxiliary = table(600).assign(age=np.tile(["old", "young"], 300))
    result = audited(auxiliary, group=["age", "sex"], scores=None, replicates=0)
    text = str(result)
    assert text.index("age alone") < text.index("sex alone")


def test_a_prevalence_result_is_a_table():
    spec = Audit(decision="hired", group="sex", scores=SCORES, replicates=20)
    found = spec.fit(table()).quantify(table(200, seed=1))
    lines = str(found).splitlines()
    assert lines[0].split() == ["people", "rows", "man", "woman"]
    assert lines[2].split()[0] == "hired=0"
    assert str(found.cells[0].prevalence["woman"]) in lines[2]
    assert json.loads(found.to_json())["cells"][0]["name"] == "hired=0"


def test_columns_are_as_wide_as_their_longest_cell():
    assert aligned(["a", "bb"], [["long", "x"], ["", "yy"]]).splitlines() == [
        "a     bb",
        "----  --",
        "long  x",
        "      yy",
    ]


def test_line_breaks_in_names_do_not_break_the_table():
    auxiliary = table().replace({"sex": {"man": "m\na\tn"}})
    scores = {"m\na\tn": "p_man", "woman": "p_woman"}
    spec = Audit(decision="hired", group="sex", scores=scores, replicates=0)
    result = spec.fit(auxiliary).measure(table(200, seed=1))
    text = str(result)
    assert "\nm\\na\\tn  " in text
    assert "woman minus m\\na\\tn" in text
    assert result.groups[0].name == "m\na\tn"


# JSON


def refuse(constant):
    raise ValueError(constant)


def test_json_is_valid_and_complete(result):
    shown = json.loads(result.to_json(), parse_constant=refuse)
    assert shown == result.to_dict()
    assert shown["schema_version"] == SCHEMA_VERSION
    parity = result.demographic_parity
    assert shown["measures"]["demographic_parity"]["difference"] == {
        "estimate": parity.difference.estimate,
        "low": parity.difference.low,
        "high": parity.difference.high,
    }
    verdict = shown["measures"]["demographic_parity"]["verdict"]
    assert verdict == dataclasses.asdict(parity.verdict)
    assert verdict["value"] in {"fair", "unfair", "inconclusive"}
    assert shown["measures"]["equalized_odds"]["ratio_verdict"] is None
    fields = {f.name for f in dataclasses.fields(result) if not f.name.startswith("_")}
    assert set(shown) == {"schema_version", "seed"} | fields
    assert shown["cells"][0]["auxiliary_rows"] == result.cells[0].auxiliary_rows


def test_what_is_not_estimated_is_null(unknown):
    shown = json.loads(unknown.to_json(), parse_constant=refuse)
    nothing = {"estimate": None, "low": None, "high": None}
    assert shown["measures"]["demographic_parity"]["difference"] == nothing
    assert shown["groups"][0]["share"] == nothing
    assert shown["groups"][0]["true_positive_rate"] is None
    assert set(shown["estimators"].values()) == {None}
    assert shown["warnings"][0]["code"] == "group_absent"


def test_an_infinite_bound_is_null():
    figure = dataclasses.replace(audited(replicates=0).groups[0].count, high=math.inf)
    result = audited(replicates=0)
    group = dataclasses.replace(result.groups[0], count=figure)
    shown = dataclasses.replace(result, groups=(group,)).to_json()
    assert json.loads(shown, parse_constant=refuse)["groups"][0]["count"]["high"] is None


def test_json_is_written_to_a_file(result, tmp_path):
    path = tmp_path / "audit.json"
    text = result.to_json(path)
    assert path.read_text(encoding="utf-8") == text + "\n"


def test_json_keeps_the_names_of_groups_readable():
    names = {"man": "männlich", "woman": "女性"}
    auxiliary = table().replace({"sex": names})
    scores = {names[k]: v for k, v in SCORES.items()}
    assert "女性" in audited(auxiliary, scores=scores).to_json()


# Frames


BACKENDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


@pytest.mark.parametrize("backend", BACKENDS)
def test_figures_come_as_rows_of_a_frame(result, backend):
    frame = result.to_frame(backend)
    assert isinstance(frame, BACKENDS[backend])
    arrow = pa.table(frame) if backend != "pandas" else pa.Table.from_pandas(frame)
    rows = {(r["scope"], r["name"], r["figure"]): r for r in arrow.to_pylist()}
    assert len(rows) == len(result.measures) * 3 + len(result.groups) * (2 + len(RATES))
    ratio = rows["measure", "equalized_odds", "ratio"]
    assert ratio["estimate"] == result.equalized_odds.ratio.estimate
    assert ratio["verdict"] is None
    parity = result.demographic_parity
    for kind, verdict in (("difference", parity.verdict), ("ratio", parity.ratio_verdict)):
        assert rows["measure", "demographic_parity", kind]["verdict"] == verdict.value
    share = rows["group", "woman", "share"]
    assert share["high"] == result.groups[1].share.high


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_stay_numbers_where_there_are_none(unknown, backend):
    frame = unknown.to_frame(backend)
    if backend == "pandas":
        assert frame[["estimate", "low", "high"]].dtypes.eq("float64").all()
        assert frame["estimate"].isna().all()
    else:
        schema = pa.table(frame).schema
        assert [schema.field(n).type for n in ("estimate", "low", "high")] == [pa.float64()] * 3
        assert pa.table(frame)["estimate"].null_count == len(frame)


def test_an_unknown_backend_is_an_error(result):
    with pytest.raises(InputError, match="no backend 'panda'; did you mean 'pandas'"):
        result.to_frame("panda")


def test_groups_come_as_rows_of_a_frame(result, unknown):
    frame = result.by_group
    assert frame.index.tolist() == ["man", "woman"]
    assert frame.index.name == "group"
    woman = result.groups[1]
    assert frame.loc["woman", "selection_rate"] == woman.selection_rate.estimate
    assert frame.loc["woman", "true_positive_rate_low"] == woman.true_positive_rate.low
    assert frame.loc["woman", "count_high"] == woman.count.high
    assert unknown.by_group.dtypes.eq("float64").all()
    assert "true_positive_rate" not in unknown.by_group


# Measures


def test_measures_are_attributes_of_the_result(result):
    for name, measure in result.measures.items():
        assert getattr(result, name) is measure


@pytest.mark.parametrize("name", ["equal_opportunity", "true_negative_rate", "equalized_odds"])
def test_a_measure_that_needs_labels_says_so(unknown, name):
    message = rf"no {name}: it needs the label .*Audit\(label=.*it has demographic_parity"
    with pytest.raises(InputError, match=message):
        getattr(unknown, name)


def test_settings_tell_how_the_audit_was_made(result):
    assert result.settings["favourable"] == "hired=1"
    assert result.settings["label"] == "stayed=1"
    assert result.settings["quantifier"] == "PosteriorMedian()"
    assert result.settings["learner"] == "none: scores of p_man, p_woman"
    assert result.settings["scores"] == SCORES
    unset = ("weight", "id", "classifier", "reference")
    assert [result.settings[name] for name in unset] == [None] * 4
    assert set(result.versions) >= {"quantifair", "numpy", "scikit-learn"}


def test_settings_name_all_that_was_set():
    def system(frame):
        return (frame["p_woman"] > 0.5).astype(int)

    auxiliary = table().assign(w=1.5, who=range(300)).drop(columns=["hired", "p_man"])
    spec = Audit(
        group="sex", classifier=system, weight="w", id="who", reference="woman", replicates=0
    )
    deployment = auxiliary.drop(columns="sex").assign(who=range(300, 600))
    settings = json.loads(spec.fit(auxiliary).measure(deployment).to_json())["settings"]
    assert settings["weight"] == "w"
    assert settings["id"] == "who"
    assert settings["classifier"] == "system"
    assert settings["reference"] == "woman"
