"""The one runner: split people in halves, train on one, draw deployments of the other, estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from quantifair.cells import DECISIONS, Cell
from quantifair.stress.drawing import draw
from quantifair.stress.replay import Outcome, Replayer
from quantifair.training import train_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from quantifair.auxiliary import Auxiliary
    from quantifair.estimation import Options, TrainedCell
    from quantifair.quantifiers import Quantifier
    from quantifair.stress.shifts import Setting, Shift
    from quantifair.training import Recipe

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
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


@dataclass(frozen=True, eq=False)
class Half:
    """One partition: people who play the auxiliary table, and people who play the deployment."""

    plan: Plan
    partition: int
    auxiliary: Auxiliary
    held_out: Auxiliary
    trained: dict[Cell, TrainedCell]

    @classmethod
    def of(cls, plan: Plan, partition: int) -> Half:
        """Split people in halves, and train on one of them."""
        first = halved(plan.read, np.random.default_rng([plan.seed, partition]))
        auxiliary = plan.read.take(np.flatnonzero(first))
        held_out = plan.read.take(np.flatnonzero(~first))
        trained = train_cells(auxiliary, plan.recipe, per_cell=plan.per_cell)
        return cls(plan, partition, auxiliary, held_out, trained)

    def outcomes(self, shift: Shift) -> Iterator[tuple[Setting, Outcome]]:
        """Replay a shift; its draws do not depend on what else is replayed."""
        plan, whole = self.plan, self._replayer(self.trained)
        rng = np.random.default_rng([plan.seed, self.partition, crc32(shift.name.encode())])
        for setting in shift.settings(self.auxiliary, self.held_out):
            replayer = whole
            if setting.auxiliary is not None:
                kept = draw(setting.auxiliary, strata(self.auxiliary), 1, rng)[0]
                replayer = self._replayer(self._trained_on(kept))
            drawn = draw(setting.deployment, strata(self.held_out), plan.draws, rng)
            yield setting, replayer.replay(drawn, plan.estimators)

    def _replayer(self, trained: dict[Cell, TrainedCell]) -> Replayer:
        plan = self.plan
        return Replayer.of(trained, self.held_out, plan.estimators, plan.options, plan.centre)

    def _trained_on(self, kept: NDArray[np.bool_]) -> dict[Cell, TrainedCell]:
        """Train on some of the auxiliary people, in the cells that lack any."""
        decision, plan = self.auxiliary.decision, self.plan
        lacking = [c for c in DECISIONS if not kept[decision == c.decision].all()]
        if not lacking:
            return self.trained
        if plan.per_cell:
            kept = kept & np.isin(decision, [c.decision for c in lacking])
        some = self.auxiliary.take(np.flatnonzero(kept))
        again = train_cells(some, plan.recipe, per_cell=plan.per_cell)
        return again if not plan.per_cell else self.trained | {c: again[c] for c in lacking}


def strata(part: Auxiliary) -> IntArray:
    """Number the decisions of each group."""
    decision = np.zeros(len(part.codes)) if part.decision is None else part.decision
    return np.asarray(part.codes * 2 + decision, dtype=np.int64)


def halved(read: Auxiliary, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Tell who plays the auxiliary table: half the people of each group and decision.

    People who repeat stay together; they are dealt by the first of their rows.
    """
    if read.clusters is None:
        return draw(np.full(len(read.codes), 0.5), strata(read), 1, rng)[0]
    _, first, person = np.unique(read.clusters, return_index=True, return_inverse=True)
    return draw(np.full(len(first), 0.5), strata(read)[first], 1, rng)[0][person]


def _together(same: Sequence[tuple[Setting, Outcome]]) -> Replayed:
    setting = same[0][0]
    return Replayed(setting.what, setting.strength, tuple(outcome for _, outcome in same))
