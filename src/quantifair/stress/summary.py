"""From outcomes to figures: means with errors clustered by partition, rankings, sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

from quantifair.stress.results import Coverage, FamilyResult, Performance, SettingResult
from quantifair.stress.text import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quantifair.stress.runner import Replayed
    from quantifair.stress.shifts import Shift

    FloatArray = NDArray[np.float64]

_RANKED = 0.9
_SURE = 0.95
_AUXILIARY = "mlpe"
"""The auxiliary sample alone, which does not look at the deployment."""


class Mean(NamedTuple):
    """A mean and its standard error; NaN where there is nothing to average."""

    value: float
    error: float

    @classmethod
    def of(cls, values: FloatArray) -> Mean:
        """Average what is finite of values by partition, ``(partitions, ...)``."""
        flat = values.reshape(len(values), -1)
        finite = np.isfinite(flat)
        if not finite.any():
            return cls(math.nan, math.nan)
        counts = finite.sum(axis=1)
        sums = np.where(finite, flat, 0.0).sum(axis=1)
        means = sums[counts > 0] / counts[counts > 0]
        error = math.nan
        if len(means) > 1:
            error = float(means.std(ddof=1) / math.sqrt(len(means)))
        return cls(float(sums.sum() / counts.sum()), error)


@dataclass(frozen=True, eq=False)
class Found:
    """What was found in some settings, in arrays of shape ``(partitions, settings, draws)``."""

    errors: dict[str, FloatArray]
    truth: FloatArray
    covered: FloatArray
    widths: FloatArray
    rows: FloatArray

    @classmethod
    def of(cls, replayed: Sequence[Replayed]) -> Found:
        """Stack the outcomes."""

        def stacked(pick: str) -> FloatArray:
            values = [[getattr(o, pick) for o in r.outcomes] for r in replayed]
            return np.array(values).swapaxes(0, 1)

        names = replayed[0].outcomes[0].errors
        errors = {
            n: np.array([[o.errors[n] for o in r.outcomes] for r in replayed]).swapaxes(0, 1)
            for n in names
        }
        return cls(errors, *(stacked(pick) for pick in ("truth", "covered", "widths", "rows")))

    def performance(self, name: str) -> Performance:
        """Return how well an estimator does."""
        errors = self.errors[name]
        size, bias = Mean.of(np.abs(errors)), Mean.of(errors)
        answered = np.isfinite(errors[np.isfinite(self.truth)])
        return Performance(*size, *bias, float(answered.mean()) if answered.size else math.nan)

    def coverage(self, sought: int) -> Coverage:
        """Return how well the interval does; it was ``sought`` in the first draws of a setting."""
        possible = np.isfinite(self.truth[..., :sought])
        widths = self.widths[np.isfinite(self.widths)]
        return Coverage(
            *Mean.of(self.covered),
            float(np.median(widths)) if len(widths) else math.nan,
            len(widths) / int(possible.sum()) if possible.any() else math.nan,
        )


def family_result(
    shift: Shift, replayed: Sequence[Replayed], *, level: float, sought: int
) -> FamilyResult:
    """Sum up what was found of one family.

    Parameters
    ----------
    shift
        The family.
    replayed
        Its settings.
    level
        Confidence level of the intervals.
    sought
        How many draws of a setting were to get an interval.
    """
    found = Found.of(replayed)
    interval = found.coverage(sought)
    by_partition = _ranked(found)
    as_good, beats = _compared(by_partition, auxiliary=_AUXILIARY if shift.shifts else None)
    result = FamilyResult(
        shift.name,
        shift.meaning,
        shift.axis,
        tuple(_setting(r, sought) for r in replayed),
        {name: found.performance(name) for name in found.errors},
        interval,
        tuple(by_partition),
        as_good,
        beats,
        _holds(interval, level, len(found.truth)),
        "",
    )
    return replace(result, sentence=sentence(result, level))


def _setting(replayed: Replayed, sought: int) -> SettingResult:
    found = Found.of([replayed])
    return SettingResult(
        replayed.what,
        replayed.strength,
        found.truth.size,
        int(np.median(found.rows)),
        {name: found.performance(name) for name in found.errors},
        found.coverage(sought),
    )


def _ranked(found: Found) -> dict[str, FloatArray]:
    """Return each estimator's mean absolute error by partition, the least first.

    Only estimators that answer nearly always are ranked, and only draws count that all of these
    answer: else one would gain by keeping silent where it is difficult.
    """
    asked = np.isfinite(found.truth)
    answered = {name: np.isfinite(errors) & asked for name, errors in found.errors.items()}
    often = [n for n, a in answered.items() if a.sum() >= _RANKED * asked.sum() > 0]
    if not often:
        return {}
    common = np.logical_and.reduce([answered[name] for name in often])
    some = common.any(axis=(1, 2))
    counts = common[some].sum(axis=(1, 2))
    sums = {n: np.where(common, np.abs(found.errors[n]), 0.0)[some].sum(axis=(1, 2)) for n in often}
    order = sorted(often, key=lambda name: float(sums[name].sum()))
    return {name: sums[name] / counts for name in order} if len(counts) else {}


def _compared(
    by_partition: dict[str, FloatArray], *, auxiliary: str | None
) -> tuple[tuple[str, ...], bool | None]:
    """Return who is as good as the best, and whether the best errs less than one estimator."""
    if not by_partition:
        return (), None
    least = next(iter(by_partition.values()))
    more = {name: Mean.of(errors - least) for name, errors in by_partition.items()}
    as_good = tuple(name for name, m in more.items() if m.value <= np.nan_to_num(m.error))
    if auxiliary not in more:
        return as_good, None
    lead = more[auxiliary]
    return as_good, bool(lead.value > _quantile(len(least)) * np.nan_to_num(lead.error))


def _holds(interval: Coverage, level: float, partitions: int) -> bool | None:
    """Return whether the intervals hold as often as promised; ``None`` where that is open."""
    coverage, error = interval.coverage, np.nan_to_num(interval.coverage_se)
    if coverage + _quantile(partitions) * error < level:
        return False
    return True if coverage + error >= level else None


def _quantile(partitions: int) -> float:
    """Student's quantile of a mean over so many partitions."""
    return float(stdtrit(max(1, partitions - 1), _SURE))
