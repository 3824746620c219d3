"""One measurement: from a fitted audit and a deployment's sketches to a result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair import diagnostics, disparity
from quantifair.advice import advised
from quantifair.assumption.judging import cell_tests, judged
from quantifair.assumption.sensitivity import sensible
from quantifair.cells import ACCEPTED, DECISIONS, Cell
from quantifair.comparison import Comparer
from quantifair.diagnostics import Caution
from quantifair.errors import InputError, SketchMismatchError
from quantifair.estimation import CellEstimate, Options, estimate_cell
from quantifair.figures import figure, group_results, measure_results
from quantifair.quantifiers import QUANTIFIERS
from quantifair.results import AttributeResult, AuditResult, CellResult, PrevalenceResult
from quantifair.spread import shares_of, spread_of
from quantifair.verdicts import Margins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quantifair.assumption.verdicts import Assumption
    from quantifair.cells import Deployment
    from quantifair.estimation import TrainedCell
    from quantifair.fitted import FittedAudit
    from quantifair.quantifiers import Quantifier
    from quantifair.quantifiers.base import FloatArray


@dataclass(frozen=True, eq=False)
class Measurement:
    """A deployment, seen by a fitted audit.

    Attributes
    ----------
    fitted
        The audit.
    found
        Sketches of the deployment.
    quantifier
        The estimator.
    """

    fitted: FittedAudit
    found: Deployment
    quantifier: Quantifier

    def __post_init__(self) -> None:
        if self.found.alone.keys() != self.fitted.alone.keys():
            raise SketchMismatchError(
                "the sketch is of other attributes than this audit's; sketch the deployment again "
                "with the audit that measures it"
            )
        for cell, trained in self.cells.items():
            if trained.trained is None:
                continue
            sketch = self.found.sketches.get(cell)
            if sketch is None or sketch.fingerprint != trained.trained.scorer.fingerprint:
                raise SketchMismatchError(
                    f"the sketch of {trained.name} was not made by this audit's scoring function; "
                    "sketch the deployment again with the audit that measures it"
                )

    @cached_property
    def cells(self) -> dict[Cell, TrainedCell]:
        """The trained cells; those of labels that the deployment lacks are left out."""
        cells = self.fitted.cells
        if not self.found.labels_among_accepted:
            return cells
        return {c: t for c, t in cells.items() if c in {*DECISIONS, *ACCEPTED}}

    @cached_property
    def options(self) -> Options:
        """How figures are made."""
        audit = self.fitted.audit
        return Options(
            audit.level,
            audit.replicates,
            audit.seed,
            audit.smoothing,
            audit.n_jobs,
            audit.interval,
            audit.target,
            shared=not audit.per_cell,
            margins=Margins(audit.margin, audit.ratio_margin),
        )

    @cached_property
    def estimates(self) -> dict[Cell, CellEstimate]:
        """Prevalences of each cell, with replicates."""
        return self._estimated(self.quantifier, self.options, self.cells)

    @cached_property
    def assumption(self) -> Assumption:
        """What tests of prior shift say of the cells."""
        found = [
            one
            for cell, trained in self.cells.items()
            for one in cell_tests(trained, self.found, cell)
        ]
        return judged(self.fitted.audit.assume, found)

    @cached_property
    def alone(self) -> dict[str, Measurement]:
        """What is measured of each attribute that is audited for itself."""
        return {
            column: Measurement(fitted, self.found.alone[column], self.quantifier)
            for column, fitted in self.fitted.alone.items()
        }

    def audit_result(self) -> AuditResult:
        """Return disparities, figures by group, and all that has to be said of them."""
        self._check_decisions()
        read = self.fitted.auxiliary
        spread = spread_of(self.estimates, self.options)
        return AuditResult(
            advised(measure_results(spread, read.groups), spread, self.cells),
            group_results(spread, read.groups, read.attributes),
            self._by_attribute(),
            self._by_estimator(),
            self._cell_results(),
            self.found.rows,
            self._warnings(),
            self._settings(),
            versions(),
            self.assumption,
            Comparer.of(self.fitted),
            sensible(self.estimates, self.options, read.groups),
        )

    def prevalence_result(self) -> PrevalenceResult:
        """Return the prevalences of the cells alone."""
        return PrevalenceResult(
            self._cell_results(),
            self.found.rows,
            self._warnings(),
            self._settings(),
            versions(),
            self.assumption,
        )

    def _check_decisions(self) -> None:
        taken = [c for c in DECISIONS if self.found.counts[c]]
        if len(taken) == 1:
            raise InputError(
                f"all {self.found.rows:,} deployment rows have {self.cells[taken[0]].name}; an "
                "audit compares favourable with unfavourable decisions"
            )

    def _estimated(
        self, quantifier: Quantifier, options: Options, cells: Iterable[Cell]
    ) -> dict[Cell, CellEstimate]:
        groups = self.fitted.groups
        return {
            cell: estimate_cell(cell, self.cells[cell], self.found, quantifier, groups, options)
            for cell in cells
        }

    def _by_estimator(self) -> dict[str, float | None]:
        """Demographic parity difference by every quantifier, from the same sketches."""
        values: dict[str, float | None] = {}
        options = replace(self.options, interval="none")
        parity = partial(disparity.difference, signed=True)
        for name, quantifier in QUANTIFIERS.items():
            estimates = self._estimated(quantifier(), options, DECISIONS)
            spread = spread_of(estimates, options)
            values[name] = figure(spread, ("selection_rate",), parity).estimate
        return values

    def _by_attribute(self) -> dict[str, AttributeResult]:
        """Sum the intersections over all attributes but one, or take that attribute's audit."""
        columns, read = self.fitted.audit.group_columns, self.fitted.auxiliary
        if len(columns) == 1:
            return {}
        found = {}
        for column in columns:
            one = read.alone(column)
            measured = self.alone.get(column, self)
            if column in self.alone:
                spread = spread_of(measured.estimates, self.options)
            else:
                values = [[a[column] == level for level in one.groups] for a in read.attributes]
                summed = np.array(values, dtype=np.float64)
                spread = spread_of(self.estimates, self.options, summed=summed)
            found[column] = AttributeResult(
                group_results(spread, one.groups, one.attributes),
                advised(measure_results(spread, one.groups), spread, measured.cells)
                if len(one.groups) > 1
                else {},
            )
        return found

    def _cell_results(self) -> tuple[CellResult, ...]:
        return tuple(self._cell_result(c, e) for c, e in self.estimates.items())

    def _cell_result(self, cell: Cell, estimate: CellEstimate) -> CellResult:
        trained, groups = self.cells[cell], self.fitted.groups
        known = self.found.known.get(cell, np.zeros(len(groups)))
        shares = shares_of(estimate, self.options)
        return CellResult(
            trained.name,
            dict(zip(groups, trained.rows, strict=True)),
            self.found.counts[cell],
            dict(zip(groups, known.tolist(), strict=True)),
            {g: figure(shares, ("share",), partial(_of_group, k=k)) for k, g in enumerate(groups)},
            None if trained.trained is None else trained.trained.slope,
            None if trained.trained is None else trained.trained.auc,
            trained.choice,
        )

    def _warnings(self) -> tuple[Caution, ...]:
        found, about = self.found, [*self.found.cautions, *self.fitted.cautions]
        if found.people is not None and found.distinct_share < 1:
            message = (
                f"the {found.rows:,} deployment rows are of {len(found.people):,} people; the "
                "intervals count people, not rows"
            )
            about.append(Caution("repeated_people", message, "deployment"))
        if found.people is not None:
            about.append(self._about_known())
        if Cell(1, 1) in self.cells and Cell(0, 1) not in self.cells:
            message = (
                "labels are known among favourable decisions only, so of the measures that need "
                "labels only the positive predictive value is reported"
            )
            about.append(Caution("labels_among_accepted", message, "label"))
        about += self.fitted.auxiliary.profile.cautions(found.features)
        about += diagnostics.of_assumption(self.assumption)
        if self.alone:
            about.append(diagnostics.alone(list(self.alone), self.fitted.table.name))
        for each in (self, *self.alone.values()):
            for estimate in each.estimates.values():
                about += [c for c in estimate.cautions if c not in about]
        return tuple(about)

    def _about_known(self) -> Caution:
        """Say how many people are in both tables; that nobody is may be a matter of spelling."""
        if self.found.known_rows:
            message = (
                f"{self.found.known_rows:,} deployment rows are of people in the auxiliary table; "
                "they count with their known group"
            )
            return Caution("known_people", message, "deployment")
        message = (
            f"no id in column {self.fitted.audit.id!r} of the deployment table occurs in the "
            "auxiliary table; if some people are in both, check that both write ids alike "
            "(leading zeros, capitals, blanks, prefixes)"
        )
        return Caution("nobody_known", message, "deployment")

    def _settings(self) -> dict[str, Any]:
        audit, read = self.fitted.audit, self.fitted.auxiliary
        return {
            "group": " & ".join(audit.group_columns),
            "groups": list(read.groups),
            "favourable": None if read.favourable is None else read.favourable.name(1),
            "label": None if read.positive is None else read.positive.name(1),
            "features": read.features.names,
            "weight": audit.weight,
            "id": audit.id,
            "scores": None if audit.scores is None else dict(audit.scores),
            "classifier": None if audit.classifier is None else _named(audit.classifier),
            "reference": audit.reference,
            "quantifier": repr(self.quantifier),
            "assume": audit.assume,
            "learner": self._learner(),
            "training": audit.training if audit.scores is None else "none",
            "folds": audit.folds,
            "calibrate": audit.calibrate,
            "per_cell": audit.per_cell,
            "smoothing": audit.smoothing,
            "level": audit.level,
            "interval": "bootstrap" if self.options.resamples(self.quantifier) else audit.interval,
            "target": audit.target,
            "margin": audit.margin,
            "ratio_margin": audit.ratio_margin,
            "replicates": audit.replicates,
            "seed": audit.seed,
        }

    def _learner(self) -> str:
        audit = self.fitted.audit
        if audit.scores is not None:
            return "none: scores of " + ", ".join(self.fitted.auxiliary.features.names)
        return "logistic" if audit.learner is None else str(audit.learner)


def _of_group(rates: FloatArray, k: int) -> FloatArray:
    return rates[..., k]


def _named(classifier: Any) -> str:
    """Return how a result calls a classifier: an estimator with its options, or a function."""
    return str(getattr(classifier, "__name__", classifier))


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ("quantifair", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "duckdb")
    return {name: version(name) for name in names}
