"""What the columns mean: features of any kind, decisions of any values, and who is who."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.people import audited, codes, draw, parity, tables, with_columns

from quantifair import Audit, InputError
from quantifair.roles import MISSING, Binary, Features, distinct, encode, ids_of
from quantifair.tables import open_table

# Features of any kind: each of these columns alone tells the groups apart, with some values
# missing and some of the other group, so an audit that could not read it would have no estimate.

Column = Callable[[pd.DataFrame, np.random.Generator], Any]


def telling(low: Any, high: Any) -> Column:
    """Make a column of two values that goes with ``x``, which goes with the group."""

    def column(table: pd.DataFrame, rng: np.random.Generator) -> Any:
        values = np.array([high if x > 1 else low for x in table["x"]], dtype=object)
        values[rng.random(len(values)) < 0.1] = None
        return pd.Series(values, dtype=object)

    return column


def cast(column: Column, dtype: str) -> Column:
    return lambda table, rng: column(table, rng).astype(dtype)


WORDS, DAYS = telling("low", "high"), telling(dt.date(1999, 1, 31), dt.date(2024, 2, 29))
MOMENTS = telling(dt.datetime(1999, 1, 31, 12), dt.datetime(2024, 2, 29))
ROME = telling(
    dt.datetime(1999, 1, 31, tzinfo=ZoneInfo("Europe/Rome")),
    dt.datetime(2024, 2, 29, tzinfo=ZoneInfo("Europe/Rome")),
)


def polars(dtype: Any) -> Callable[[pd.DataFrame], Any]:
    return lambda table: pl.from_pandas(table).with_columns(pl.col("c").cast(dtype))


def dictionary(table: pd.DataFrame) -> pa.Table:
    columns = pa.Table.from_pandas(table, preserve_index=False)
    return columns.set_column(
        columns.column_names.index("c"), "c", columns["c"].dictionary_encode()
    )


KINDS: dict[str, tuple[Column, Callable[[pd.DataFrame], Any]]] = {
    "whole numbers": (cast(telling(-3, 10**15), "Int64"), pd.DataFrame),
    "numbers": (cast(telling(0.5, 2.5), "float64"), pd.DataFrame),
    "decimals": (telling(Decimal("0.25"), Decimal("17.50")), pd.DataFrame),
    "booleans": (cast(telling(False, True), "boolean"), pd.DataFrame),
    "booleans as objects": (telling(False, True), pd.DataFrame),
    "text": (WORDS, pd.DataFrame),
    "pandas categories": (cast(WORDS, "category"), pd.DataFrame),
    "pandas categories of numbers": (cast(telling(1, 2), "category"), pd.DataFrame),
    "polars categories": (WORDS, polars(pl.Categorical)),
    "a polars enumeration": (WORDS, polars(pl.Enum(["high", "middle", "low"]))),
    "an Arrow dictionary": (WORDS, dictionary),
    "pandas intervals": (lambda t, _: pd.cut(t["x"], [-9, 0, 1, 9]), pd.DataFrame),
    "pandas intervals as they are": (
        lambda t, _: pd.cut(t["x"], [-9, 0, 1, 9]).astype("interval[int64, right]"),
        pd.DataFrame,
    ),
    "pandas periods": (
        cast(telling(pd.Period("1999"), pd.Period("2024")), "period[Y]"),
        pd.DataFrame,
    ),
    "UUIDs": (telling(UUID(int=1), UUID(int=2)), pd.DataFrame),
    "dates": (DAYS, pd.DataFrame),
    "times": (MOMENTS, pd.DataFrame),
    "times with a time zone": (ROME, pd.DataFrame),
}


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_every_kind_need_no_preparation(kind: str) -> None:
    column, form = KINDS[kind]
    auxiliary, deployment = tables(c=column, city=None)
    auxiliary, deployment = auxiliary.drop(columns="x"), deployment.drop(columns="x")
    result = audited(form(auxiliary), form(deployment))
    assert result.settings["features"] == ["c"]
    assert abs(parity(result)) < 0.5
    assert not {"unusable_columns", "not_separated"} & set(codes(result))


def frame(**columns: Any) -> pd.DataFrame:
    table = open_table(pa.table(columns), "auxiliary")
    return Features.of(table, columns).frame(table.read(columns), table.name)


def test_learners_get_numbers_dates_and_text() -> None:
    day = dt.datetime(2024, 2, 29, 1, tzinfo=ZoneInfo("Europe/Rome"))
    read = frame(
        number=pa.array([1, None]),
        decimal=pa.array([Decimal("1.25"), None]),
        flag=pa.array([True, None]),
        nothing=pa.nulls(2),
        text=pa.array(["u", None]),
        category=pa.array(["u", None]).dictionary_encode(),
        date=pa.array([dt.date(1, 1, 1), None]),
        time=pa.array([day, None], pa.timestamp("ns", "Europe/Rome")),
    )
    first = read.iloc[0]
    assert read.iloc[1].isna().all()
    assert [first["number"], first["decimal"], first["flag"]] == [1.0, 1.25, 1.0]
    assert (read[["number", "decimal", "flag", "nothing"]].dtypes == np.float64).all()
    assert [first["text"], first["category"]] == ["u", "u"]
    assert first["date"] == pd.Timestamp("0001-01-01")
    assert first["time"] == pd.Timestamp("2024-02-29 00:00")


@pytest.mark.parametrize("kind", ["text", "dates", "numbers", "booleans"])
def test_a_column_without_any_value_goes_with_every_kind(kind: str) -> None:
    there, _ = KINDS[kind]

    def nothing(table: pd.DataFrame, _: Any) -> Any:
        return [None] * len(table)

    (empty, deployment), (auxiliary, lacking) = tables(c=nothing), tables(c=there)
    plain = parity(audited(*tables()))
    assert parity(audited(empty, deployment)) == plain
    assert parity(audited(empty, with_columns(lacking, c=there))) == plain
    assert abs(parity(audited(auxiliary, deployment))) <= 1


def test_categories_that_the_auxiliary_table_lacks_are_all_the_same() -> None:
    auxiliary, deployment = tables()
    one = parity(audited(auxiliary, deployment.assign(city="Ostia")))
    many = deployment.assign(city=[f"village {i}" for i in range(len(deployment))])
    assert parity(audited(auxiliary, many)) == one


def category(zero: Any, one: Any) -> Column:
    return lambda table, rng: pd.Categorical(
        np.array([zero, one], dtype=object)[rng.integers(0, 2, len(table))]
    )


@pytest.mark.parametrize(
    ("here", "there", "message"),
    [
        (category(0, 1), category(False, True), "holds text in the auxiliary table but dict"),
        (category(False, True), category(0, 1), "holds boolean categories in the auxiliary table"),
    ],
    ids=["booleans for numbers", "numbers for booleans"],
)
def test_categories_of_booleans_are_not_those_of_numbers(
    here: Column, there: Column, message: str
) -> None:
    (auxiliary, _), (_, deployment) = tables(c=here), tables(c=there)
    with pytest.raises(InputError, match=f"column 'c' {message}"):
        audited(auxiliary, deployment)


@pytest.mark.parametrize("there", [("0", "1"), (0.0, 1.0)], ids=["text", "numbers"])
def test_categories_that_are_spelt_alike_are_the_same(there: tuple[Any, Any]) -> None:
    (auxiliary, _), (_, deployment) = tables(c=category(0, 1)), tables(c=category(*there))
    assert codes(audited(auxiliary, deployment)) == []


def test_categories_without_any_value_are_missing() -> None:
    (auxiliary, _), (_, deployment) = tables(c=category(0, 1)), tables(c=category(None, None))
    (caution,) = audited(auxiliary, deployment).warnings
    assert "column 'c' of the deployment table is missing in 100% of the rows" in caution.message


# Decisions, labels and groups of any values.

FAVOURABLE = {
    "0 and 1": ([0, 1], 1),
    "-1 and 1": ([-1, 1], 1),
    "0.0 and 1.0": ([0.0, 1.0], 1),
    "decimals": ([Decimal("0.0"), Decimal("1.0")], 1),
    "digits": (["0", "1"], "1"),
    "booleans": ([False, True], True),
    "words for booleans": (["False", "True"], "True"),
    "yes and no": (["yes", "no"], "yes"),
    "in capitals": (["NO", "YES"], "YES"),
    "other words": (["denied", "approved"], "approved"),
}


@pytest.mark.parametrize("case", FAVOURABLE)
def test_the_favourable_value_is_found_where_it_is_obvious(case: str) -> None:
    values, favourable = FAVOURABLE[case]
    column = pa.array(values)
    binary = Binary.learn(distinct(column, "ok", "here"), "ok", None, "--favourable")
    assert binary.favourable == favourable
    assert binary.decode(column, "here").tolist() == [int(v == favourable) for v in values]


@pytest.mark.parametrize("values", [[1, 2], ["a", "b"], [0, 1, 2], ["yes", "approved"], [0, -1]])
def test_the_favourable_value_is_asked_for_where_it_is_not(values: list[Any]) -> None:
    levels = distinct(pa.array(values), "ok", "here")
    with pytest.raises(InputError, match=r"which value of 'ok' is favourable\? .* --favourable"):
        Binary.learn(levels, "ok", None, "--favourable")


CONTRARY = [
    "default",
    "Defaulted",
    "loan_default",
    "isDenied",
    "was rejected",
    "DECLINED",
    "refused",
]


@pytest.mark.parametrize("column", [*CONTRARY, "default payment next month", "reject", "deny"])
@pytest.mark.parametrize("values", [[0, 1], [False, True], ["no", "yes"]], ids=str)
def test_a_column_whose_name_says_the_opposite_is_asked_about(
    column: str, values: list[Any]
) -> None:
    levels = distinct(pa.array(values), column, "here")
    with pytest.raises(InputError, match=f"which value of '{column}' is favourable"):
        Binary.learn(levels, column, None, "--favourable")
    given = Binary.learn(levels, column, str(values[0]), "--favourable")
    assert given.decode(pa.array(values), "here").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("column", "values"),
    [("defaultless", [0, 1]), ("repaid", [False, True]), ("rejected", ["accepted", "declined"])],
)
def test_other_columns_are_not(column: str, values: list[Any]) -> None:
    levels = distinct(pa.array(values), column, "here")
    assert Binary.learn(levels, column, None, "--favourable").favourable in {1, "accepted"}


@pytest.mark.parametrize(
    ("values", "given", "favourable"),
    [
        ([1, 2], 2, 2),
        ([1, 2], "2", 2),
        ([False, True], "false", False),
        (["a", "b"], "a", "a"),
        (["grade 1", "grade 2", "grade 3"], "grade 2", "grade 2"),
        (["Yes", "yes", "no"], "yes", "yes"),
    ],
)
def test_the_favourable_value_may_be_named_as_on_a_command_line(
    values: list[Any], given: Any, favourable: Any
) -> None:
    column = pa.array(values)
    binary = Binary.learn(distinct(column, "ok", "here"), "ok", given, "--favourable")
    assert binary.decode(column, "here").tolist() == [int(v == favourable) for v in values]


SPELLINGS = [
    [0, 1],
    [0.0, 1.0],
    [False, True],
    [Decimal("0.0"), Decimal("1.0")],
    pd.Categorical([0, 1]),
]
WORDINGS = [
    ["no", "yes"],
    ["No", "YES"],
    [False, True],
    ["false", "true"],
    pd.Categorical([False, True]),
]


@pytest.mark.parametrize("spellings", [SPELLINGS, WORDINGS], ids=["numbers", "words"])
def test_two_tables_may_spell_a_decision_in_their_own_ways(spellings: list[Any]) -> None:
    for known in spellings:
        column = pa.array(pd.Series(known))
        binary = Binary.learn(distinct(column, "ok", "here"), "ok", None, "--favourable")
        for other in spellings:
            there = pa.array(pd.Series(other).take([1, 0, 1]))
            assert binary.decode(there, "there").tolist() == [1, 0, 1]


def test_numbers_and_their_digits_are_the_same_but_ambiguous_words_are_not() -> None:
    assert encode(pa.array(["2", "1", "1.5"]), [1, 2])[0].tolist() == [1, 0, MISSING]
    positions, unknown = encode(pa.array(["YES"]), ["yes", "Yes"])
    assert (positions.tolist(), unknown) == ([MISSING], ["YES"])


def test_missing_decisions_are_missing_in_every_form() -> None:
    for column in ([1, None], [1.0, float("nan")]):
        assert encode(pa.array(column), [0, 1])[0].tolist() == [1, MISSING]
    category = pa.DictionaryArray.from_arrays([0, 1, None], ["yes", None])
    assert encode(category, ["yes"])[0].tolist() == [0, MISSING, MISSING]


def test_a_category_that_no_row_has_is_no_unknown_decision() -> None:
    auxiliary, deployment = tables()
    unused = pd.CategoricalDtype(["no", "pending", "yes"])
    typed = deployment.assign(ok=deployment["ok"].astype(unused))
    assert parity(audited(auxiliary, typed)) == parity(audited(auxiliary, deployment))


def yes_is(favourable: Any, other: Any) -> Column:
    return lambda table, _: [favourable if ok == "yes" else other for ok in table["ok"]]


def test_any_decisions_in_any_table_give_the_same_estimate(tmp_path: Path) -> None:
    auxiliary, deployment = tables()
    expected = parity(audited(auxiliary, deployment))
    flags = deployment.assign(ok=deployment["ok"] == "yes")
    flags.to_csv(tmp_path / "flags.csv", index=False)
    flags.to_parquet(tmp_path / "flags.parquet")
    auxiliary.to_csv(tmp_path / "words.csv", index=False)
    assert parity(audited(tmp_path / "words.csv", tmp_path / "flags.csv")) == expected
    assert parity(audited(tmp_path / "words.csv", tmp_path / "flags.parquet")) == expected
    numbered = tables(ok=yes_is(2, 1))
    assert parity(audited(*numbered, favourable=2)) == expected
    assert parity(audited(*numbered, favourable=1)) == pytest.approx(-expected)


def test_several_decisions_against_one() -> None:
    auxiliary, deployment = tables()
    split = [yes_is("granted", "refused"), yes_is("granted", "withdrawn")]
    three = [with_columns(auxiliary, ok=split[0]), with_columns(deployment, ok=split[0])]
    for table in three:
        table.loc[::3, "ok"] = table["ok"].replace("refused", "withdrawn")[::3]
    result = audited(*three, favourable="granted")
    assert parity(result) == parity(audited(auxiliary, deployment))
    assert [cell.name for cell in result.cells] == ["ok!=granted", "ok=granted"]


@pytest.mark.parametrize(
    ("values", "names"),
    [([0, 1], ["0", "1"]), ([True, False], ["False", "True"]), (["w", "m"], ["m", "w"])],
)
def test_groups_of_any_values_have_names(values: list[Any], names: list[str]) -> None:
    groups = [values[i] for i in draw(200, 1)["g"].map({"a": 0, "b": 1})]
    auxiliary, deployment = tables(g=pd.Categorical(groups))
    assert [group.name for group in audited(auxiliary, deployment).groups] == names


def test_age_bands_are_groups_by_their_text() -> None:
    auxiliary, deployment = tables(
        g=lambda t, _: pd.cut(t["x"], [-9, 1, 9]), x=lambda t, _: t["x"].where(t.index % 9 > 0)
    )
    result = audited(auxiliary, deployment)
    assert [group.name for group in result.groups] == ["(-9, 1]", "(1, 9]"]
    assert (
        result.groups == audited(auxiliary.assign(g=auxiliary["g"].astype(str)), deployment).groups
    )


def test_uuids_tell_people_apart_as_their_text_does() -> None:
    auxiliary, deployment = tables(who=lambda t, _: [UUID(int=i) for i in range(len(t))])
    result = audited(auxiliary, deployment, id="who")
    assert "known_people" in codes(result)
    texts = audited(auxiliary, deployment.assign(who=deployment["who"].astype(str)), id="who")
    assert texts.measures == result.measures


@pytest.mark.parametrize("value", [1j, 10**30, "two"])
def test_a_column_of_no_one_type_stops_only_who_reads_it(value: Any) -> None:
    odd = tables(odd=lambda t, _: pd.Series([value, *range(1, len(t))], dtype=object))
    result = audited(*odd, features=["x", "city"])
    assert result.measures == audited(*tables()).measures
    with pytest.raises(InputError, match=r"column 'odd' of the auxiliary table \(the feature\)"):
        audited(*odd)


# Roles.


def test_the_group_of_the_deployment_is_ignored_loudly() -> None:
    auxiliary, deployment = tables()
    expected = audited(auxiliary, deployment)
    result = audited(auxiliary, deployment.assign(g="b"))
    assert codes(result) == ["group_in_deployment"]
    assert "'g'" in result.warnings[0].message
    assert result.measures == expected.measures


def as_r_writes(table: pd.DataFrame, file: Path) -> Path:
    table.to_csv(file, index=False, na_rep="NA")
    return file


def test_the_na_that_r_writes_among_groups_and_labels_is_missing(tmp_path: Path) -> None:
    auxiliary, deployment = (words_among_accepted(t) for t in tables())
    auxiliary["g"] = auxiliary["g"].mask(auxiliary.index % 10 == 0)
    expected = audited(auxiliary, deployment, label="good", favourable_label="A")
    here = as_r_writes(auxiliary, tmp_path / "a.csv")
    there = as_r_writes(deployment, tmp_path / "d.csv")
    result = audited(here, there, label="good", favourable_label="A")
    assert {"group_missing", "labels_among_accepted"} <= set(codes(result))
    assert [group.name for group in result.groups] == ["a", "b"]
    assert result.measures == expected.measures


@pytest.mark.parametrize("word", ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"])
def test_decisions_that_are_words_for_nothing_are_missing(word: str) -> None:
    auxiliary, deployment = tables()
    deployment.loc[::10, "ok"] = word
    with pytest.raises(InputError, match="15 of 150 rows of the deployment table have no decision"):
        audited(auxiliary, deployment)


def test_people_without_a_group_are_left_out_and_counted() -> None:
    auxiliary, deployment = tables()
    unknown = auxiliary["x"].index % 10 == 0
    result = audited(auxiliary.assign(g=auxiliary["g"].mask(unknown)), deployment)
    assert codes(result) == ["group_missing"]
    assert result.warnings[0].message.startswith("20 of 200 auxiliary rows")
    assert result.measures == audited(auxiliary[~unknown], deployment).measures


def test_columns_of_one_table_alone_are_left_out_and_named() -> None:
    auxiliary, deployment = tables()
    richer = auxiliary.assign(tenure=range(200))
    result = audited(richer, deployment)
    assert codes(result) == ["not_shared"]
    assert "'tenure'" in result.warnings[0].message
    assert result.measures == audited(auxiliary, deployment).measures
    poorer = audited(auxiliary, deployment.drop(columns="city").assign(fresh=1))
    without = audited(auxiliary.drop(columns="city"), deployment.drop(columns="city"))
    assert poorer.measures == without.measures
    assert poorer.settings["features"] == ["x"]


def test_columns_that_can_be_no_feature_are_left_out_and_named() -> None:
    auxiliary, deployment = tables(
        tags=lambda table, _: [["u", "v"]] * len(table),
        raw=lambda table, _: [b"\xff"] * len(table),
        took=lambda table, _: pd.to_timedelta(range(len(table)), unit="h"),
    )
    result = audited(auxiliary, deployment)
    assert codes(result) == ["unusable_columns"]
    assert "'tags', 'raw', 'took'" in result.warnings[0].message
    assert result.measures == audited(*tables()).measures


def test_named_features_are_the_only_ones() -> None:
    auxiliary, deployment = tables()
    result = audited(auxiliary, deployment, features=["x"])
    assert result.settings["features"] == ["x"]
    fewer = audited(auxiliary.drop(columns="city"), deployment.drop(columns="city"))
    assert result.measures == fewer.measures


def test_the_reference_flips_the_sign() -> None:
    result, flipped = (audited(*tables(), reference=reference) for reference in (None, "b"))
    assert parity(flipped) == pytest.approx(-parity(result), abs=1e-6)
    directions = [r.demographic_parity.direction for r in (result, flipped)]
    assert directions == ["b minus a", "a minus b"]


def test_the_reference_comes_first_of_several_groups_and_changes_no_figure() -> None:
    auxiliary = draw(300, 1).assign(g=lambda t: t["city"], x=lambda t: t["city"].str.len() + t["x"])
    deployment = draw(200, 2).assign(x=lambda t: t["city"].str.len() + t["x"]).drop(columns="g")
    result, turned = (audited(auxiliary, deployment, reference=r) for r in (None, "Rome"))
    assert [g.name for g in result.groups] == ["Lucca", "Pisa", "Rome"]
    assert [g.name for g in turned.groups] == ["Rome", "Lucca", "Pisa"]
    shares = {g.name: g.share.estimate for g in result.groups}
    assert {g.name: g.share.estimate for g in turned.groups} == pytest.approx(shares, abs=1e-3)


def test_several_group_columns_are_audited_together_and_alone() -> None:
    rng = np.random.default_rng(5)
    old = pd.Series(rng.random(400) < 0.4)
    auxiliary = draw(400, 1).assign(age=np.where(old, "old", "young"))
    auxiliary["years"] = rng.normal(size=400) + 3 * old
    deployment = auxiliary.sample(200, random_state=1).drop(columns=["g", "age"])
    result = audited(auxiliary, deployment, group=("g", "age"))
    assert [g.name for g in result.groups] == ["a & old", "a & young", "b & old", "b & young"]
    assert result.groups[2].attributes == {"g": "b", "age": "old"}
    assert [g.name for g in result.attributes["age"].groups] == ["old", "young"]
    apart = [g.share.estimate or 0.0 for g in result.groups]
    alone = [g.share.estimate for g in result.attributes["g"].groups]
    assert alone == pytest.approx([apart[0] + apart[1], apart[2] + apart[3]])
    assert result.attributes["g"].measures["demographic_parity"].direction == "b minus a"


# Weights, by scores from columns: what is weighted is then known exactly.

SCORES = {"a": "of a", "b": "of b"}


def scored(table: pd.DataFrame) -> pd.DataFrame:
    of_b = 1 / (1 + np.exp(2 - 2 * table["x"]))
    return table.assign(**{"of a": 1 - of_b, "of b": of_b})


def test_a_weight_counts_as_so_many_rows() -> None:
    auxiliary, deployment = scored(draw(200, 1)), scored(draw(150, 2)).drop(columns="g")
    weights = np.arange(150) % 4
    options = {"scores": SCORES, "quantifier": "sld"}
    weighted = audited(auxiliary.assign(w=1.0), deployment.assign(w=weights), weight="w", **options)
    rows = np.repeat(np.arange(150), weights)
    repeated = audited(auxiliary, deployment.loc[rows], **options)
    assert parity(weighted) == pytest.approx(parity(repeated), abs=1e-5)
    assert weighted.groups[0].count.estimate == pytest.approx(repeated.groups[0].count.estimate)


def test_auxiliary_people_of_weight_zero_are_not_there() -> None:
    auxiliary, deployment = tables()
    weights = (np.arange(200) % 5 > 0).astype(float)
    weighted = audited(auxiliary.assign(w=weights), deployment.assign(w=1.0), weight="w")
    fewer = audited(auxiliary[weights > 0], deployment)
    assert parity(weighted) == pytest.approx(parity(fewer), abs=1e-6)
    assert weighted.cells[0].auxiliary_rows == fewer.cells[0].auxiliary_rows


def test_a_deployment_without_weights_counts_rows_and_says_so() -> None:
    auxiliary, deployment = tables()
    result = audited(auxiliary.assign(w=1.0), deployment, weight="w")
    assert codes(result) == ["deployment_unweighted"]
    assert result.measures == audited(auxiliary, deployment).measures


# People who are known.


def test_people_in_both_tables_keep_their_known_group() -> None:
    auxiliary = draw(200, 1).assign(person=range(200))
    met = auxiliary.iloc[:8].assign(ok=["yes", "yes", "no", "no"] * 2)
    truth = met.assign(yes=met["ok"] == "yes").groupby("g")["yes"].agg(["mean", "size"])
    result = audited(auxiliary, met.drop(columns="g"), id="person")
    for group in result.groups:
        figures = (group.selection_rate, group.count)
        for figure, known in zip(figures, truth.loc[group.name], strict=True):
            assert (figure.low, figure.estimate, figure.high) == (known, known, known)
    assert codes(result) == ["known_people"]
    assert result.warnings[0].message.startswith("8 deployment rows")


def test_ids_with_leading_zeros_are_the_same_people_in_every_file(tmp_path: Path) -> None:
    auxiliary = draw(200, 1).assign(person=[f"{i:06d}" for i in range(200)])
    deployment = auxiliary.drop(columns="g").tail(120)
    auxiliary.to_csv(tmp_path / "a.csv", index=False)
    deployment.to_parquet(tmp_path / "d.parquet")
    result = audited(tmp_path / "a.csv", tmp_path / "d.parquet", id="person")
    assert codes(result) == ["known_people"]
    assert result.warnings[0].message.startswith("120 deployment rows")


def test_ids_of_nobody_in_both_tables_bring_a_caution() -> None:
    auxiliary = draw(200, 1).assign(person=[f"P{i}" for i in range(200)])
    deployment = draw(150, 2).drop(columns="g").assign(person=[f"p{i}" for i in range(150)])
    (caution,) = audited(auxiliary, deployment, id="person").warnings
    assert caution.code == "nobody_known"
    assert "no id in column 'person'" in caution.message
    assert "check that both write ids alike" in caution.message


def test_known_people_are_added_to_the_estimate_of_the_others() -> None:
    auxiliary = draw(200, 1).assign(person=range(200))
    others = draw(150, 2).drop(columns="g").assign(person=range(1000, 1150))
    met = auxiliary.drop(columns="g").iloc[:30]
    alone = audited(auxiliary, others, id="person")
    result = audited(auxiliary, pd.concat([others, met]), id="person")
    known = auxiliary.iloc[:30].groupby("g").size()
    for group, before in zip(result.groups, alone.groups, strict=True):
        assert before.count.estimate is not None
        assert group.count.estimate == pytest.approx(before.count.estimate + known[group.name])
    assert [sum(cell.known.values()) for cell in result.cells] == [
        (met["ok"] == "no").sum(),
        (met["ok"] == "yes").sum(),
    ]


@pytest.mark.parametrize(
    "spelling",
    [str, float, Decimal, lambda i: 10**15 + i],
    ids=["text", "float", "decimal", "long"],
)
def test_7_is_the_same_person_in_every_spelling(spelling: Callable[[int], Any]) -> None:
    whole = [int(spelling(i)) for i in range(5)]
    spelled = pa.array([spelling(i) for i in range(5)])
    assert ids_of(spelled, "id", "here").tolist() == [str(i) for i in whole]
    assert ids_of(pa.array(pd.Categorical(whole)), "id", "here").tolist() == [str(i) for i in whole]
    as_floats = pa.array(whole, pa.float64())
    assert ids_of(as_floats, "id", "here").tolist() == [str(i) for i in whole]


def test_nan_is_no_id_whatever_the_library() -> None:
    with pytest.raises(InputError, match="1 of 2 ids in column 'who' of here are missing"):
        ids_of(pa.array([1.0, float("nan")]), "who", "here")


def test_repeated_people_count_once_in_the_intervals() -> None:
    auxiliary = draw(2000, 1).assign(person=range(2000))
    deployment = draw(100, 2).drop(columns="g").assign(person=range(3000, 3100))
    often = pd.concat([deployment] * 9)

    def width(table: pd.DataFrame, **roles: Any) -> float:
        figure = audited(auxiliary, table, replicates=200, **roles).demographic_parity.difference
        assert figure.low is not None
        assert figure.high is not None
        return figure.high - figure.low

    assert width(often, id="person") == pytest.approx(width(deployment, id="person"), rel=0.2)
    assert width(often) < 0.7 * width(often, id="person")
    assert codes(audited(auxiliary, often, id="person")) == ["repeated_people", "nobody_known"]


# Labels.


def labelled(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(good=np.random.default_rng(len(table)).random(len(table)) < 0.6)


def among_accepted(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(good=table["good"].where(table["ok"] == "yes"))


def words_among_accepted(table: pd.DataFrame) -> pd.DataFrame:
    return among_accepted(table.assign(good=np.where(labelled(table)["good"], "A", "B")))


ALL_MEASURES = {
    "demographic_parity",
    "true_positive_rate",
    "true_negative_rate",
    "positive_predictive_value",
    "negative_predictive_value",
    "equal_opportunity",
    "equalized_odds",
}


def test_labels_among_the_accepted_allow_the_predictive_value_alone() -> None:
    auxiliary, deployment = (labelled(t) for t in (draw(400, 1), draw(300, 2).drop(columns="g")))
    full = audited(auxiliary, deployment, label="good")
    assert set(full.measures) == ALL_MEASURES
    forms = [
        (among_accepted(auxiliary), among_accepted(deployment)),
        (auxiliary, among_accepted(deployment)),
        (among_accepted(auxiliary), deployment),
    ]
    for tables_ in forms:
        result = audited(*tables_, label="good")
        assert list(result.measures) == ["demographic_parity", "positive_predictive_value"]
        (reason,) = [w.message for w in result.warnings if w.code == "labels_among_accepted"]
        assert "only the positive predictive value" in reason
        assert result.groups[0].true_positive_rate is None


def test_labels_like_decisions_may_have_any_values() -> None:
    auxiliary, deployment = (labelled(t) for t in tables())
    grades = [t.assign(good=np.where(t["good"], "A", "B")) for t in (auxiliary, deployment)]
    expected = audited(auxiliary, deployment, label="good").true_positive_rate
    found = audited(*grades, label="good", favourable_label="A").true_positive_rate
    # The verdict's advice names the cells by their labels.
    assert (found.difference, found.pairs) == (expected.difference, expected.pairs)


# The audited system itself in place of its decisions.


def test_a_classifier_decides_as_its_column_of_decisions_would() -> None:
    auxiliary, deployment = draw(300, 1), draw(200, 2).drop(columns="g")
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    tree.fit(auxiliary[["x"]], auxiliary["ok"])
    decided = [t.assign(ok=tree.predict(t[["x"]])) for t in (auxiliary, deployment)]
    undecided = [t.drop(columns="ok") for t in (auxiliary, deployment)]
    expected = audited(*decided)
    for classifier in (tree, lambda table: tree.predict(table[["x"]])):
        result = audited(*undecided, decision=None, classifier=classifier)
        assert result.measures == expected.measures
        assert [c.name for c in result.cells] == ["decision=no", "decision=yes"]


def test_a_classifier_may_need_columns_that_the_group_classifier_does_not_read() -> None:
    auxiliary, deployment = tables()
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    numbers = [t.assign(z=range(len(t))).drop(columns="ok") for t in (auxiliary, deployment)]
    tree.fit(numbers[0][["z", "x"]], auxiliary["ok"])
    result = audited(*numbers, decision=None, classifier=tree, features=["x"])
    decided = [t.assign(ok=tree.predict(t[["z", "x"]])) for t in numbers]
    assert result.measures == audited(*decided, features=["x"]).measures


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (7, "classifier= is a int; give a fitted estimator or a function"),
        (lambda t: t["x"], "column 'decision' of the auxiliary table has 200 different values"),
        (lambda _: None, r"the audited classifier gave \(\) decisions for 200 rows"),
        (lambda t: np.ones((len(t), 2)), r"the audited classifier gave \(200, 2\) decisions"),
        (lambda t: np.array(["yes", 1] * (len(t) // 2), object), "classifier mixes types: "),
    ],
)
def test_a_classifier_that_does_not_decide(classifier: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        audited(*tables(ok=None), decision=None, classifier=classifier, favourable="yes")


def test_a_classifier_that_needs_what_a_table_lacks() -> None:
    auxiliary, deployment = tables(ok=None)
    tree = DecisionTreeClassifier().fit(auxiliary[["x"]].assign(debt=1), auxiliary["g"])
    for richer in (auxiliary, auxiliary.assign(debt=1)):
        with pytest.raises(InputError, match="needs column 'debt', which is not a feature of both"):
            audited(richer, deployment, decision=None, classifier=tree, favourable="a")


def test_without_decisions_groups_are_counted_and_nothing_is_audited() -> None:
    auxiliary, deployment = tables(ok=None)
    fitted = Audit(group="g", training="split", replicates=20).fit(auxiliary)
    counted = fitted.quantify(deployment)
    assert [cell.name for cell in counted.cells] == ["any decision"]
    with pytest.raises(InputError, match=r"needs decision= or classifier=; quantify\(\) does"):
        fitted.measure(deployment)
