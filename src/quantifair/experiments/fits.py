"""The group classifiers of a unit: each is fitted once, whoever needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
    """Group classifiers of the cells of many trials.

    Attributes
    ----------
    samples
        Distinct auxiliary samples: rows in random order.
    held
        The 40% of each that the classifiers of 60% have not seen.
    sample_of
        The sample of each trial and cell, shape ``(trials, cells)``; the third cell, where there
        is one, is both together.
    whole
        Classifiers fitted on whole samples.
    whole_of
        The one of ``whole`` for each sample: samples of the same rows share one.
    split
        Classifiers fitted on 60%, one for each sample.
    """

    samples: list[IntArray]
    held: list[IntArray]
    sample_of: IntArray
    whole: Classifiers
    whole_of: IntArray
    split: Classifiers


def fit_cells(
    part: Part,
    trials: Sequence[Trial],
    learner: Learner,
    *,
    pooled: bool,
    rng: np.random.Generator,
) -> Fits:
    """Fit what the trials need, each once.

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
    samples = [rng.permutation(rows) for rows in samples]
    keys = {rows: i for i, rows in enumerate(dict.fromkeys(map(_content, samples)))}
    whole_of = np.array([keys[_content(rows)] for rows in samples])
    first = np.unique(whole_of, return_index=True)[1]
    whole = learner.fit(part.features, part.group, [samples[i] for i in first])
    halves = [_split(rows, part.group) for rows in samples]
    train, near = [rows for rows, _ in halves], whole.select(whole_of)
    split = learner.fit(part.features, part.group, train, near=near)
    held = [rest for _, rest in halves]
    return Fits(samples, held, sample_of, whole, whole_of, split)


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
