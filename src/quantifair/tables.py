"""Any dataframe or file as a stream of Arrow batches, with its columns checked by name."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from quantifair.csvfiles import NOTHING, open_csv
from quantifair.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

BLOCK = 65_536
"""Rows scored at a time; fixed, so that the same rows give the same bytes."""

_TEXT_FILES = {".csv", ".tsv", ".txt"}
_PARQUET_FILES = {".parquet", ".pq"}
_NO_TYPE = (pa.ArrowException, TypeError, OverflowError)
_REASONS = r"Expected Number of Columns.*|Invalid unicode[^.]*|.*unterminated quote"


@dataclass(frozen=True)
class Table:
    """A table to be read column by column, block by block.

    Attributes
    ----------
    name
        How messages call it.
    schema
        Its columns and their Arrow types.
    rows
        Number of rows where it is known without reading them.
    unreadable
        Columns whose values have no common type, and why; they stop only who reads them.
    """

    name: str
    schema: pa.Schema
    rows: int | None
    _open: Callable[[list[str]], Iterable[pa.RecordBatch]]
    _connection: Any = None
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def require(self, column: str, role: str) -> None:
        """Raise unless the column exists and can be read."""
        if column not in self.schema.names:
            hint = did_you_mean(column, self.schema.names)
            raise InputError(f"{self.name} has no column {column!r} (the {role}); {hint}")
        if column in self.unreadable:
            raise InputError(
                f"column {column!r} of {self.name} (the {role}) is of mixed or unknown types: "
                f"{self.unreadable[column]}"
            )

    def blocks(self, columns: Iterable[str]) -> Generator[pa.RecordBatch, None, None]:
        """Yield the columns in blocks of a fixed number of rows, the last one shorter."""
        names = list(columns)
        for name in names:
            self.require(name, "column to read")
        with _readable(self.name):
            yield from _rebatched(self._open(names))

    def read(self, columns: Iterable[str]) -> pa.Table:
        """Return the columns in memory."""
        names = list(columns)
        schema = pa.schema([self.schema.field(n) for n in names])
        batches = list(self.blocks(names))
        return pa.Table.from_batches(batches, batches[0].schema if batches else schema)


def open_table(source: Any, role: str) -> Table:
    """Open a dataframe, an Arrow table, a DuckDB relation, or a CSV or Parquet file.

    A column of a CSV file has the type of all its values: true and false, whole numbers, numbers,
    dates such as 2024-12-31, or else text, as 007 is. Missing are empty fields and, except in text,
    NA, NaN, null and None. The index of a pandas frame and CSV columns without a name are not read.

    Parameters
    ----------
    source
        Any frame that narwhals supports, a DuckDB relation, an Arrow table, dataset or reader,
        or the path of a CSV or Parquet file, or a glob of several.
    role
        How messages call the table.

    Raises
    ------
    InputError
        Where the source is not such a table, is empty, or repeats a column name.
    """
    if isinstance(source, Table):
        return source
    is_path = isinstance(source, str | Path)
    name = f"the {role} table" + (f" ({Path(source).name})" if is_path else "")
    with _readable(name):
        table = _open_path(str(source), name) if is_path else _open_object(source, name)
    _check_names(table.columns, name)
    if table.rows == 0:
        raise InputError(f"{name} is empty: it has columns but no rows")
    return table


def _check_names(names: Sequence[Any], name: str) -> None:
    if not len(names):
        raise InputError(f"{name} has no columns")
    not_text = [n for n in names if not isinstance(n, str)]
    if not_text:
        raise InputError(f"{name}: column names must be text, not {not_text[0]!r}")
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise InputError(f"{name} has several columns named {repeated[0]!r}; rename or drop them")


def _open_path(path: str, name: str) -> Table:
    files = [path] if Path(path).exists() else sorted(glob(path, recursive=True))  # noqa: PTH207
    if not files:
        raise InputError(f"{name}: no file at {path}")
    for file in files:
        if Path(file).is_dir():
            raise InputError(
                f"{name}: {file} is a directory; name a file, or a glob such as '{file}/*.parquet'"
            )
    endings = {Path(file).suffix.lower() for file in files}
    if not (endings <= _TEXT_FILES or endings <= _PARQUET_FILES):
        raise InputError(f"{name}: {path} is neither CSV (.csv, .tsv, .txt) nor Parquet (.parquet)")
    for file in files:
        if Path(file).stat().st_size == 0:
            raise InputError(f"{name}: {file} is empty")
    return _open_files(files, name, is_text=endings <= _TEXT_FILES)


def _open_files(files: list[str], name: str, *, is_text: bool) -> Table:
    import duckdb

    connection = duckdb.connect()
    read = partial(open_csv, name=name) if is_text else _open_parquet
    opened = read(files, connection=connection)
    # A relation of DuckDB 1.2 does not keep its connection open.
    return replace(_from_relation(name, *opened), _connection=connection)


def _open_parquet(files: list[str], connection: Any) -> tuple[Any, int, list[str], list[str]]:
    """Return the relation, its rows, its columns and how each is read."""
    from pyarrow.parquet import read_schema

    names = list(read_schema(files[0]).names)
    # Of files in folders such as year=2024/month=5, all in the same way, these are columns, too.
    folders = {tuple(re.findall(r"([^/\\]+)=[^/\\]*[/\\]", file)) for file in files}
    in_folders = len(files) > 1 and len(folders) == 1
    relation = connection.read_parquet(files, hive_partitioning=in_folders)
    rows = relation.count("*").fetchall()[0][0]
    # DuckDB renames columns that differ in case only, and adds those of the folders.
    names += relation.columns[len(names) :]
    return relation, rows, names, [_quoted(column) for column in relation.columns]


def _from_relation(
    name: str, relation: Any, rows: int | None, names: list[str], expressions: Iterable[str]
) -> Table:
    """Read columns of a DuckDB relation, each by its SQL expression."""
    _check_names(names, name)
    columns = dict(zip(names, expressions, strict=True))

    def chosen(part: Any, names: list[str]) -> Any:
        return part.project(", ".join(f"{columns[n]} as c{i}" for i, n in enumerate(names)))

    def batches(names: list[str]) -> Iterator[pa.RecordBatch]:
        result = chosen(relation, names)
        # DuckDB 1.2 has no to_arrow_reader.
        read = getattr(result, "to_arrow_reader", None) or result.fetch_arrow_reader
        with read(BLOCK) as reader:
            for batch in reader:
                yield pa.RecordBatch.from_arrays(shaped(batch.columns, names), names)

    def shaped(arrays: list[Any], names: list[str]) -> list[Any]:
        """DuckDB 1.2 calls a column without any value numbers."""
        given = zip(names, arrays, strict=True)
        return [pa.nulls(len(a)) if columns[n] == NOTHING else a for n, a in given]

    none = chosen(relation.limit(0), list(columns)).to_arrow_table()
    schema = pa.table(shaped(none.columns, list(columns)), list(columns)).schema
    return Table(name, schema, rows, batches)


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _open_object(source: Any, name: str) -> Table:
    if type(source).__name__ == "DuckDBPyRelation":
        names = source.columns
        if len({n.lower() for n in names}) < len(set(names)):
            raise InputError(f"{name} has columns that differ in case only; rename them")
        return _from_relation(name, source, None, names, map(_quoted, names))
    if isinstance(source, pa.RecordBatchReader):
        source = source.read_all()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _from_arrow(source, name)
    return _from_arrow(*_to_arrow(source, name))


def _to_arrow(source: Any, name: str) -> tuple[pa.Table, str, dict[str, str]]:
    """Return the table, its name, and why some of its columns can't be read."""
    import narwhals as nw

    if hasattr(source, "to_table") and hasattr(source, "scanner"):
        return source.to_table(), name, {}
    source = nw.to_native(source, pass_through=True)
    if nw.dependencies.is_pandas_like_dataframe(source):
        _check_names(list(source.columns), name)
    if nw.dependencies.is_pandas_dataframe(source):
        source = _in_words(source)
    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return frame.collect("pyarrow").to_arrow(), name, {}
    if isinstance(frame, nw.DataFrame):
        try:
            return frame.to_arrow().select(frame.columns), name, {}
        except _NO_TYPE:
            table, unreadable = _by_column(frame)
            return table, name, unreadable
    if hasattr(source, "__arrow_c_stream__") and not nw.dependencies.is_into_series(source):
        return pa.table(source), name, {}
    raise InputError(
        f"{name} is a {type(source).__name__}; give a pandas, polars or other dataframe, an "
        "Arrow table, a DuckDB relation, or the path of a CSV or Parquet file"
    )


