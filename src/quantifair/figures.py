"""From rates with their spread to the figures of a result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quantifair import disparity
from quantifair.intervals import quantile, quantile_of_pairs
from quantifair.results import (
    RATES,
    Figure,
    GroupResult,
    MeasureResult,
    PairResult,
)
from quantifair.verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quantifair.quantifiers.base import FloatArray
    from quantifair.spread import Spread

    Function = Callable[[FloatArray], FloatArray]


def group_results(
    spread: Spread, groups: Sequence[str], attributes: Sequence[dict[str, str]]
) -> tuple[GroupResult, ...]:
    """Return the figures of each group."""
    known = [r for r in RATES if r in spread.rates and r != "selection_rate"]

    def of(rate: str, k: int) -> Figure:
        return figure(spread, (rate,), lambda rates: rates[..., k])

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


def measure_results(spread: Spread, groups: Sequence[str]) -> dict[str, MeasureResult]:
    """Return every disparity that the rates allow."""
    return {
        name: _measure(spread, name, measure, groups)
        for name, measure in disparity.MEASURES.items()
        if set(measure.rates) <= set(spread.rates)
    }


def _measure(
    spread: Spread, name: str, measure: disparity.Measure, groups: Sequence[str]
) -> MeasureResult:
    signed = measure.signed and len(groups) == 2
    kinds = disparity.kinds(signed=measure.signed, groups=len(groups))
    figures = {
        called: disparity_figure(spread, measure.rates, kind, len(groups))
        for called, kind in kinds.items()
    }
    judged = verdicts(
        name, measure.rates, figures["difference"], figures["ratio"], spread.options.margins
    )
    return MeasureResult(
        name,
        measure.meaning,
        disparity.direction(groups, signed=signed),
        signed,
        **figures,
        verdict=judged.difference,
        ratio_verdict=judged.ratio,
        pairs=_pairs(spread, name, measure.rates, groups),
    )


def disparity_figure(
    spread: Spread, names: Sequence[str], kind: disparity.Kind, groups: int
) -> Figure:
    """Return a disparity between groups with its interval.

    The largest minus the smallest is the distance of one pair, and no pair is farther apart: its
    far end is the farthest of all pairs' ends, each taken alone. Which pair it is the data have to
    tell, so that the end near equality has to hold for all pairs at once. A variance departs from
    equality in all directions at once, whichever its end.
    """
    level = spread.options.level
    if kind.of_a_pair:
        far, near = quantile(level), quantile_of_pairs(level, groups, len(names))
    else:
        far = near = quantile(level, (groups - 1) * len(names))
    return figure(spread, names, kind.of, kind.worst, far=far, nearest=kind.nearest, near=near)


def _pairs(
    spread: Spread, measure: str, names: tuple[str, ...], groups: Sequence[str]
) -> tuple[PairResult, ...]:
    if len(names) > 1:
        return ()
    found = []
    for one, other in disparity.pairs(len(groups)):
        minus = figure(spread, names, partial(subtracted, one=one, other=other))
        over = figure(spread, names, partial(_over, one=one, other=other), most=np.inf)
        judged = verdicts(measure, names, minus, over, spread.options.margins)
        found.append(PairResult(groups[other], groups[one], minus, over, *judged))
    return tuple(found)


def subtracted(rates: FloatArray, *, one: int, other: int) -> FloatArray:
    """Subtract the rate of one group from that of another."""
    return np.asarray(rates[..., other] - rates[..., one])


def _over(rates: FloatArray, *, one: int, other: int) -> FloatArray:
    return np.asarray(rates[..., other] / rates[..., one])


def figure(
    spread: Spread,
    names: Sequence[str],
    function: Function,
    choose: Callable[..., FloatArray] = np.max,
    *,
    most: float = 1.0,
    far: float | None = None,
    nearest: Callable[[FloatArray], float] | None = None,
    near: float | None = None,
) -> Figure:
    """Return a function of the rates with its interval; an undefined ratio is 0 to ``most``.

    ``nearest`` bounds a function that is not smooth where groups are equal. ``far`` is the deviance
    that is allowed at an interval's ends, and ``near`` at the end near equality.
    """
    far = quantile(spread.options.level) if far is None else far
    rates = [spread.values(name, far) for name in names]
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(choose(np.array([function(r[0]) for r in rates])))
        if not np.isfinite(estimate):
            return Figure(None)
        if len(rates[0]) == 1:
            return Figure(estimate)
        corners = [_corners(r, n) for r, n in zip(rates, names, strict=True)]
        possible = [[function(corner) for corner in each] for each in corners]
    low = [_extreme(values, np.min, 0.0) for values in possible]
    high = [_extreme(values, np.max, most) for values in possible]
    if nearest is not None and spread.connected:
        about = [_corners(spread.values(name, near or far), name) for name in names]
        bounds = [nearest(np.concatenate(each)) for each in about]
        low, high = ([np.append(v, b) for v, b in zip(e, bounds, strict=True)] for e in (low, high))
    below, above = spread.ends(low, high, choose)
    return Figure(estimate, min(below, estimate), max(above, estimate))


def _extreme(
    values: list[FloatArray], choose: Callable[..., FloatArray], undefined: float
) -> FloatArray:
    stacked = np.stack(values)
    return np.asarray(choose(np.where(np.isnan(stacked), undefined, stacked), axis=0))


def _corners(rates: FloatArray, name: str) -> list[FloatArray]:
    """Return other values of a rate with what is undefined filled in all ways that may be extreme.

    Where a group is empty its rates are undefined, so anything between 0 and 1 is possible there;
    where there is no answer at all, any number of people is. Disparities are greatest where each of
    these is 0 or 1, whichever of the groups they are, and least where all are the mean of the
    others.
    """
    estimate, others = rates[0], rates[1:]
    undefined = np.isnan(others)
    if not undefined.any():
        return [others]
    most = estimate.sum() if name == "count" else 1.0
    group = np.arange(rates.shape[-1])
    sides = (side for k in range(len(group) + 1) for side in (group < k, group >= k))
    extreme = [np.where(undefined, np.where(side, most, 0.0), others) for side in sides]
    return [np.where(undefined, _mean_of_defined(others), others), *extreme]


def _mean_of_defined(rates: FloatArray) -> FloatArray:
    defined = ~np.isnan(rates)
    total = np.where(defined, rates, 0.0).sum(axis=-1, keepdims=True)
    return np.asarray(total / np.maximum(defined.sum(axis=-1, keepdims=True), 1))
