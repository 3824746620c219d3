"""What the columns mean: features, decisions, groups, weights, and who is who."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quantifair.csvfiles import MISSING_WORDS
from quantifair.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.tables import Table

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

Columns: TypeAlias = pa.Table | pa.RecordBatch

MISSING = -1
"""Code of a value that is not there."""

_MOST_VALUES = 50
_FAVOURABLE_WORDS = {"true", "approved", "accepted", "granted", "hired", "admitted"}
_PLAIN_WORDS = {"1", "true"}
_CONTRARY_WORDS = {"default", "defaulted", "denied", "deny", "declined", "decline"}
_CONTRARY_WORDS |= {"rejected", "reject", "refused", "refuse"}
_SAME_WORDS = {"yes": "true", "no": "false"}


def kind_of(type_: pa.DataType) -> str | None:
    """Return how a column serves as a feature: number, date or text; ``None`` if it can't."""
    if pa.types.is_dictionary(type_):
        return "text"
    if pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_null(type_):
        return "number"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "number"
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return "date"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "text" if pa.types.is_string_view(type_) else None


def _holds_flags(type_: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(type_) and pa.types.is_boolean(type_.value_type))


@dataclass(frozen=True)
class Features:
    """The feature columns and how each is read.

    Learners get a pandas frame: numbers and booleans as float64 with NaN for what is missing,
    dates as datetime64, text and categories as text. Categories 1 and '1' are the same
    text; those in ``flags`` are booleans, which as text are not 0 and 1. A column without any
    value in the auxiliary table is not read of other tables, whatever it holds there.
    """

    kinds: dict[str, str]
    empty: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: Table, names: Iterable[str]) -> Features:
        """Read the kinds from a table's schema."""
        kinds = {}
        for name in names:
            table.require(name, "feature")
            type_ = table.schema.field(name).type
            kind = kind_of(type_)
            if kind is None:
                raise InputError(
                    f"column {name!r} of {table.name} holds {type_}, which can't be a feature; "
                    "turn it into numbers, text or dates, or leave it out"
                )
            kinds[name] = kind
        types = {name: table.schema.field(name).type for name in kinds}
        empty = frozenset(n for n, t in types.items() if pa.types.is_null(t))
        return cls(kinds, empty, frozenset(n for n, t in types.items() if _holds_flags(t)))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.kinds)

    def check(self, table: Table) -> None:
        """Raise where another table holds a feature of another kind."""
        for name, kind in self.kinds.items():
            table.require(name, "feature")
            type_ = table.schema.field(name).type
            if name in self.empty or pa.types.is_null(type_):
                continue
            has_flags = name in self.flags
            if kind_of(type_) != kind or _holds_flags(type_) != has_flags:
                plain = kind if kind == "text" else f"{kind}s"
                expected = "boolean categories" if has_flags else plain
                raise InputError(
                    f"column {name!r} holds {expected} in the auxiliary table but "
                    f"{type_} in {table.name}; give it the same type in both"
                )

    def frame(self, columns: Columns, where: str) -> pd.DataFrame:
        """Return the features of some rows as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(
            {name: self._column(columns[name], name, where) for name in self.kinds}, copy=False
        )

    def _column(self, values: Any, name: str, where: str) -> Any:
        kind = self.kinds[name]
        if name in self.empty:
            return np.full(len(values), np.nan)
        if kind == "text":
            return values.cast(pa.string()).to_pandas()
        if kind == "date":
            return values.cast(pa.timestamp("us"), safe=False).to_pandas()
        numbers = to_floats(values)
        infinite = int(np.isinf(numbers).sum())
        if infinite:
            raise InputError(
                f"column {name!r} of {where} holds {infinite:,} infinite values; replace them by "
                "numbers or by missing values"
            )
        return numbers


def to_floats(values: Any) -> FloatArray:
    """Return an Arrow column as float64, NaN where it is missing."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    floats = values.cast(pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(**_copying(floats)), dtype=np.float64)


def _copying(values: Any) -> dict[str, bool]:
    return {} if isinstance(values, pa.ChunkedArray) else {"zero_copy_only": False}


