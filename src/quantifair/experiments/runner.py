"""One runner for every protocol, method, learner and audited classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quantifair.experiments.estimates import Block, classification, prevalences
from quantifair.experiments.fits import Fits, fit_cells
from quantifair.experiments.intervals import intervals
from quantifair.experiments.protocols import Cells
from quantifair.experiments.protocols.base import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quantifair.experiments.auditees import Auditee
    from quantifair.experiments.learners import Learner
    from quantifair.experiments.methods import Method
    from quantifair.experiments.parts import Part, Parts
    from quantifair.experiments.protocols import Protocol, Trial

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

FEWEST = 5
"""People of each group in each auxiliary cell below which a trial is refused."""

_NUMBERS = 250_000


class Design(NamedTuple):
    """What is run on a data set's parts."""

    protocol: Protocol
    auditee: Auditee
    learner: Learner
    methods: tuple[Method, ...]
    repeats: int


def run_unit(parts: Parts, design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Run a protocol on one partition in one role, and return a table: columns by name.

    Every method sees the same trials. A trial that can't train a quantifier stays in the table
    with its ``problem`` and without estimates.
    """
    trials = _trials(parts, design, rng)
    table = _described(parts, trials)
    usable = np.flatnonzero(table["problem"] == "")
    used = [trials[i] for i in usable]
    for name, values in _estimated(parts, used, design, rng).items():
        column = np.full(len(trials), np.nan)
        column[usable] = values
        table[name] = column
    return table


def _trials(parts: Parts, design: Design, rng: np.random.Generator) -> list[Trial]:
    protocol, repeats = design.protocol, design.repeats
    trainings = protocol.trainings(parts.training, repeats=repeats, rng=rng)
    decided = design.auditee.decide(parts, trainings)
    found: list[Trial] = []
    for training, known, sought in zip(trainings, *decided, strict=True):
        cells = Cells(parts.auxiliary, parts.deployment, _by_decision(known), _by_decision(sought))
        found += protocol.trials(training, cells, repeats=repeats, rng=rng)
    return found


def _by_decision(favourable: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    return np.flatnonzero(~favourable), np.flatnonzero(favourable)


def _described(parts: Parts, trials: Sequence[Trial]) -> dict[str, Any]:
    """Columns that say what was tried, and the truth."""
    table: dict[str, Any] = {
        "sub": np.array([t.sub for t in trials], dtype=object),
        "value": np.array([t.value for t in trials], dtype=np.float64),
        "repeat": np.array([t.repeat for t in trials], dtype=np.int64),
        "natural": np.array([t.natural for t in trials], dtype=np.float64),
        "problem": np.array([_problem(parts.auxiliary, t) for t in trials], dtype=object),
    }
    for cell in (0, 1):
        sought = [t.deployment[cell] for t in trials]
        table[f"size:{cell}"] = np.array([len(rows) for rows in sought])
        table[f"true:{cell}"] = np.array([share(parts.deployment, rows) for rows in sought])
        known = [t.auxiliary[cell] for t in trials]
        table[f"prior:{cell}"] = np.array([share(parts.auxiliary, rows) for rows in known])
    return table


def _problem(part: Part, trial: Trial) -> str:
    """Say why a trial can't be run, or nothing."""
    counts = [np.bincount(part.group[rows], minlength=2) for rows in trial.auxiliary]
    if min(c.min() for c in counts) < FEWEST:
        return f"fewer than {FEWEST} of a group in an auxiliary cell"
    members = (rows[part.group[rows] == g] for rows in trial.auxiliary for g in (0, 1))
    if any((people == people[0]).all() for people in members):
        return "one person alone is all of a group in an auxiliary cell"
    if not all(len(rows) for rows in trial.deployment):
        return "nobody in a deployment cell"
    return ""


def _estimated(
    parts: Parts, trials: Sequence[Trial], design: Design, rng: np.random.Generator
) -> dict[str, FloatArray]:
    if not trials:
        return {}
    pooled = any(m.pooled for m in design.methods)
    fits = fit_cells(parts.auxiliary, trials, design.learner, pooled=pooled, rng=rng)
    columns: dict[str, list[FloatArray]] = {}
    for some in _blocks(trials, parts):
        found = _of_block(parts, [trials[t] for t in some], fits, fits.sample_of[some], design)
        for name, values in found.items():
            columns.setdefault(name, []).append(values)
    return {name: np.concatenate(values) for name, values in columns.items()}


def _of_block(
    parts: Parts, trials: Sequence[Trial], fits: Fits, samples: IntArray, design: Design
) -> dict[str, FloatArray]:
    """Estimates of both cells in some trials, and intervals of the disparity."""
    found: dict[str, FloatArray] = {}
    own: list[Block] = []
    for cell in (0, 1):
        rows = [trial.deployment[cell] for trial in trials]
        blocks = {
            pooled: Block(fits, samples[:, place], parts.auxiliary, parts.deployment, rows)
            for pooled, place in ((False, cell), (True, samples.shape[1] - 1))
        }
        own.append(blocks[False])
        for method in design.methods:
            estimates = _of_cell(method, blocks[method.pooled])
            found |= {f"{name}:{cell}": values for name, values in estimates.items()}
    for method in (m for m in design.methods if m.interval):
        ends = intervals(own, [found[f"{method.name}:{cell}"] for cell in (0, 1)])
        found[f"low:{method.name}"], found[f"high:{method.name}"] = ends
    return found


def _of_cell(method: Method, block: Block) -> dict[str, FloatArray]:
    """Estimates of one cell in some trials, and how well its people were classified."""
    seen = block.seen(training=method.training, hard=method.hard)
    estimate, lost = prevalences(method, seen)
    found = {method.name: estimate, f"lost:{method.name}": lost.astype(np.float64)}
    if method.labels:
        judged = classification(method, seen, estimate, block.groups)
        found[f"accuracy:{method.name}"], found[f"f1:{method.name}"] = judged
    return found


def _blocks(trials: Sequence[Trial], parts: Parts) -> list[IntArray]:
    """Runs of trials whose scores fit the cache; what all trials learn from counts once."""
    shared = len({tuple(map(id, trial.auxiliary)) for trial in trials}) == 1
    most = max(len(rows) for trial in trials for rows in trial.deployment)
    size = max(1, _NUMBERS // max(most if shared else len(parts.auxiliary), 1))
    return [np.arange(k, min(k + size, len(trials))) for k in range(0, len(trials), size)]
