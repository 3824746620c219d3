"""The default interval of each trial, from the scores that the cross-fitted methods see."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quantifair import disparity
from quantifair.cells import DECISIONS
from quantifair.estimation import CellEstimate, Options
from quantifair.experiments.folds import two_sided
from quantifair.figures import figure
from quantifair.intervals import Moments, Sample
from quantifair.sketch import Points
from quantifair.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.estimates import Block

    FloatArray = NDArray[np.float64]

NOTHING_RULED_OUT = (-1.0, 1.0)


def intervals(
    blocks: Sequence[Block], prevalences: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the 95% intervals of the demographic disparity, one for each trial.

    The disparity is that of the trial's own deployment rows. Where it can't be estimated, nothing
    is ruled out.

    Parameters
    ----------
    blocks
        The rejected and the accepted people of some trials.
    prevalences
        Estimates of the group 1 in each, which an interval holds in any case.
    """
    both = zip(*(_estimates(*one) for one in zip(blocks, prevalences, strict=True)), strict=True)
    low, high = np.array([_interval(estimates) for estimates in both]).T
    return low, high


def _interval(estimates: tuple[CellEstimate, ...]) -> tuple[float, float]:
    spread = spread_of(dict(zip(DECISIONS, estimates, strict=True)), Options())
    found = figure(spread, ("selection_rate",), partial(disparity.difference, signed=True))
    if found.low is None or found.high is None:
        return NOTHING_RULED_OUT
    return found.low, found.high


def _estimates(block: Block, prevalences: FloatArray) -> Iterator[CellEstimate]:
    """Yield what each trial's interval follows from in one cell."""
    points = block.seen(training="folds", hard=False).deployment
    nobody, none = np.zeros(2), np.empty((0, 2))
    for t, (rows, share) in enumerate(zip(block.rows, prevalences, strict=True)):
        size = len(rows)
        scored = Points(points.scores[t, :size], points.weights[t, :size])
        people = float(len(np.unique(rows)))
        moments = Moments.of(_sample(block, int(block.samples[t])), scored, people)
        yield CellEstimate(two_sided(share), float(size), nobody, none, moments, people)


def _sample(block: Block, number: int) -> Sample:
    """Return the auxiliary people of a trial; rows that repeat are one person."""
    people = int(block.fits.people_of[number])
    rows = block.fits.people[people]
    person = np.unique(rows, return_inverse=True)[1]
    clusters = person if person.max() + 1 < len(rows) else None
    scores = two_sided(block.fits.crossed.known[people])
    return Sample(scores, block.auxiliary.group[rows], np.ones(len(rows)), clusters)
