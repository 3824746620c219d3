"""What a survey is to achieve, and the factor by which the present one has to grow for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

from scipy.special import chndtr, chndtrinc

from quantifair import disparity
from quantifair.errors import InputError
from quantifair.figures import disparity_figure, figure, subtracted
from quantifair.intervals import quantile_of_pairs
from quantifair.planning.survey import scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from quantifair.results import Figure
    from quantifair.spread import Spread

    Find = Callable[[Spread], Figure]
    Reached = Callable[[Figure], bool]

_STEP = 4.0
_FARTHEST = 4.0**15
_HALVINGS = 10
_MOST_DEVIATIONS = 8.0


def times_needed(spread: Spread, find: Find, reached: Reached) -> float:
    """Return how many times the present auxiliary people an interval needs to reach an aim.

    Parameters
    ----------
    spread
        Rates of cells with moments.
    find
        Returns a figure of the rates, such as ``parity``.
    reached
        Tells whether the figure's interval is as wished. Intervals shrink towards the estimate as
        people are added, so what one size reaches a larger one should reach too.

    Returns
    -------
    float
        Below one where fewer would do; ``inf`` where no size would do, be it for the deployment's
        own noise or because the estimate itself is not as wished; NaN where there is no estimate.
        Within 0.2%.
    """

    def reaches(times: float) -> bool:
        return reached(find(scaled(spread, times)))

    if find(spread).estimate is None:
        return math.nan
    return least_times(reaches)


def least_times(reaches: Callable[[float], bool]) -> float:
    """Return the least factor that reaches something, ``inf`` where none does."""
    if not reaches(math.inf):
        return math.inf
    high = 1.0
    while not reaches(high):
        high *= _STEP
        if high > _FARTHEST:
            return math.inf
    low = high / _STEP
    while reaches(low) and low > 1 / _FARTHEST:
        low, high = low / _STEP, low
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def parity(
    spread: Spread, pair: tuple[int, int] | None = None, *, deviance: float | None = None
) -> Figure:
    """Return the demographic parity difference with its interval, or that of a pair of groups.

    Parameters
    ----------
    spread
        The rates.
    pair
        Numbers of the group that is subtracted and of the other.
    deviance
        What the interval allows, in place of what its level does.
    """
    names = ("selection_rate",)
    if pair is not None:
        return figure(spread, names, partial(subtracted, one=pair[0], other=pair[1]), far=deviance)
    kind = disparity.kinds(signed=True, groups=_groups(spread))["difference"]
    if deviance is None:
        return disparity_figure(spread, names, kind, _groups(spread))
    return figure(spread, names, kind.of, kind.worst, far=deviance, nearest=kind.nearest)


def narrower(found: Figure, *, width: float) -> bool:
    """Whether the interval is at most so wide."""
    return spanned(found) <= width


def within(found: Figure, *, margin: float) -> bool:
    """Whether the interval lies between minus and plus the margin: fair, to within that."""
    low, high = ends(found)
    return -margin <= low and high <= margin


def beyond(found: Figure, *, margin: float = 0.0) -> bool:
    """Whether the interval lies outside of minus to plus the margin: excludes zero, without one."""
    low, high = ends(found)
    return low > margin or high < -margin


def ends(found: Figure) -> tuple[float, float]:
    """Return both ends of an interval; without one everything is possible."""
    if found.low is None or found.high is None:
        return -math.inf, math.inf
    return found.low, found.high


def spanned(found: Figure) -> float:
    """Return the width of an interval."""
    low, high = ends(found)
    return high - low


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What is to be achieved: a width, or the detection of a difference.

    Attributes
    ----------
    width
        Wished width of the interval.
    detect
        Wished difference that is to be found, if it is there.
    power
        How often it is to be found.
    margin
        Differences up to this are fair: the interval is to lie beyond it.
    """

    width: float | None = None
    detect: float | None = None
    power: float = 0.8
    margin: float = 0.0

    def __post_init__(self) -> None:
        if (self.width is None) == (self.detect is None):
            raise InputError(
                "a plan is for --width (width=), the wished width of the interval, or for --detect "
                "(detect=), a difference that is to be found; give one of them"
            )
        _check_between("width", self.width, 0, 2)
        _check_between("detect", self.detect, 0, 1)
        _check_between("power", self.power, 0.5, 1)
        if self.margin and self.detect is None:
            raise InputError("margin has no use without --detect (detect=); give both or neither")
        if self.margin:
            _check_between("margin", self.margin, 0, self.detect or 1)

    def reached_by(self, spread: Spread, pair: tuple[int, int] | None = None) -> bool:
        """Whether the expected interval is as wished.

        The test of a difference rejects it where the least deviance under it exceeds a quantile.
        That deviance is about noncentral chi-square, with what is expected for noncentrality. So
        it exceeds the quantile as often as wished if what is expected still lies beyond the margin
        with so much deviance allowed as this noncentrality.
        """
        if self.width is not None:
            return narrower(parity(spread, pair), width=self.width)
        needed = float(chndtrinc(_critical(spread), 1, 1 - self.power))
        return beyond(parity(spread, pair, deviance=needed), margin=self.margin)

    def power_of(self, spread: Spread) -> float:
        """Return how often the difference would be found."""
        low, high = 0.0, _MOST_DEVIATIONS
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            found = beyond(parity(spread, deviance=middle**2), margin=self.margin)
            low, high = (middle, high) if found else (low, middle)
        return 1 - float(chndtr(_critical(spread), 1, low**2))


def _check_between(name: str, value: Any, least: float, most: float) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (number and least < value < most):
        raise InputError(f"{name} lies between {least:g} and {most:g}, not {value!r}")


def _critical(spread: Spread) -> float:
    """Return the deviance beyond which groups are told apart; of several, any two of them."""
    return quantile_of_pairs(spread.options.level, _groups(spread))


def _groups(spread: Spread) -> int:
    return len(next(iter(spread.estimates.values())).prevalence)
