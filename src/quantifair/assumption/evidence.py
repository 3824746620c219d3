"""What is summed of a cell's people, so that prior shift can be tested there.

Whole numbers that are a fixed function of a row: the features, encoded, and the bins that its
scores lie in. Their sums add up in any order, and each is linear in the people: scores are counted
classifier by classifier, as the bin of a mean of scores is not the mean of their bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quantifair.intervals import Moments
from quantifair.sketch import weight_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from quantifair.intervals import Sample

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_BINS, _FEWEST_BINS = 10, 3


@dataclass(frozen=True, eq=False)
class Evidence:
    """The auxiliary people of a cell, and how others are summed.

    Attributes
    ----------
    edges
        Edges of the bins, for each group's score but the first's.
    encoded
        The auxiliary people's encoded features, shape ``(people, columns)``.
    in_sample
        Whether scores are of people whom the classifier was fitted on, and so not as others'.
    """

    edges: tuple[FloatArray, ...]
    encoded: FloatArray
    in_sample: bool = False

    @classmethod
    def of(cls, sample: Sample, encoded: NDArray[np.int8], *, in_sample: bool) -> Evidence:
        """Choose bins that hold as many auxiliary people each, as far as ties allow."""
        bins = max(_FEWEST_BINS, _BINS // (sample.scores.shape[1] - 1))
        inner = np.arange(1, bins) / bins
        edges = tuple(np.unique(np.quantile(s, inner, method="lower")) for s in sample.scores.T[1:])
        return cls(edges, encoded.T.astype(np.float64), in_sample)

    @property
    def columns(self) -> int:
        """How many numbers are summed."""
        return 1 + int(self.encoded.shape[1]) + sum(len(e) + 1 for e in self.edges)

    def places(self, scores: FloatArray) -> IntArray:
        """Return the bins of score vectors, numbered over all groups, ``(groups - 1, rows)``."""
        found, start = [], 0
        for edges, own in zip(self.edges, scores.T[1:], strict=True):
            found.append(start + np.searchsorted(edges, own))
            start += len(edges) + 1
        return np.stack(found)

    def sums(
        self, encoded: NDArray[np.int8], places: Iterable[IntArray], weights: FloatArray | None
    ) -> IntArray:
        """Sum people: their weight, their encoded features, their scores' bins.

        Parameters
        ----------
        encoded
            Shape ``(columns, rows)``.
        places
            Bins by each classifier, ``(groups - 1, rows)``.
        weights
            Of each row; ``None`` counts rows.
        """
        units = None if weights is None else weight_units(weights)
        counted = np.zeros(sum(len(e) + 1 for e in self.edges), dtype=np.int64)
        for own in (row for by_group in places for row in by_group):
            if units is None:
                counted += np.bincount(own, minlength=len(counted))
            else:
                np.add.at(counted, own, units)
        if units is None:
            total, summed = encoded.shape[1], encoded.sum(axis=1, dtype=np.int64)
        else:
            total, summed = (
                int(units.sum()),
                np.array([c.astype(np.int64) @ units for c in encoded]),
            )
        return np.concatenate([[total], summed, counted]).astype(np.int64)

    def moments_of_features(self, sample: Sample, sums: IntArray, people: float) -> Moments:
        """Take the moments of the encoded features."""
        mean = sums[1 : 1 + self.encoded.shape[1]] / sums[0]
        return Moments.of_columns(self.encoded, sample, mean, people)

    def moments_of_bins(self, sample: Sample, sums: IntArray, people: float) -> Moments:
        """Take the moments of the scores' bins, of each group's scores but for the first bin."""
        counted, places = sums[1 + self.encoded.shape[1] :], self.places(sample.scores)
        columns, means, start = [], [], 0
        for edges, own in zip(self.edges, places, strict=True):
            bins = np.arange(start + 1, start + len(edges) + 1)
            columns.append(own[:, None] == bins)
            means.append(counted[bins] / counted[start : bins[-1] + 1].sum())
            start = int(bins[-1]) + 1
        mean = np.concatenate(means)
        return Moments.of_columns(np.concatenate(columns, 1).astype(float), sample, mean, people)
