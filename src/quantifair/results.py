"""Results: frozen, printable, and the same in JSON, in a frame and on paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quantifair.errors import InputError
from quantifair.serialisation import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.assumption.sensitivity import Sensitivity
    from quantifair.assumption.verdicts import Assumption
    from quantifair.candidates import Choice
    from quantifair.diagnostics import Caution
    from quantifair.verdicts import Value, Verdict

RATES = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "positive_predictive_value",
    "negative_predictive_value",
)

ESTIMATORS = {
    "cc": "Classify and count (naive threshold)",
    "pcc": "Probabilistic classify and count (weighted)",
    "acc": "Adjusted classify and count",
    "pacc": "Probabilistic adjusted classify and count",
    "sld": "Saerens-Latinne-Decaestecker",
    "hdy": "Hellinger distance",
    "eac": "Efficient adjusted count",
    "kdey": "Kernel densities, maximum likelihood",
    "edy": "Energy distance",
    "posterior": "Posterior median",
    "mlpe": "Auxiliary sample alone",
}


@dataclass(frozen=True)
class Figure:
    """A number with its interval; ``None`` where it can't be estimated.

    Examples
    --------
    >>> print(Figure(0.123, 0.05, 0.2))
    0.123 [0.050, 0.200]
    >>> print(Figure(None, None, None))
    not estimable
    """

    estimate: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.estimate is None:
            return "not estimable"
        if self.low is None or self.high is None:
            return f"{self.estimate:.3f}"
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class GroupResult:
    """What is estimated of one group; rates that were not asked for are ``None``.

    ``attributes`` gives the group's value of each attribute, ``count`` the number of people.
    """

    name: str
    attributes: dict[str, str]
    count: Figure
    share: Figure
    selection_rate: Figure
    true_positive_rate: Figure | None = None
    false_positive_rate: Figure | None = None
    true_negative_rate: Figure | None = None
    positive_predictive_value: Figure | None = None
    negative_predictive_value: Figure | None = None


@dataclass(frozen=True)
class PairResult:
    """One group against another: ``group`` minus ``reference``, and ``group`` over it.

    The verdicts are as in ``MeasureResult``.
    """

    group: str
    reference: str
    difference: Figure
    ratio: Figure
    verdict: Verdict
    ratio_verdict: Verdict | None


@dataclass(frozen=True)
class MeasureResult:
    """One disparity.

    Attributes
    ----------
    name, meaning
        What it is.
    direction
        What is subtracted from what in ``difference``.
    signed
        Whether ``difference`` has a sign; if not, it is the largest minus the smallest rate.
    difference, ratio, variance
        The disparity; ``ratio`` is the smallest over the largest rate.
    verdict, ratio_verdict
        Whether the difference lies within the audit's ``margin``, and, of selection rates only,
        the ratio within its ``ratio_margin``: the four-fifths rule.
    pairs
        Every pair of groups, for measures of a single rate.
    """

    name: str
    meaning: str
    direction: str
    signed: bool
    difference: Figure
    ratio: Figure
    variance: Figure
    verdict: Verdict
    ratio_verdict: Verdict | None
    pairs: tuple[PairResult, ...] = ()


@dataclass(frozen=True)
class CellResult:
    """One cell: who was counted, and the estimated prevalence of each group.

    ``auc`` tells how well the group classifier tells the groups apart: 0.5 not at all, 1 always.
    ``classifier`` says which group classifier serves it, and how well it predicts the group.
    """

    name: str
    auxiliary_rows: dict[str, int]
    deployment_rows: int
    known: dict[str, float]
    prevalence: dict[str, Figure]
    calibration_slope: float | None
    auc: float | None
    classifier: Choice | None = None


@dataclass(frozen=True)
class AttributeResult:
    """The audit of one of several attributes, the others summed over."""

    groups: tuple[GroupResult, ...]
    measures: dict[str, MeasureResult]


@dataclass(frozen=True, repr=False)
class AuditResult(Shown):
    """What an audit found.

    Attributes
    ----------
    measures
        Disparities by name; also attributes of the result, as ``result.demographic_parity``.
    groups
        Figures by group.
    attributes
        With several group columns, the same for each of them alone.
    estimators
        Demographic parity difference by every quantifier, without interval, for comparison.
    cells
        Rows and prevalences by cell.
    warnings
        What the reader has to know.
    settings, versions
        How the audit was made.
    assumption
        What was assumed, and what tests say of it.
    """

    measures: dict[str, MeasureResult]
    groups: tuple[GroupResult, ...]
    attributes: dict[str, AttributeResult]
    estimators: dict[str, float | None]
    cells: tuple[CellResult, ...]
    rows: int
    warnings: tuple[Caution, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
    assumption: Assumption
    _compare: Any = field(default=None, compare=False)
    _sensible: Any = field(default=None, compare=False)

    def _measure(self, name: str) -> MeasureResult:
        if name in self.measures:
            return self.measures[name]
        lacking = "the label of people (Audit(label=...)) in both tables"
        if self.settings["label"] is not None:
            lacking = "labels among unfavourable decisions, too, in both tables"
        raise InputError(
            f"this audit has no {name}: it needs {lacking}; it has {', '.join(self.measures)}"
        )

    @property
    def demographic_parity(self) -> MeasureResult:
        """Disparity of selection rates."""
        return self._measure("demographic_parity")

    @property
    def true_positive_rate(self) -> MeasureResult:
        """Disparity of true positive rates, signed for two groups."""
        return self._measure("true_positive_rate")

    @property
    def true_negative_rate(self) -> MeasureResult:
        """Disparity of true negative rates, signed for two groups."""
        return self._measure("true_negative_rate")

    @property
    def positive_predictive_value(self) -> MeasureResult:
        """Disparity of positive predictive values, signed for two groups."""
        return self._measure("positive_predictive_value")

    @property
    def negative_predictive_value(self) -> MeasureResult:
        """Disparity of negative predictive values, signed for two groups."""
        return self._measure("negative_predictive_value")

    @property
    def equal_opportunity(self) -> MeasureResult:
        """Fairlearn's equal opportunity: unsigned, of true positive rates."""
        return self._measure("equal_opportunity")

    @property
    def equalized_odds(self) -> MeasureResult:
        """Fairlearn's equalized odds: unsigned, the worse of TPR and FPR."""
        return self._measure("equalized_odds")

    @property
    def by_group(self) -> Any:
        """A pandas frame with a row for each group and, for each figure, its interval."""
        from quantifair.frames import group_frame

        return group_frame(self)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return each figure of the measures and of the groups as a row of a long frame.

        Parameters
        ----------
        backend
            ``pandas``, ``polars`` or ``pyarrow``.
        """
        from quantifair.frames import figure_frame

        return figure_frame(self, backend)

    def compare(self, truth: Any, *, group: str | Sequence[str] | None = None) -> Comparison:
        """Set the estimates beside the truth, where somebody knows it.

        Parameters
        ----------
        truth
            The deployment table with the groups; read for its groups, decisions and labels only.
        group
            Columns of the true groups, where they are called otherwise than in the audit.
        """
        names = (group,) if isinstance(group, str) else None if group is None else tuple(group)
        return self._compare(self, truth, names)  # type: ignore[no-any-return]

    @property
    def has_sensitivity(self) -> bool:
        """Whether ``sensitivity`` has an answer: score intervals, and an estimate in each cell."""
        return self._sensible is not None and bool(self._sensible.possible)

    def sensitivity(self, shares: Sequence[float] | None = None) -> Sensitivity:
        """Return how wrong prior shift may be before a finding is lost.

        Parameters
        ----------
        shares
            Shares of each group that may be unlike the auxiliary people, for the curve.
        """
        return self._sensible(shares)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        from quantifair.text import audit_text

        return audit_text(self)

    def __repr__(self) -> str:
        parity = self.measures["demographic_parity"].difference
        return (
            f"AuditResult(demographic_parity={parity}, groups={len(self.groups)}, "
            f"warnings={len(self.warnings)})"
        )


@dataclass(frozen=True)
class ComparisonRow:
    """One estimated figure beside the truth; of a disparity, both verdicts.

    ``true_verdict`` is what the truth itself would get, with the same margin.
    """

    name: str
    estimate: Figure
    truth: float | None
    error: float | None
    covered: bool | None
    verdict: Value | None = None
    true_verdict: Value | None = None


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """An audit beside the truth.

    Attributes
    ----------
    rows
        Every measure's difference, the ratio of selection rates, and every group's figures.
    estimators
        The demographic parity difference by each quantifier.
    """

    rows: tuple[ComparisonRow, ...]
    estimators: tuple[ComparisonRow, ...]

    def __str__(self) -> str:
        from quantifair.text import comparison_text

        return comparison_text(self)

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class PrevalenceResult(Shown):
    """How common each group is, overall or by decision.

    Attributes
    ----------
    cells
        Rows and prevalences by cell.
    """

    cells: tuple[CellResult, ...]
    rows: int
    warnings: tuple[Caution, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
    assumption: Assumption

    def __str__(self) -> str:
        from quantifair.text import prevalence_text

        return prevalence_text(self)

    __repr__ = __str__
