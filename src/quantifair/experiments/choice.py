"""A learner that chooses among learners, in each sample, by their scores of unseen people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quantifair.calibration import fit_calibration
from quantifair.diagnostics import BROKEN_SLOPE
from quantifair.experiments.folds import FOLDS, Folds, counted, two_sided

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.learners import Classifiers, Learner

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

_FEWEST = 50
"""People of the smaller group below which flexible learners are not tried."""
_LEAST = 1e-15


@dataclass(frozen=True, eq=False)
class Mixed:
    """Classifiers of several learners.

    Attributes
    ----------
    parts
        What each learner fitted.
    part, number
        For each classifier, which of ``parts`` it is of, and which one there.
    """

    parts: tuple[Classifiers, ...]
    part: IntArray
    number: IntArray

    def scores(self, features: FloatArray, models: IntArray) -> FloatArray:
        """Return the scores of each learner's classifiers."""
        found = np.empty((len(models), len(features)))
        for at, part, numbers in self._of_parts(models):
            found[at] = part.scores(features, numbers)
        return found

    def decisions(self, features: FloatArray, models: IntArray) -> BoolArray:
        """Return the decisions of each learner's classifiers."""
        found = np.empty((len(models), len(features)), dtype=np.bool_)
        for at, part, numbers in self._of_parts(models):
            found[at] = part.decisions(features, numbers)
        return found

    def select(self, models: IntArray) -> Mixed:
        """Return some of the classifiers."""
        return Mixed(self.parts, self.part[models], self.number[models])

    def _of_parts(self, models: IntArray) -> list[tuple[IntArray, Classifiers, IntArray]]:
        of = self.part[models]
        places = ((np.flatnonzero(of == p), part) for p, part in enumerate(self.parts))
        return [(at, part, self.number[models[at]]) for at, part in places if len(at)]


class Tried(NamedTuple):
    """What a candidate is worth in one sample.

    Attributes
    ----------
    losses
        -log P(own group | features) of each row, by who has not seen the person.
    broken
        Whether it is so overfitted that calibration would be given up.
    """

    losses: FloatArray
    broken: bool


