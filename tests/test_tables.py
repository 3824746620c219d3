"""Whatever holds the tables, the audit is the same."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.people import audited, codes, draw, parity

from quantifair import Audit, FittedAudit, InputError, tables
from quantifair.datasets import simulate_lender
from quantifair.tables import open_table

LENDER = simulate_lender(auxiliary_rows=240, deployment_rows=180, seed=3)
AUDIT = Audit(decision="approved", group="gender", training="split", replicates=20)


class Capsule:
    """What any library can offer: a stream of Arrow data, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def as_text(table: pa.Table, path: Path, **options: Any) -> Path:
    table.to_pandas().to_csv(path, **{"index": False, **options})
    return path


def as_arrow_csv(table: pa.Table, path: Path) -> str:
    pyarrow.csv.write_csv(table, path)
    return str(path)


def as_parquet(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path, row_group_size=77)
    return path


def as_parts(table: pa.Table, folder: Path, write: Callable[[pa.Table, Path], Any]) -> None:
    folder.mkdir()
    for number, start in enumerate(range(0, table.num_rows, 71)):
        write(table.slice(start, 71), folder / f"part {number}")


def as_parquet_glob(table: pa.Table, folder: Path) -> str:
    as_parts(table, folder, lambda t, p: as_parquet(t, p.with_suffix(".parquet")))
    return f"{folder}/*.parquet"


def as_partitions(table: pa.Table, folder: Path) -> str:
    """Write files in folders that are named after a decision and hold the rest."""
    parts = pyarrow.dataset.partitioning(pa.schema([("approved", pa.string())]), flavor="hive")
    pyarrow.dataset.write_dataset(table, folder, format="parquet", partitioning=parts)
    return f"{folder}/**/*.parquet"


def as_csv_glob(table: pa.Table, folder: Path) -> Path:
    as_parts(table, folder, lambda t, p: as_text(t, p.with_suffix(".csv")))
    return folder / "part*.csv"


def as_dataset(table: pa.Table, folder: Path) -> Any:
    as_parquet_glob(table, folder)
    return pyarrow.dataset.dataset(folder)


FORMS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "pandas": lambda t, _: t.to_pandas(),
    "pandas with an index of text": lambda t, _: t.to_pandas().set_axis(
        [f"row {i}" for i in range(t.num_rows)]
    ),
    "polars": lambda t, _: pl.from_arrow(t),
    "polars, lazily": lambda t, _: pl.from_arrow(t).lazy(),
    "narwhals": lambda t, _: nw.from_native(t.to_pandas()),
    "Arrow": lambda t, _: t,
    "Arrow in odd batches": lambda t, _: pa.Table.from_batches(t.to_batches(max_chunksize=37)),
    "Arrow batch": lambda t, _: t.combine_chunks().to_batches()[0],
    "Arrow reader": lambda t, _: t.to_reader(max_chunksize=41),
    "Arrow capsule": lambda t, _: Capsule(t),
    "Arrow dataset": as_dataset,
    "DuckDB": lambda t, _: duckdb.from_arrow(t),
    "CSV of pandas": lambda t, p: as_text(t, p.with_suffix(".csv")),
    "CSV of Arrow": lambda t, p: as_arrow_csv(t, p.with_suffix(".csv")),
    "CSV with semicolons": lambda t, p: as_text(t, p.with_suffix(".csv"), sep=";"),
    "CSV with tabs": lambda t, p: as_text(t, p.with_suffix(".tsv"), sep="\t"),
    "CSV with a nameless index": lambda t, p: as_text(t, p.with_suffix(".csv"), index=True),
    "CSV glob": as_csv_glob,
    "Parquet": lambda t, p: as_parquet(t, p.with_suffix(".parquet")),
    "Parquet by its path as text": lambda t, p: str(as_parquet(t, p.with_suffix(".PARQUET"))),
    "Parquet named like a glob": lambda t, p: as_parquet(t, p.with_name(f"{p.name} [1].parquet")),
    "Parquet glob": as_parquet_glob,
}


