"""Cross-fitting: classifiers that have not seen the people whom they score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quantifair.calibration import Calibration, fit_calibration
from quantifair.diagnostics import BROKEN_SLOPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.learners import Classifiers

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Folds:
    """Samples whose people are dealt to five folds; classifier ``5 s + k`` is without one fold.

    Attributes
    ----------
    samples
        Rows of each sample.
    fold
        Fold of each row.
    """

    samples: Sequence[IntArray]
    fold: list[IntArray]

    @classmethod
    def deal(cls, samples: Sequence[IntArray], groups: IntArray) -> Self:
        """Deal out each group's people in the order of the sample, which is random.

        A row that occurs twice is one person, who is in one fold.
        """
        return cls(samples, [_dealt(rows, groups) for rows in samples])

    @property
    def trainings(self) -> list[IntArray]:
        """The rows of each sample without each fold."""
        return [
            rows[fold != k]
            for rows, fold in zip(self.samples, self.fold, strict=True)
            for k in range(FOLDS)
        ]

    def select(self, samples: IntArray) -> Folds:
        """Return some of the samples as they are dealt."""
        chosen = samples.tolist()
        return Folds([self.samples[s] for s in chosen], [self.fold[s] for s in chosen])

    def scores(self, classifiers: Classifiers, features: FloatArray, sample: int) -> FloatArray:
        """Return P(S=1 | x) of the people of a sample, each by who has not seen them."""
        rows, fold = self.samples[sample], self.fold[sample]
        found = np.empty(len(rows))
        for k in range(FOLDS):
            held = fold == k
            model = np.array([FOLDS * sample + k])
            found[held] = classifiers.scores(features[rows[held]], model)[0]
        return found


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Scores as ``Audit`` makes them by default: cross-fitted, and calibrated.

    Attributes
    ----------
    classifiers
        Five for each sample.
    known
        Calibrated scores of each sample's people, by who has not seen them.
    calibration
        Of each sample.
    broken
        Where the classifier is so overfitted that calibration was given up.
    """

    classifiers: Classifiers
    known: list[FloatArray]
    calibration: Calibration
    broken: BoolArray

    @classmethod
    def of(
        cls, classifiers: Classifiers, folds: Folds, features: FloatArray, groups: IntArray
    ) -> Self:
        """Calibrate each sample's classifiers on its people."""
        every = range(len(folds.samples))
        raw = [two_sided(folds.scores(classifiers, features, sample)) for sample in every]
        fitted = [
            fit_calibration(scores, counted(groups[rows]))
            for scores, rows in zip(raw, folds.samples, strict=True)
        ]
        slope = np.array([c.slope for c in fitted])
        broken = slope < BROKEN_SLOPE
        bias = np.where(broken[:, None], 0.0, [c.bias for c in fitted])
        calibration = Calibration(np.where(broken, 1.0, slope), bias)
        known = [_sample(calibration, s)(raw[s])[:, 1] for s in every]
        return cls(classifiers, known, calibration, broken)

    def scores(self, features: FloatArray, samples: IntArray) -> FloatArray:
        """Return the means of the calibrated scores, shape ``(samples, rows)``."""
        models = FOLDS * samples[:, None] + np.arange(FOLDS)
        raw = self.classifiers.scores(features, models.ravel())
        shaped = two_sided(raw.reshape(*models.shape, -1))
        return np.asarray(_sample(self.calibration, samples[:, None])(shaped)[..., 1].mean(axis=1))


def _sample(calibration: Calibration, at: Any) -> Calibration:
    return Calibration(calibration.slope[at], calibration.bias[at])


def counted(groups: IntArray) -> FloatArray:
    """Return one at the group of each person, shape ``(groups, people)``."""
    return np.stack([groups == g for g in (0, 1)]).astype(np.float64)


def two_sided(second: FloatArray) -> FloatArray:
    """Return the scores of both groups from those of the second."""
    return np.stack([1 - second, second], axis=-1)


def _dealt(rows: IntArray, groups: IntArray) -> IntArray:
    people, first, person = np.unique(rows, return_index=True, return_inverse=True)
    fold = np.empty(len(people), dtype=np.int64)
    fold[np.lexsort((first, groups[people]))] = np.arange(len(people)) % FOLDS
    return fold[person]
