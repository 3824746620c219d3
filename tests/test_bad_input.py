"""Bad input is one clear sentence: what is wrong, in which table and column, and what to do.

The same sentence comes from Python, as an error of its own type, and from the command line, as
one line on standard error with exit status 2.
"""

import datetime as dt
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.people import audited, codes, draw, parity, tables

from quantifair import Audit, InputError, QuantifairError, cli
from quantifair.tables import open_table


class Case(NamedTuple):
    """Columns put in place of those of the two tables, the roles, and what the message says."""

    auxiliary: dict[str, Any]
    deployment: dict[str, Any]
    roles: dict[str, Any]
    says: tuple[str, ...]


def bad(*says: str, auxiliary: Any = None, deployment: Any = None, **roles: Any) -> Case:
    return Case(auxiliary or {}, deployment or {}, roles, says)


def both(*says: str, roles: Any = None, **columns: Any) -> Case:
    return Case(columns, {k: v for k, v in columns.items() if k != "g"}, roles or {}, says)


def each(value: Any) -> Callable[[pd.DataFrame, Any], Any]:
    """Give every row the same object, a list too."""
    return lambda table, _: [value] * len(table)


def numbered(table: pd.DataFrame, _: Any) -> Any:
    return [f"{i}" for i in range(len(table))]


