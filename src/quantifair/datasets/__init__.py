"""Data to try things on, and the data sets of the paper. Names are loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quantifair.datasets.catalogue import fetch, load
    from quantifair.datasets.dataset import Dataset
    from quantifair.datasets.lender import Lender, simulate_lender

_HOME = {
    "Dataset": "dataset",
    "Lender": "lender",
    "fetch": "catalogue",
    "load": "catalogue",
    "simulate_lender": "lender",
}

__all__ = ["Dataset", "Lender", "fetch", "load", "simulate_lender"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'quantifair.datasets' has no attribute {name!r}")
    return getattr(import_module(f"quantifair.datasets.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
