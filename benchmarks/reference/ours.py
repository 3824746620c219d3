"""Our side of the comparison: a split's five protocols, on all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from quantifair.experiments.auditees import AUDITEES
from quantifair.experiments.learners import LEARNERS
from quantifair.experiments.methods import METHODS
from quantifair.experiments.outcomes import signed_errors
from quantifair.experiments.parts import ROLES, parts_of
from quantifair.experiments.protocols import PROTOCOLS
from quantifair.experiments.runner import Design, run_unit

if TYPE_CHECKING:
    from quantifair.datasets import Dataset

REPEATS = 10


def errors(data: Dataset, learner: str, split: int) -> dict[tuple[str, str], np.ndarray]:
    """Signed errors of the split's trials, by protocol and method."""
    partition, role = divmod(split, len(ROLES))
    # The longest first, so that both cores end together.
    names = sorted(PROTOCOLS, key=lambda name: not name.endswith("D1"))
    found = Parallel(n_jobs=-1)(
        delayed(protocol_errors)(data, learner, name, partition, ROLES[role]) for name in names
    )
    return {
        (name, m): e[m].to_numpy() for name, e in zip(names, found, strict=True) for m in METHODS
    }


def protocol_errors(
    data: Dataset, learner: str, protocol: str, partition: int, roles: str
) -> pd.DataFrame:
    """Errors of one protocol."""
    design = Design(
        PROTOCOLS[protocol], AUDITEES["LR"], LEARNERS[learner], tuple(METHODS.values()), REPEATS
    )
    with threadpool_limits(1):
        table = run_unit(parts_of(data, partition, roles), design, np.random.default_rng(partition))
    trial = {"dataset": data.name, "learner": learner, "protocol": protocol,
             "partition": partition, "roles": roles}  # fmt: skip
    return signed_errors(pd.DataFrame(table).assign(**trial), list(METHODS))
