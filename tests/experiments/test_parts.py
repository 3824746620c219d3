"""A data set split in three: the rows of the reference, alike in group and label, in every role."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tests.experiments import small
from tests.simulation import examples

from quantifair.experiments.parts import PARTITIONS, ROLES, parts_of, thirds

NAMES = ["adult", "compas", "creditcard"]


def test_five_partitions_in_six_roles():
    assert PARTITIONS == 5
    assert sorted(ROLES) == sorted(map("".join, permutations("ABC")))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("partition", range(5))
def test_thirds_hold_everyone_once_and_alike_in_group_and_label(paper_data, name, partition):
    data = paper_data[name]
    found = thirds(data, partition)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(len(data.group)))
    assert np.ptp([len(rows) for rows in found]) <= 1
    for group in (0, 1):
        for label in (0, 1):
            there = [
                ((data.group[rows] == group) & (data.label[rows] == label)).sum() for rows in found
            ]
            assert np.ptp(there) <= 1


@pytest.mark.parametrize("partition", [0, 4])
def test_thirds_are_the_tables_that_the_reference_cuts(compas, partition):
    """It cuts a table and its stratum, rows and not their numbers, with one seed for both cuts."""
    table = np.column_stack([compas.features, compas.label + 2 * compas.group])
    third = {"stratify": table[:, -1], "train_size": 1 / 3, "random_state": partition}
    first, rest = train_test_split(table, **third)
    half = {"stratify": rest[:, -1], "train_size": 1 / 2, "random_state": partition}
    for rows, expected in zip(
        thirds(compas, partition), (first, *train_test_split(rest, **half)), strict=True
    ):
        assert (table[rows] == expected).all()


def test_partitions_are_unlike_and_come_again():
    data = small.dataset()
    every = [thirds(data, partition) for partition in range(5)]
    for one in range(5):
        again = thirds(data, one)
        assert all(map(np.array_equal, every[one], again))
        for other in range(one):
            assert not np.array_equal(np.sort(every[one][0]), np.sort(every[other][0]))


@examples(30)
@given(st.permutations("ABC"), st.integers(0, 4))
def test_roles_name_the_thirds(roles, partition):
    data = small.dataset(90)
    letters = dict(zip("ABC", thirds(data, partition), strict=True))
    found = parts_of(data, partition, "".join(roles))
    for part, letter in zip(found, roles, strict=True):
        rows = letters[letter]
        assert len(part) == len(rows)
        assert (part.features == data.features[rows]).all()
        assert (part.group == data.group[rows]).all()
        assert (part.label == data.label[rows]).all()
    assert found.training is found[0]
    assert found.auxiliary is found[1]
    assert found.deployment is found[2]


def test_clean_parts_are_standardised_on_the_training_part_alone(compas):
    plain, clean = (parts_of(compas, 1, "BCA", clean=c) for c in (False, True))
    scaler = StandardScaler().fit(plain.training.features)
    for part, expected in zip(clean, plain, strict=True):
        found = scaler.transform(expected.features)
        np.testing.assert_allclose(part.features, found, rtol=1e-9, atol=1e-9)
    assert np.abs(clean.training.features.mean(axis=0)).max() < 1e-9
    assert np.abs(plain.training.features.mean(axis=0)).max() > 1e-3
