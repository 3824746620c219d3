"""A small data set like the paper's, whose group and label can be told from its features."""

import numpy as np

from quantifair.datasets import Dataset
from quantifair.experiments.parts import Parts, parts_of
from quantifair.experiments.protocols import Cells


def dataset(people: int = 1_800, *, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    group = (rng.random(people) < 0.4).astype(np.int64)
    label = (rng.random(people) < 0.35 + 0.25 * group).astype(np.int64)
    noise = rng.normal(size=(people, 4))
    noise[:, 0] += 1.2 * group
    noise[:, 1] += 1.0 * label
    noise[:, 2] = noise[:, 2] > 0.5
    features = (noise - noise.mean(axis=0)) / noise.std(axis=0)
    names = ("a", "b", "c", "d")
    values = ("0", "1")
    return Dataset("small", features, names, group, label, "g", values, "y", values)


def parts(people: int = 1_800, *, seed: int = 0) -> Parts:
    return parts_of(dataset(people, seed=seed), 0, "ABC")


def cells(of: Parts) -> Cells:
    """Decide as the label says."""
    rows = [
        (np.flatnonzero(part.label == 0), np.flatnonzero(part.label == 1))
        for part in (of.auxiliary, of.deployment)
    ]
    return Cells(of.auxiliary, of.deployment, *rows)
