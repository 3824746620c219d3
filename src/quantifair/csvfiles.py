"""CSV files, read strictly: every row complete, and every column of the type of all its values."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quantifair.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = "null"
"""Type of a column without any value."""

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
"""Fields that hold no value, wherever text would be out of place."""

_TEXT = "VARCHAR"
# 007 is a name, not a number: as a number it would be that of 7.
_WHOLE = "regexp_full_match({0}, '[+-]?(0|[1-9][0-9]*)')"
_TYPES = {
    "BOOLEAN": "lower({0}) in ('true', 'false')",
    "BIGINT": f"{_WHOLE} and length({{0}}) < 19",
    "HUGEINT": f"{_WHOLE} and length({{0}}) < 38",
    "DOUBLE": "{0} is null or (try_cast({0} as DOUBLE) is not null"
    " and not regexp_full_match({0}, '[+-]?0[0-9]+'))",
    "TIMESTAMPTZ": "regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"
    "([ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}([.][0-9]+)?)?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)?)?')",
}
# Not "in (...)", which DuckDB turns into a join that loses the order of the rows.
_NOT_MISSING = " and ".join(f"{{0}} <> '{word}'" for word in MISSING_WORDS)
_GIVEN = f"case when {_NOT_MISSING} then {{0}} end"
_SEPARATORS = ",;\t|"


def open_csv(
    files: Sequence[str], name: str, connection: Any
) -> tuple[Any, int, list[str], list[str]]:
    """Open CSV files of the same columns.

    DuckDB's own guesses are not used: it rounds 1.5 where the first rows hold whole numbers, takes
    yes and no for booleans, and a broken row for another separator.

    Parameters
    ----------
    files
        Their paths.
    name
        How messages call the table.
    connection
        Of DuckDB.

    Returns
    -------
    relation
        All fields as text.
    rows
        Their number.
    columns, expressions
        Names of the columns, and how each is read: ``NOTHING`` where it has no value.
    """
    header, separator = _header(files[0], name)
    for file in files[1:]:
        if _header(file, name) != (header, separator):
            raise InputError(f"{name}: {file} has other columns than {files[0]}")
    named = {f"c{i}": title for i, title in enumerate(header) if title}
    connection.execute("set TimeZone = 'UTC'")
    given = {
        "sep": separator,
        "quotechar": '"',
        "escapechar": '"',
        "auto_detect": False,
        "columns": {f"c{i}": _TEXT for i in range(len(header))},
    }
    relation = connection.read_csv(list(files), header=True, **given)
    rows, types = _types(relation, list(named))
    _, of_titles = _types(
        connection.read_csv(files[0], header=False, **given).limit(1), list(named)
    )
    typed = [field for field, type_ in types.items() if type_ not in {NOTHING, _TEXT}]
    if typed and _TEXT not in {of_titles[field] for field in typed}:
        raise InputError(f"{name}: the first line of {files[0]} does not look like column names")
    return relation, rows, list(named.values()), [_expression(f, types[f]) for f in named]


def _header(file: str, name: str) -> tuple[list[str], str]:
    """Return the column names and the separator, the one that gives the most names."""
    try:
        with Path(file).open(newline="", encoding="utf-8-sig") as opened:
            line = opened.readline()
            separator = max(_SEPARATORS, key=lambda s: len(next(csv.reader([line], delimiter=s))))
            opened.seek(0)
            header = next(csv.reader(opened, delimiter=separator))
    except UnicodeDecodeError as error:
        raise InputError(f"{name} can't be read: {file} is not UTF-8 text") from error
    except csv.Error as error:
        raise InputError(f"{name} can't be read: {file} is not CSV ({error})") from error
    if not any(header):
        raise InputError(f"{name}: the first line of {file} does not hold column names")
    return header, separator


def _types(relation: Any, fields: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the number of rows and the first type that fits all values of each field."""
    given = relation.project(", ".join(f"{_GIVEN.format(f)} as {f}" for f in fields))
    asked = ["count({0})", *(f"bool_and({test})" for test in _TYPES.values())]
    sums = ", ".join(question.format(field) for field in fields for question in asked)
    rows, *answers = given.aggregate(f"count(*), {sums}").fetchall()[0]
    found = {}
    for i, field in enumerate(fields):
        values, *fits = answers[i * len(asked) : (i + 1) * len(asked)]
        fitting = (type_ for type_, fit in zip(_TYPES, fits, strict=True) if fit)
        found[field] = next(fitting, _TEXT) if values else NOTHING
    return rows, found


def _expression(field: str, type_: str) -> str:
    if type_ in {NOTHING, _TEXT}:
        return NOTHING if type_ == NOTHING else f"nullif({field}, '')"
    return f"cast({_GIVEN.format(field)} as {type_})"