@pytest.fixture(scope="module")
def expected() -> str:
    return AUDIT.fit(LENDER.auxiliary).measure(LENDER.deployment).to_json()


@pytest.mark.parametrize("form", FORMS)
def test_every_source_gives_the_same_audit(form: str, expected: str, tmp_path: Path) -> None:
    auxiliary = FORMS[form](LENDER.auxiliary, tmp_path / "auxiliary")
    deployment = FORMS[form](LENDER.deployment, tmp_path / "deployment")
    assert AUDIT.fit(auxiliary).measure(deployment).to_json() == expected


def test_columns_may_be_in_the_names_of_folders(expected: str, tmp_path: Path) -> None:
    by_decision = LENDER.deployment.sort_by("approved")
    deployment = as_partitions(by_decision, tmp_path / "later")
    survey = as_partitions(LENDER.auxiliary, tmp_path / "survey")
    assert sorted(open_table(survey, "survey").columns) == sorted(LENDER.auxiliary.column_names)
    result = AUDIT.fit(LENDER.auxiliary).measure(deployment)
    assert result.to_json() == expected
    assert AUDIT.fit(survey).measure(deployment).rows == result.rows


def test_folders_are_columns_only_where_all_files_lie_in_such(tmp_path: Path) -> None:
    as_partitions(LENDER.deployment, tmp_path / "later")
    as_parquet(LENDER.deployment.drop("approved"), tmp_path / "later" / "more.parquet")
    files = open_table(f"{tmp_path}/later/**/*.parquet", "deployment")
    assert "approved" not in files.columns
    (one,) = (tmp_path / "later" / "approved=yes").iterdir()
    assert "approved" not in open_table(one, "deployment").columns


def test_two_relations_of_one_connection() -> None:
    with duckdb.connect() as connection:
        connection.register("people", LENDER.auxiliary)
        survey = connection.sql("from people")
        later = connection.sql("select * exclude gender from people where amount > 5000")
        result = AUDIT.fit(survey).measure(later)
    assert result.rows == int((LENDER.auxiliary["amount"].to_numpy() > 5000).sum())


def test_a_reader_may_be_read_only_once_but_serves_a_second_training() -> None:
    extra = LENDER.auxiliary.append_column("tenure", pa.array(range(240)))
    result = AUDIT.fit(extra.to_reader()).measure(LENDER.deployment.to_reader())
    assert codes(result) == ["not_shared"]


@pytest.fixture(scope="module")
def fitted() -> FittedAudit:
    return AUDIT.fit(LENDER.auxiliary)


def in_batches(table: pa.Table, sizes: list[int]) -> Iterator[pa.RecordBatch]:
    start = 0
    while start < table.num_rows:
        for size in sizes:
            yield from table.slice(start, size).combine_chunks().to_batches()
            start += size


