"""From sketches to a result: quantify each cell, resample, and turn counts into figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from quantifair import diagnostics, disparity
from quantifair.cells import DECISIONS, Cell
from quantifair.errors import NotIdentifiedError
from quantifair.intervals import replicate_prevalences
from quantifair.results import (
    RATES,
    Figure,
    GroupResult,
    MeasureResult,
    PairResult,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.cells import Deployment
    from quantifair.diagnostics import Caution
    from quantifair.learner import Trained
    from quantifair.quantifiers.base import FloatArray, Quantifier


@dataclass(frozen=True)
class Options:
    """How figures are made.

    Attributes
    ----------
    level
        Confidence level of the intervals.
    replicates
        Number of replicates behind them.
    seed
        Seed of the replicates.
    smoothing
        Whether one pseudo-person is added to each cell.
    n_jobs
        Threads.
    """

    level: float = 0.95
    replicates: int = 1000
    seed: int = 0
    smoothing: bool = False
    n_jobs: int = 1


@dataclass(frozen=True, eq=False)
class TrainedCell:
    """A cell of the auxiliary table.

    Attributes
    ----------
    name
        How it is called.
    rows
        Auxiliary people of each group.
    shares
        Weighted share of each group among them.
    trained
        Scoring function and scored people; ``None`` where ``problem`` says why.
    problem
        Why nothing can be estimated here.
    """

    name: str
    rows: tuple[int, ...]
    shares: FloatArray
    trained: Trained | None
    problem: Caution | None = None


@dataclass(frozen=True, eq=False)
class CellEstimate:
    """Prevalences of one cell with replicates, and the people they are shares of.

    Attributes
    ----------
    prevalence
        Shape ``(groups,)``; NaN where it is not identified.
    replicates
        Shape ``(replicates, groups)``.
    unknown
        Weight of the people whose group is unknown.
    known
        Weight by group of those whose group is known.
    cautions
        What is odd.
    """

    prevalence: FloatArray
    replicates: FloatArray
    unknown: float
    known: FloatArray
    cautions: tuple[Caution, ...] = ()

    @property
    def counts(self) -> FloatArray:
        """People by group: the estimate in front, then the replicates."""
        stacked = np.vstack([self.prevalence, self.replicates])
        return np.asarray(stacked * self.unknown + self.known)

    def merged(self, summed: FloatArray) -> CellEstimate:
        """Return the same with groups added up; ``summed`` maps old groups to new ones."""
        return replace(
            self,
            prevalence=self.prevalence @ summed,
            replicates=self.replicates @ summed,
            known=self.known @ summed,
        )


def estimate_cell(
    cell: Cell,
    trained: TrainedCell,
    deployment: Deployment,
    quantifier: Quantifier,
    groups: Sequence[str],
    options: Options,
) -> CellEstimate:
    """Quantify one cell; without an answer the prevalences are NaN and a caution says why."""
    nothing = np.full(len(groups), np.nan)
    draws = np.full((options.replicates, len(groups)), np.nan)
    if trained.trained is None:
        why = tuple(p for p in (trained.problem,) if p is not None)
        return CellEstimate(nothing, draws, np.nan, nothing, why)
    sketch, known = deployment.sketches[cell], deployment.known[cell]
    if not sketch.rows:
        found = [] if known.sum() else [_empty_cell(trained.name)]
        return CellEstimate(np.zeros_like(nothing), np.zeros_like(draws), 0.0, known, tuple(found))
    sample = trained.trained.sample
    problem = diagnostics.not_separated(sample, trained.name) if quantifier.adjusts else None
    if problem is not None:
        return CellEstimate(nothing, draws, sketch.weight, known, (problem,))
    try:
        fitted = clone(quantifier).fit_labelled(sample.labelled)
        estimate = fitted.estimate(sketch)
    except NotIdentifiedError as error:
        where = trained.name
        problem = diagnostics.Caution("not_identified", f"{error} ({where})", where)
        return CellEstimate(nothing, draws, sketch.weight, known, (problem,))
    prevalence = estimate.prevalence
    draws = replicate_prevalences(
        quantifier,
        sample,
        sketch,
        replicates=options.replicates,
        seed=_seed(options.seed, cell),
        people=sketch.effective_rows * deployment.distinct_share,
        recalibrate=trained.trained.scorer.calibration is not None,
        n_jobs=options.n_jobs,
    )
    if options.smoothing:
        prevalence = disparity.smooth(prevalence, sketch.weight, trained.shares)
        draws = disparity.smooth(draws, sketch.weight, trained.shares)
    cautions = (
        *diagnostics.few(trained.rows, groups, trained.name),
        *diagnostics.broken_proxy(trained.trained.slope, trained.name),
        *diagnostics.of_estimate(estimate, groups, trained.name),
    )
    return CellEstimate(prevalence, draws, sketch.weight, known, cautions)


def joint_counts(estimates: dict[Cell, CellEstimate]) -> tuple[FloatArray, FloatArray | None]:
    """Arrange cells' counts as ``decided`` and ``labelled`` of :mod:`quantifair.disparity`."""
    decided = np.stack([estimates[c].counts for c in DECISIONS], axis=-2)
    labels = [c for c in estimates if c.label is not None]
    if not labels:
        return decided, None
    labelled = np.full((len(decided), 2, 2, decided.shape[-1]), np.nan)
    for cell in labels:
        labelled[:, cell.label, cell.decision, :] = estimates[cell].counts
    return decided, labelled


