"""The group classifiers of a unit: each is fitted once, whoever needs it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quantifair.experiments.choice import cross_fit
from quantifair.experiments.folds import CrossFitted, Folds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.learners import Classifiers, Learner
    from quantifair.experiments.parts import Part
    from quantifair.experiments.protocols import Trial

    IntArray = NDArray[np.int64]

_TRAINED_ON = 0.6


@dataclass(frozen=True, eq=False)
class Fits:
    """Group classifiers of the cells of many trials, fitted when they are asked for.

    Attributes
    ----------
    part
        The auxiliary part.
    learner
        Of the group classifiers.
    samples
        Distinct auxiliary samples: rows in random order.
    sample_of
        The sample of each trial and cell, shape ``(trials, cells)``; the third cell, where there
        is one, is both together.
    """

    part: Part
    learner: Learner
    samples: list[IntArray]
    sample_of: IntArray

    @cached_property
    def people_of(self) -> IntArray:
        """For each sample, which of ``people`` are its rows: samples of the same share them."""
        keys = {rows: i for i, rows in enumerate(dict.fromkeys(map(_content, self.samples)))}
        return np.array([keys[_content(rows)] for rows in self.samples])

    @cached_property
    def people(self) -> list[IntArray]:
        """The samples that are not of the same rows as an earlier one."""
        first = np.unique(self.people_of, return_index=True)[1]
        return [self.samples[i] for i in first]

    @cached_property
    def whole(self) -> Classifiers:
        """Classifiers fitted on all rows, one for each of ``people``."""
        return self.learner.fit(self.part.features, self.part.group, self.people)

    @cached_property
    def split(self) -> Classifiers:
        """Classifiers fitted on 60%, one for each sample."""
        train = [rows for rows, _ in self._halves]
        near = self.whole.select(self.people_of)
        return self.learner.fit(self.part.features, self.part.group, train, near=near)

    @cached_property
    def held(self) -> list[IntArray]:
        """The 40% of each sample that the classifiers of 60% have not seen."""
        return [rest for _, rest in self._halves]

    @cached_property
    def crossed(self) -> CrossFitted:
        """Scores by classifiers fitted without a fold, five for each of ``people``."""
        features, groups = self.part.features, self.part.group
        folds = Folds.deal(self.people, groups)
        fitted = cross_fit(self.learner, features, groups, folds)
        return CrossFitted.of(fitted, folds, features, groups)

    @cached_property
    def _halves(self) -> list[tuple[IntArray, IntArray]]:
        return [_split(rows, self.part.group) for rows in self.samples]


def fit_cells(
    part: Part,
    trials: Sequence[Trial],
    learner: Learner,
    *,
    pooled: bool,
    rng: np.random.Generator,
) -> Fits:
    """Find the distinct samples of the trials, on each of which a classifier is fitted once.

    Parameters
    ----------
    part
        The auxiliary part.
    trials
        Trials whose cells hold five or more of each group.
    learner
        Of the group classifiers.
    pooled
        Whether classifiers of both cells together are wanted as well.
    rng
        Orders the samples and so splits them.
    """
    samples, sample_of = _distinct_samples(trials, pooled=pooled)
    return Fits(part, learner, [rng.permutation(rows) for rows in samples], sample_of)


def _content(rows: IntArray) -> bytes:
    return np.sort(rows).tobytes()


def _distinct_samples(trials: Sequence[Trial], *, pooled: bool) -> tuple[list[IntArray], IntArray]:
    """Number the arrays of the trials; the same array is the same sample."""
    numbers: dict[tuple[int, ...], int] = {}
    samples: list[IntArray] = []
    sample_of = np.empty((len(trials), 2 + pooled), dtype=np.int64)
    for t, trial in enumerate(trials):
        for cell, arrays in enumerate([(a,) for a in trial.auxiliary] + [trial.auxiliary] * pooled):
            key = tuple(map(id, arrays))
            if key not in numbers:
                numbers[key] = len(samples)
                samples.append(np.concatenate(arrays))
            sample_of[t, cell] = numbers[key]
    return samples, sample_of


def _split(rows: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Split a sample 60/40, alike in group; each group is in both."""
    train = np.zeros(len(rows), dtype=bool)
    for group in (0, 1):
        members = np.flatnonzero(groups[rows] == group)
        train[members[: max(1, round(_TRAINED_ON * len(members)))]] = True
    return rows[train], rows[~train]
