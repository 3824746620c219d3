"""Cells: the parts of a table that are quantified apart, and the one function that sketches them.

Every engine feeds blocks of rows to ``Plan.sketch`` and adds up what comes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quantifair.errors import InputError, explained
from quantifair.profiles import STATES, Profile
from quantifair.roles import MISSING, checked_weights, ids_of
from quantifair.sketch import Sketch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.assumption.evidence import Evidence
    from quantifair.diagnostics import Caution
    from quantifair.learner import Scorer
    from quantifair.roles import Binary, Columns, Features

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


class Scored(NamedTuple):
    """Mean scores of rows, and the bins of their scores by each classifier."""

    scores: FloatArray
    places: list[IntArray]


class Cell(NamedTuple):
    """A part of a table: one decision, or one label and decision; ``None`` is every value."""

    decision: int | None = None
    label: int | None = None

    def rows(self, decision: IntArray | None, label: IntArray | None) -> NDArray[np.bool_] | None:
        """Tell which rows belong to the cell."""
        chosen: NDArray[np.bool_] | None = None
        if self.decision is not None and decision is not None:
            chosen = decision == self.decision
        if self.label is not None and label is not None:
            same = label == self.label
            chosen = same if chosen is None else chosen & same
        return chosen


EVERYBODY = Cell()
DECISIONS = (Cell(0), Cell(1))
LABELLED = tuple(Cell(d, y) for y in (0, 1) for d in (0, 1))
ACCEPTED = tuple(Cell(1, y) for y in (0, 1))


@dataclass(frozen=True, eq=False)
class Deployment:
    """What an audit needs of the deployment table: a sketch by cell, and who is known.

    Attributes
    ----------
    sketches
        People whose group is unknown, by cell.
    known
        Weight by group of people who are in the auxiliary table as well, by cell.
    rows
        Rows read.
    counts
        Rows by cell, those without a scoring function included.
    missing
        Rows without a decision, and rows without a label in a cell that needs it.
    people
        Hashes of the distinct ids, where an id column is known.
    features
        Rows by feature and state: missing, unknown, or in a tenth of the auxiliary values.
    cautions
        What is to be said of the table, once of several.
    known_rows
        Rows of people who are in the auxiliary table as well, whatever their weight.
    alone
        The same of each attribute that is audited for itself.
    evidence
        Sums of the people whose group is unknown, by cell, that tests of prior shift read.
    """

    sketches: dict[Cell, Sketch]
    known: dict[Cell, FloatArray]
    rows: int
    counts: dict[Cell, int]
    missing: dict[str, int]
    people: NDArray[np.uint64] | None = None
    features: IntArray = field(default_factory=lambda: np.zeros((0, STATES), dtype=np.int64))
    cautions: tuple[Caution, ...] = ()
    known_rows: int = 0
    alone: dict[str, Deployment] = field(default_factory=dict)
    evidence: dict[Cell, IntArray] = field(default_factory=dict)

    def __add__(self, other: Deployment) -> Deployment:
        people = None
        if self.people is not None and other.people is not None:
            people = np.union1d(self.people, other.people)
        return Deployment(
            {c: s + other.sketches[c] for c, s in self.sketches.items()},
            {c: k + other.known[c] for c, k in self.known.items()},
            self.rows + other.rows,
            {c: n + other.counts[c] for c, n in self.counts.items()},
            {k: n + other.missing[k] for k, n in self.missing.items()},
            people,
            self.features + other.features,
            tuple(dict.fromkeys((*self.cautions, *other.cautions))),
            self.known_rows + other.known_rows,
            {name: one + other.alone[name] for name, one in self.alone.items()},
            {c: e + other.evidence[c] for c, e in self.evidence.items()},
        )

    def __radd__(self, other: int) -> Deployment:
        """Let ``sum(sketches)`` work."""
        return self if other == 0 else NotImplemented

    @property
    def distinct_share(self) -> float:
        """Distinct people as a share of the rows; one where ids are not known."""
        return 1.0 if self.people is None or not self.rows else len(self.people) / self.rows

    @property
    def labels_among_accepted(self) -> bool:
        """Whether labels are known, but of nobody with an unfavourable decision."""
        if not self.missing.get("label of unfavourable decisions"):
            return False
        return {c.decision for c, n in self.counts.items() if n and c in LABELLED} == {1}

    def weight(self, cell: Cell) -> float:
        """Weight of a cell, known people included."""
        return self.sketches[cell].weight + float(self.known[cell].sum())


@dataclass(frozen=True, eq=False)
class Decider:
    """The audited classifier, where it decides here instead of having decided already.

    Attributes
    ----------
    classifier
        A fitted estimator, or a function from a frame of features to decisions.
    features
        The columns that it is given.
    """

    classifier: Any
    features: Features

    def __call__(self, block: Columns, where: str) -> Any:
        """Decide on rows; the decisions as an Arrow column."""
        import pyarrow as pa

        frame = self.features.frame(block, where)
        asked = getattr(self.classifier, "feature_names_in_", None)
        if asked is not None:
            absent = [n for n in asked if n not in frame.columns]
            if absent:
                raise InputError(
                    f"the audited classifier needs column {absent[0]!r}, which is not a feature "
                    "of both tables"
                )
            frame = frame[list(asked)]
        decide = getattr(self.classifier, "predict", self.classifier)
        if not callable(decide):
            raise InputError(
                f"classifier= is a {type(decide).__name__}; give a fitted estimator or a function"
            )
        name = getattr(self.classifier, "__name__", type(self.classifier).__name__)
        with explained(f"the audited classifier {name} can't decide on {where}"):
            decisions = np.asarray(decide(frame))
        if decisions.shape != (block.num_rows,):
            raise InputError(
                f"the audited classifier gave {decisions.shape} decisions for "
                f"{block.num_rows:,} rows"
            )
        try:
            return pa.array(decisions.tolist())
        except pa.ArrowException as error:
            raise InputError(f"the audited classifier mixes types: {error}") from error


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows become sketches: the same for every engine.

    Attributes
    ----------
    cells
        The cells to count.
    scorers
        The scoring function of each cell that has one; the same one may serve several.
    groups
        Number of groups.
    features
        Columns that the scoring functions read.
    decision, label
        How the columns are read; ``None`` where there is none.
    decider
        Decides in place of a decision column.
    weight, id
        Names of the columns, or ``None``.
    known
        Group of each id that the auxiliary table holds.
    profile
        What the features are held against.
    alone
        The same for each attribute that is audited for itself.
    evidence
        What is summed in each cell where prior shift is tested.
    """

    cells: tuple[Cell, ...]
    scorers: dict[Cell, Scorer]
    groups: int
    features: Features
    decision: Binary | None
    label: Binary | None
    decider: Decider | None = None
    weight: str | None = None
    id: str | None = None
    known: dict[str, int] = field(default_factory=dict)
    profile: Profile = field(default_factory=Profile)
    alone: dict[str, Plan] = field(default_factory=dict)
    evidence: dict[Cell, Evidence] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Columns to read."""
        names = list(self.features.names)
        if self.decider is not None:
            names += self.decider.features.names
        elif self.decision is not None:
            names.append(self.decision.column)
        names += [self.label.column] if self.label is not None else []
        names += [n for n in (self.weight, self.id) if n is not None]
        return list(dict.fromkeys(names))

    def empty(self) -> Deployment:
        """Return the sketch of no rows, the zero of ``+``."""
        none = np.empty((0, self.groups))
        weights = None if self.weight is None else np.empty(0)
        sketches = {
            c: Sketch.from_scores(none, weights=weights, fingerprint=s.fingerprint)
            for c, s in self.scorers.items()
        }
        known = {c: np.zeros(self.groups) for c in self.scorers}
        people = None if self.id is None else np.empty(0, dtype=np.uint64)
        missing = {"decision": 0, **self._without_label(None, None)}
        counts = dict.fromkeys(self.cells, 0)
        features = np.zeros((len(self.profile.edges), STATES), dtype=np.int64)
        alone = {name: plan.empty() for name, plan in self.alone.items()}
        evidence = {c: np.zeros(e.columns, dtype=np.int64) for c, e in self.evidence.items()}
        return Deployment(
            sketches, known, 0, counts, missing, people, features, alone=alone, evidence=evidence
        )

    def sketch(self, block: Columns, where: str) -> Deployment:
        """Score and count a block of rows."""
        decision = self._decisions(block, where)
        label = None
        if self.label is not None:
            label = self.label.decode(block[self.label.column], where)
        weights = None
        if self.weight is not None:
            weights = checked_weights(block[self.weight], self.weight, where)
        groups, people = self._who(block, where)
        rows = self._rows(decision, label, block.num_rows)
        frame = self.features.frame(block, where)
        features, encoded = self.profile.read(frame)
        cache: dict[str, Scored] = {}
        sketches, known, evidence = {}, {}, {}
        for cell, scorer in self.scorers.items():
            met = groups[rows[cell]] != MISSING
            ours = np.ones(len(met)) if weights is None else weights[rows[cell]]
            known[cell] = np.bincount(
                groups[rows[cell]][met], weights=ours[met], minlength=self.groups
            ).astype(np.float64)
            unknown, theirs = rows[cell][~met], None if weights is None else ours[~met]
            scores, places = self._score(frame, cell, unknown, cache)
            fingerprint = scorer.fingerprint
            sketches[cell] = Sketch.from_scores(scores, weights=theirs, fingerprint=fingerprint)
            if cell in self.evidence:
                summed = encoded[:, unknown]
                evidence[cell] = self.evidence[cell].sums(summed, places, theirs)
        counts = {c: len(r) for c, r in rows.items()}
        missing = {"decision": _count_missing(decision), **self._without_label(decision, label)}
        return Deployment(
            sketches,
            known,
            block.num_rows,
            counts,
            missing,
            people,
            features=features,
            known_rows=int((groups != MISSING).sum()),
            alone={name: plan.sketch(block, where) for name, plan in self.alone.items()},
            evidence=evidence,
        )

    def _rows(
        self, decision: IntArray | None, label: IntArray | None, rows: int
    ) -> dict[Cell, IntArray]:
        """Return the rows of each cell."""
        chosen = {c: c.rows(decision, label) for c in self.cells}
        everybody = np.arange(rows)
        return {c: everybody if m is None else np.flatnonzero(m) for c, m in chosen.items()}

    def _score(
        self, frame: pd.DataFrame, cell: Cell, rows: IntArray, cache: dict[str, Scored]
    ) -> Scored:
        """Score some rows; a scoring function that serves several cells scores the block once."""
        if not len(rows):
            return Scored(np.empty((0, self.groups)), [])
        scorer = self.scorers[cell]
        shared = sum(s is scorer for s in self.scorers.values()) > 1
        if not shared:
            return self._scored(frame.iloc[rows], cell)
        if scorer.fingerprint not in cache:
            cache[scorer.fingerprint] = self._scored(frame, cell)
        scores, places = cache[scorer.fingerprint]
        return Scored(scores[rows], [p[:, rows] for p in places])

    def _scored(self, frame: pd.DataFrame, cell: Cell) -> Scored:
        scorer, evidence = self.scorers[cell], self.evidence.get(cell)
        places: list[IntArray] = []

        def noted() -> Iterator[FloatArray]:
            for scores in scorer.each(frame):
                if evidence is not None:
                    places.append(evidence.places(scores))
                yield scores

        return Scored(scorer.mean(noted()), places)

    def _decisions(self, block: Columns, where: str) -> IntArray | None:
        if self.decision is None:
            return None
        if self.decider is None:
            return self.decision.decode(block[self.decision.column], where)
        return self.decision.decode(self.decider(block, where), where)

    def _who(self, block: Columns, where: str) -> tuple[IntArray, NDArray[np.uint64] | None]:
        """Return each row's group where it is known, and the hashes of the ids."""
        if self.id is None:
            return np.full(block.num_rows, MISSING, dtype=np.int64), None
        import pandas as pd

        ids = ids_of(block[self.id], self.id, where)
        groups = np.array([self.known.get(i, MISSING) for i in ids], dtype=np.int64)
        return groups, np.unique(pd.util.hash_array(ids))

    def _without_label(self, decision: IntArray | None, label: IntArray | None) -> dict[str, int]:
        """Count rows that lack a label although their cell needs one."""
        if label is None or decision is None:
            return {"label": 0, "label of unfavourable decisions": 0}
        lacking = np.bincount(decision[(label == MISSING) & (decision != MISSING)], minlength=2)
        needed = {c.decision for c in self.cells if c.label is not None}
        rejected, accepted = (int(lacking[d]) if d in needed else 0 for d in (0, 1))
        return {"label": accepted, "label of unfavourable decisions": rejected}


def _count_missing(codes: IntArray | None) -> int:
    return 0 if codes is None else int((codes == MISSING).sum())
