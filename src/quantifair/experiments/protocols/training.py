"""Protocols that distort what the audited classifier is trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.experiments.protocols.base import (
    SIZE,
    Cells,
    Protocol,
    Training,
    Trial,
    sample_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.parts import Part

    IntArray = NDArray[np.int64]

_VALUES = tuple(k / 10 for k in range(11))


class _Distorted(Protocol):
    """Audit a classifier trained on 500 people, with all others as they are."""

    def trials(
        self, training: Training, cells: Cells, *, repeats: int, rng: np.random.Generator
    ) -> Iterator[Trial]:
        """Yield the one trial of a training."""
        del repeats, rng
        rows = cells.auxiliary_rows, cells.deployment_rows
        yield Trial("", training.value, training.repeat, *rows)


class SamplePrevD1(_Distorted):
    """sample-prev-D1: people are sampled so that Y = S for a given share of them."""

    name = "sample-prev-D1"

    def trainings(
        self, part: Part, *, repeats: int, rng: np.random.Generator
    ) -> Sequence[Training]:
        """Sample at eleven shares from 0 to 1."""
        same, everybody = (part.label == part.group).astype(np.int64), np.arange(len(part))
        found = []
        for value in _VALUES:
            for repeat in range(repeats):
                rows = sample_at(everybody, same, value, rng)
                found.append(Training(rows, part.label[rows], value, repeat))
        return found


class FlipPrevD1(_Distorted):
    """flip-prev-D1: labels are flipped until Y = S for a given share of each group."""

    name = "flip-prev-D1"

    def trainings(
        self, part: Part, *, repeats: int, rng: np.random.Generator
    ) -> Sequence[Training]:
        """Flip at eleven shares from 0 to 1."""
        found = []
        for value in _VALUES:
            for repeat in range(repeats):
                rows = rng.permutation(len(part))[:SIZE]
                labels = flip(part.label[rows], part.group[rows], value)
                found.append(Training(rows, labels, value, repeat))
        return found


def flip(labels: IntArray, groups: IntArray, share: float) -> IntArray:
    """Flip the first labels of each group until its share with Y = S is the wanted one.

    Examples
    --------
    >>> flip(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]), 1.0).tolist()
    [0, 0, 1, 1]
    """
    flipped = labels.copy()
    for group in (0, 1):
        members = np.flatnonzero(groups == group)
        same = members[labels[members] == group]
        other = members[labels[members] != group]
        excess = len(same) - round(share * len(members))
        flipped[same[: max(excess, 0)]] = 1 - group
        flipped[other[: max(-excess, 0)]] = group
    return flipped
