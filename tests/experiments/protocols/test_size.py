"""sample-size-D2: five auxiliary sizes, from a thousand to all."""

import numpy as np
import pytest
from tests.experiments import small
from tests.experiments.protocols.test_protocols import run

from quantifair.experiments.parts import parts_of


@pytest.mark.parametrize("dataset", ["adult", "compas", "creditcard"])
def test_sizes_grow_by_one_factor_from_1_000_to_all(paper_data, dataset):
    cells = small.cells(parts_of(paper_data[dataset], 0, "ABC"))
    _, trials = run("sample-size-D2", cells)
    sizes = sorted({trial.value for trial in trials})
    factor = (len(cells.auxiliary) / 1_000) ** (1 / 4)
    assert len(sizes) == 5
    assert sizes == pytest.approx([1_000 * factor**k for k in range(5)], abs=0.5)
    assert (sizes[0], sizes[-1]) == (1_000, len(cells.auxiliary))


def test_people_are_drawn_without_replacement_and_split_by_their_decision(compas):
    cells = small.cells(parts_of(compas, 0, "ABC"))
    for trial in run("sample-size-D2", cells)[1]:
        rows = np.concatenate(trial.auxiliary)
        assert len(rows) == len(np.unique(rows)) == trial.value
        for cell in (0, 1):
            assert (cells.auxiliary.label[trial.auxiliary[cell]] == cell).all()
            assert trial.deployment[cell] is cells.deployment_rows[cell]


def test_the_sample_is_like_the_part(paper_data):
    cells = small.cells(parts_of(paper_data["creditcard"], 0, "ABC"))
    group, label = cells.auxiliary.group, cells.auxiliary.label
    for trial in run("sample-size-D2", cells)[1]:
        rows = np.concatenate(trial.auxiliary)
        for column in (group, label):
            assert abs(column[rows].mean() - column.mean()) < 5 * 0.5 / np.sqrt(len(rows))


def test_a_part_of_fewer_than_1_000_is_drawn_with_replacement():
    cells = small.cells(small.parts(1_800))
    sizes = {trial.value for trial in run("sample-size-D2", cells)[1]}
    assert (max(sizes), min(sizes)) == (1_000, 600)
