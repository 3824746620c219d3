"""The protocol that shrinks the auxiliary sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.experiments.protocols.base import Cells, Protocol, Training, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

_SMALLEST, _SIZES = 1_000, 5


class SampleSizeD2(Protocol):
    """sample-size-D2: five auxiliary sizes from 1,000 to all, in geometric progression."""

    name = "sample-size-D2"

    def trials(
        self, training: Training, cells: Cells, *, repeats: int, rng: np.random.Generator
    ) -> Iterator[Trial]:
        """Yield trials that share the whole deployment part."""
        del training
        people = len(cells.auxiliary)
        accepted = np.zeros(people, dtype=bool)
        accepted[cells.auxiliary_rows[1]] = True
        for size in np.geomspace(_SMALLEST, people, _SIZES).round().astype(int).tolist():
            for repeat in range(repeats):
                rows = rng.choice(people, size, replace=size > people)
                yes = accepted[rows]
                auxiliary = (rows[~yes], rows[yes])
                yield Trial("", size, repeat, auxiliary, cells.deployment_rows)