@dataclass(frozen=True)
class Chosen:
    """In each sample, the simplest learner that no other beats by more than chance.

    What counts is the log-loss on people whom a learner has not seen, in five folds of the
    auxiliary people that are dealt once for all candidates: nothing that is to be estimated. The
    rule is that of the package's own choice: see ``preferred``.

    Attributes
    ----------
    name
        What tables call it.
    plain
        The simplest family of candidates. Within a family, the next is tried where the last is
        the best so far.
    flexible
        Other families, tried where the smaller group has fifty people.
    """

    name: str
    plain: tuple[Learner, ...]
    flexible: tuple[tuple[Learner, ...], ...] = ()

    @property
    def candidates(self) -> tuple[Learner, ...]:
        """All of them, the simplest first."""
        return (*self.plain, *(c for family in self.flexible for c in family))

    def fit(
        self,
        features: FloatArray,
        groups: IntArray,
        samples: Sequence[IntArray],
        *,
        near: Classifiers | None = None,  # noqa: ARG002
    ) -> Mixed:
        """Choose by five folds of each sample, and fit the chosen one on all of it."""
        _, chosen = self._choose(features, groups, Folds.deal(samples, groups))

        def fitted(candidate: int, at: IntArray) -> Classifiers:
            some = [samples[i] for i in at.tolist()]
            return self.candidates[candidate].fit(features, groups, some)

        return _mixed(chosen, fitted)

    def cross_fit(self, features: FloatArray, groups: IntArray, folds: Folds) -> Mixed:
        """Return the folds' classifiers of the candidate that each sample chooses."""
        fitted, chosen = self._choose(features, groups, folds)

        def kept(candidate: int, at: IntArray) -> Classifiers:
            classifiers, tried = fitted[candidate]
            return classifiers.select(_models(np.searchsorted(tried, at // FOLDS)[::FOLDS]))

        return _mixed(np.repeat(chosen, FOLDS), kept)

    def _choose(
        self, features: FloatArray, groups: IntArray, folds: Folds
    ) -> tuple[list[tuple[Classifiers, IntArray]], IntArray]:
        """Return each candidate's classifiers, the samples it was tried in, and the choices."""
        samples = folds.samples
        everywhere = np.arange(len(samples))
        fewest = [np.bincount(groups[np.unique(rows)]).min() for rows in samples]
        many = everywhere[np.array(fewest) >= _FEWEST]
        fitted: list[tuple[Classifiers, IntArray]] = []
        tried: list[dict[int, Tried]] = [{} for _ in samples]
        for family, at in ((self.plain, everywhere), *((f, many) for f in self.flexible)):
            for candidate in family:
                some, number = folds.select(at), len(fitted)
                classifiers = candidate.fit(features, groups, some.trainings)
                fitted.append((classifiers, at))
                for place, sample in enumerate(at.tolist()):
                    score = some.scores(classifiers, features, place)
                    tried[sample][number] = _tried(score, groups[samples[sample]])
                at = at[[_last_is_best(tried[sample]) for sample in at.tolist()]]  # noqa: PLW2901
                if not len(at):
                    fitted += [fitted[-1]] * (len(family) - 1 - family.index(candidate))
                    break
        chosen = [preferred(t, rows) for t, rows in zip(tried, samples, strict=True)]
        return fitted, np.array(chosen, dtype=np.int64)


def _last_is_best(tried: Mapping[int, Tried]) -> bool:
    *others, last = tried.values()
    least = min((float(t.losses.mean()) for t in others if not t.broken), default=np.inf)
    return last.broken or float(last.losses.mean()) < least


def cross_fit(
    learner: Learner, features: FloatArray, groups: IntArray, folds: Folds
) -> Classifiers:
    """Fit a classifier without each fold; what is chosen is chosen once for all folds."""
    if isinstance(learner, Chosen):
        return learner.cross_fit(features, groups, folds)
    return learner.fit(features, groups, folds.trainings)


def preferred(tried: Mapping[int, Tried], people: IntArray) -> int:
    """Return the first candidate whose mean loss is within one standard error of the least.

    The error is that of the paired difference, where people who repeat count once. Overfitted
    candidates stand back as long as there is another.

    Examples
    --------
    >>> bad, good = Tried(np.array([0.7, 0.8, 0.9]), False), Tried(np.array([0.3, 0.4, 0.4]), False)
    >>> preferred({0: bad, 1: good, 2: good}, np.array([5, 6, 7]))
    1
    """
    honest = {number: t for number, t in tried.items() if not t.broken} or dict(tried)
    best = min(honest.values(), key=lambda t: float(t.losses.mean()))
    person = np.unique(people, return_inverse=True)[1]
    return next(n for n, t in honest.items() if not _exceeds(t.losses - best.losses, person))


def _exceeds(gains: FloatArray, person: IntArray) -> bool:
    error = np.sqrt((np.bincount(person, weights=gains - gains.mean()) ** 2).sum()) / len(gains)
    return bool(gains.mean() > error)


def _tried(score: FloatArray, groups: IntArray) -> Tried:
    both = two_sided(score)
    own = np.where(groups == 1, both[:, 1], both[:, 0])
    slope = float(fit_calibration(both, counted(groups)).slope)
    return Tried(-np.log(np.maximum(own, _LEAST)), slope < BROKEN_SLOPE)


def _models(samples: IntArray) -> IntArray:
    return np.asarray((FOLDS * samples[:, None] + np.arange(FOLDS)).ravel())


def _mixed(chosen: IntArray, make: Callable[[int, IntArray], Classifiers]) -> Mixed:
    used, part = np.unique(chosen, return_inverse=True)
    number, parts = np.empty_like(chosen), []
    for p, candidate in enumerate(used.tolist()):
        at = np.flatnonzero(part == p)
        number[at] = np.arange(len(at))
        parts.append(make(candidate, at))
    return Mixed(tuple(parts), part, number)
