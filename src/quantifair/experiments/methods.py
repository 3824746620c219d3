"""The methods of a study: a quantifier, and what its group classifier is trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quantifair.errors import InputError
from quantifair.quantifiers import ACC, CC, MLPE, PACC, PCC, SLD, HDy

if TYPE_CHECKING:
    from quantifair.quantifiers import Quantifier

_TAKEN = ("size", "true", "prior")


@dataclass(frozen=True)
class Method:
    """A quantifier as a study uses it.

    Attributes
    ----------
    name
        What tables call it.
    quantifier
        Cloned for each block of trials; what it learns and solves has leading axes of trials.
    held_out
        Whether the group classifier is trained on 60% of a cell and the quantifier on the other
        40%; else both see the whole cell.
    hard
        Whether it sees decisions of the group classifier in place of scores.
    pooled
        Whether one quantifier, trained on both cells together, serves both.
    labels
        Whether it is judged as a classifier of people, too: by the ``decisions`` of the group
        classifier, or by ``posteriors`` corrected to its estimate.
    """

    name: str
    quantifier: Quantifier
    held_out: bool = False
    hard: bool = False
    pooled: bool = False
    labels: str = ""

    def __post_init__(self) -> None:
        if not self.name or ":" in self.name or self.name in _TAKEN:
            raise InputError(f"a method can't be called {self.name!r}; results use that name")

    @property
    def without_cells(self) -> Method:
        """The same with one quantifier for both cells: the paper's ``nosD2``."""
        return replace(self, name=f"{self.name}-nosD2", pooled=True, labels="")


_PAPER = (
    Method("CC", CC(), hard=True, labels="decisions"),
    Method("PCC", PCC()),
    Method("ACC", ACC(), held_out=True, hard=True),
    Method("PACC", PACC(), held_out=True),
    Method("SLD", SLD(converged=False), labels="posteriors"),
    Method("HDy", HDy(), held_out=True),
    Method("MLPE", MLPE()),
)

METHODS: dict[str, Method] = {m.name: m for m in _PAPER}
"""The methods of the paper, as it runs them: a 60/40 split for ACC, PACC and HDy, SLD stopped."""

ABLATION: dict[str, Method] = {
    m.name: m
    for name in ("PCC", "SLD", "PACC")
    for m in (METHODS[name], METHODS[name].without_cells)
}
"""The methods of the paper's ablation study."""
