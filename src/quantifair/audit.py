"""The audit's specification: ``Audit(...).fit(auxiliary).measure(deployment)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.auxiliary import read_auxiliary
from quantifair.candidates import NAMES
from quantifair.errors import InputError, did_you_mean
from quantifair.estimation import INTERVALS, TARGETS
from quantifair.fitted import FittedAudit
from quantifair.learner import ScoreColumns, is_external
from quantifair.quantifiers import ASSUMPTIONS, suited_quantifier
from quantifair.roles import name_of
from quantifair.tables import open_table
from quantifair.training import TRAININGS, Recipe, learner_cautions, train_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.auxiliary import Auxiliary
    from quantifair.quantifiers import Quantifier
    from quantifair.stress import Shift, StressResult
    from quantifair.stress.runner import Progress
    from quantifair.tables import Table

_SEEDS = 2**32
"""Number of seeds that scikit-learn takes."""


_SHARES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "level": ("a probability such as 0.95", lambda v: 0 < v < 1),
    "margin": ("a difference of rates such as 0.05, from 0 to below 1", lambda v: 0 <= v < 1),
    "ratio_margin": ("a ratio of rates such as 0.8, above 0 and at most 1", lambda v: 0 < v <= 1),
}
"""What options between 0 and 1 are, and which values they may have."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """An audit to be made: which column means what, and how figures are estimated.

    Parameters
    ----------
    decision
        Column of the system's decision, in both tables.
    group
        Column of the group in the auxiliary table, or several: then their intersections are
        audited, and each of them alone, even where an intersection is too small.
    label
        Column of the true outcome, in both tables, for measures that need it.
    features
        Columns that the group classifier reads; by default all that both tables share.
    weight
        Column of survey weights in the auxiliary table; used in the deployment where it is there.
    id
        Column that identifies people. Who is in both tables keeps their known group; who repeats
        is counted as one person in the intervals.
    scores
        Column of each group's probability, ``{group: column}``, in place of a group classifier.
    classifier
        The audited system itself, where the tables hold no decision: a fitted estimator, or a
        function from a frame of all columns without a role that both tables share to decisions.
    favourable, favourable_label
        The favourable decision and label, where they are not obvious.
    reference
        For two groups, the one that is subtracted; by default the first in order.
    learner
        What predicts the group: ``logistic`` (the default), ``splines``, ``svm``, ``boosting``,
        or any scikit-learn classifier or pipeline. ``best`` takes in each cell the simplest
        whose out-of-fold log-loss is not beaten beyond chance. A classifier alone gets the
        default encoder in front; a pipeline gets the columns as they are. One that is fitted
        already is used as it is.
    quantifier
        Name or instance of the quantifier; by default SLD, or PCC under ``covariate_shift``.
    training
        ``folds`` (out-of-fold scores), ``split`` (60% trains, 40% is scored) or ``all``.
    folds
        Number of folds.
    calibrate
        Whether scores are calibrated on the auxiliary people.
    per_cell
        Whether each cell has its own group classifier, or all share one.
    assume
        What stays the same between the tables. ``prior_shift`` (the default): the features of a
        group's members, within each cell; it is tested as far as it can be. ``covariate_shift``:
        the shares of the groups among people of the same features; the auditor declares it, as
        no test without groups can tell, and the quantifier is then PCC.
    smoothing
        Whether one pseudo-person is added to each cell, spread as its auxiliary shares.
    level
        Confidence level of the intervals.
    interval
        ``score`` (the default) inverts the test of the mean scores; ``bootstrap`` resamples both
        tables, and is what an estimator that assumes no shift gets in any case; ``none``.
    target
        What the intervals are about: these deployment ``rows``, or the ``population`` behind them.
    margin
        The largest difference of rates that counts as fair; the default is a convention, no law.
    ratio_margin
        The smallest ratio of selection rates that counts as fair: four fifths by default.
    replicates
        Number of replicates of the bootstrap.
    seed
        Seed of the folds and the replicates: a whole number, or a NumPy generator, of which one
        is drawn.
    n_jobs
        Threads for the replicates; the answer does not depend on it.

    Examples
    --------
    >>> from quantifair.datasets import simulate_lender
    >>> lender = simulate_lender(auxiliary_rows=3000, deployment_rows=5000, seed=1)
    >>> audit = Audit(decision="approved", group="gender", replicates=200)
    >>> result = audit.fit(lender.auxiliary).measure(lender.deployment)
    >>> result.demographic_parity.direction
    'woman minus man'
    """

    decision: str | None = None
    group: str | Sequence[str] = ()
    label: str | None = None
    features: str | Sequence[str] | None = None
    weight: str | None = None
    id: str | None = None
    scores: Mapping[str, str] | None = None
    classifier: Any = None
    favourable: Any = None
    favourable_label: Any = None
    reference: Any = None
    learner: Any = None
    quantifier: str | Quantifier | None = None
    training: str = "folds"
    folds: int = 5
    calibrate: bool = True
    per_cell: bool = True
    assume: str = "prior_shift"
    smoothing: bool = False
    level: float = 0.95
    interval: str = "score"
    target: str = "rows"
    margin: float = 0.05
    ratio_margin: float = 0.8
    replicates: int = 1000
    seed: Any = 0
    n_jobs: int = 1

    def __post_init__(self) -> None:
        if not self.group_columns:
            raise InputError("group= is needed: the auxiliary table's column of groups")
        choices = {
            "training": TRAININGS,
            "interval": INTERVALS,
            "target": TARGETS,
            "assume": ASSUMPTIONS,
        }
        for name, known in choices.items():
            value = getattr(self, name)
            if value not in known:
                raise InputError(f"no {name} {value!r}; {did_you_mean(value, known)}")
        if not isinstance(self.scores, Mapping | None):
            raise InputError(
                "scores= maps each group to a column, such as {'woman': 'p_woman'}; it is "
                f"{self.scores!r}"
            )
        if self.features is not None:
            names = (self.features,) if isinstance(self.features, str) else tuple(self.features)
            self._set("features", names)
        self._check_shares()
        self._check_numbers()
        self._check_learner()
        self._check_use()
        suited_quantifier(self.quantifier, self.assume)

    def _set(self, name: str, value: Any) -> None:
        """Put an option into the form in which it is used and recorded."""
        object.__setattr__(self, name, value)

    def _check_shares(self) -> None:
        for name, (what, inside) in _SHARES.items():
            value: Any = getattr(self, name)
            if not isinstance(value, Real) or not inside(float(value)):
                raise InputError(f"{name} is {what}, not {value!r}")
            self._set(name, float(value))

    def _check_numbers(self) -> None:
        if isinstance(self.seed, np.random.Generator):
            self._set("seed", self.seed.integers(_SEEDS))
        for name, least in (("folds", 2), ("replicates", 0), ("seed", 0), ("n_jobs", None)):
            value = getattr(self, name)
            if not isinstance(value, Integral):
                kinds = "a whole number" + " or a NumPy generator" * (name == "seed")
                raise InputError(f"{name} is {kinds}, not {value!r}")
            if least is not None and value < least:
                raise InputError(f"{name} must be at least {least}, not {value}")
            self._set(name, int(value))
        if self.seed >= _SEEDS:
            raise InputError(f"seed must be below {_SEEDS}, not {self.seed}")
        if self.n_jobs == 0:
            raise InputError("n_jobs is a number of threads, or -1 for all processors, not 0")

    def _check_learner(self) -> None:
        learner = self.learner
        if isinstance(learner, str) and learner not in NAMES:
            raise InputError(f"no learner {learner!r}; {did_you_mean(learner, NAMES)}")
        if isinstance(learner, type):
            raise InputError(
                f"learner= takes an instance, such as {learner.__name__}(), not the class"
            )

    def _check_use(self) -> None:
        """Refuse what would have no effect."""
        for name in ("learner", "features", "training", "folds"):
            if self.scores is not None and getattr(self, name) != getattr(type(self), name):
                raise InputError(
                    f"scores= brings the group probabilities, so {name}= has no use; drop one"
                )
        decides = self.decision if self.classifier is None else self.classifier
        for name, column, of in (
            ("favourable", "decision", decides),
            ("favourable_label", "label", self.label),
        ):
            if getattr(self, name) is not None and of is None:
                raise InputError(
                    f"--{name.replace('_', '-')} ({name}=) has no use without --{column} "
                    f"({column}=); give both or neither"
                )

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The group columns."""
        return (self.group,) if isinstance(self.group, str) else tuple(self.group)

    def fit(self, auxiliary: Any, *, columns: Sequence[str] | None = None) -> FittedAudit:
        """Train the group classifiers on the auxiliary table.

        Parameters
        ----------
        auxiliary
            Any dataframe, Arrow table, DuckDB relation, or the path of a CSV or Parquet file.
        columns
            Columns of the deployment table, where they are known; measuring a table that lacks
            some of the features trains again without them.
        """
        table = open_table(auxiliary, "auxiliary")
        read = read_auxiliary(self, table, columns)
        learner = self.learner if self.scores is None else self._score_columns(read)
        fitted = _trained(self, learner, table, read)
        if is_external(learner):
            return fitted  # what knows the intersections does not know an attribute alone
        return replace(fitted, alone=_alone(fitted))

    def stress(
        self,
        auxiliary: Any,
        *,
        shifts: Sequence[str | Shift] | None = None,
        partitions: int = 8,
        draws: int = 5,
        progress: Progress | None = None,
    ) -> StressResult:
        """Replay shifts on the auxiliary people, to see which estimator to trust.

        The people are split in halves. One half plays the auxiliary table, with this audit's own
        group classifiers; of the other, deployments are drawn under each shift, without
        replacement. Their groups are known, so each estimate of the demographic parity difference
        has an error, and each interval (``score``, whatever ``interval=`` says) holds the truth or
        misses it.

        Parameters
        ----------
        auxiliary
            As in ``fit``.
        shifts
            Names from ``quantifair.stress.SHIFTS``, or shifts from there with strengths of your
            own; by default all of them.
        partitions
            How often people are split in halves.
        draws
            Deployments drawn at each strength, in each partition.
        progress
            Called with the number of steps done and of all.

        Examples
        --------
        >>> from quantifair.datasets import simulate_lender
        >>> survey = simulate_lender(auxiliary_rows=2000, deployment_rows=10, seed=1).auxiliary
        >>> audit = Audit(decision="approved", group="gender")
        >>> result = audit.stress(survey, shifts=["prior"], partitions=2, draws=5)
        >>> result["prior"].beats_auxiliary
        True
        """
        from quantifair.stress import stress_test

        table = open_table(auxiliary, "auxiliary")
        read = replace(read_auxiliary(self, table, None), label=None, positive=None)
        learner = self.learner if self.scores is None else self._score_columns(read)
        cautions = (*read.cautions, *learner_cautions(self, table.name))
        return stress_test(
            self,
            replace(read, cautions=cautions),
            _recipe(self, learner, read),
            where=table.name,
            shifts=shifts,
            partitions=partitions,
            draws=draws,
            progress=progress,
        )

    def _score_columns(self, read: Auxiliary) -> Any:
        given = {name_of(k): v for k, v in dict(self.scores or {}).items()}
        if sorted(given) != sorted(read.groups):
            raise InputError(
                f"scores= names the groups {sorted(given)}, the table holds {read.groups}"
            )
        for column, kind in read.features.kinds.items():
            if kind != "number":
                raise InputError(f"score column {column!r} holds {kind}s, not probabilities")
        return ScoreColumns([given[g] for g in read.groups])


def _recipe(audit: Audit, learner: Any, read: Auxiliary) -> Recipe:
    meaning = (read.groups, read.favourable, read.positive)
    return Recipe(
        learner,
        audit.training,
        audit.folds,
        audit.calibrate,
        audit.seed,
        meaning,
        tested=audit.assume == "prior_shift",
    )


def _trained(audit: Audit, learner: Any, table: Table, read: Auxiliary) -> FittedAudit:
    cells = train_cells(read, _recipe(audit, learner, read), per_cell=audit.per_cell)
    cautions = (*read.cautions, *learner_cautions(audit, table.name))
    return FittedAudit(audit, table, read, cells, cautions)


def _alone(fitted: FittedAudit) -> dict[str, FittedAudit]:
    """Audit each of several attributes for itself where an intersection is too small."""
    audit = fitted.audit
    if len(audit.group_columns) == 1 or all(c.trained is not None for c in fitted.cells.values()):
        return {}
    by_column = {column: fitted.auxiliary.alone(column) for column in audit.group_columns}
    return {
        column: _trained(replace(audit, group=column), audit.learner, fitted.table, read)
        for column, read in by_column.items()
        if len(read.groups) > 1
    }
