"""Which cells to ask more people in, so that the fewest are asked in all.

Squared width is about a constant plus the sum of a_s / n_s over the strata s, so the best numbers
are proportional to the square roots of the a_s (Neyman's allocation). The a_s are measured: what
the squared width loses as a stratum grows by a small factor, times its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.planning.aim import least_times, spanned

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quantifair.planning.aim import Find
    from quantifair.planning.survey import Survey
    from quantifair.quantifiers.base import FloatArray
    from quantifair.spread import Spread

_GROWTH = 1.1
_ROUNDS = 3
_LEAST_SHARE = 1e-3


def proportional(survey: Survey, reached: Callable[[Spread], bool]) -> FloatArray | None:
    """Return the people by cell and group, as now but in other numbers, that reach an aim."""
    times = least_times(lambda t: reached(survey.asking(t * survey.people)))
    return survey.people * times if np.isfinite(times) else None


def allocate(
    survey: Survey,
    find: Find,
    reached: Callable[[Spread], bool],
    strata: NDArray[np.int64],
    *,
    least: float = 0.0,
) -> FloatArray | None:
    """Return the fewest people by cell and group that reach an aim, ``None`` if none do.

    Parameters
    ----------
    survey
        The survey as it is.
    find
        Returns the figure whose interval is to be narrow.
    reached
        Whether what is expected of a survey is as wished.
    strata
        The stratum of each cell and group. Within one, people are asked as they are now.
    least
        The least number of people by cell and group.
    """
    people = proportional(survey, reached)
    if people is None:
        return None
    total = people.sum()
    for _ in range(_ROUNDS):
        worth = np.array(
            [_worth(survey, find, people, strata == s) for s in range(strata.max() + 1)]
        )
        share = np.sqrt(worth * _sums(people, strata))
        share = np.maximum(share / share.sum(), _LEAST_SHARE)
        people = people * (total * share / share.sum() / _sums(people, strata))[strata]

    def numbers(times: float) -> FloatArray:
        return np.maximum(times * people, least)

    times = least_times(lambda t: reached(survey.asking(numbers(t))))
    return numbers(times) if np.isfinite(times) else None


def _worth(survey: Survey, find: Find, people: FloatArray, grown: NDArray[np.bool_]) -> float:
    """Return what the squared width loses as some people become a little more, and not fewer."""
    more, fewer = (np.where(grown, people * f, people) for f in (_GROWTH, 1 / _GROWTH))
    narrow, wide = (spanned(find(survey.asking(n))) ** 2 for n in (more, fewer))
    return max(wide - narrow, 0.0)


def _sums(people: FloatArray, strata: NDArray[np.int64]) -> FloatArray:
    return np.bincount(strata.ravel(), weights=people.ravel()).astype(np.float64)