def all_rates(estimates: dict[Cell, CellEstimate]) -> dict[str, FloatArray]:
    """Return the rates that the cells allow: the estimate in front, then the replicates."""
    decided, labelled = joint_counts(estimates)
    rates = disparity.group_rates(decided, labelled)
    if all(c.decision == 1 for c in estimates if c.label is not None):
        unknown = ("true_positive_rate", "false_positive_rate", "true_negative_rate")
        rates = {k: v for k, v in rates.items() if k not in (*unknown, "negative_predictive_value")}
    return rates


def figure(estimate: float, low: FloatArray, high: FloatArray, options: Options) -> Figure:
    """Return an estimate with the quantiles of its replicates' least and greatest values."""
    if not np.isfinite(estimate):
        return Figure(None)
    if not len(low):
        return Figure(float(estimate))
    tail = (1 - options.level) / 2
    below, above = float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))
    return Figure(float(estimate), min(below, float(estimate)), max(above, float(estimate)))


def group_results(
    rates: dict[str, FloatArray],
    groups: Sequence[str],
    attributes: Sequence[dict[str, str]],
    options: Options,
) -> tuple[GroupResult, ...]:
    """Return the figures of each group."""
    corners = _corners(rates)

    def of(rate: str, k: int) -> Figure:
        return _ranged(rates[rate][:, k], [c[rate][:, k] for c in corners], options)

    known = [r for r in RATES if r in rates and r != "selection_rate"]
    return tuple(
        GroupResult(
            name,
            dict(attributes[k]),
            of("count", k),
            of("share", k),
            of("selection_rate", k),
            **{rate: of(rate, k) for rate in known},
        )
        for k, name in enumerate(groups)
    )


def measure_results(
    rates: dict[str, FloatArray], groups: Sequence[str], options: Options
) -> dict[str, MeasureResult]:
    """Return every disparity that the rates allow."""
    corners = _corners(rates)
    bounds = [disparity.disparities(r) for r in corners]
    found = {}
    for name, values in disparity.disparities(rates).items():
        measure = disparity.MEASURES[name]
        signed = measure.signed and len(groups) == 2
        figures = {
            kind: _ranged(value, [b[name][kind] for b in bounds], options)
            for kind, value in values.items()
        }
        found[name] = MeasureResult(
            name,
            measure.meaning,
            f"{groups[1]} minus {groups[0]}" if signed else "largest minus smallest",
            signed,
            **figures,
            pairs=_pairs(rates, corners, measure.rates, groups, options),
        )
    return found


def _pairs(
    rates: dict[str, FloatArray],
    corners: list[dict[str, FloatArray]],
    names: tuple[str, ...],
    groups: Sequence[str],
    options: Options,
) -> tuple[PairResult, ...]:
    if len(names) > 1:
        return ()
    (rate,) = names
    bounds = [c[rate] for c in corners]
    found = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for one, other in disparity.pairs(len(groups)):
            minus = [c[:, other] - c[:, one] for c in (rates[rate], *bounds)]
            over = [c[:, other] / c[:, one] for c in (rates[rate], *bounds)]
            found.append(
                PairResult(
                    groups[other],
                    groups[one],
                    _ranged(minus[0], minus[1:], options),
                    _ranged(over[0], over[1:], options),
                )
            )
    return tuple(found)


def _ranged(values: FloatArray, corners: list[FloatArray], options: Options) -> Figure:
    stacked = np.stack([c[1:] for c in corners])
    low = np.where(np.isnan(stacked), 0.0, stacked).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(stacked), 1.0, stacked).max(axis=0, initial=-np.inf)
    return figure(values[0], low, high, options)


def _corners(rates: dict[str, FloatArray]) -> list[dict[str, FloatArray]]:
    """Return the rates with what is undefined at each combination of its extremes.

    A replicate in which a group is empty leaves its rates undefined, so anything between 0 and 1
    is possible there. Disparities are monotone in such a rate between the others, so their range
    lies between all at 0, all at 1, and one against the others.
    """
    if not any(np.isnan(v).any() for v in rates.values()):
        return [rates]
    low = {k: np.where(np.isnan(v), 0.0, v) for k, v in rates.items()}
    high = {k: np.where(np.isnan(v), 1.0, v) for k, v in rates.items()}
    found = [low, high]
    for k in range(rates["share"].shape[-1]):
        for inner, outer in ((low, high), (high, low)):
            one = np.arange(rates["share"].shape[-1]) == k
            found.append({n: np.where(one, outer[n], inner[n]) for n in rates})
    return found


def _empty_cell(where: str) -> Caution:
    return diagnostics.Caution(
        "empty_cell", f"the deployment table holds nobody with {where}", where
    )


def _seed(seed: int, cell: Cell) -> np.random.SeedSequence:
    number = [0 if v is None else v + 1 for v in cell]
    return np.random.SeedSequence([seed, *number])
