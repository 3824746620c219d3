"""What the features hold, in counts that add up, held against the auxiliary table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quantifair.diagnostics import Caution

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_TENTHS = np.arange(1, 10) / 10
_MISSING, _UNKNOWN = 0, 1
_GAP = -1
STATES = 2 + len(_TENTHS) + 1
"""A value is missing, unknown to the auxiliary table, or in a tenth of the auxiliary values."""

_GROSS = 0.5
_EXPECTED = 20

MOST_COLUMNS = 50
"""Columns that a frame is encoded in, at most."""

_LEAST_SHARE = 0.05
"""Share of the auxiliary rows that a category, or a gap, and its absence need for a column."""


class Encoded(NamedTuple):
    """A column of small whole numbers that a feature is encoded in.

    Attributes
    ----------
    feature
        Its name.
    state
        ``None`` for the tenth in which a number or date lies, 0 to 9; else what rows are marked
        that are missing (-1) or hold the auxiliary table's so-manieth most frequent value.
    """

    feature: str
    state: int | None = None


@dataclass(frozen=True, eq=False)
class Profile:
    """The features of the auxiliary table, and how others are held against them.

    Attributes
    ----------
    edges
        For each feature the edges of the tenths of its auxiliary values.
    words
        For each feature of text its auxiliary values, the most frequent first: a value counts as
        its place among them.
    shares
        Share of the auxiliary rows in each state, shape ``(features, STATES)``. What share is
        unknown to a table of this size is told by how many values occur once (Good and Turing).
    columns
        What a frame is encoded in: numbers and dates first, in their order, then categories and
        gaps, the most frequent first.
    """

    edges: dict[str, FloatArray] = field(default_factory=dict)
    words: dict[str, Any] = field(default_factory=dict)
    shares: FloatArray = field(default_factory=lambda: np.zeros((0, STATES)))
    columns: tuple[Encoded, ...] = ()

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Profile:
        """Learn from the auxiliary features."""
        import pyarrow as pa

        names = [str(name) for name in frame]
        often = {n: frame[n].value_counts() for n in names if frame[n].dtype.kind == "O"}
        words = {name: pa.array(counts.index, pa.string()) for name, counts in often.items()}
        edges = {name: _edges(_numbers(frame[name], words.get(name))[0]) for name in names}
        shares = cls(edges, words).counts(frame) / max(len(frame), 1)
        marked = {Encoded(n, k): v / len(frame) for n in often for k, v in enumerate(often[n])}
        marked |= {Encoded(n, _GAP): shares[row, _MISSING] for row, n in enumerate(names)}
        for row, name in enumerate(names):
            if name in often:
                shares[row, _UNKNOWN] = (often[name] == 1).sum() / max(len(frame), 1)
        return cls(edges, words, shares, _columns(names, words, marked))

    def counts(self, frame: pd.DataFrame) -> IntArray:
        """Count a block's rows by state, shape ``(features, STATES)``."""
        return self.read(frame)[0]

    def read(self, frame: pd.DataFrame) -> tuple[IntArray, NDArray[np.int8]]:
        """Count a block's rows by state, and encode them, shape ``(columns, rows)``."""
        found = np.zeros((len(self.edges), STATES), dtype=np.int64)
        encoded = np.zeros((len(self.columns), len(frame)), dtype=np.int8)
        for row, (name, edges) in enumerate(self.edges.items()):
            numbers, missing = _numbers(frame[name], self.words.get(name))
            gaps = np.isnan(numbers)
            known = len(numbers) - int(np.count_nonzero(gaps))
            wanted = [(c, e.state) for c, e in enumerate(self.columns) if e.feature == name]
            tenths = next((encoded[c] for c, state in wanted if state is None), None)
            above = []
            for edge in edges:
                is_above = numbers > edge
                above.append(int(np.count_nonzero(is_above)))
                if tenths is not None:
                    tenths += is_above
            found[row, :2] = missing, len(numbers) - missing - known
            found[row, 2:] = -np.diff([known, *above, 0])
            for c, state in wanted:
                if state is not None:
                    encoded[c] = gaps if state == _GAP else numbers == state
        return found, encoded

    def cautions(self, counts: IntArray) -> list[Caution]:
        """Find features that tell something in the auxiliary table, and nothing in another."""
        named = zip(self.edges, self.shares, counts, strict=True) if len(counts) else ()
        found = [(name, _blank(here, there)) for name, here, there in named]
        return [
            Caution(
                "feature_differs",
                f"column {name!r} of the deployment table {what}, so it does not tell the groups "
                "apart there, and may mislead; check that both tables write it alike (capitals, "
                "blanks, units, missing values), or leave it out",
                name,
            )
            for name, what in found
            if what
        ]


def _columns(
    names: Sequence[str], words: dict[str, Any], marked: dict[Encoded, float]
) -> tuple[Encoded, ...]:
    """Choose the columns: numbers and dates, then what is marked, by its share."""
    values = [Encoded(name) for name in names if name not in words]
    often = [e for e, share in marked.items() if _LEAST_SHARE <= share <= 1 - _LEAST_SHARE]
    return (*values, *sorted(often, key=lambda e: -marked[e]))[:MOST_COLUMNS]


def _numbers(column: Any, words: Any) -> tuple[FloatArray, int]:
    """Return what a column's values count as, NaN where there is none, and how many are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if words is not None:
        values = pa.array(column, pa.string(), from_pandas=True)
        places = pc.index_in(values, value_set=words).to_numpy(zero_copy_only=False)
        return places.astype(np.float64), values.null_count
    values = column.to_numpy()
    missing = np.isnan(values)
    if values.dtype.kind == "M":
        values = np.where(missing, np.nan, values.astype("datetime64[us]").astype(np.float64))
    return values, int(np.count_nonzero(missing))


def _edges(numbers: FloatArray) -> FloatArray:
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return np.zeros(len(_TENTHS))
    return np.asarray(np.quantile(known, _TENTHS, method="lower"))


def _blank(here: FloatArray, counts: IntArray) -> str:
    """Return what makes a feature blank in another table than the auxiliary one, if it is."""
    rows = int(counts.sum())
    # One that has a single value in the auxiliary table tells nothing anywhere.
    if not rows or here.max() == 1:
        return ""
    there = counts / rows
    state = int(there.argmax())
    is_alike = there[state] == 1 and rows * (1 - here[state]) >= _EXPECTED
    if not is_alike:
        state = int((there - here)[: _UNKNOWN + 1].argmax())
        if there[state] - here[state] <= _GROSS:
            return ""
    if state == _MISSING:
        return f"is missing in {there[state]:.0%} of the rows (auxiliary: {here[state]:.0%})"
    if state == _UNKNOWN:
        return f"has values that the auxiliary table lacks in {there[state]:.0%} of the rows"
    return f"has about one value in all rows (as {here[state]:.0%} of the auxiliary ones have)"
