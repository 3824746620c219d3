"""Shifts to replay: each says with what probability people are drawn into either table.

People are drawn without replacement, so that a drawn deployment is a sample from people of whom the
drawn auxiliary table knows nothing, as in an audit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from quantifair.cells import Cell
from quantifair.errors import InputError
from quantifair.stress.directions import direction
from quantifair.training import cell_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quantifair.auxiliary import Auxiliary

    BoolArray = NDArray[np.bool_]
    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

MOST = 0.8
"""Share of the held-out people who are drawn at most, so that draws differ."""


class Chances(NamedTuple):
    """How people are drawn: each row's probability, and strata of which exact numbers are drawn."""

    keep: FloatArray
    strata: IntArray


class Mix(NamedTuple):
    """A share that a group is to have among the auxiliary people with one decision."""

    decision: int
    group: int
    share: float


class Setting(NamedTuple):
    """One strength of a shift.

    Attributes
    ----------
    what
        What is varied; empty where it goes without saying.
    strength
        Its value.
    deployment
        How held-out people are drawn into the deployment.
    fewer
        How auxiliary people are drawn, on whom group classifiers are trained again.
    mix
        Whom of the auxiliary people the estimators learn from.
    """

    what: str
    strength: float
    deployment: Chances
    fewer: Chances | None = None
    mix: Mix | None = None


class Shift(ABC):
    """A family of shifts: subclass it, and write ``settings``.

    Attributes
    ----------
    name
        What tables and the command line call it.
    meaning
        What is replayed.
    axis
        What the strength is.
    shifts
        Whether the two tables differ, so that the auxiliary sample alone can't be right.
    """

    name: ClassVar[str]
    meaning: ClassVar[str]
    axis: ClassVar[str]
    shifts: ClassVar[bool] = True

    @abstractmethod
    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield the strengths; as many, in the same order, whatever the partition."""


@dataclass(frozen=True)
class NoShift(Shift):
    """Both tables are samples of the same people."""

    name: ClassVar[str] = "none"
    meaning: ClassVar[str] = "nothing shifts"
    axis: ClassVar[str] = ""
    shifts: ClassVar[bool] = False

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield the one setting there is."""
        del auxiliary
        yield Setting("", 0.0, _alike(held_out, MOST))


@dataclass(frozen=True)
class PriorShift(Shift):
    """A group's share among the deployment's people with one decision: sample-prev-D3.

    Parameters
    ----------
    shares
        Its values. Each group is varied in turn; of two groups, the second.
    """

    shares: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    name: ClassVar[str] = "prior"
    meaning: ClassVar[str] = "a group's share among the deployment's people with one decision"
    axis: ClassVar[str] = "share"

    def __post_init__(self) -> None:
        _check("shares", self.shares, 0.0, 1.0)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each share, of as many people as can be drawn."""
        del auxiliary
        for decision, group, what in _varied_shares(held_out):
            cell = held_out.decision == decision
            inside, others = cell & (held_out.codes == group), cell & (held_out.codes != group)
            for share in self.shares:
                keep = MOST * at_share(held_out.weights, inside, others, share)
                yield Setting(what, share, Chances(keep, inside + 2 * others))


@dataclass(frozen=True)
class Composition(Shift):
    """A group's share among the auxiliary people with one decision: sample-prev-D2.

    Auxiliary people are drawn at each share. Group classifiers are not trained again: drawing by
    group changes their prior alone, by which scores are corrected. For logistic regression that is
    exact in large samples, for others as far as they are calibrated.

    Parameters
    ----------
    shares
        Its values, above 0 and below 1.

    References
    ----------
    Prentice, Pyke (1979), Logistic disease incidence models and case-control studies,
    doi:10.1093/biomet/66.3.403.
    """

    shares: tuple[float, ...] = (0.2, 0.5, 0.8)
    name: ClassVar[str] = "composition"
    meaning: ClassVar[str] = "a group's share among the auxiliary people with one decision"
    axis: ClassVar[str] = "share"

    def __post_init__(self) -> None:
        _check("shares", self.shares, 0.01, 0.99)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each share."""
        for decision, group, what in _varied_shares(auxiliary):
            for share in self.shares:
                mix = Mix(decision, group, share)
                yield Setting(what, share, _alike(held_out, MOST), mix=mix)