def sketched(fitted: FittedAudit, source: Any) -> dict[Any, bytes]:
    found = fitted.sketch(source)
    return {cell: sketch.to_bytes() for cell, sketch in found.sketches.items()}


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sizes=st.lists(st.integers(1, 90), min_size=1, max_size=5))
def test_batches_of_the_source_do_not_matter(
    sizes: list[int], fitted: FittedAudit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BLOCK", 50)
    schema = LENDER.deployment.schema
    odd = pa.RecordBatchReader.from_batches(schema, in_batches(LENDER.deployment, sizes))
    assert sketched(fitted, odd) == sketched(fitted, LENDER.deployment)


@pytest.mark.parametrize("form", ["pandas", "Arrow reader", "DuckDB", "CSV glob", "Parquet glob"])
def test_blocks_have_a_fixed_number_of_rows(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BLOCK", 64)
    table = open_table(FORMS[form](LENDER.deployment, tmp_path / "t"), "deployment")
    blocks = list(table.blocks(["amount", "income"]))
    assert [b.num_rows for b in blocks] == [64, 64, 52]
    read = pa.Table.from_batches(blocks)
    assert read.column_names == ["amount", "income"]
    assert read["amount"].to_pylist() == LENDER.deployment["amount"].to_pylist()


def test_dictionaries_may_differ_from_batch_to_batch() -> None:
    def part(*values: str) -> pa.RecordBatch:
        return pa.record_batch({"c": pa.array(values).dictionary_encode()})

    table = open_table(pa.Table.from_batches([part("u", "v"), part("w", "u")]), "deployment")
    assert table.read(["c"])["c"].to_pylist() == ["u", "v", "w", "u"]


def test_a_bad_row_leaves_the_connection_usable() -> None:
    auxiliary, deployment = draw(200, 1), draw(70_000, 2)
    deployment.loc[0, "ok"] = "perhaps"
    with duckdb.connect() as connection:
        relation = connection.from_arrow(pa.Table.from_pandas(deployment))
        with pytest.raises(InputError, match="'perhaps'") as kept:
            audited(auxiliary, relation)
        assert kept.tb is not None
        assert connection.execute("select 7").fetchall() == [(7,)]


ODD_NAMES = [
    "with space", 'a "quoted" one', "o'clock", "semi;colon", "dot.ted", "com,ma", "select", "c1",
    "naïve Größe 年", "line\nbreak", "%", "{0}", " padded ", "Case", "case", "index", "a\\b",
]  # fmt: skip


def numbered(names: list[str]) -> pa.Table:
    return pa.table({name: [i + 0.5, -i] for i, name in enumerate(names)})


@pytest.mark.parametrize(
    "form", ["pandas", "polars", "Arrow", "CSV of pandas", "CSV glob", "Parquet", "Parquet glob"]
)
def test_odd_column_names_are_read_as_they_are(form: str, tmp_path: Path) -> None:
    table = open_table(FORMS[form](numbered(ODD_NAMES), tmp_path / "t"), "deployment")
    assert table.columns == ODD_NAMES
    turned = table.read(reversed(ODD_NAMES))
    assert turned.column_names == ODD_NAMES[::-1]
    assert turned.to_pydict() == {n: [i + 0.5, -i] for i, n in enumerate(ODD_NAMES)}


def test_odd_column_names_of_a_relation() -> None:
    names = [name for name in ODD_NAMES if name != "case"]
    table = open_table(duckdb.from_arrow(numbered(names)), "deployment")
    assert table.read(names).to_pydict() == numbered(names).to_pydict()


def test_odd_column_names_change_no_number(tmp_path: Path) -> None:
    auxiliary, deployment = draw(200, 1), draw(150, 2).drop(columns="g")
    odd = {"x": "dot.ted", "city": 'a "quoted" one', "ok": "select", "g": "naïve\nGröße"}
    files = tmp_path / "auxiliary.csv", tmp_path / "deployment.parquet"
    auxiliary.rename(columns=odd).to_csv(files[0], index=False)
    deployment.rename(columns=odd).to_parquet(files[1])
    renamed = audited(*files, decision=odd["ok"], group=odd["g"])
    assert renamed.settings["features"] == ["dot.ted", 'a "quoted" one']
    assert parity(renamed) == parity(audited(auxiliary, deployment))


UTC = dt.UTC
CSV_COLUMNS = {
    "whole numbers": (["1", "-2", "+3"], pa.int64(), [1, -2, 3]),
    "numbers": (["1", "2.5", "1e3"], pa.float64(), [1.0, 2.5, 1000.0]),
    "all digits of a number": (["0.1", "1e-9"], pa.float64(), [0.1, 1e-9]),
    "names of digits are text": (["007", "12", ""], pa.string(), ["007", "12", None]),
    "zeros before a point": (["0", "-0.5", "00.5"], pa.float64(), [0.0, -0.5, 0.5]),
    "long identifiers": (["12345678901234567890"], pa.decimal128(38, 0), [12345678901234567890]),
    "true and false": (["true", "FALSE", "True"], pa.bool_(), [True, False, True]),
    "yes and no are text": (["yes", "no"], pa.string(), ["yes", "no"]),
    "t and f are text": (["t", "f"], pa.string(), ["t", "f"]),
    "text": (["1", "b"], pa.string(), ["1", "b"]),
    "missing text": (["b", ""], pa.string(), ["b", None]),
    "NA among text is text": (["b", "NA"], pa.string(), ["b", "NA"]),
    "missing numbers": (["1", "", "NA", "nan", "null"], pa.int64(), [1, None, None, None, None]),
    "missing decimals": (["1.5", "", "None"], pa.float64(), [1.5, None, None]),
    "missing booleans": (["true", ""], pa.bool_(), [True, None]),
    "nothing at all": (["", "NA"], pa.null(), [None, None]),
    "quoted": (['"1"', '"2"'], pa.int64(), [1, 2]),
    "quotes, separators and breaks": (['"a, ""b""\nc"'], pa.string(), ['a, "b"\nc']),
    "dates": (
        ["2024-02-29", ""],
        pa.timestamp("us", "UTC"),
        [dt.datetime(2024, 2, 29, tzinfo=UTC), None],
    ),
    "times in UTC": (
        ["2024-02-29T12:00:00+02:00", "2024-02-29 12:00"],
        pa.timestamp("us", "UTC"),
        [dt.datetime(2024, 2, 29, 10, tzinfo=UTC), dt.datetime(2024, 2, 29, 12, tzinfo=UTC)],
    ),
    "other dates are text": (["29/02/2024"], pa.string(), ["29/02/2024"]),
}


@pytest.mark.parametrize("case", CSV_COLUMNS)
def test_a_csv_column_has_the_type_of_all_its_values(case: str, tmp_path: Path) -> None:
    fields, type_, values = CSV_COLUMNS[case]
    file = tmp_path / "t.csv"
    file.write_text("row,c\n" + "".join(f"{i},{f}\n" for i, f in enumerate(fields)))
    table = open_table(file, "auxiliary")
    assert table.schema.field("c").type == type_
    assert table.read(["c"])["c"].to_pylist() == values


def test_a_csv_number_late_in_the_file_is_not_rounded(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    numbers = [*range(70_000), 0.5]
    file.write_text("x,c\n" + "".join(f"{x},u\n" for x in numbers))
    table = open_table(file, "deployment")
    assert table.rows == 70_001
    assert table.read(["x"])["x"].to_pylist() == numbers


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_csv_may_end_its_lines_in_any_way_and_begin_with_a_mark(
    ending: str, tmp_path: Path
) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(ending.join(["\ufeffä,b", "1,u", "2,v", ""]).encode())
    assert open_table(file, "deployment").read(["ä", "b"]).to_pydict() == {
        "ä": [1, 2],
        "b": ["u", "v"],
    }


def test_a_csv_of_text_alone_has_its_first_line_as_header(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("city,ok\nRome,yes\nPisa,no\n")
    assert open_table(file, "deployment").read(["ok"])["ok"].to_pylist() == ["yes", "no"]


def test_a_csv_may_have_years_as_column_names(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("age,2019,2020\n30,1,2\n")
    assert open_table(file, "deployment").columns == ["age", "2019", "2020"]


def test_rows_are_known_where_they_can_be(tmp_path: Path) -> None:
    table = LENDER.deployment
    files = [FORMS[form](table, tmp_path / form) for form in ("CSV glob", "Parquet glob")]
    assert [open_table(source, "deployment").rows for source in (table, *files)] == [180] * 3


def test_a_table_that_is_open_stays_as_it_is() -> None:
    table = open_table(LENDER.deployment, "deployment")
    assert open_table(table, "auxiliary") is table


def test_the_index_of_pandas_is_no_feature() -> None:
    auxiliary = draw(200, 1).set_index(np.arange(200) % 2)
    deployment = draw(150, 2).drop(columns="g").set_index(pd.Index(np.arange(150) % 2))
    assert audited(auxiliary, deployment).settings["features"] == ["x", "city"]
