"""Cells partition the rows, and the sketches of blocks add up to the sketch of the table."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from quantifair import InputError, Sketch
from quantifair.cells import ACCEPTED, DECISIONS, EVERYBODY, LABELLED, Cell, Decider, Plan
from quantifair.engines.arrow import sketch_table
from quantifair.roles import MISSING, Binary, Features
from quantifair.tables import open_table

DECISION = Binary("ok", ("no", "yes"), "yes")
LABEL = Binary("good", (0, 1), 1)
# Eight people: their score of the second group, decision, label, weight and number.
PEOPLE = pa.table(
    {
        "score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
        "ok": ["yes", "no", "yes", "no", "yes", "no", "yes", "no"],
        "good": [1, 1, 0, 0, 1, 1, 0, 0],
        "w": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "who": ["a", "b", "c", "d", "e", "f", "g", "a"],
    }
)


@dataclass(eq=False)
class ReadsScores:
    """A scoring function that reads a column, and remembers how many rows it was asked for."""

    fingerprint: str = "reads"
    asked: list[int] = field(default_factory=list)

    def each(self, frame: pd.DataFrame) -> Any:
        self.asked.append(len(frame))
        yield np.column_stack([1 - frame["score"], frame["score"]])

    def mean(self, scores: Any) -> Any:
        return next(iter(scores))


def plan(*cells: Cell, **changes: Any) -> Plan:
    reads = ReadsScores()
    bare = Plan(
        cells, dict.fromkeys(cells, reads), 2, Features({"score": "number"}), DECISION, None
    )
    return replace(bare, **changes)


def sketched(plan: Plan, table: pa.Table = PEOPLE) -> Any:
    return plan.sketch(table.combine_chunks().to_batches()[0], "the deployment table")


def bytes_of(found: Any) -> dict[Cell, bytes]:
    return {cell: sketch.to_bytes() for cell, sketch in found.sketches.items()}


@pytest.mark.parametrize(
    ("cell", "rows"),
    [
        (EVERYBODY, None),
        (Cell(decision=1), [0, 2]),
        (Cell(decision=0, label=1), [1]),
        (Cell(label=1), [0, 1]),
    ],
)
def test_a_cell_knows_its_rows(cell: Cell, rows: list[int] | None) -> None:
    decision, label = np.array([1, 0, 1, MISSING]), np.array([1, 1, 0, MISSING])
    chosen = cell.rows(decision, label)
    assert (chosen if chosen is None else np.flatnonzero(chosen).tolist()) == rows


def test_every_person_is_counted_in_the_cells_they_belong_to() -> None:
    found = sketched(plan(*DECISIONS, *LABELLED, EVERYBODY, label=LABEL))
    assert found.rows == 8
    assert found.counts == {
        Cell(0): 4, Cell(1): 4, EVERYBODY: 8,
        Cell(0, 0): 2, Cell(1, 0): 2, Cell(0, 1): 2, Cell(1, 1): 2,
    }  # fmt: skip
    rejected_and_good = Sketch.from_scores([0.2, 0.6], fingerprint="reads")
    assert found.sketches[Cell(0, 1)].to_bytes() == rejected_and_good.to_bytes()


@pytest.mark.parametrize("size", [1, 3, 8])
@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"id": "who", "known": {"a": 1}}])
def test_blocks_add_up_to_the_table(size: int, options: dict[str, Any]) -> None:
    each = plan(*DECISIONS, *ACCEPTED, label=LABEL, **options)
    whole, total = sketched(each), each.empty()
    for start in range(0, 8, size):
        total = total + sketched(each, PEOPLE.slice(start, size))
    assert bytes_of(total) == bytes_of(whole)
    assert (total.rows, total.counts, total.missing) == (8, whole.counts, whole.missing)
    for cell in each.cells:
        assert total.known[cell].tolist() == whole.known[cell].tolist()
        assert total.weight(cell) == whole.weight(cell)
    assert total.distinct_share == whole.distinct_share


def test_the_engine_reads_each_column_once_and_tells_how_far_it_is() -> None:
    told: list[tuple[int, int | None]] = []
    each = plan(*DECISIONS, weight="w")
    assert each.columns == ["score", "ok", "w"]
    found = sketch_table(
        open_table(PEOPLE, "deployment"), each, lambda *progress: told.append(progress)
    )
    assert bytes_of(found) == bytes_of(sketched(each))
    assert told == [(8, 8)]


def test_a_scoring_function_of_several_cells_scores_a_block_once() -> None:
    shared, own = ReadsScores(), (ReadsScores(), ReadsScores("other"))
    sketched(plan(*DECISIONS, scorers=dict.fromkeys(DECISIONS, shared)))
    assert shared.asked == [8]
    sketched(plan(*DECISIONS, scorers=dict(zip(DECISIONS, own, strict=True))))
    assert [one.asked for one in own] == [[4], [4]]


def test_a_cell_without_scoring_function_is_counted_all_the_same() -> None:
    found = sketched(plan(*DECISIONS, scorers={Cell(1): ReadsScores()}))
    assert found.counts == {Cell(0): 4, Cell(1): 4}
    assert list(found.sketches) == [Cell(1)]


def test_known_people_are_counted_by_group_and_not_scored() -> None:
    known = {"a": 1, "d": 0, "z": 0}
    found = sketched(plan(*DECISIONS, id="who", weight="w", known=known))
    assert found.known[Cell(0)].tolist() == [4.0, 8.0]
    assert found.known[Cell(1)].tolist() == [0.0, 1.0]
    assert found.sketches[Cell(0)].weight == 2.0 + 6.0
    assert found.weight(Cell(0)) == 2.0 + 4.0 + 6.0 + 8.0
    assert found.known_rows == 3
    assert found.distinct_share == 7 / 8


def without(column: str, *rows: int) -> pa.Table:
    values = PEOPLE[column].to_pylist()
    values = [None if i in rows else value for i, value in enumerate(values)]
    return PEOPLE.set_column(PEOPLE.column_names.index(column), column, pa.array(values))


def test_rows_without_a_decision_belong_to_no_cell_and_are_counted() -> None:
    found = sketched(plan(*DECISIONS), without("ok", 0, 1, 2))
    assert found.counts == {Cell(0): 3, Cell(1): 2}
    assert found.missing["decision"] == 3


@pytest.mark.parametrize(
    ("cells", "rows", "missing", "among_accepted"),
    [
        ((*DECISIONS, *LABELLED), (0, 1, 3), (1, 2), False),
        ((*DECISIONS, *LABELLED), (1, 3, 5, 7), (0, 4), True),
        ((*DECISIONS, *ACCEPTED), (0, 1, 3), (1, 0), False),
        (DECISIONS, (0, 1, 3), (0, 0), False),
    ],
)
def test_labels_are_missed_where_a_cell_needs_them(
    cells: tuple[Cell, ...], rows: tuple[int, ...], missing: tuple[int, int], among_accepted: bool
) -> None:
    found = sketched(plan(*cells, label=LABEL), without("good", *rows))
    of_unfavourable = found.missing["label of unfavourable decisions"]
    assert (found.missing["label"], of_unfavourable) == missing
    assert found.labels_among_accepted == among_accepted


def decider(classifier: Callable[[pd.DataFrame], Any]) -> Decider:
    return Decider(classifier, Features({"score": "number", "w": "number"}))


def test_a_classifier_decides_in_place_of_the_column() -> None:
    deciding = plan(*DECISIONS, decider=decider(lambda t: np.where(t["w"] > 2, "yes", "no")))
    assert deciding.columns == ["score", "w"]
    found = sketched(deciding)
    assert found.counts == {Cell(0): 2, Cell(1): 6}
    assert bytes_of(found)[Cell(0)] == bytes_of(
        sketched(plan(EVERYBODY, decision=None), PEOPLE.slice(0, 2))
    )[EVERYBODY]  # fmt: skip


def test_an_estimator_is_given_its_own_columns_in_its_own_order() -> None:
    class Remembers:
        feature_names_in_ = np.array(["w", "score"])

        def predict(self, frame: pd.DataFrame) -> list[str]:
            return [f"{list(frame.columns)}"] * len(frame)

    decided = Decider(Remembers(), decider(len).features)(PEOPLE, "here")
    assert decided.to_pylist() == ["['w', 'score']"] * 8


def test_a_decision_by_a_classifier_must_be_known() -> None:
    with pytest.raises(InputError, match="column 'ok' of the deployment table holds 'perhaps'"):
        sketched(plan(*DECISIONS, decider=decider(lambda t: ["perhaps"] * len(t))))