def paired(table: pd.DataFrame, _: Any) -> Any:
    """Give the first twenty rows to ten people, and each other row to one."""
    return [i // 2 if i < 20 else i for i in range(len(table))]


def taking_turns(table: pd.DataFrame, _: Any) -> Any:
    return ["ab"[i % 2] for i in range(len(table))]


def every_tenth(value: Any, other: Any) -> Callable[[pd.DataFrame, Any], Any]:
    return lambda table, _: [value if i % 10 == 0 else other for i in range(len(table))]


def without_every_tenth(column: str) -> Callable[[pd.DataFrame, Any], Any]:
    return lambda table, _: table[column].where(np.arange(len(table)) % 10 > 0)


AUXILIARY, DEPLOYMENT = "the auxiliary table", "the deployment table"

TABLES = {
    # Columns that are not there.
    "no decision here": bad(AUXILIARY, "no column 'ok' (the decision)", auxiliary={"ok": None}),
    "no decision there": bad(DEPLOYMENT, "no column 'ok' (the decision)", deployment={"ok": None}),
    "no group": bad(AUXILIARY, "no column 'g' (the group)", auxiliary={"g": None}),
    "misspelt decision": bad(
        AUXILIARY, "no column 'approve'", "did you mean 'approved'?",
        auxiliary={"approved": 1}, decision="approve",
    ),
    "no label here": bad(AUXILIARY, "no column 'good' (the label)", label="good"),
    "no label there": bad(
        DEPLOYMENT, "no column 'good' (the label)", label="good", favourable_label="u",
        auxiliary={"good": every_tenth("u", "v")},
    ),
    "no weight": bad(AUXILIARY, "no column 'w' (the weight)", weight="w"),
    "no id here": bad(AUXILIARY, "no column 'who' (the id)", id="who"),
    "no id there": bad(DEPLOYMENT, "no column 'who' (the id)", id="who",
                       auxiliary={"who": numbered}),
    "no such feature here": bad(AUXILIARY, "no column 'xx' (the feature)", features=["xx"]),
    "no such feature there": bad(DEPLOYMENT, "no column 'x' (the feature)", features=["x"],
                                 deployment={"x": None}),
    "no shared feature": bad("the tables share no feature column", "'x', 'city', 'ok', 'g'",
                             deployment={"x": None, "city": None, "z": 1}),
    # Roles that do not go together.
    "two roles": bad("column 'ok' has two roles", group="ok"),
    "a feature with a role": bad("column 'ok' can't be a feature", features=["x", "ok"]),
    # Features.
    "constant features": bad(AUXILIARY, "every feature", "is constant (x, city)",
                             auxiliary={"x": 1.0, "city": "Rome"}),
    "text for numbers": bad("column 'x' holds numbers in the auxiliary table but ",
                            "string in the deployment table",
                            deployment={"x": each("three")}),
    "numbers for text": bad("column 'city' holds text in the auxiliary table but int64 in",
                            deployment={"city": each(3)}),
    "text for dates": bad("column 'day' holds dates in the auxiliary table but ",
                          auxiliary={"day": each(dt.date(2024, 2, 29))},
                          deployment={"day": each("29 February")}),
    "infinite here": bad("column 'x' of the auxiliary table", "holds 20 infinite values",
                         auxiliary={"x": every_tenth(np.inf, 1.0)}),
    "infinite there": bad("column 'x' of the deployment table", "holds 15 infinite values",
                          deployment={"x": every_tenth(-np.inf, 1.0)}),
    "numbers with a comma": both("column 'x' of the auxiliary table", "holds numbers with a comma",
                                 "write them with a point",
                                 x=lambda t, _: [f"{v:.2f}".replace(".", ",") for v in t["x"]]),
    "a list as a feature": both("column 'tags' of the auxiliary table", "holds list<",
                                "can't be a feature", tags=each(["u"]),
                                roles={"features": ["x", "tags"]}),
    "a record as a feature": both("column 'tags' of the auxiliary table", "holds struct<",
                                  tags=each({"u": 1}), roles={"features": ["tags"]}),
    # Groups.
    "one group": bad("group column 'g' of the auxiliary table", "holds ['a']",
                     "two groups are needed", auxiliary={"g": "a"}),
    "no group at all": bad("group column 'g'", "holds no value", auxiliary={"g": each(None)}),
    "a group of one": bad("group 'c' has 1 member in the auxiliary table", "at least 5",
                          auxiliary={"g": lambda t, _: ["c", *t["g"][1:]]}),
    "21 groups": bad("group column 'g' of the auxiliary table", "holds 21 groups",
                     "the most is 20", auxiliary={"g": lambda t, _: np.arange(len(t)) % 21}),
    "a continuous group": bad("column 'x' of the auxiliary table", "has 200 different values",
                              group="x"),
    "lists as groups": bad("column 'g' of the auxiliary table", "holds list<",
                           auxiliary={"g": each(["a"])}),
    "an unknown reference": bad("reference group 'c' does not occur", "known are 'a', 'b'",
                                reference="c"),
    # Decisions.
    "no decision in some rows here": bad("20 of 200 rows of the auxiliary table",
                                         "have no decision in column 'ok'",
                                         auxiliary={"ok": without_every_tenth("ok")}),
    "no decision in some rows there": bad("15 of 150 rows of the deployment table",
                                          "have no decision in column 'ok'",
                                          deployment={"ok": without_every_tenth("ok")}),
    "NaN as a decision": bad("20 of 200 rows of the auxiliary table",
                             auxiliary={"ok": every_tenth(np.nan, 1.0)}),
    "one decision here": bad("column 'ok' of the auxiliary table",
                             "takes one value only ('yes')", auxiliary={"ok": "yes"}),
    "one decision there": bad("all 150 deployment rows have ok=no", deployment={"ok": "no"}),
    "an unknown decision": bad("column 'ok' of the deployment table", "holds 'perhaps'",
                               "known are 'no', 'yes'",
                               deployment={"ok": every_tenth("perhaps", "no")}),
    "two nameless decisions": both("which value of 'ok' is favourable? It holds 1, 2",
                                   "--favourable", ok=every_tenth(2, 1)),
    "three decisions": both("which value of 'ok' is favourable? It holds 0, 1, 2",
                            ok=lambda t, _: np.arange(len(t)) % 3),
    "a wrong favourable decision": bad("'maybe' does not occur in 'ok'", "holds 'no', 'yes'",
                                       favourable="maybe"),
    "a continuous decision": bad("column 'x' of the auxiliary table",
                                 "has 200 different values", "a decision", decision="x"),
    "lists as decisions": bad("column 'ok' of the deployment table", "holds list<",
                              deployment={"ok": each(["yes"])}),
    # Labels.
    "one label": both("label column 'good' of the auxiliary table", "holds ['u']",
                      good=each("u"), roles={"label": "good"}),
    "no label in some rows here": both("20 of 200 rows of the auxiliary table",
                                       "have no label in column 'good'",
                                       good=without_every_tenth("city"),
                                       roles={"label": "good", "favourable_label": "Rome"}),
    # Weights and ids.
    "negative weights": both("20 of 200 weights in column 'w' of the auxiliary table",
                             "missing, negative or infinite", w=every_tenth(-1.0, 1.0),
                             roles={"weight": "w"}),
    "missing weights there": bad("15 of 150 weights in column 'w' of the deployment table",
                                 auxiliary={"w": 1.0}, weight="w",
                                 deployment={"w": every_tenth(np.nan, 1.0)}),
    "weights of zero": both("all weights in column 'w' of the auxiliary table", "are zero",
                            w=each(0), roles={"weight": "w"}),
    "huge weights": both("weights are not numbers between", "divide the weights by their mean",
                         w=each(1e9), roles={"weight": "w"}),
    "words as weights": both("weight column 'w' of the auxiliary table", "not numbers",
                             w=each("heavy"), roles={"weight": "w"}),
    "missing ids here": both("20 of 200 ids in column 'who' of the auxiliary table",
                             "are missing", who=every_tenth(None, "u"), roles={"id": "who"}),
    "missing ids there": bad("15 of 150 ids in column 'who' of the deployment table", id="who",
                             auxiliary={"who": numbered},
                             deployment={"who": every_tenth(np.nan, 1.0)}),
    "fractions as ids": both("ids in column 'who' of the auxiliary table",
                             "neither whole numbers nor text", who=each(1.5),
                             roles={"id": "who"}),
    "people of several groups": bad("10 of 190 people in column 'who' of the auxiliary table",
                                    "have several groups, such as '0' with 'a' and 'b'; give each",
                                    auxiliary={"who": paired, "g": taking_turns}, id="who",
                                    deployment={"who": numbered}),
    # Options.
    "no such quantifier": bad("no quantifier 'sdl'", "did you mean 'sld'", quantifier="sdl"),
    "no such learner": bad("no learner 'network'", "'logistic'", learner="network"),
    "a level above one": bad("level is a probability such as 0.95, not 95.0", level=95.0),
    "a level of zero": bad("level is a probability", level=0.0),
    "fewer than no replicates": bad("replicates must be at least 0, not -1", replicates=-1),
    "a negative seed": bad("seed must be at least 0, not -3", seed=-3),
    "features beside scores": both("scores= brings the group probabilities",
                                   "features= has no use",
                                   roles={"scores": {"a": "x", "b": "x"}, "features": ["x"]}),
    "a favourable label of nothing": bad("--favourable-label (favourable_label=) has no use "
                                         "without --label (label=)", favourable_label="u"),
    "scores of other groups": both("scores= names the groups ['a', 'c']",
                                   roles={"scores": {"a": "x", "c": "x"}}),
    "scores that are no column": bad(AUXILIARY, "no column 'pp'",
                                     scores={"a": "x", "b": "pp"}),
    "scores that are words": bad("score column 'city'", "not probabilities",
                                 scores={"a": "x", "b": "city"}),
    "scores that do not sum to one": both("rows in the score columns p, q",
                                          "not probabilities that sum to one",
                                          p=every_tenth(0.4, 0.5), q=every_tenth(0.6, 0.4),
                                          roles={"scores": {"a": "p", "b": "q"}}),
}  # fmt: skip


def made(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tables(**case.auxiliary)[0], tables(**case.deployment)[1]


def plain(message: str) -> str:
    """Return a message without the names of files, which only the command line knows."""
    return message.replace(" (auxiliary.parquet)", "").replace(" (deployment.parquet)", "")


def check(message: str, says: tuple[str, ...]) -> None:
    assert "\n" not in message
    for fragment in says:
        assert fragment in plain(message)


@pytest.mark.parametrize("case", TABLES)
def test_from_python(case: str) -> None:
    with pytest.raises(InputError) as raised:
        audited(*made(TABLES[case]), **TABLES[case].roles)
    assert isinstance(raised.value, QuantifairError)
    assert isinstance(raised.value, ValueError)
    check(str(raised.value), TABLES[case].says)


def arguments(roles: dict[str, Any]) -> list[str]:
    """Return roles as options."""
    given = {"decision": "ok", "group": "g", "replicates": 20, **roles}
    pairs = given.pop("scores", {}).items()
    options = [("score", f"{group}={column}") for group, column in pairs]
    options += [("feature", feature) for feature in given.pop("features", ())]
    options += [(name.replace("_", "-"), str(value)) for name, value in given.items()]
    return [word for name, value in options for word in (f"--{name}", value)]


def run(monkeypatch: pytest.MonkeyPatch, *words: Any) -> int:
    """Run the command line in this process; return its exit status."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("TTY_COMPATIBLE", raising=False)
    monkeypatch.setattr("sys.argv", ["quantifair", *map(str, words)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    code = stopped.value.code
    assert isinstance(code, int)
    return code


@pytest.mark.parametrize("case", TABLES)
def test_from_the_command_line(
    case: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    training = {} if "scores" in TABLES[case].roles else {"training": "split"}
    monkeypatch.setattr("quantifair.audit.Audit", partial(Audit, **training))
    files = [tmp_path / "auxiliary.parquet", tmp_path / "deployment.parquet"]
    for file, table in zip(files, made(TABLES[case]), strict=True):
        table.to_parquet(file)
    options = arguments(TABLES[case].roles)
    assert run(monkeypatch, "audit", files[1], "-a", files[0], *options) == cli.BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith("error: ")
    check(line, TABLES[case].says)


def test_a_favourable_decision_needs_a_decision_to_quantify_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "auxiliary.csv", tmp_path / "deployment.csv"]
    for file, table in zip(files, tables(), strict=True):
        table.to_csv(file, index=False)
    options = ["quantify", files[1], "-a", files[0], "--group", "g", "--favourable", "yes"]
    assert run(monkeypatch, *options) == cli.BAD_INPUT
    message = "--favourable (favourable=) has no use without --decision (decision=)"
    assert message in capsys.readouterr().err


# Sources that are no table.


def mixed() -> pd.DataFrame:
    return draw(9, 1).assign(x=[1, "two", 3.0] * 3)


OBJECTS: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: None, "the auxiliary table is a NoneType; give a pandas, polars"),
    "a dict": (lambda: {"x": [1]}, "is a dict; give a pandas"),
    "an array": (lambda: np.eye(3), "is a ndarray; give a pandas"),
    "a column": (lambda: draw(9, 1)["x"], "is a Series; give a pandas"),
    "a column of polars": (lambda: pl.Series([1]), "is a Series; give a pandas"),
    "no rows": (lambda: draw(0, 1), "the auxiliary table is empty: it has columns but no rows"),
    "no rows of polars": (lambda: pl.from_pandas(draw(9, 1)).clear().lazy(), "no rows"),
    "no rows of DuckDB": (
        lambda: duckdb.sql("select 1 as x, 2 as ok, 3 as g where false"),
        "the auxiliary table is empty: it has columns but no rows",
    ),
    "no columns": (lambda: draw(9, 1)[[]], "the auxiliary table has no columns"),
    "no columns of Arrow": (lambda: pa.table({}), "the auxiliary table has no columns"),
    "numbers as names": (lambda: draw(9, 1).T, "column names must be text, not 0"),
    "pairs as names": (
        lambda: pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("x", "y")])),
        r"column names must be text, not \('x', 'y'\)",
    ),
    "a name twice": (
        lambda: draw(9, 1).set_axis(["x", "x", "ok", "g"], axis=1),
        "the auxiliary table has several columns named 'x'; rename or drop them",
    ),
    "a name twice in Arrow": (
        lambda: pa.table([[1], [2]], names=["x", "x"]),
        "has several columns named 'x'",
    ),
    "a name twice in DuckDB": (
        lambda: duckdb.sql("select 1 as x, 2 as x"),
        "has several columns named 'x'",
    ),
    "names that DuckDB confuses": (
        lambda: duckdb.sql('select 1 as x, 2 as "X"'),
        "columns that differ in case only",
    ),
    "mixed types": (
        mixed,
        "column 'x' of the auxiliary table .* of mixed or unknown types: .*'two'",
    ),
    "complex numbers": (lambda: draw(9, 1).assign(x=1j), "mixed or unknown types"),
    "numbers too large": (lambda: draw(9, 1).assign(x=10**30), "mixed or unknown types"),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_objects_that_are_no_table(case: str) -> None:
    source, message = OBJECTS[case]
    with pytest.raises(InputError, match=message) as raised:
        Audit(decision="ok", group="g").fit(source())
    assert "\n" not in str(raised.value)


def test_a_relation_whose_connection_is_closed() -> None:
    with duckdb.connect() as connection:
        relation = connection.sql("select 1 as x")
    with pytest.raises(InputError, match="the deployment table can't be read: Connection Error"):
        open_table(relation, "deployment")


# Files that are no table. Each is written by its case, into an empty folder.

ROWS = "x,ok\n" + "0.5,yes\n1.5,no\n" * 20


def parquet(folder: Path) -> bytes:
    draw(50, 1).to_parquet(folder / "whole.parquet")
    return (folder / "whole.parquet").read_bytes()


def repeated(folder: Path) -> bytes:
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), folder / "whole.parquet")
    return (folder / "whole.parquet").read_bytes()


FILES: dict[str, tuple[str, str | bytes | Callable[[Path], bytes], str]] = {
    "an empty file": ("t.csv", "", "t.csv is empty"),
    "an empty Parquet file": ("t.parquet", "", "t.parquet is empty"),
    "a header alone": ("t.csv", "x,ok\n", "(t.csv) is empty: it has columns but no rows"),
    "a line without names": ("t.csv", "\n1,2\n", "does not hold column names"),
    "no header": ("t.csv", ROWS.partition("\n")[2], "does not look like column names"),
    "a long row": ("t.csv", ROWS + "1,yes,3\n", "Line: 42: Expected Number of Columns: 2"),
    "a short row": ("t.csv", ROWS + "1\n" + ROWS, "Line: 42: Expected Number of Columns: 2"),
    "an open quote": ("t.csv", ROWS + '1,"yes\n' + ROWS, "Line: 42: Value with unterminated"),
    "another encoding": ("t.csv", (ROWS + "1,ä\n").encode("latin1"), "is not UTF-8 text"),
    "another encoding, late": (
        "t.csv", (ROWS * 500 + "1,ä\n").encode("latin1"), "Line: 20501: Invalid unicode"
    ),
    "two bytes a letter": ("t.csv", ROWS.encode("utf-16"), "is not UTF-8 text"),
    "a name twice": ("t.csv", ROWS.replace("ok", "x", 1), "several columns named 'x'"),
    "Parquet named CSV": ("t.csv", parquet, "is not UTF-8 text"),
    "a truncated Parquet file": (
        "t.parquet", lambda folder: parquet(folder)[:-200], "can't be read: Parquet magic bytes"
    ),
    "text named Parquet": ("t.parquet", ROWS, "can't be read: Parquet magic bytes not found"),
    "a name twice in Parquet": ("t.parquet", repeated, "several columns named 'x'"),
    "no such date": ("t.csv", "x,ok,g\n2024-02-30,yes,a\n", "2024-02-30"),
    "a spreadsheet": ("t.xlsx", "PK", "is neither CSV (.csv, .tsv, .txt) nor Parquet"),
    "no ending": ("t", ROWS, "is neither CSV (.csv, .tsv, .txt) nor Parquet (.parquet)"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_files_that_are_no_table(
    case: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, content, message = FILES[case]
    file, good = tmp_path / name, tmp_path / "deployment.csv"
    given = content(tmp_path) if callable(content) else content
    file.write_bytes(given if isinstance(given, bytes) else given.encode())
    good.write_text(ROWS)
    with pytest.raises(InputError) as raised:
        audited(file, good)
    assert f"the auxiliary table ({name})" in str(raised.value)
    assert message in str(raised.value)
    assert run(monkeypatch, "audit", good, "-a", file, *arguments({})) == cli.BAD_INPUT
    assert capsys.readouterr() == ("", f"error: {raised.value}\n")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.csv", "no file at .*nowhere.csv"),
        ("nowhere*.parquet", "no file at .*nowhere"),
        ("folder", r"is a directory; name a file, or a glob such as '.*folder/\*.parquet'"),
        ("*", "is a directory|neither CSV"),
        ("t*", "is neither CSV"),
        ("t?.csv", "t2.csv has other columns than .*t1.csv"),
    ],
)
def test_paths_of_no_table(path: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "t1.csv").write_text("x,ok\n1,yes\n")
    (tmp_path / "t2.csv").write_text("ok,x\nyes,1\n")
    (tmp_path / "t.parquet").write_text("PAR1")
    with pytest.raises(InputError, match=message):
        open_table(tmp_path / path, "deployment")


# What is only unusual works.


def test_ten_thousand_categories_are_grouped_and_named() -> None:
    rng = np.random.default_rng(1)
    auxiliary, deployment = draw(10_000, 1), draw(10_000, 2).drop(columns="g")
    for table in (auxiliary, deployment):
        table["town"] = [f"town {i}" for i in rng.permutation(10_000)]
    started = time.perf_counter()
    result = audited(auxiliary, deployment)
    assert time.perf_counter() - started < 10
    (caution,) = result.warnings
    assert caution.code == "many_categories"
    assert caution.where == "town"
    assert "10,000 different values" in caution.message
    expected = parity(audited(auxiliary.drop(columns="town"), deployment.drop(columns="town")))
    assert parity(result) == pytest.approx(expected, abs=0.01)


def test_a_constant_feature_among_others_does_not_matter() -> None:
    result = audited(*tables(still=7, mute="u"))
    assert codes(result) == []
    assert parity(result) == pytest.approx(parity(audited(*tables())), abs=1e-3)
