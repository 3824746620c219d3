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
    from quantifair.quantifiers.base import FloatArray, Quantifier
    from quantifair.training import Trained


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
        Auxiliary rows of each group.
    people
        Distinct people among them.
    shares
        Weighted share of each group among them.
    trained
        Scoring function and scored people; ``None`` where ``problem`` says why.
    problem
        Why nothing can be estimated here.
    """

    name: str
    rows: tuple[int, ...]
    people: tuple[int, ...]
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
    doubts, trusted = _doubts(trained.name, trained.trained, quantifier)
    if not trusted:
        return CellEstimate(nothing, draws, sketch.weight, known, tuple(doubts))
    try:
        estimate = clone(quantifier).fit_labelled(sample.labelled).estimate(sketch)
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
        *doubts,
        *diagnostics.few(trained.people, groups, trained.name),
        *diagnostics.of_estimate(estimate, groups, trained.name),
    )
    return CellEstimate(prevalence, draws, sketch.weight, known, cautions)


def _doubts(name: str, trained: Trained, quantifier: Quantifier) -> tuple[list[Caution], bool]:
    """Return what is wrong with the scores, and whether the quantifier can do with them.

    One that corrects for shift needs scores that differ between the groups, and calibrated ones
    if it reads them as probabilities.
    """
    adjusts = quantifier.adjusts
    useless = diagnostics.not_separated(trained.sample, name, estimated=not adjusts)
    if useless:
        return useless, not adjusts
    refused = trained.broken and adjusts and quantifier.uses_posteriors
    return diagnostics.broken_proxy(trained.slope, name, estimated=not refused), not refused


def joint_counts(estimates: dict[Cell, CellEstimate]) -> tuple[FloatArray, FloatArray | None]:
    """Arrange cells' counts as ``decided`` and ``labelled`` of ``quantifair.disparity``."""
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
    # Outwards to the next replicate: between a number and infinity there is no mean.
    below = float(np.quantile(low, tail, method="lower"))
    above = float(np.quantile(high, 1 - tail, method="higher"))
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
                    _ranged(over[0], over[1:], options, most=np.inf),
                )
            )
    return tuple(found)


def _ranged(
    values: FloatArray, corners: list[FloatArray], options: Options, *, most: float = 1.0
) -> Figure:
    """Return a figure whose replicates lie between corners; an undefined ratio is 0 to ``most``."""
    stacked = np.stack([c[1:] for c in corners])
    low = np.where(np.isnan(stacked), 0.0, stacked).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(stacked), most, stacked).max(axis=0, initial=-np.inf)
    return figure(values[0], low, high, options)


def _corners(rates: dict[str, FloatArray]) -> list[dict[str, FloatArray]]:
    """Return the rates with what is undefined filled in all ways that may be extreme.

    A replicate in which a group is empty leaves its rates undefined, so anything between 0 and 1
    is possible there; where it has no answer at all, any number of people is. Disparities are
    greatest where each of these is 0 or 1, whichever of the groups they are, and least where all
    are the mean of the others.
    """
    if not any(np.isnan(v).any() for v in rates.values()):
        return [rates]
    most = {"count": rates["count"][0].sum()}
    found = [{k: np.where(np.isnan(v), _mean_of_defined(v), v) for k, v in rates.items()}]
    group = np.arange(rates["share"].shape[-1])
    for first in range(len(group) + 1):
        for high in (group < first, group >= first):
            fill = {k: np.where(high, most.get(k, 1.0), 0.0) for k in rates}
            found.append({k: np.where(np.isnan(v), fill[k], v) for k, v in rates.items()})
    return found


def _mean_of_defined(rates: FloatArray) -> FloatArray:
    defined = ~np.isnan(rates)
    total = np.where(defined, rates, 0.0).sum(axis=-1, keepdims=True)
    return np.asarray(total / np.maximum(defined.sum(axis=-1, keepdims=True), 1))


def _empty_cell(where: str) -> Caution:
    return diagnostics.Caution(
        "empty_cell", f"the deployment table holds nobody with {where}", where
    )


def _seed(seed: int, cell: Cell) -> np.random.SeedSequence:
    number = [0 if v is None else v + 1 for v in cell]
    return np.random.SeedSequence([seed, *number])
