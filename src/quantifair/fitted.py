"""An audit whose group classifiers are trained: it sketches, measures and quantifies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from quantifair.bounds import parity_bounds
from quantifair.cells import DECISIONS, Cell, Deployment, Plan
from quantifair.diagnostics import Caution
from quantifair.engines.arrow import sketch_table
from quantifair.errors import InputError
from quantifair.measurement import Measurement
from quantifair.quantifiers import suited_quantifier
from quantifair.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from quantifair.audit import Audit
    from quantifair.auxiliary import Auxiliary
    from quantifair.bounds import ParityBounds
    from quantifair.estimation import TrainedCell
    from quantifair.planning import PlanResult
    from quantifair.quantifiers import Quantifier
    from quantifair.results import AuditResult, PrevalenceResult
    from quantifair.tables import Table

    Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, eq=False)
class FittedAudit:
    """An audit whose group classifiers are trained; made by ``Audit.fit``.

    Attributes
    ----------
    audit
        The specification.
    table
        The auxiliary table.
    auxiliary
        What was read of it.
    cells
        The trained cells.
    cautions
        What is to be said of the auxiliary table and the learner.
    alone
        The audit of each of several attributes for itself, where an intersection is too small.
    """

    audit: Audit
    table: Table
    auxiliary: Auxiliary
    cells: dict[Cell, TrainedCell]
    cautions: tuple[Caution, ...]
    alone: dict[str, FittedAudit] = field(default_factory=dict)

    @property
    def groups(self) -> list[str]:
        """Names of the groups, in the order of every result."""
        return self.auxiliary.groups

    def scoring(self, table: Table) -> Plan:
        """Return how a deployment table is to be scored and counted."""
        audit, read = self.audit, self.auxiliary
        read.features.check(table)
        named = {"decision": audit.decision, "label": audit.label, "id": audit.id}
        for role, column in named.items():
            if column is not None and not (role == "decision" and audit.classifier is not None):
                table.require(column, role)
        known = {} if read.ids is None else dict(zip(read.ids, read.codes.tolist(), strict=True))
        return Plan(
            tuple(self.cells),
            {c: t.trained.scorer for c, t in self.cells.items() if t.trained is not None},
            len(read.groups),
            read.features,
            read.favourable,
            read.positive,
            read.decider,
            audit.weight if audit.weight in table.columns else None,
            audit.id,
            known,
            read.profile if audit.assume == "prior_shift" else replace(read.profile, columns=()),
            {column: fitted.scoring(table) for column, fitted in self.alone.items()},
            {
                c: t.trained.evidence
                for c, t in self.cells.items()
                if t.trained is not None and t.trained.evidence is not None
            },
        )

    def sketch(self, deployment: Any, *, progress: Progress | None = None) -> Deployment:
        """Read a deployment table once and return its sketches, which ``measure`` takes too.

        Sketches of several tables, or of parts of one, add up with ``+``.
        """
        table = open_table(deployment, "deployment")
        found = sketch_table(table, self.scoring(table), progress)
        if not found.rows:
            raise InputError(f"{table.name} is empty: it has columns but no rows")
        self._check_complete(found, table.name)
        return replace(found, cautions=self._about_deployment(table.columns))

    def _check_complete(self, found: Deployment, where: str) -> None:
        """Raise where a decision is missing, or a label that a cell needs."""
        labels, rows, whose = found.missing["label"], found.rows, ""
        if self.auxiliary.labels_among_accepted or found.labels_among_accepted:
            accepted = DECISIONS[1]
            rows, whose = found.counts[accepted], f" with {self.cells[accepted].name}"
        else:
            labels += found.missing["label of unfavourable decisions"]
        for role, lacking, of, column in (
            ("decision", found.missing["decision"], f"{found.rows:,} rows", self.audit.decision),
            ("label", labels, f"{rows:,} rows{whose}", self.audit.label),
        ):
            if lacking:
                raise InputError(
                    f"{lacking:,} of {of} of {where} have no {role} in column {column!r}; fill it "
                    "in, or leave those rows out"
                )

    def measure(
        self,
        deployment: Any,
        *,
        quantifier: str | Quantifier | None = None,
        progress: Progress | None = None,
    ) -> AuditResult:
        """Estimate every disparity on the deployment.

        Parameters
        ----------
        deployment
            Any dataframe, Arrow table, DuckDB relation, path of a CSV or Parquet file, or a
            sketch made by ``sketch``.
        quantifier
            Another quantifier than the audit's.
        progress
            Called with the rows read and the rows in all, where known.
        """
        if self.audit.decision is None and self.audit.classifier is None:
            raise InputError("an audit needs decision= or classifier=; quantify() does without")
        return self._measurement(deployment, quantifier, progress).audit_result()

    def quantify(
        self,
        deployment: Any,
        *,
        quantifier: str | Quantifier | None = None,
        progress: Progress | None = None,
    ) -> PrevalenceResult:
        """Estimate the prevalence of each group alone, by decision where there is one."""
        return self._measurement(deployment, quantifier, progress).prevalence_result()

    def plan(
        self,
        deployment: Any,
        *,
        width: float | None = None,
        detect: float | None = None,
        power: float = 0.8,
        margin: float = 0.0,
        quantifier: str | Quantifier | None = None,
        progress: Progress | None = None,
    ) -> PlanResult:
        """Tell how many people must be asked, with this auxiliary table for a pilot.

        Parameters
        ----------
        deployment
            As for ``measure``.
        width
            Wished width of the interval of the demographic parity difference.
        detect
            In place of ``width``, a difference that is to be found if it is there: the interval is
            to exclude zero, or to lie beyond ``margin``.
        power
            How often it is to be found.
        margin
            Differences up to this are fair.
        quantifier, progress
            As for ``measure``.
        """
        from quantifair.planning import Aim, plan_from_pilot

        aim = Aim(width=width, detect=detect, power=power, margin=margin)
        if self.audit.decision is None and self.audit.classifier is None:
            raise InputError("a plan needs decision= or classifier=: it is of a disparity")
        return plan_from_pilot(self._measurement(deployment, quantifier, progress), aim)

    def bounds(self, deployment: Any, *, progress: Progress | None = None) -> ParityBounds:
        """Bound demographic parity without assuming how group and decision go together.

        Trains one group classifier that is blind to the decision, and trusts its scores in the
        deployment; see ``quantifair.bounds``. For two groups. Bounds are no confidence interval,
        and usually wide: they show how much of a finding comes from the assumption.
        """
        if self.audit.decision is None and self.audit.classifier is None:
            raise InputError("bounds need decision= or classifier=")
        if self.audit.per_cell:
            blind = replace(self.audit, per_cell=False).fit(self.table)
            return blind.bounds(deployment, progress=progress)
        fitted, table = self._for_columns_of(deployment)
        found = fitted.sketch(table, progress=progress)
        if len(self.groups) != 2 or not set(DECISIONS) <= set(found.sketches):
            raise InputError(
                "bounds are those of two groups, each with people enough to learn from"
            )
        rejected, accepted = (found.sketches[c] for c in DECISIONS)
        known = [found.known[c] for c in DECISIONS]
        return parity_bounds(rejected, accepted, known_rejected=known[0], known_accepted=known[1])

    def _measurement(
        self, deployment: Any, quantifier: str | Quantifier | None, progress: Progress | None
    ) -> Measurement:
        """Sketch the deployment, by an audit trained on the columns that the deployment has."""
        chosen = suited_quantifier(quantifier or self.audit.quantifier, self.audit.assume)
        if isinstance(deployment, Deployment):
            return Measurement(self, deployment, chosen)
        fitted, table = self._for_columns_of(deployment)
        found = fitted.sketch(table, progress=progress)
        return Measurement(fitted, found, chosen)

    def _for_columns_of(self, deployment: Any) -> tuple[FittedAudit, Table]:
        """Return an audit trained on the columns that the deployment has, and its table."""
        table = open_table(deployment, "deployment")
        fitted = self
        named = self.audit.features is not None or self.audit.scores is not None
        asked = [] if named else self.auxiliary.features.names
        if self.auxiliary.decider is not None:
            asked = asked + self.auxiliary.decider.features.names
        if any(column not in table.columns for column in asked):
            fitted = self.audit.fit(self.table, columns=table.columns)
        return fitted, table

    def _about_deployment(self, columns: list[str]) -> tuple[Caution, ...]:
        """Say what is special about the columns, in the same words of every part of a table."""
        found = [
            Caution(
                "group_in_deployment",
                f"the deployment table has the group column {column!r}; it is ignored for the "
                "estimate. result.compare(...) or --truth sets the estimate beside it",
                "deployment",
            )
            for column in self.audit.group_columns
            if column in columns
        ]
        weight = self.audit.weight
        if weight is not None and weight not in columns:
            message = f"the deployment table has no column {weight!r}: each row counts once"
            found.append(Caution("deployment_unweighted", message, "deployment"))
        return tuple(found)
