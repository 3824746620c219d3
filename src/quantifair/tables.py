"""Any dataframe or file as a stream of Arrow batches, with its columns checked by name."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from quantifair.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BLOCK = 65_536
"""Rows scored at a time; fixed, so that the same rows give the same bytes."""

_SNIFFED = 20_480
_TEXT_FILES = {".csv", ".tsv", ".txt"}
_PARQUET_FILES = {".parquet", ".pq"}


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
    """

    name: str
    schema: pa.Schema
    rows: int | None
    _open: Callable[[list[str]], pa.RecordBatchReader]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def require(self, column: str, role: str) -> None:
        """Raise unless the column exists."""
        if column not in self.schema.names:
            hint = did_you_mean(column, self.schema.names)
            raise InputError(f"{self.name} has no column {column!r} (the {role}); {hint}")

    def blocks(self, columns: Iterable[str]) -> Iterator[pa.RecordBatch]:
        """Yield the columns in blocks of a fixed number of rows, the last one shorter."""
        try:
            yield from _rebatched(self._open(list(columns)))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.name, error) from error
        except Exception as error:
            if type(error).__module__.startswith(("duckdb", "_duckdb")):
                raise _unreadable(self.name, error) from error
            raise

    def read(self, columns: Iterable[str]) -> pa.Table:
        """Return the columns in memory."""
        names = list(columns)
        schema = pa.schema([self.schema.field(n) for n in names])
        batches = list(self.blocks(names))
        return pa.Table.from_batches(batches, batches[0].schema if batches else schema)


def open_table(source: Any, role: str) -> Table:
    """Open a dataframe, an Arrow table, a DuckDB relation, or a CSV or Parquet file.

    Parameters
    ----------
    source
        Any frame that narwhals supports, a DuckDB relation, an Arrow table, dataset or reader,
        or the path of a CSV or Parquet file (a glob of Parquet files as well).
    role
        How messages call the table.

    Raises
    ------
    InputError
        Where the source is not such a table, is empty of columns, or repeats a column name.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        table = _open_path(str(source), f"the {role} table ({Path(source).name})")
    else:
        table = _open_object(source, f"the {role} table")
    repeated = sorted({n for n in table.columns if table.columns.count(n) > 1})
    if repeated:
        raise InputError(
            f"{table.name} has several columns named {repeated[0]!r}; rename or drop them"
        )
    if not table.columns:
        raise InputError(f"{table.name} has no columns")
    return table


def _open_path(path: str, name: str) -> Table:
    import duckdb

    suffix = Path(path).suffix.lower()
    is_glob = any(c in path for c in "*?[")
    if not is_glob and not Path(path).exists():
        raise InputError(f"{name}: no file at {path}")
    if Path(path).is_dir():
        raise InputError(
            f"{name}: {path} is a directory; name a file, or a glob such as '{path}/*.parquet'"
        )
    if suffix not in _TEXT_FILES | _PARQUET_FILES:
        raise InputError(f"{name}: {path} is neither CSV (.csv, .tsv, .txt) nor Parquet (.parquet)")
    if not is_glob and Path(path).stat().st_size == 0:
        raise InputError(f"{name}: {path} is empty")
    try:
        connection = duckdb.connect()
        if suffix in _PARQUET_FILES:
            relation = connection.read_parquet(path)
            rows = relation.count("*").fetchall()[0][0]
            return _from_relation(relation, name, rows)
        _check_header(connection, path, name)
        return _from_relation(_read_csv(connection, path), name, None)
    except duckdb.Error as error:
        raise _unreadable(name, error) from error


def _read_csv(connection: Any, path: str) -> Any:
    """Read a CSV file; DuckDB takes yes and no for booleans, which other tables hold as text."""
    relation = connection.read_csv(path)
    schema = relation.limit(0).to_arrow_table().schema
    booleans = [f.name for f in schema if pa.types.is_boolean(f.type)]
    if not booleans:
        return relation
    as_text = connection.read_csv(path, dtype=dict.fromkeys(booleans, "VARCHAR")).limit(_SNIFFED)
    words = {
        column
        for column in booleans
        for (value,) in as_text.project(_quoted(column)).distinct().fetchall()
        if value is not None and value.lower() not in {"true", "false"}
    }
    return connection.read_csv(path, dtype=dict.fromkeys(words, "VARCHAR")) if words else relation


def _check_header(connection: Any, path: str, name: str) -> None:
    """DuckDB renames repeated columns silently, so look at the header itself."""
    sniffed = connection.execute("select Delimiter, HasHeader from sniff_csv(?)", [path])
    delimiter, has_header = sniffed.fetchall()[0]
    if not has_header:
        raise InputError(f"{name}: the first line of {path} does not look like column names")
    with Path(path).open(newline="", encoding="utf-8-sig", errors="replace") as file:
        header = next(csv.reader(file, delimiter=delimiter), [])
    repeated = sorted({h for h in header if h and header.count(h) > 1})
    if repeated:
        raise InputError(f"{name} has several columns named {repeated[0]!r}; rename or drop them")


def _from_relation(relation: Any, name: str, rows: int | None) -> Table:
    def reader(columns: list[str]) -> pa.RecordBatchReader:
        return relation.project(", ".join(map(_quoted, columns))).to_arrow_reader(BLOCK)

    return Table(name, relation.limit(0).to_arrow_table().schema, rows, reader)


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _open_object(source: Any, name: str) -> Table:
    if type(source).__name__ == "DuckDBPyRelation":
        return _from_relation(source, name, None)
    if isinstance(source, pa.RecordBatchReader | pa.RecordBatch):
        source = pa.table(source)
    if not isinstance(source, pa.Table):
        source = _to_arrow(source, name)
    return _from_arrow(source, name)


def _to_arrow(source: Any, name: str) -> pa.Table:
    import narwhals as nw

    if hasattr(source, "to_table") and hasattr(source, "scanner"):
        return source.to_table()
    names = list(getattr(source, "columns", []))
    not_text = [n for n in names if not isinstance(n, str)]
    if not_text:
        raise InputError(f"{name}: column names must be text, not {not_text[0]!r}")
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise InputError(f"{name} has several columns named {repeated[0]!r}; rename or drop them")
    try:
        frame = nw.from_native(source)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect("pyarrow")
        return frame.to_arrow()
    except pa.ArrowException as error:
        raise InputError(f"{name} mixes types in a column: {_first_line(error)}") from error
    except TypeError as error:
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
        raise InputError(
            f"{name} is a {type(source).__name__}; give a pandas, polars or other dataframe, an "
            "Arrow table, a DuckDB relation, or the path of a CSV or Parquet file"
        ) from error


def _from_arrow(table: pa.Table, name: str) -> Table:
    def reader(columns: list[str]) -> pa.RecordBatchReader:
        return table.select(columns).to_reader(max_chunksize=BLOCK)

    return Table(name, table.schema, table.num_rows, reader)


def _rebatched(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in reader:
        waiting.append(batch)
        held += batch.num_rows
        while held >= BLOCK:
            merged = pa.Table.from_batches(waiting).combine_chunks()
            yield merged.slice(0, BLOCK).to_batches()[0]
            rest = merged.slice(BLOCK)
            waiting, held = rest.to_batches(), rest.num_rows
    if held:
        yield pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]


def _unreadable(name: str, error: Exception) -> InputError:
    return InputError(f"{name} can't be read: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
