"""Shifts to replay: each says with what probability people are drawn into either table.

People are drawn without replacement, so that a drawn deployment is a sample from people of whom the
drawn auxiliary table knows nothing, as in an audit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from quantifair.errors import InputError
from quantifair.stress.directions import direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quantifair.auxiliary import Auxiliary

    FloatArray = NDArray[np.float64]

MOST = 0.8
"""Share of the held-out people who are drawn at most, so that draws differ."""


class Setting(NamedTuple):
    """One strength of a shift.

    Attributes
    ----------
    what
        What is varied; empty where it goes without saying.
    strength
        Its value.
    deployment
        Probability that each held-out row is drawn into the deployment.
    auxiliary
        Probability that each row of the auxiliary part is drawn; ``None`` keeps them all.
    """

    what: str
    strength: float
    deployment: FloatArray
    auxiliary: FloatArray | None = None


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
        yield Setting("", 0.0, _everybody(held_out))


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
        for what, inside, others in _memberships(held_out):
            for share in self.shares:
                total = MOST * _attainable(held_out, inside, others, share)
                yield Setting(what, share, _at_share(held_out, inside, others, share, total))


@dataclass(frozen=True)
class Composition(Shift):
    """A group's share among the auxiliary people with one decision: sample-prev-D2.

    Group classifiers are trained again on auxiliary people drawn at each share, of whom there are
    as many at each.

    Parameters
    ----------
    shares
        Its values, between 0 and 1.
    """

    shares: tuple[float, ...] = (0.2, 0.5, 0.8)
    name: ClassVar[str] = "composition"
    meaning: ClassVar[str] = "a group's share among the auxiliary people with one decision"
    axis: ClassVar[str] = "share"

    def __post_init__(self) -> None:
        _check("shares", self.shares, 1e-6, 1 - 1e-6)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each share."""
        for what, inside, others in _memberships(auxiliary):
            total = min(_attainable(auxiliary, inside, others, s) for s in self.shares)
            for share in self.shares:
                keep = _at_share(auxiliary, inside, others, share, total, rest=1.0)
                yield Setting(what, share, _everybody(held_out), keep)


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
        _check("fractions", self.fractions, 1e-6, 1.0)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each size."""
        for fraction in self.fractions:
            keep = np.full(len(auxiliary.codes), fraction)
            yield Setting("", fraction, _everybody(held_out), keep)


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
    axis: ClassVar[str] = "log-odds per standard deviation"

    def __post_init__(self) -> None:
        _check("strengths", self.strengths, -50.0, 50.0)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each strength."""
        along = direction(auxiliary, held_out, self.feature)
        for strength in self.strengths:
            yield Setting(self.feature or "", strength, MOST * _rising(strength * along))


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
    axis: ClassVar[str] = "log-odds per standard deviation"

    def __post_init__(self) -> None:
        _check("strengths", self.strengths, -50.0, 50.0)

    def settings(self, auxiliary: Auxiliary, held_out: Auxiliary) -> Iterator[Setting]:
        """Yield each strength, of each group in turn; of two groups, of the second."""
        along = direction(auxiliary, held_out, self.feature)
        for group in _varied(held_out):
            for strength in self.strengths:
                in_group = held_out.codes == group
                keep = MOST * np.where(in_group, _rising(strength * along), 0.5)
                yield Setting(held_out.groups[group], strength, keep)


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


def _memberships(
    part: Auxiliary,
) -> Iterator[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield each cell's members of each varied group, and the cell's others."""
    if part.favourable is None or part.decision is None:
        return
    for decision in (0, 1):
        cell = part.decision == decision
        for group in _varied(part):
            inside = cell & (part.codes == group)
            what = f"{part.groups[group]} among {part.favourable.name(decision)}"
            yield what, inside, cell & ~inside


def _attainable(
    part: Auxiliary, inside: NDArray[np.bool_], others: NDArray[np.bool_], share: float
) -> float:
    """Return the greatest weight of people of whom some are a given share."""
    sides = ((part.weights[inside].sum(), share), (part.weights[others].sum(), 1 - share))
    return float(min(weight / wanted for weight, wanted in sides if wanted > 0))


def _at_share(
    part: Auxiliary,
    inside: NDArray[np.bool_],
    others: NDArray[np.bool_],
    share: float,
    total: float,
    rest: float = MOST,
) -> FloatArray:
    """Return probabilities that make some people's share of the weight a given one."""
    keep = np.full(len(part.codes), rest)
    keep[inside] = share * total / part.weights[inside].sum()
    keep[others] = (1 - share) * total / part.weights[others].sum()
    return np.minimum(keep, 1.0)


def _everybody(part: Auxiliary) -> FloatArray:
    return np.full(len(part.codes), MOST)


def _rising(logits: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-logits)))
