"""sample-prev-D2 and -D3: one cell at an exact prevalence, the other as it is."""

import numpy as np
import pytest
from tests.experiments import small
from tests.experiments.protocols.test_protocols import run

from quantifair.experiments.parts import parts_of

SIDES = {"sample-prev-D2": "auxiliary", "sample-prev-D3": "deployment"}
VALUES = {"sample-prev-D2": range(1, 10), "sample-prev-D3": range(11)}


@pytest.fixture(scope="module")
def cells(paper_data):
    return small.cells(parts_of(paper_data["adult"], 0, "ABC"))


@pytest.mark.parametrize("protocol", SIDES)
class TestBoth:
    def test_the_papers_values_for_each_decision(self, protocol, cells):
        _, trials = run(protocol, cells, repeats=1)
        expected = [(sub, k / 10) for sub in ("rejected", "accepted") for k in VALUES[protocol]]
        assert [(trial.sub, trial.value) for trial in trials] == expected

    def test_500_people_a_cell_of_which_one_is_at_the_value_exactly(self, protocol, cells):
        side = SIDES[protocol]
        part, pools = getattr(cells, side), getattr(cells, f"{side}_rows")
        for trial in run(protocol, cells)[1]:
            rows = getattr(trial, side)
            varied = ("rejected", "accepted").index(trial.sub)
            assert [len(r) for r in rows] == [500, 500]
            assert part.group[rows[varied]].sum() == 500 * trial.value
            kept = part.group[rows[1 - varied]].mean()
            natural = part.group[pools[1 - varied]].mean()
            assert abs(kept - natural) < 5 * np.sqrt(natural * (1 - natural) / 500)

    def test_no_row_twice_where_there_are_enough_of_its_group(self, protocol, cells):
        side = SIDES[protocol]
        part, pools = getattr(cells, side), getattr(cells, f"{side}_rows")
        for trial in run(protocol, cells)[1]:
            for rows, pool in zip(getattr(trial, side), pools, strict=True):
                for group in (0, 1):
                    drawn = rows[part.group[rows] == group]
                    enough = len(drawn) <= (part.group[pool] == group).sum()
                    assert (len(np.unique(drawn)) == len(drawn)) == enough

    def test_the_other_part_is_whole_and_shared(self, protocol, cells):
        """By the same array, so that what is fitted on it is fitted once."""
        other = {"auxiliary": "deployment", "deployment": "auxiliary"}[SIDES[protocol]]
        for trial in run(protocol, cells)[1]:
            for rows, whole in zip(
                getattr(trial, other), getattr(cells, f"{other}_rows"), strict=True
            ):
                assert rows is whole

    def test_the_natural_prevalence_is_that_of_the_part_as_it_is(self, protocol, cells):
        other = {"auxiliary": "deployment", "deployment": "auxiliary"}[SIDES[protocol]]
        part, pools = getattr(cells, other), getattr(cells, f"{other}_rows")
        for trial in run(protocol, cells, repeats=1)[1]:
            pool = pools[("rejected", "accepted").index(trial.sub)]
            assert trial.natural == part.group[pool].mean()


def test_compas_has_too_few_of_a_group_and_repeats_them(compas):
    """460 rejected of group 0 or fewer, say, serve as 500: with replacement, and only there."""
    cells = small.cells(parts_of(compas, 0, "ABC"))
    _, trials = run("sample-prev-D3", cells, repeats=1)
    last = next(t for t in trials if (t.sub, t.value) == ("rejected", 1.0))
    ones = cells.deployment.group[cells.deployment_rows[0]].sum()
    assert ones < 500
    assert len(np.unique(last.deployment[0])) < ones
