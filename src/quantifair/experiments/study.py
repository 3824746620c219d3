"""A study: which units it is made of, and how they are run, resumed and spread over workers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote
from zlib import crc32

import numpy as np

from quantifair.errors import InputError
from quantifair.experiments.catalogue import Catalogue, pick
from quantifair.experiments.methods import METHODS
from quantifair.experiments.parts import PARTITIONS, ROLES, parts_of
from quantifair.experiments.protocols import PROTOCOLS
from quantifair.experiments.runner import Design, run_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from quantifair.datasets import Dataset

SPLITS = PARTITIONS * len(ROLES)


class Unit(NamedTuple):
    """What is run at once, stored in one file, and not run again."""

    dataset: str
    learner: str
    protocol: str
    partition: int
    roles: str

    @property
    def name(self) -> str:
        """Name of its file, whatever its parts are called."""
        return "_".join(quote(str(part), safe="").replace("_", "%5F") for part in self)


@dataclass(frozen=True)
class Study:
    """What to run; by default the paper's main study with logistic regression.

    Attributes
    ----------
    datasets, learners, protocols, methods
        By name.
    auditee
        The audited classifier, by name.
    splits
        How many of the thirty: five partitions, each in six roles.
    repeats
        Samplings for each swept value.
    seed
        Seed of everything but the partitions, which are the paper's.
    clean
        Whether features are standardised on the training part alone; the paper's are
        standardised over the whole data set before it is split.
    """

    datasets: tuple[str, ...] = ("adult", "compas", "creditcard")
    learners: tuple[str, ...] = ("LR",)
    protocols: tuple[str, ...] = tuple(PROTOCOLS)
    methods: tuple[str, ...] = tuple(METHODS)
    auditee: str = "LR"
    splits: int = SPLITS
    repeats: int = 10
    seed: int = 0
    clean: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.splits <= SPLITS:
            raise InputError(f"splits is {self.splits}; there are 1 to {SPLITS}")
        if self.repeats < 1:
            raise InputError(f"repeats is {self.repeats}; at least one is needed")

    @property
    def settings(self) -> dict[str, Any]:
        """What may not change within a folder of results: all but what is run of it."""
        given = asdict(self)
        return {k: given[k] for k in ("methods", "auditee", "repeats", "seed", "clean")}

    def units(self, dataset: str) -> Iterator[Unit]:
        """Yield the units of a data set; few splits are of as many partitions as can be."""
        splits = islice(product(ROLES, range(PARTITIONS)), self.splits)
        for (roles, partition), learner, protocol in product(splits, self.learners, self.protocols):
            yield Unit(dataset, learner, protocol, partition, roles)


def run_study(
    study: Study,
    folder: Path,
    *,
    catalogue: Catalogue | None = None,
    jobs: int = 1,
    load: Callable[..., Dataset] | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Path:
    """Run the units that the folder does not hold yet.

    Workers are joblib's: ``joblib.parallel_config(backend="dask")`` around the call spreads them
    over a Dask cluster, with the same results. Each unit is stored whole when it is done, so that
    a killed run goes on where it was.

    Parameters
    ----------
    study
        What to run.
    folder
        Where results are kept; it holds one study's settings.
    catalogue
        What the study's names mean; by default what the paper uses.
    jobs
        Number of workers.
    load
        Returns a data set by name; by default ``quantifair.datasets.load``.
    progress
        Called with the numbers of units done and in all.
    """
    from joblib import Parallel, delayed

    from quantifair.datasets import load as load_by_name
    from quantifair.experiments.store import claim, done, write

    catalogue = catalogue or Catalogue()
    designs = {(ln, p): _design(study, catalogue, ln, p)
               for ln, p in product(study.learners, study.protocols)}  # fmt: skip
    claim(folder, study.settings)
    every = {d: list(study.units(d)) for d in study.datasets}
    total = sum(map(len, every.values()))
    left = {d: [u for u in units if not done(folder, u)] for d, units in every.items()}
    finished = total - sum(map(len, left.values()))
    progress(finished, total)
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for dataset, units in left.items():
        if not units:
            continue
        data = (load or load_by_name)(dataset, standardise=not study.clean)
        tasks = (
            delayed(_run)(data, unit, designs[unit.learner, unit.protocol], study) for unit in units
        )
        for unit, table in parallel(tasks):
            write(folder, unit, table)
            finished += 1
            progress(finished, total)
    return folder


def _design(study: Study, catalogue: Catalogue, learner: str, protocol: str) -> Design:
    return Design(
        pick(catalogue.protocols, protocol, "protocol"),
        pick(catalogue.auditees, study.auditee, "audited classifier"),
        pick(catalogue.learners, learner, "learner"),
        tuple(pick(catalogue.methods, name, "method") for name in study.methods),
        study.repeats,
    )


def _run(data: Dataset, unit: Unit, design: Design, study: Study) -> tuple[Unit, dict[str, Any]]:
    """Run a unit on one thread; learners of one protocol see the same trials."""
    from threadpoolctl import threadpool_limits

    place = f"{unit.dataset} {unit.protocol} {unit.partition} {unit.roles}"
    rng = np.random.default_rng([study.seed, crc32(place.encode())])
    with threadpool_limits(1):
        parts = parts_of(data, unit.partition, unit.roles, clean=study.clean)
        return unit, run_unit(parts, design, rng)
