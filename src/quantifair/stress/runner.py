"""The one runner: split people in halves, train on one, draw deployments of the other, estimate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from quantifair.learner import is_external
from quantifair.stress.drawing import draw
from quantifair.stress.replay import Replayer
from quantifair.training import train_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from quantifair.auxiliary import Auxiliary
    from quantifair.cells import Cell
    from quantifair.estimation import Options, TrainedCell
    from quantifair.quantifiers import Quantifier
    from quantifair.stress.replay import Outcome
    from quantifair.stress.shifts import Setting, Shift
    from quantifair.training import Recipe

    Progress = Callable[[int, int | None], None]


class Replayed(NamedTuple):
    """One strength of a shift with what was found, an outcome for each partition."""

    what: str
    strength: float
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is replayed, and how.

    Attributes
    ----------
    read
        Everybody whose group is known.
    recipe, per_cell
        How group classifiers are trained.
    like
        Cells of everybody, where the classifiers were chosen.
    estimators
        By name.
    centre
        The estimator that intervals are widened to hold.
    options
        How intervals are made.
    shifts
        What is replayed.
    partitions, draws
        How often people are split in halves, and deployments drawn of one.
    seed
        Where randomness comes from.
    """

    read: Auxiliary
    recipe: Recipe
    per_cell: bool
    like: Mapping[Cell, TrainedCell]
    estimators: Mapping[str, Quantifier]
    centre: str
    options: Options
    shifts: Sequence[Shift]
    partitions: int
    draws: int
    seed: int

    def run(self, progress: Progress | None = None) -> list[list[Replayed]]:
        """Return what was found of each shift, by setting."""
        found: list[list[list[tuple[Setting, Outcome]]]] = [[] for _ in self.shifts]
        for partition in range(self.partitions):
            half = Half.of(self, partition)
            for place, shift in enumerate(self.shifts):
                if progress is not None:
                    done = partition * len(self.shifts) + place
                    progress(done, self.partitions * len(self.shifts))
                found[place].append(list(half.outcomes(shift)))
        return [[_together(same) for same in zip(*each, strict=True)] for each in found]

    @property
    def tilts(self) -> bool:
        """Whether scores follow the composition of the auxiliary people."""
        return self.recipe.calibrate or not is_external(self.recipe.learner)

    def trained(self, auxiliary: Auxiliary) -> dict[Cell, TrainedCell]:
        """Train the group classifiers."""
        return train_cells(auxiliary, self.recipe, per_cell=self.per_cell, like=self.like)


@dataclass(frozen=True, eq=False)
class Half:
    """One partition: people who play the auxiliary table, and people who play the deployment."""

    plan: Plan
    partition: int
    auxiliary: Auxiliary
    held_out: Auxiliary

    @classmethod
    def of(cls, plan: Plan, partition: int) -> Half:
        """Split people in halves."""
        first = halved(plan.read, np.random.default_rng([plan.seed, partition]))
        auxiliary = plan.read.take(np.flatnonzero(first))
        held_out = plan.read.take(np.flatnonzero(~first))
        return cls(plan, partition, auxiliary, held_out)

    def outcomes(self, shift: Shift) -> Iterator[tuple[Setting, Outcome]]:
        """Replay a shift; its draws do not depend on what else is replayed."""
        plan = self.plan
        rng = np.random.default_rng([plan.seed, self.partition, crc32(shift.name.encode())])
        for setting in shift.settings(self.auxiliary, self.held_out):
            replayer = self._whole
            if setting.fewer is not None:
                some = draw(*setting.fewer, 1, rng)[0]
                replayer = self._replayer(plan.trained(self.auxiliary.take(np.flatnonzero(some))))
            if setting.mix is not None:
                replayer = replayer.mixed(setting.mix, rng, tilts=plan.tilts)
            yield setting, replayer.replay(draw(*setting.deployment, plan.draws, rng))

    @cached_property
    def _whole(self) -> Replayer:
        """What knows the whole auxiliary part."""
        return self._replayer(self.plan.trained(self.auxiliary))

    def _replayer(self, trained: dict[Cell, TrainedCell]) -> Replayer:
        plan = self.plan
        return Replayer.of(trained, self.held_out, plan.estimators, plan.options, plan.centre)


def halved(read: Auxiliary, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Tell who plays the auxiliary table: half of the people, with all their rows.

    How many of a group are in each half is left to chance, or the auxiliary sample alone would know
    the truth.
    """
    person = np.arange(len(read.codes)) if read.clusters is None else read.clusters
    people = int(person.max()) + 1
    halves = draw(np.full(people, 0.5), np.zeros(people, dtype=np.int64), 1, rng)
    return np.asarray(halves[0][person])


def _together(same: Sequence[tuple[Setting, Outcome]]) -> Replayed:
    setting = same[0][0]
    return Replayed(setting.what, setting.strength, tuple(outcome for _, outcome in same))