def encode(values: Any, known: Sequence[Any]) -> tuple[IntArray, list[Any]]:
    """Return the position of each value among the known ones, and the unknown values.

    Missing values (null, NaN, NA) and unknown ones get the code ``MISSING``. A value that another
    type of column spells otherwise, as True and 'yes' or 1 and '1', is known.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    entries = [_plain(v) for v in values.dictionary.to_pylist()]
    words = [_word(v) for v in known]
    loosely = {w: i for i, w in enumerate(words) if words.count(w) == 1}
    exactly = {v: i for i, v in enumerate(known)}
    table = np.full(len(entries) + 1, MISSING, dtype=np.int64)
    for entry, value in enumerate(entries):
        if value is not None:
            table[entry] = exactly.get(value, loosely.get(_word(value), MISSING))
    indices = pc.fill_null(values.indices, len(entries)).to_numpy(zero_copy_only=False)
    occurring = [i for i in np.unique(indices).tolist() if i < len(entries)]
    unknown = [entries[i] for i in occurring if entries[i] is not None and table[i] == MISSING]
    return table[indices.astype(np.int64)], unknown


def check_flat(values: Any, column: str, where: str) -> None:
    """Raise where a column that should tell people apart holds lists or records."""
    if pa.types.is_nested(values.type):
        raise InputError(
            f"column {column!r} of {where} holds {values.type}; a decision, label, group or id "
            "is a single value"
        )


def distinct(values: Any, column: str, where: str) -> list[Any]:
    """Return the distinct values of a column that should have few, sorted; missing left out."""
    check_flat(values, column, where)
    found = {_plain(v) for v in pc.unique(values).to_pylist()} - {None}
    if len(found) > _MOST_VALUES:
        raise InputError(
            f"column {column!r} of {where} has {len(found):,} different values; a decision, "
            "label or group has few. Is it the right column?"
        )
    return sorted(
        found, key=lambda v: (isinstance(v, str), v if not isinstance(v, str) else 0, str(v))
    )


def _plain(value: Any) -> Any:
    """Return a value that compares across tables: 1, 1.0 and True are the same.

    NaN is missing, and so are the words for it: R writes NA among text, and no decision, label or
    group is called that.
    """
    if isinstance(value, float | Decimal):
        number = float(value)
        if math.isnan(number):
            return None
        return int(number) if number.is_integer() else number
    return None if value in MISSING_WORDS else value


def _word(value: Any) -> str:
    """Return what a value is called whatever the column's type: True and 'Yes' are the same."""
    word = text_of(value).strip().lower()
    return _SAME_WORDS.get(word, word)


def text_of(value: Any) -> str:
    """Return how a value is shown."""
    return str(value)


def name_of(value: Any) -> str:
    """Return how a group is called whatever the type of its value: 1.0 is the group 1."""
    return text_of(_plain(value))


@dataclass(frozen=True)
class Binary:
    """A decision or a label: which value is the favourable one.

    Attributes
    ----------
    column
        Name of the column.
    values
        All values that the auxiliary table holds.
    favourable
        The favourable one; all others are unfavourable.
    """

    column: str
    values: tuple[Any, ...]
    favourable: Any

    @classmethod
    def learn(cls, values: list[Any], column: str, favourable: Any, option: str) -> Binary:
        """Find the favourable value, or ask for it."""
        shown = ", ".join(repr(v) for v in values[:10])
        if favourable is not None:
            same = [v for v in values if v == favourable]
            same += [v for v in values if _word(v) == _word(favourable)]
            if same:
                return cls(column, tuple(values), same[0])
            raise InputError(
                f"{option} {favourable!r} does not occur in {column!r}, which holds {shown}"
            )
        obvious = None if _is_contrary(column, values) else _obvious(values)
        if obvious is None:
            raise InputError(
                f"which value of {column!r} is favourable? It holds {shown}; say so with {option}"
            )
        return cls(column, tuple(values), obvious)

    def decode(self, values: Any, where: str) -> IntArray:
        """Return 1 for favourable, 0 for unfavourable and ``MISSING``."""
        check_flat(values, self.column, where)
        codes, unknown = encode(values, self.values)
        if unknown:
            raise InputError(
                f"column {self.column!r} of {where} holds {unknown[0]!r}, which the auxiliary "
                f"table does not; known are {', '.join(repr(v) for v in self.values[:10])}"
            )
        favourable = self.values.index(self.favourable)
        return np.where(codes == MISSING, MISSING, (codes == favourable).astype(np.int64))

    def name(self, code: int) -> str:
        """Return how a cell calls the decoded value."""
        if code == 1:
            return f"{self.column}={text_of(self.favourable)}"
        others = [v for v in self.values if v != self.favourable]
        if len(others) == 1:
            return f"{self.column}={text_of(others[0])}"
        return f"{self.column}!={text_of(self.favourable)}"


