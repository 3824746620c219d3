"""Sketches: the small tables of counts that an audit is a function of.

A sketch holds how many people of one cell have which score P(group | features). Scores are
rounded to a fixed grid and everything is summed in integers, so that sketches merge with ``+``
to the same bytes in any order and any partition. It names nobody, but a fine histogram can
isolate people: treat a sketch as confidentially as the table it came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quantifair.errors import InputError, SketchMismatchError
from quantifair.scores import as_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

NESTED_BINS = 277_200
"""Bins on [0, 1] that nest inside each of HDy's histograms of 10, 20, ..., 110 equal bins."""

_MAX_GRID_CELLS = 2**18
_LARGEST_SUM = 2**62
_WEIGHT_RANGE = (2.0**-10, 2.0**16)


class Points(NamedTuple):
    """Weighted score vectors: what every quantifier reads, from rows or from a sketch.

    Attributes
    ----------
    scores
        Score vectors, shape ``(..., points, groups)``; each sums to one.
    weights
        People at each point, shape ``(..., points)``. Leading axes are replicates.
    bins
        The nested bin of each point's second score where a sketch of two groups knows it.
    marginals
        For three and more groups in a sketch, ``(bins, weights)`` of each group's own
        histogram, which is finer than the points; otherwise ``None``.
    width
        Width of the bin that each point stands for; 0 for rows.
    unit
        Independent people that a weight of one stands for; see ``kish``.
    """

    scores: FloatArray
    weights: FloatArray
    bins: IntArray | None = None
    marginals: tuple[tuple[IntArray, FloatArray], ...] | None = None
    width: float = 0.0
    unit: float | FloatArray = 1.0

    @property
    def people(self) -> FloatArray:
        """Effective number of people, shape ``(...)``."""
        return np.asarray(self.unit * self.weights.sum(axis=-1))

    @property
    def hard(self) -> IntArray:
        """The most probable group of each point; a tie goes to the first."""
        return np.asarray(np.argmax(self.scores, axis=-1))


def nested_bins(scores: FloatArray) -> IntArray:
    """Number the bin ``(i/277200, (i+1)/277200]`` that holds each score; 0 lies in the first.

    Closed on the right, so that "more probable than not" is a set of whole bins.
    """
    grid = np.rint(scores * 2.0**40).astype(np.int64)
    return _bins_of(grid, 40)


def _bins_of(grid: IntArray, bits: int) -> IntArray:
    return np.asarray(np.maximum((grid * NESTED_BINS - 1) >> bits, 0))


def joint_resolution(groups: int) -> int:
    """Cells per axis of the grid for three or more groups, of which scores meet fewer than 2^20."""
    cells = 2
    while cells < 512 and comb(2 * cells + groups - 1, groups - 1) <= _MAX_GRID_CELLS:
        cells *= 2
    return cells


@dataclass(frozen=True, eq=False)
class Table:
    """Sums by key, sparse and sorted: the part of a sketch that adds up.

    Attributes
    ----------
    keys
        Sorted, distinct bin numbers.
    sums
        Integers, one row a key: the weight, then whatever else is summed.
    """

    keys: IntArray
    sums: IntArray

    @classmethod
    def of(cls, keys: IntArray, values: IntArray) -> Table:
        """Sum the rows of ``values`` that share a key."""
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else keys
        sums = np.add.reduceat(values, starts, axis=0) if len(keys) else values
        return cls(keys[starts], sums)

    def __add__(self, other: Table) -> Table:
        return Table.of(np.r_[self.keys, other.keys], np.r_[self.sums, other.sums])


