"""The five protocols of the paper, each of which shifts something else."""

from quantifair.experiments.protocols.base import (
    SIZE,
    SUBS,
    Cells,
    Protocol,
    Training,
    Trial,
    sample,
    sample_at,
)
from quantifair.experiments.protocols.shift import SamplePrevD2, SamplePrevD3
from quantifair.experiments.protocols.size import SampleSizeD2
from quantifair.experiments.protocols.training import FlipPrevD1, SamplePrevD1

__all__ = [
    "PROTOCOLS",
    "SIZE",
    "SUBS",
    "Cells",
    "FlipPrevD1",
    "Protocol",
    "SamplePrevD1",
    "SamplePrevD2",
    "SamplePrevD3",
    "SampleSizeD2",
    "Training",
    "Trial",
    "sample",
    "sample_at",
]

PROTOCOLS: dict[str, Protocol] = {
    p.name: p
    for p in (SamplePrevD3(), SamplePrevD2(), SampleSizeD2(), SamplePrevD1(), FlipPrevD1())
}
