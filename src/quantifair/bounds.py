"""What two tables say of demographic parity where nothing ties the group to the decision.

Trusted is one thing: among people of like scores, the groups are as common in the deployment as in
the auxiliary table, whatever was decided. Nothing is assumed about who of them was accepted. Then
no disparity is identified, but an interval of them is: of the people in a bin of scores, at most
all and at least none may be accepted group by group, within what the bin's numbers allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quantifair.errors import InputError, SketchMismatchError
from quantifair.serialisation import Shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.sketch import Sketch

    FloatArray = NDArray[np.float64]

MOST_BINS = 20
PEOPLE_PER_BIN = 100


@dataclass(frozen=True, repr=False)
class ParityBounds(Shown):
    """Bounds of selection rates and of their difference; no confidence interval.

    Attributes
    ----------
    first, second
        Least and greatest selection rate of each group.
    difference
        Least and greatest value of the second's minus the first's. Both ends are reached by some
        table that agrees with all that is trusted.
    bins
        Number of bins of scores.
    """

    first: tuple[float, float]
    second: tuple[float, float]
    difference: tuple[float, float]
    bins: int

    def __str__(self) -> str:
        low, high = self.difference
        return f"demographic parity difference from {low:+.3f} to {high:+.3f} ({self.bins} bins)"

    __repr__ = __str__


def parity_bounds(
    rejected: Sketch,
    accepted: Sketch,
    *,
    known_rejected: FloatArray | None = None,
    known_accepted: FloatArray | None = None,
) -> ParityBounds:
    """Bound demographic parity from sketches by one classifier that was blind to the decision.

    In a bin of scores let p be the mean score, and r the share of the accepted. The share of
    people who are of the second group and accepted lies between max(0, p + r - 1) and
    min(p, r) (Frechet's bounds), and each value of it goes with another disparity. A bin holds at
    least a hundred people, as r of one person is 0 or 1 and tells nothing of people like them;
    coarser bins give wider bounds, which still hold.

    Parameters
    ----------
    rejected, accepted
        The deployment's people by decision, scored alike; two groups.
    known_rejected, known_accepted
        Weight by group of people whose group is known.

    References
    ----------
    Kallus, Mao, Zhou (2022), Assessing algorithmic fairness with unobserved protected class using
    data combination, doi:10.1287/mnsc.2020.3850, arXiv:1906.00285.

    Examples
    --------
    >>> from quantifair import Sketch
    >>> people = np.repeat([0.2, 0.9], 500)
    >>> bounds = parity_bounds(Sketch.from_scores(people), Sketch.from_scores(people))
    >>> [round(value, 3) for value in bounds.difference]
    [-0.303, 0.303]
    """
    if rejected.groups != 2:
        raise InputError(f"bounds are those of two groups, not of {rejected.groups}")
    if rejected.fingerprint != accepted.fingerprint:
        raise SketchMismatchError(
            "bounds take people scored alike, whatever was decided; these sketches are of two "
            "scoring functions. Audit(per_cell=False) has one"
        )
    if not rejected.rows or not accepted.rows:
        raise InputError("bounds take people with either decision; one sketch is empty")
    people, scores, chosen = _binned(rejected, accepted)
    known = [np.zeros(2) if k is None else k for k in (known_rejected, known_accepted)]
    least = np.maximum(0.0, scores + chosen - 1) @ people
    most = np.minimum(scores, chosen) @ people
    in_all = float(people @ chosen)
    sizes = np.array([people @ (1 - scores), people @ scores]) + known[0] + known[1]
    ends = [float((w + known[1][1]) / sizes[1]) for w in (least, most)]
    others = [float((in_all - w + known[1][0]) / sizes[0]) for w in (most, least)]
    difference = (ends[0] - others[1], ends[1] - others[0])
    return ParityBounds((others[0], others[1]), (ends[0], ends[1]), difference, len(people))


def _binned(rejected: Sketch, accepted: Sketch) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return people, mean score and share of the accepted of each bin."""
    both = [sketch.points for sketch in (rejected, accepted)]
    scores = np.concatenate([p.scores[:, 1] for p in both])
    weights = np.concatenate([p.weights for p in both])
    decided = np.repeat([0.0, 1.0], [len(p.weights) for p in both])
    number = min(
        MOST_BINS, int((rejected.effective_rows + accepted.effective_rows) / PEOPLE_PER_BIN)
    )
    order = np.argsort(scores, kind="stable")
    below = np.empty(len(scores))
    below[order] = np.cumsum(weights[order]) - weights[order]
    # People with the same score share a bin: that of the first of them.
    values, place = np.unique(scores, return_inverse=True)
    first = np.full(len(values), np.inf)
    np.minimum.at(first, place, below)
    bins = np.floor(first[place] / weights.sum() * max(1, number)).astype(np.int64)
    sums = np.zeros((3, int(bins.max()) + 1))
    np.add.at(sums.T, bins, np.stack([weights, weights * scores, weights * decided], axis=-1))
    people, scored, chosen = sums[:, sums[0] > 0]
    return people, scored / people, chosen / people
