"""Protocols that shift the prevalence among people with one decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from quantifair.experiments.protocols.base import (
    SIZE,
    SUBS,
    Cells,
    Protocol,
    Training,
    Trial,
    sample,
    sample_at,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from quantifair.experiments.parts import Part

    IntArray = NDArray[np.int64]


class _Shift(Protocol):
    """Sample one cell at each prevalence and the other as it is, in either order."""

    values: ClassVar[tuple[float, ...]]

    def samples(
        self, part: Part, rows: tuple[IntArray, IntArray], repeats: int, rng: np.random.Generator
    ) -> Iterator[tuple[str, float, int, tuple[IntArray, IntArray]]]:
        """Yield the sub-protocol, prevalence, repetition and sampled cells."""
        for varied, sub in enumerate(SUBS):
            for value in self.values:
                for repeat in range(repeats):
                    drawn = [sample(r, SIZE, rng) if k != varied else r for k, r in enumerate(rows)]
                    drawn[varied] = sample_at(rows[varied], part.group, value, rng)
                    yield sub, value, repeat, (drawn[0], drawn[1])


class SamplePrevD3(_Shift):
    """sample-prev-D3: the prevalence among the deployment's people with one decision.

    It takes eleven values from 0 to 1, as the paper's text has it (its pseudocode has nine).
    """

    name = "sample-prev-D3"
    values = tuple(k / 10 for k in range(11))

    def trials(
        self, training: Training, cells: Cells, *, repeats: int, rng: np.random.Generator
    ) -> Iterator[Trial]:
        """Yield trials that share the whole auxiliary part."""
        del training
        known = [share(cells.auxiliary, rows) for rows in cells.auxiliary_rows]
        drawn = self.samples(cells.deployment, cells.deployment_rows, repeats, rng)
        for sub, value, repeat, rows in drawn:
            yield Trial(sub, value, repeat, cells.auxiliary_rows, rows, known[SUBS.index(sub)])


class SamplePrevD2(_Shift):
    """sample-prev-D2: the prevalence among the auxiliary people with one decision, 0.1 to 0.9."""

    name = "sample-prev-D2"
    values = tuple(k / 10 for k in range(1, 10))

    def trials(
        self, training: Training, cells: Cells, *, repeats: int, rng: np.random.Generator
    ) -> Iterator[Trial]:
        """Yield trials that share the whole deployment part."""
        del training
        known = [share(cells.deployment, rows) for rows in cells.deployment_rows]
        drawn = self.samples(cells.auxiliary, cells.auxiliary_rows, repeats, rng)
        for sub, value, repeat, rows in drawn:
            yield Trial(sub, value, repeat, rows, cells.deployment_rows, known[SUBS.index(sub)])
