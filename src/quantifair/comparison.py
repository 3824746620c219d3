"""Estimates beside the truth, for those who validate where the group is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair import disparity
from quantifair.errors import InputError
from quantifair.results import RATES, Comparison, ComparisonRow, Figure
from quantifair.roles import MISSING, checked_weights, group_codes
from quantifair.tables import open_table
from quantifair.verdicts import of_difference, of_ratio

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from quantifair.cells import Decider
    from quantifair.fitted import FittedAudit
    from quantifair.results import AuditResult, MeasureResult
    from quantifair.roles import Binary
    from quantifair.tables import Table

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_ROUNDING = 1e-9
"""Sums in another order differ by less; an interval without width covers the truth."""


@dataclass(frozen=True, eq=False)
class Comparer:
    """Compare results of a fitted audit with a table that holds the groups.

    It goes with the result, so it knows how the columns are read, but none of the people.

    Attributes
    ----------
    groups, group_columns
        Names of the groups, and of their columns.
    weight
        Name of the column, or ``None``.
    favourable, positive, decider
        How decision and label are read, or who decides; ``None`` where there is none.
    """

    groups: list[str]
    group_columns: tuple[str, ...]
    weight: str | None
    favourable: Binary | None
    positive: Binary | None
    decider: Decider | None

    @classmethod
    def of(cls, fitted: FittedAudit) -> Comparer:
        """Take what is needed of a fitted audit."""
        audit, read = fitted.audit, fitted.auxiliary
        return cls(
            read.groups,
            audit.group_columns,
            audit.weight,
            read.favourable,
            read.positive,
            read.decider,
        )

    def __call__(
        self, result: AuditResult, truth: Any, group: tuple[str, ...] | None = None
    ) -> Comparison:
        """Compare; ``group`` names the columns of the truth where they are called otherwise."""
        names = group or self.group_columns
        table = open_table(truth, "deployment")
        data = self._read(table, names)
        if data.num_rows != result.rows:
            raise InputError(
                f"{table.name} with the truth has {data.num_rows:,} rows, but {result.rows:,} were "
                "audited; compare with the table that was measured"
            )
        rates = {k: v[None] for k, v in self._true_rates(data, names, table.name).items()}
        true = disparity.disparities(rates)
        rows = [row for name, m in result.measures.items() for row in _judged(m, true[name])]
        for k, one in enumerate(result.groups):
            for rate in ("share", *RATES):
                figure = getattr(one, rate)
                if figure is not None:
                    rows.append(_row(f"{rate} of {one.name}", figure, rates[rate][0, k]))
        parity = true["demographic_parity"]["difference"][0]
        estimators = [_row(k, Figure(v), parity) for k, v in result.estimators.items()]
        return Comparison(tuple(rows), tuple(estimators))

    def check(self, table: Table, names: tuple[str, ...]) -> None:
        """Raise unless these columns hold a true group for every row."""
        self._codes(table.read(dict.fromkeys(names)), names, table.name)

    def _true_rates(
        self, data: pa.Table, names: tuple[str, ...], where: str
    ) -> dict[str, FloatArray]:
        codes = self._codes(data, names, where)
        decision = self._decisions(data, where)
        weights = np.ones(data.num_rows)
        if self.weight in data.column_names:
            weights = checked_weights(data[self.weight], str(self.weight), where)
        groups = len(self.groups)
        decided = np.zeros((2, groups))
        np.add.at(decided, (decision, codes), weights)
        if self.positive is None:
            return disparity.group_rates(decided)
        label = self.positive.decode(data[self.positive.column], where)
        labelled = np.zeros((2, 2, groups))
        seen = label != MISSING
        np.add.at(labelled, (label[seen], decision[seen], codes[seen]), weights[seen])
        return disparity.group_rates(decided, labelled)

    def _read(self, table: Table, names: tuple[str, ...]) -> pa.Table:
        """Read the columns that the truth is computed from; none may lack."""
        roles = dict.fromkeys(names, "true group")
        if self.decider is not None:
            roles |= dict.fromkeys(self.decider.features.names, "feature")
        elif self.favourable is not None:
            roles[self.favourable.column] = "decision"
        if self.positive is not None:
            roles[self.positive.column] = "label"
        for column, role in roles.items():
            table.require(column, role)
        if self.weight is not None and self.weight in table.columns:
            roles[self.weight] = "weight"
        data = table.read(roles)
        if not data.num_rows:
            raise InputError(f"{table.name} is empty: it has columns but no rows")
        return data

    def _codes(self, data: pa.Table, names: tuple[str, ...], where: str) -> IntArray:
        codes, groups, _ = group_codes(data, names, where)
        missing = int((codes == MISSING).sum())
        if missing:
            raise InputError(f"{missing:,} of {len(codes):,} rows of {where} have no true group")
        known = self.groups
        strange = [g for g in groups if g not in known]
        if strange:
            raise InputError(
                f"the true group {strange[0]!r} of {where} does not occur in the auxiliary table; "
                f"known are {', '.join(known)}"
            )
        return np.array([known.index(g) for g in groups], dtype=np.int64)[codes]

    def _decisions(self, data: pa.Table, where: str) -> IntArray:
        if self.favourable is None:
            raise InputError("without decisions there is nothing to compare")
        if self.decider is None:
            values = data[self.favourable.column]
        else:
            values = self.decider(data.combine_chunks().to_batches()[0], where)
        codes = self.favourable.decode(values, where)
        missing = int((codes == MISSING).sum())
        if missing:
            raise InputError(f"{missing:,} of {len(codes):,} rows of {where} have no decision")
        return codes


def _judged(measure: MeasureResult, true: dict[str, FloatArray]) -> list[ComparisonRow]:
    """Return the figures of a measure on which there is a verdict, with that on the truth."""
    rows = []
    for verdict, judge in ((measure.verdict, of_difference), (measure.ratio_verdict, of_ratio)):
        if verdict is not None:
            truth = float(true[verdict.kind][0])
            row = _row(f"{measure.name} {verdict.kind}", getattr(measure, verdict.kind), truth)
            exact = judge(Figure(row.truth, row.truth, row.truth), verdict.margin).value
            known = None if row.truth is None else exact
            rows.append(replace(row, verdict=verdict.value, true_verdict=known))
    return rows


def _row(name: str, figure: Figure, truth: float | None) -> ComparisonRow:
    if truth is None or not np.isfinite(truth):
        return ComparisonRow(name, figure, None, None, None)
    if figure.estimate is None:
        return ComparisonRow(name, figure, float(truth), None, None)
    covered = None
    if figure.low is not None and figure.high is not None:
        covered = bool(figure.low - _ROUNDING <= truth <= figure.high + _ROUNDING)
    return ComparisonRow(name, figure, float(truth), float(figure.estimate - truth), covered)
