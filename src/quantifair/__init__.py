"""Fairness of decisions, measured where nobody recorded who belongs to which group.

``Audit`` is the way in; ``quantifiers`` and ``Sketch`` are for researchers and engines;
``datasets`` holds something to try it on. Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quantifair.audit import Audit
    from quantifair.direct import threshold_estimator, weighted_estimator
    from quantifair.errors import (
        InputError,
        NotIdentifiedError,
        QuantifairError,
        SketchMismatchError,
    )
    from quantifair.fitted import FittedAudit
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
    from quantifair.results import AuditResult, Figure
    from quantifair.sketch import Sketch

__version__ = version("quantifair")

_HOMES = {
    "audit": ("Audit",),
    "direct": ("threshold_estimator", "weighted_estimator"),
    "errors": ("InputError", "NotIdentifiedError", "QuantifairError", "SketchMismatchError"),
    "fitted": ("FittedAudit",),
    "quantifiers": (
        *("ACC", "CC", "EAC", "MLPE", "PACC", "PCC", "SLD"),
        *("EDy", "HDy", "KDEy", "PosteriorMedian"),
    ),
    "results": ("AuditResult", "Figure"),
    "sketch": ("Sketch",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ACC",
    "CC",
    "EAC",
    "MLPE",
    "PACC",
    "PCC",
    "SLD",
    "Audit",
    "AuditResult",
    "EDy",
    "Figure",
    "FittedAudit",
    "HDy",
    "InputError",
    "KDEy",
    "NotIdentifiedError",
    "PosteriorMedian",
    "QuantifairError",
    "Sketch",
    "SketchMismatchError",
    "threshold_estimator",
    "weighted_estimator",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'quantifair' has no attribute {name!r}")
    return getattr(import_module(f"quantifair.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
