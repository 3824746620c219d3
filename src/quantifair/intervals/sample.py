"""Auxiliary people of one cell, scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quantifair.quantifiers.base import Labelled
from quantifair.sketch import Points, kish

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Auxiliary people of one cell: their scores, and the group that is known of them.

    Attributes
    ----------
    scores
        Score vectors, shape ``(people, groups)``.
    codes
        Group of each, as the number of the score's column.
    weights
        Weight of each.
    clusters
        Person of each row where people repeat, else ``None``; clusters are drawn whole.
    """

    scores: FloatArray
    codes: IntArray
    weights: FloatArray
    clusters: IntArray | None = None

    @property
    def labelled(self) -> Labelled:
        """The sample as a quantifier reads it."""
        groups = np.arange(self.scores.shape[1])[:, None]
        counts = np.where(self.codes == groups, self.weights, 0.0)
        return Labelled(Points(self.scores, self.weights, unit=kish(self.weights)), counts)
