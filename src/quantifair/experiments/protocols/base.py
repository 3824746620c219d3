"""What a protocol is: how the three parts are sampled, over and over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.parts import Part

    IntArray = NDArray[np.int64]

SIZE = 500
"""People in a sample that is drawn to shift a distribution."""

SUBS = ("rejected", "accepted")
"""Sub-protocols that act on the people with one decision; their places are the decisions."""


class Training(NamedTuple):
    """What the audited classifier is trained on.

    Attributes
    ----------
    rows, labels
        Rows of the training part, and their labels, perhaps not the true ones.
    value, repeat
        The swept value and the number of the repetition, where the protocol sweeps here.
    """

    rows: IntArray
    labels: IntArray
    value: float = float("nan")
    repeat: int = 0


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of the auxiliary and the deployment part by the audited classifier's decision.

    Attributes
    ----------
    auxiliary, deployment
        The parts.
    auxiliary_rows, deployment_rows
        Their rows with an unfavourable and with a favourable decision.
    """

    auxiliary: Part
    deployment: Part
    auxiliary_rows: tuple[IntArray, IntArray]
    deployment_rows: tuple[IntArray, IntArray]


class Trial(NamedTuple):
    """One estimation: people by decision, in the auxiliary table and in the deployment.

    Attributes
    ----------
    sub
        Sub-protocol, or empty.
    value, repeat
        The swept value, and the number of the repetition.
    auxiliary, deployment
        Rows with an unfavourable and with a favourable decision; some may repeat. Trials that
        hold the same array share what is fitted on it.
    natural
        Prevalence of the group 1 in the part that is not sampled, where the sub-protocol acts.
    """

    sub: str
    value: float
    repeat: int
    auxiliary: tuple[IntArray, IntArray]
    deployment: tuple[IntArray, IntArray]
    natural: float = float("nan")


class Protocol(ABC):
    """A way to sample the three parts: subclass it, and write what differs.

    Protocols know nothing of methods, learners or audited classifiers.

    Attributes
    ----------
    name
        What tables call it.
    """

    name: ClassVar[str]

    def trainings(
        self, part: Part, *, repeats: int, rng: np.random.Generator
    ) -> Sequence[Training]:
        """Return what audited classifiers are trained on; by default the whole training part."""
        del repeats, rng
        return [Training(np.arange(len(part)), part.label)]

    @abstractmethod
    def trials(
        self, training: Training, cells: Cells, *, repeats: int, rng: np.random.Generator
    ) -> Iterator[Trial]:
        """Yield the trials with one audited classifier."""


def sample(pool: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw rows without replacement, or with it where the pool is too small; of nobody, nobody."""
    if not len(pool):
        return pool
    return rng.choice(pool, size, replace=size > len(pool))


def sample_at(
    rows: IntArray, group: IntArray, prevalence: float, rng: np.random.Generator
) -> IntArray:
    """Draw ``SIZE`` rows of which the group 1 makes up a given share; nobody, where it can't.

    Parameters
    ----------
    rows
        Where to draw from.
    group
        Group of each row of the part.
    prevalence
        The share.
    rng
        Source of randomness.
    """
    ones = round(prevalence * SIZE)
    inside = group[rows] == 1
    drawn = (sample(rows[~inside], SIZE - ones, rng), sample(rows[inside], ones, rng))
    if sum(map(len, drawn)) < SIZE:
        return rows[:0]
    return rng.permutation(np.concatenate(drawn))


def share(part: Part, rows: IntArray) -> float:
    """Return the prevalence of the group 1 among some rows; of nobody, NaN."""
    return float(part.group[rows].mean()) if len(rows) else float("nan")