def _obvious(values: list[Any]) -> Any:
    """Return the favourable of two values where nobody would doubt which it is."""
    words = [_word(v) for v in values]
    if len(values) > 2:
        return None
    if set(words) <= {"-1", "0", "1"}:
        return values[words.index("1")] if "1" in words else None
    chosen = [v for v, word in zip(values, words, strict=True) if word in _FAVOURABLE_WORDS]
    return chosen[0] if len(chosen) == 1 else None


def _is_contrary(column: str, values: list[Any]) -> bool:
    """Tell whether 1, True or yes in a column of this name may well be the unfavourable value."""
    named = set(re.findall("[a-z]+", re.sub("([a-z])([A-Z])", r"\1 \2", column).lower()))
    return bool(named & _CONTRARY_WORDS) and any(_word(v) in _PLAIN_WORDS for v in values)


def group_codes(
    columns: Columns, names: Sequence[str], where: str
) -> tuple[IntArray, list[str], list[list[str]]]:
    """Encode one or several group columns.

    Returns
    -------
    codes
        The group of each row, ``MISSING`` where any attribute is.
    groups
        Names of the groups that occur, in order; of intersections joined by `` & ``.
    parts
        For each group its value of each attribute.
    """
    coded, values = [], []
    for name in names:
        levels = distinct(columns[name], name, where)
        codes, _ = encode(columns[name], levels)
        coded.append(codes)
        values.append([text_of(v) for v in levels])
    missing = np.any([c == MISSING for c in coded], axis=0)
    joint = np.zeros(len(missing), dtype=np.int64)
    for codes, levels in zip(coded, values, strict=True):
        joint = joint * len(levels) + np.maximum(codes, 0)
    present = np.unique(joint[~missing])
    codes = np.full(len(joint), MISSING, dtype=np.int64)
    codes[~missing] = np.searchsorted(present, joint[~missing])
    parts = []
    for number in present.tolist():
        part = []
        for levels in reversed(values):
            number, position = divmod(number, len(levels))  # noqa: PLW2901
            part.append(levels[position])
        parts.append(part[::-1])
    return codes, [" & ".join(p) for p in parts], parts


def checked_weights(values: Any, column: str, where: str) -> FloatArray:
    """Return weights, or say what is wrong with them."""
    if kind_of(values.type) != "number":
        raise InputError(f"weight column {column!r} of {where} holds {values.type}, not numbers")
    weights = to_floats(values)
    wrong = int((~(np.isfinite(weights) & (weights >= 0))).sum())
    if wrong:
        raise InputError(
            f"{wrong:,} of {len(weights):,} weights in column {column!r} of {where} are missing, "
            "negative or infinite"
        )
    return weights


def ids_of(values: Any, column: str, where: str) -> NDArray[Any]:
    """Return identifiers as text, so that 7 and '7' are the same person."""
    check_flat(values, column, where)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    missing = values.null_count
    if missing:
        raise InputError(
            f"{missing:,} of {len(values):,} ids in column {column!r} of {where} are missing"
        )
    if pa.types.is_floating(values.type):
        try:
            values = values.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise InputError(
                f"ids in column {column!r} of {where} are neither whole numbers nor text"
            ) from error
    return np.asarray(values.cast(pa.string()).to_pandas(), dtype=object)
