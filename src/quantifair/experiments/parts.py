"""Training, auxiliary and deployment parts: a data set split in three, in every role."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.datasets import Dataset

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

PARTITIONS = 5
ROLES = tuple("".join(roles) for roles in permutations("ABC"))


@dataclass(frozen=True, eq=False)
class Part:
    """A third of a data set.

    Attributes
    ----------
    features
        X, shape ``(rows, features)``.
    group, label
        S and Y of each row.
    """

    features: FloatArray
    group: IntArray
    label: IntArray

    def __len__(self) -> int:
        return len(self.group)


class Parts(NamedTuple):
    """The three parts by their role: D1, D2 and D3 in the paper."""

    training: Part
    auxiliary: Part
    deployment: Part


def thirds(data: Dataset, partition: int) -> list[IntArray]:
    """Split the rows at random in three, alike in group and label.

    The same rows as in the reference implementation: scikit-learn's stratified split, with the
    partition's number as the seed of both cuts.

    Parameters
    ----------
    data
        The data set.
    partition
        0 to 4 in the paper.
    """
    from sklearn.model_selection import train_test_split

    joint = data.label + 2 * data.group
    everybody = np.arange(len(joint))
    first, rest = train_test_split(
        everybody, train_size=1 / 3, stratify=joint, random_state=partition
    )
    second, third = train_test_split(
        rest, train_size=1 / 2, stratify=joint[rest], random_state=partition
    )
    return [first, second, third]


def parts_of(data: Dataset, partition: int, roles: str, *, clean: bool = False) -> Parts:
    """Return the thirds in their roles.

    Parameters
    ----------
    data
        The data set.
    partition
        Number of the partition.
    roles
        Which third is which: ``"BAC"`` trains on the second and deploys on the third.
    clean
        Whether to standardise on the training part.
    """
    by_letter = dict(zip("ABC", thirds(data, partition), strict=True))
    chosen = [by_letter[letter] for letter in roles]
    if clean:
        data = data.standardised(rows=chosen[0])
    return Parts(*(Part(data.features[r], data.group[r], data.label[r]) for r in chosen))
