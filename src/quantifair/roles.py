"""What the columns mean: features, decisions, groups, weights, and who is who."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
_FAVOURABLE_WORDS = {"yes", "true", "approved", "accepted", "granted", "hired", "admitted"}


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


@dataclass(frozen=True)
class Features:
    """The feature columns and how each is read.

    Learners get a pandas frame: numbers and booleans as float64 with NaN for what is missing,
    dates as datetime64, text and categories as text.
    """

    kinds: dict[str, str]

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
        return cls(kinds)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.kinds)

    def check(self, table: Table) -> None:
        """Raise where another table holds a feature of another kind."""
        for name, kind in self.kinds.items():
            table.require(name, "feature")
            type_ = table.schema.field(name).type
            if kind_of(type_) != kind and not pa.types.is_null(type_):
                raise InputError(
                    f"column {name!r} holds {kind}s in the auxiliary table but {type_} in "
                    f"{table.name}; give it the same type in both"
                )

    def frame(self, columns: Columns, where: str) -> pd.DataFrame:
        """Return the features of some rows as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(
            {name: self._column(columns[name], name, where) for name in self.kinds}, copy=False
        )

    def _column(self, values: Any, name: str, where: str) -> Any:
        kind = self.kinds[name]
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

    Missing values (null, NaN) and unknown ones get the code ``MISSING``.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    entries = [_plain(v) for v in values.dictionary.to_pylist()]
    positions = {v: i for i, v in enumerate(known)}
    unknown = [v for v in entries if v is not None and v not in positions]
    table = np.array(
        [MISSING if v is None else positions.get(v, MISSING) for v in entries] or [MISSING]
    )
    indices = np.asarray(
        pc.fill_null(values.indices, 0).to_numpy(zero_copy_only=False), dtype=np.int64
    )
    codes = table[indices]
    codes[np.asarray(values.is_null().to_numpy(zero_copy_only=False))] = MISSING
    present = set(codes[codes != MISSING].tolist())
    return codes.astype(np.int64), unknown if len(present) < len(entries) else []


def distinct(values: Any, column: str, where: str) -> list[Any]:
    """Return the distinct values of a column that should have few, sorted; missing left out."""
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
    """Return a value that compares across tables: 1, 1.0 and True are the same, NaN is missing."""
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return value


def text_of(value: Any) -> str:
    """Return how a value is shown."""
    return str(value)


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
            for value in values:
                if value == favourable or text_of(value) == text_of(favourable):
                    return cls(column, tuple(values), value)
            raise InputError(
                f"{option} {favourable!r} does not occur in {column!r}, which holds {shown}"
            )
        obvious = _obvious(values)
        if obvious is None:
            raise InputError(
                f"which value of {column!r} is favourable? It holds {shown}; say so with {option}"
            )
        return cls(column, tuple(values), obvious)

    def decode(self, values: Any, where: str) -> IntArray:
        """Return 1 for favourable, 0 for unfavourable and ``MISSING``."""
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
    if len(values) > 2:
        return None
    if all(isinstance(v, bool | int) for v in values) and set(values) <= {-1, 0, 1}:
        return next((v for v in values if v == 1), None)
    if all(isinstance(v, str) for v in values):
        words = [v for v in values if v.strip().lower() in _FAVOURABLE_WORDS]
        return words[0] if len(words) == 1 else None
    return None


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
    missing = values.null_count
    if missing:
        raise InputError(
            f"{missing:,} of {len(values):,} ids in column {column!r} of {where} are missing"
        )
    return np.asarray(values.cast(pa.string()).to_pandas(), dtype=object)
