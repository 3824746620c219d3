"""The data sets of the paper, from the user's cache or through the real loader."""

import pytest

from quantifair.datasets import Dataset, load
from quantifair.datasets.catalogue import CATALOGUE


@pytest.fixture(scope="session")
def paper_data() -> dict[str, Dataset]:
    return {name: load(name) for name in CATALOGUE}


@pytest.fixture(scope="session")
def compas() -> Dataset:
    return load("compas")