@dataclass(frozen=True, eq=False)
class Sketch:
    """How many people of one cell have which score: exact, addable, free of names.

    Build one with ``from_scores``; merge with ``+``.

    Attributes
    ----------
    groups
        Number of groups.
    fingerprint
        Identity of the scoring function; sketches of different ones refuse to merge.
    weighted
        Whether rows carry weights other than one.
    rows
        Number of rows.
    squares
        Sum of squared weights, in the unit of the weights.
    joint
        For two groups: by nested bin of the second group's score, the weight and the sum of
        scores above the bin's lower edge. For more: by hard decision and cell of a grid over
        the score vectors, the same with a sum for each group.
    marginals
        For three and more groups, each group's histogram over the nested bins.

    Examples
    --------
    >>> a = Sketch.from_scores([[0.9, 0.1], [0.4, 0.6]])
    >>> b = Sketch.from_scores([[0.2, 0.8]])
    >>> (a + b).rows
    3
    >>> (a + b).to_bytes() == (b + a).to_bytes()
    True
    """

    groups: int
    fingerprint: str
    weighted: bool
    rows: int
    squares: int
    joint: Table
    marginals: tuple[Table, ...] = ()

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        fingerprint: str = "",
    ) -> Sketch:
        """Count score vectors.

        Parameters
        ----------
        scores
            Score vectors of shape ``(rows, groups)``, or for two groups the second one's
            probabilities alone.
        weights
            Weights between 0.001 and 65,536, kept to 2^-20; rows of weight zero are left out.
        fingerprint
            Identity of the scoring function.
        """
        matrix = as_scores(scores)
        if weights is not None:
            matrix, weight = _usable_weights(matrix, np.asarray(weights, dtype=np.float64))
            units = weight_units(weight)
        else:
            units = np.ones(len(matrix), dtype=np.int64)
        joint, marginals = _count(matrix, units, weighted=weights is not None)
        identity = (matrix.shape[1], fingerprint, weights is not None)
        return cls(*identity, len(matrix), _sum_of_squares(units), joint, marginals)

    def __add__(self, other: Sketch) -> Sketch:
        mine = (self.groups, self.fingerprint, self.weighted)
        theirs = (other.groups, other.fingerprint, other.weighted)
        if mine != theirs:
            raise SketchMismatchError(
                "these sketches do not add up: (groups, scoring function, weighted) is "
                f"{mine} in one and {theirs} in the other. Sketch both tables with the same "
                "fitted audit"
            )
        joint = self.joint + other.joint
        if joint.sums.size and joint.sums.max() > _LARGEST_SUM:
            raise InputError("the sum of weights is too large; divide the weights by their mean")
        marginals = tuple(a + b for a, b in zip(self.marginals, other.marginals, strict=True))
        rows, squares = self.rows + other.rows, self.squares + other.squares
        return Sketch(*mine, rows, squares, joint, marginals)

    def __radd__(self, other: int) -> Sketch:
        """Let ``sum(sketches)`` work."""
        return self if other == 0 else NotImplemented

    @property
    def weight(self) -> float:
        """Total weight: the number of people that the sketch stands for."""
        return float(self._weights(self.joint).sum())

    @property
    def effective_rows(self) -> float:
        """Kish's effective sample size, (sum of weights)^2 / sum of squared weights."""
        if not self.rows:
            return 0.0
        return int(self.joint.sums[:, 0].sum()) ** 2 / self.squares

    @property
    def points(self) -> Points:
        """The occupied bins as weighted score vectors, each at its bin's mean score."""
        weights = self._weights(self.joint)
        if self.groups == 2:
            second = self._means(self.joint, _edges(self.joint.keys, self._bits))[:, 0]
            scores = np.column_stack([1 - second, second])
            bins, width = self.joint.keys, 1 / NESTED_BINS
            return Points(scores, weights, bins=bins, width=width, unit=self._unit)
        resolution = joint_resolution(self.groups)
        _, cells = unpack_cells(self.joint.keys, self.groups)
        scores = self._means(self.joint, cells * (2**self._bits // resolution))
        own = tuple((t.keys, self._weights(t)) for t in self.marginals)
        width = 1 / resolution
        return Points(scores, weights, marginals=own, width=width, unit=self._unit)

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes; equal sketches give equal bytes."""
        known = (self.groups, self.fingerprint, self.weighted, self.rows, self.squares)
        head = "|".join(str(k) for k in (*known, "")).encode()
        tables = (self.joint, *self.marginals)
        return head + b"".join(
            np.int64(len(t.keys)).tobytes() + t.keys.tobytes() + t.sums.tobytes() for t in tables
        )

    @property
    def _unit(self) -> float:
        return self.effective_rows / self.weight if self.weighted and self.rows else 1.0

    @property
    def _bits(self) -> int:
        return score_bits(self.groups, weighted=self.weighted)

    def _weights(self, table: Table) -> FloatArray:
        return table.sums[:, 0] / (2.0**20 if self.weighted else 1.0)

    def _means(self, table: Table, edges: IntArray) -> FloatArray:
        offsets = table.sums[:, 1:] / table.sums[:, :1]
        edges = edges.reshape(offsets.shape)
        return np.asarray((edges + offsets) / 2.0**self._bits, dtype=np.float64)


def weight_units(weights: FloatArray) -> IntArray:
    """Return weights as whole numbers of 2^-20, which add up to the same in any order."""
    return np.rint(weights * 2.0**20).astype(np.int64)


def score_bits(groups: int, *, weighted: bool) -> int:
    """Bits of the grid that scores are rounded to, so that sums of 64 bits can't overflow."""
    if groups == 2:
        return 30 if weighted else 40
    return 20 if weighted else 36


def kish(weights: FloatArray) -> FloatArray:
    """Independent people that a weight of one stands for, by Kish's effective sample size.

    Of weights ``(..., people)``; one where nobody has any.
    """
    squares, total = (weights**2).sum(axis=-1), weights.sum(axis=-1)
    return np.asarray(np.divide(total, squares, out=np.ones_like(total), where=squares > 0))


def merge(sketches: Iterable[Sketch]) -> Sketch:
    """Add sketches up, in any order to the same bytes."""
    total, *rest = sketches
    for sketch in rest:
        total = total + sketch
    return total


def unpack_cells(keys: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """Return the hard decision and the grid cell on each group's axis of the keys."""
    resolution = joint_resolution(groups)
    cells = np.empty((len(keys), groups), dtype=np.int64)
    rest = keys
    for k in range(groups):
        cells[:, k] = rest % resolution
        rest = rest // resolution
    return rest, cells


def _count(
    scores: FloatArray, units: IntArray, *, weighted: bool
) -> tuple[Table, tuple[Table, ...]]:
    groups = scores.shape[1]
    bits = score_bits(groups, weighted=weighted)
    widest = 2.0**bits / (NESTED_BINS if groups == 2 else joint_resolution(groups))
    if float(units.sum()) * widest > _LARGEST_SUM:
        raise InputError("the sum of weights is too large; divide the weights by their mean")
    grid = np.rint((scores[:, 1:] if groups == 2 else scores) * 2.0**bits).astype(np.int64)
    if groups == 2:
        bins = _bins_of(grid[:, 0], bits)
        offsets = (grid[:, 0] - _edges(bins, bits))[:, None]
        return Table.of(bins, _columns(units, offsets)), ()
    resolution = joint_resolution(groups)
    step = 2**bits // resolution
    cells = np.minimum(grid // step, resolution - 1)
    keys = np.argmax(scores, axis=1).astype(np.int64)
    for k in reversed(range(groups)):
        keys = keys * resolution + cells[:, k]
    joint = Table.of(keys, _columns(units, grid - cells * step))
    own = tuple(Table.of(_bins_of(grid[:, k], bits), units[:, None]) for k in range(groups))
    return joint, own


def _columns(units: IntArray, offsets: IntArray) -> IntArray:
    return np.column_stack([units, offsets * units[:, None]])


def _sum_of_squares(units: IntArray) -> int:
    """Exact, in two halves, as the square of the largest weight does not fit 64 bits."""
    high, low = units >> 18, units & (2**18 - 1)
    return (int(high @ high) << 36) + (int(high @ low) << 19) + int(low @ low)


def _edges(bins: IntArray, bits: int) -> IntArray:
    """Grid points at, or just above, the lower edges of the nested bins."""
    return -(-(bins << bits) // NESTED_BINS)


def _usable_weights(scores: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, high = _WEIGHT_RANGE
    if weights.shape != (len(scores),):
        raise InputError(f"{len(scores):,} rows need as many weights, not {weights.shape}")
    used = weights != 0
    wrong = ~((weights >= low) & (weights <= high)) & used
    if wrong.any():
        raise InputError(
            f"{int(wrong.sum()):,} of {len(weights):,} weights are not numbers between "
            f"{low:.3f} and {high:,.0f}; divide the weights by their mean"
        )
    return scores[used], weights[used]