@dataclass(frozen=True)
class Size(Shift):
    """Fewer auxiliary people: sample-size-D2. Group classifiers are trained again on them.

    Parameters
    ----------
    fractions
        Shares of the auxiliary part that are kept, above 0 and at most 1.
    """

    fractions: tuple[float, ...] = (0.25, 0.5)
    name: ClassVar[str] = "size"
    meaning: ClassVar[str] = "fewer auxiliary people"
    axis: ClassVar[str] = "fraction kept"
    shifts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check("fractions", self.fractions, 0.01, 1.0)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each size."""
        for fraction in self.fractions:
            fewer = _alike(auxiliary, fraction)
            yield Setting("", fraction, _alike(held_out, MOST), fewer)


@dataclass(frozen=True)
class Covariate(Shift):
    """Covariate shift: people are drawn by a feature, so that P(group | features) stays.

    Parameters
    ----------
    feature
        A column of numbers or dates; by default the direction in which the encoded features vary
        most.
    strengths
        How much the log-odds of being drawn rise with each standard deviation (of normal scores).
    """

    feature: str | None = None
    strengths: tuple[float, ...] = (-2.0, -1.0, 1.0, 2.0)
    name: ClassVar[str] = "covariate"
    meaning: ClassVar[str] = "the features of all people, with P(group | features) as it was"
    axis: ClassVar[str] = "log-odds per SD"

    def __post_init__(self) -> None:
        _check("strengths", self.strengths, -50.0, 50.0)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each strength."""
        along = direction(auxiliary, held_out, self.feature)
        for strength in self.strengths:
            keep = MOST * _rising(strength * along)
            yield Setting(self.feature or "", strength, _independently(keep))


@dataclass(frozen=True)
class Drift(Shift):
    """The features of one group change and those of the others don't: prior shift fails.

    Parameters
    ----------
    feature
        A column of numbers or dates; by default the direction in which the encoded features vary
        most.
    strengths
        How much the log-odds of being drawn rise with each standard deviation (of normal scores).
    """

    feature: str | None = None
    strengths: tuple[float, ...] = (-1.0, 1.0)
    name: ClassVar[str] = "drift"
    meaning: ClassVar[str] = "the features of one group alone: intervals do not allow for it"
    axis: ClassVar[str] = "log-odds per SD"

    def __post_init__(self) -> None:
        _check("strengths", self.strengths, -50.0, 50.0)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each strength, of each group in turn; of two groups, of the second."""
        along = direction(auxiliary, held_out, self.feature)
        for group in _varied(held_out):
            for strength in self.strengths:
                in_group = held_out.codes == group
                keep = MOST * np.where(in_group, _rising(strength * along), 0.5)
                yield Setting(held_out.groups[group], strength, _independently(keep))


SHIFTS: dict[str, type[Shift]] = {
    kind.name: kind for kind in (NoShift, PriorShift, Composition, Size, Covariate, Drift)
}


def _check(name: str, values: tuple[float, ...], low: float, high: float) -> None:
    """Refuse strengths that can't be drawn; what is not finite is neither."""
    if not values or not all(low <= value <= high for value in values):
        raise InputError(f"{name} are numbers from {low:g} to {high:g}, not {values!r}")


def _varied(part: Auxiliary) -> range:
    """Number the groups that are varied in turn: one of two says it all."""
    return range(1, 2) if len(part.groups) == 2 else range(len(part.groups))


def _varied_shares(part: Auxiliary) -> Iterator[tuple[int, int, str]]:
    """Yield each decision and group whose share is varied, and what that is called."""
    for decision in (0, 1):
        name = cell_name(Cell(decision), part.favourable, None)
        for group in _varied(part):
            yield decision, group, f"{part.groups[group]} among {name}"


def at_share(weights: FloatArray, inside: BoolArray, others: BoolArray, share: float) -> FloatArray:
    """Return probabilities at which some people make up a given share of the weight.

    As many are drawn as possible: nobody, where one of the sides is. Who is on neither side is
    drawn for sure.

    Examples
    --------
    >>> women = np.array([True, False, False, False])
    >>> at_share(np.ones(4), women, ~women, 0.5).round(3).tolist()
    [1.0, 0.333, 0.333, 0.333]
    """
    sides = ((inside, share), (others, 1 - share))
    total = min(weights[who].sum() / wanted for who, wanted in sides if wanted > 0)
    keep = np.ones(len(weights))
    for who, wanted in sides:
        if who.any():
            keep[who] = wanted * total / weights[who].sum()
    return keep


def _alike(part: Auxiliary, probability: float) -> Chances:
    """Draw everybody with the same probability."""
    return _independently(np.full(len(part.codes), probability))


def _independently(keep: FloatArray) -> Chances:
    """Draw from one stratum: how many of a group are drawn is left to chance."""
    return Chances(keep, np.zeros(len(keep), dtype=np.int64))


def _rising(logits: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-logits)))