def _in_words(frame: Any) -> Any:
    """Turn what Arrow has no text for into text: intervals, periods and UUIDs of pandas."""
    import pandas as pd

    words = (pd.Interval, pd.Period, UUID)
    found = {}
    for name, values in frame.items():
        if isinstance(values.dtype, pd.CategoricalDtype):
            first = values.cat.categories[:1]
        elif isinstance(values.dtype, pd.IntervalDtype | pd.PeriodDtype) or values.dtype == object:
            first = values.dropna().head(1)
        else:
            continue
        if any(isinstance(v, words) for v in first):
            found[name] = values.map(str, na_action="ignore")
    return frame.assign(**found)


def _by_column(frame: Any) -> tuple[pa.Table, dict[str, str]]:
    """Convert a frame column by column; those that can't be are empty, with the reason."""
    found, unreadable = {}, {}
    for name in frame.columns:
        try:
            found[name] = frame[name].to_arrow()
        except _NO_TYPE as error:
            found[name], unreadable[name] = pa.nulls(len(frame)), _reason(error)
    return pa.table(found), unreadable


def _from_arrow(table: pa.Table, name: str, unreadable: dict[str, str] | None = None) -> Table:
    def batches(columns: list[str]) -> pa.RecordBatchReader:
        return table.select(columns).to_reader(max_chunksize=BLOCK)

    return Table(name, table.schema, table.num_rows, batches, unreadable=unreadable or {})


def _rebatched(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += batch.num_rows
        while held >= BLOCK:
            merged = pa.Table.from_batches(waiting).combine_chunks()
            yield merged.slice(0, BLOCK).to_batches()[0]
            rest = merged.slice(BLOCK)
            waiting, held = rest.to_batches(), rest.num_rows
    if held:
        yield pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say which table it is that can't be read."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name} can't be read: {_reason(error)}") from error
    except Exception as error:
        if type(error).__module__.startswith(("duckdb", "_duckdb")):
            raise InputError(f"{name} can't be read: {_reason(error)}") from error
        raise


def _reason(error: Exception) -> str:
    """Return what an error says in one line."""
    text = "; ".join(str(a) for a in error.args) or type(error).__name__
    found = re.search(_REASONS, text)
    first = text.strip().splitlines()[0]
    return first if found is None else f"{first}: {found.group()}"
