"""The methods of a study: a quantifier, and what its group classifier is trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from quantifair.errors import InputError, did_you_mean
from quantifair.quantifiers import (
    ACC,
    CC,
    EAC,
    MLPE,
    PACC,
    PCC,
    SLD,
    EDy,
    HDy,
    KDEy,
    PosteriorMedian,
)

if TYPE_CHECKING:
    from quantifair.quantifiers import Quantifier

Training = Literal["whole", "held_out", "folds"]
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
    training
        ``whole``: the group classifier and the quantifier see the whole auxiliary cell.
        ``held_out``: the classifier is trained on 60% of it, the quantifier on the other 40%.
        ``folds``: five classifiers are trained, each without a fifth, which it scores for the
        quantifier; the deployment is scored by their mean, and scores are calibrated, as ``Audit``
        does by default.
    hard
        Whether it sees decisions of the group classifier in place of scores.
    pooled
        Whether one quantifier, trained on both cells together, serves both.
    labels
        Whether it is judged as a classifier of people, too: by the ``decisions`` of the group
        classifier, or by ``posteriors`` corrected to its estimate.
    interval
        Whether the default interval of the disparity is kept, too. It takes ``folds``.
    """

    name: str
    quantifier: Quantifier
    training: Training = "whole"
    hard: bool = False
    pooled: bool = False
    labels: str = ""
    interval: bool = False

    def __post_init__(self) -> None:
        if not self.name or ":" in self.name or self.name in _TAKEN:
            raise InputError(f"a method can't be called {self.name!r}; results use that name")
        known = get_args(Training)
        if self.training not in known:
            raise InputError(f"no training {self.training!r}; {did_you_mean(self.training, known)}")
        if self.interval and (self.training != "folds" or self.pooled):
            raise InputError(f"{self.name}: an interval takes training='folds' and a cell's own")

    @property
    def without_cells(self) -> Method:
        """The same with one quantifier for both cells: the paper's ``nosD2``."""
        return replace(self, name=f"{self.name}-nosD2", pooled=True, labels="")


_PAPER = (
    Method("CC", CC(), hard=True, labels="decisions"),
    Method("PCC", PCC()),
    Method("ACC", ACC(), training="held_out", hard=True),
    Method("PACC", PACC(), training="held_out"),
    Method("SLD", SLD(converged=False), labels="posteriors"),
    Method("HDy", HDy(), training="held_out"),
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

_OWN = (
    Method("PCC-x", PCC(), training="folds"),
    Method("ACC-x", ACC(), training="folds"),
    Method("PACC-x", PACC(), training="folds", interval=True),
    Method("HDy-x", HDy(), training="folds"),
    Method("SLD-x", SLD(), training="folds"),
    Method("EAC-x", EAC(), training="folds"),
    Method("KDEy-x", KDEy(), training="folds"),
    Method("EDy-x", EDy(), training="folds"),
    Method("posterior-x", PosteriorMedian(), training="folds"),
)

CROSSED: dict[str, Method] = {m.name: m for m in _OWN}
"""Methods as the package runs them by default: on cross-fitted and calibrated scores."""

LADDER: dict[str, Method] = METHODS | CROSSED
"""The paper's methods as the paper runs them, and the package's."""
