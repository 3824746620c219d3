"""sample-prev-D1 and flip-prev-D1: label and group agree for an exact share of 500 people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.experiments import small
from tests.experiments.protocols.test_protocols import run
from tests.simulation import examples

from quantifair.experiments.parts import parts_of
from quantifair.experiments.protocols import PROTOCOLS
from quantifair.experiments.protocols.training import flip

BOTH = ["sample-prev-D1", "flip-prev-D1"]


@pytest.fixture(scope="module")
def part(compas):
    return parts_of(compas, 0, "ABC").training


def trainings(protocol, part, repeats=2):
    return PROTOCOLS[protocol].trainings(part, repeats=repeats, rng=np.random.default_rng(0))


@pytest.mark.parametrize("protocol", BOTH)
def test_500_people_at_each_of_eleven_shares(protocol, part):
    found = trainings(protocol, part)
    expected = [(k / 10, repeat) for k in range(11) for repeat in range(2)]
    assert [(t.value, t.repeat) for t in found] == expected
    assert {len(t.rows) for t in found} == {len(t.labels) for t in found} == {500}


@pytest.mark.parametrize("protocol", BOTH)
def test_each_training_has_one_trial_with_everybody_else_as_they_are(protocol):
    cells = small.cells(small.parts())
    found, trials = run(protocol, cells)
    assert [(t.value, t.repeat, t.sub) for t in trials] == [(t.value, t.repeat, "") for t in found]
    for trial in trials:
        assert trial.auxiliary is cells.auxiliary_rows
        assert trial.deployment is cells.deployment_rows


def test_sampled_people_keep_their_labels_and_agree_at_the_share_exactly(part):
    for training in trainings("sample-prev-D1", part):
        assert (training.labels == part.label[training.rows]).all()
        agree = training.labels == part.group[training.rows]
        assert agree.sum() == 500 * training.value
        assert len(np.unique(training.rows)) == 500, "COMPAS has enough of both"


def test_flipped_people_are_sampled_once_and_agree_at_the_share_in_each_group(part):
    for training in trainings("flip-prev-D1", part):
        assert len(np.unique(training.rows)) == 500
        groups = part.group[training.rows]
        for group in (0, 1):
            agree = training.labels[groups == group] == group
            assert agree.sum() == round(training.value * len(agree))


@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40),
    st.floats(0, 1),
)
def test_no_more_labels_are_flipped_than_it_takes(people, share):
    labels, groups = np.array(people).T
    given_labels = labels.copy()
    found = flip(labels, groups, share)
    assert (labels == given_labels).all()
    for group in (0, 1):
        inside = groups == group
        before, after = (labels[inside] == group).sum(), (found[inside] == group).sum()
        assert after == round(share * inside.sum())
        assert (found != labels)[inside].sum() == abs(after - before)
