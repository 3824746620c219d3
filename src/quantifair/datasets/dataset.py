"""A data set of the paper, and how its tables become a matrix."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from quantifair.datasets.store import DataFile

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set of the paper; its arrays are read-only.

    Attributes
    ----------
    name
        What ``load`` calls it.
    features
        X, without the group: a row for each person, a column for each feature.
    feature_names
        Names of the columns; a dummy is called ``column=value``.
    group
        S, 0 or 1.
    label
        Y, 0 or 1; 1 is the favourable one.
    group_name, group_values
        What S records, and what its 0 and 1 mean.
    label_name, label_values
        What Y records, and what its 0 and 1 mean.
    """

    name: str
    features: FloatArray = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    group: IntArray = field(repr=False)
    label: IntArray = field(repr=False)
    group_name: str
    group_values: tuple[str, str]
    label_name: str
    label_values: tuple[str, str]

    def __post_init__(self) -> None:
        for array in (self.features, self.group, self.label):
            array.flags.writeable = False

    @property
    def counts(self) -> IntArray:
        """Number of people by group (row) and label (column)."""
        return np.bincount(2 * self.group + self.label, minlength=4).reshape(2, 2)

    def standardised(self, *, rows: ArrayLike | None = None) -> Dataset:
        """Return the data set with features of mean zero and unit variance.

        Parameters
        ----------
        rows
            The rows that give means and deviations, as a mask or as indices: those to train on,
            for a clean experiment. By default all, as in the paper, so that the features of the
            training rows know of the test rows. A feature that is constant in them is centred.

        Examples
        --------
        >>> three = Dataset(
        ...     name="three",
        ...     features=np.array([[1.0], [3.0], [9.0]]),
        ...     feature_names=("age",),
        ...     group=np.array([0, 1, 1]),
        ...     label=np.array([0, 0, 1]),
        ...     group_name="sex",
        ...     group_values=("female", "male"),
        ...     label_name="hired",
        ...     label_values=("no", "yes"),
        ... )
        >>> three.standardised(rows=[0, 1]).features.ravel().tolist()
        [-1.0, 1.0, 7.0]
        """
        known = self.features if rows is None else self._rows(np.asarray(rows))
        scale = known.std(axis=0)
        varies = known.max(axis=0) > known.min(axis=0)
        features = (self.features - known.mean(axis=0)) / np.where(varies, scale, 1.0)
        return replace(self, features=features)

    def _rows(self, rows: NDArray[Any]) -> FloatArray:
        """Return the features of the rows of a mask or of indices."""
        if rows.ndim != 1 or not rows.size or (rows.dtype == bool and not rows.any()):
            raise InputError("give one row at least to standardise on, as a mask or as indices")
        try:
            features: FloatArray = self.features[rows]
        except IndexError as error:
            raise InputError(f"the rows to standardise on: {error}") from error
        return features


@dataclass(frozen=True)
class Entry:
    """What the catalogue knows about a data set without its files.

    Attributes
    ----------
    name, title, about
        What it is called, in short, in full, and what it holds.
    preparation
        What becomes of the official files.
    licence
        Under which licence it is published.
    files
        Its files.
    prepare
        Makes the data set, not standardised, of the files' bytes.
    rows, columns
        Its size after preparation: people and features.
    group, label
        What S and Y mean.
    counts
        People with (S, Y) = (0, 0), (0, 1), (1, 0), (1, 1).
    """

    name: str
    title: str
    about: str
    preparation: str
    licence: str
    files: tuple[DataFile, ...]
    prepare: Callable[..., Dataset]
    rows: int
    columns: int
    group: str
    label: str
    counts: tuple[int, int, int, int]


def read_csv(raw: bytes, names: Sequence[str] | None = None) -> dict[str, NDArray[np.str_]]:
    r"""Return the columns of a CSV file as text; of columns of one name, the first.

    Parameters
    ----------
    raw
        The file in UTF-8. Blanks after a comma, empty lines and lines starting with ``|`` are
        not data.
    names
        Names of the columns of a file without a header.

    Examples
    --------
    >>> read_csv(b"a,b,a\n1, x,2\n\n")
    {'a': array(['1'], dtype='<U1'), 'b': array(['x'], dtype='<U1')}
    """
    text = io.StringIO(raw.decode("utf-8"), newline="")
    rows = [r for r in csv.reader(text, skipinitialspace=True) if r and not r[0].startswith("|")]
    header = rows.pop(0) if names is None else names
    columns: dict[str, NDArray[np.str_]] = {}
    for name, values in zip(header, zip(*rows, strict=True), strict=True):
        columns.setdefault(name, np.array(values))
    return columns


def encode(
    columns: Mapping[str, NDArray[Any]], *, numbers: Sequence[str], categories: Sequence[str]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the matrix of features and their names: numbers first, then dummies.

    Of the values of a category, sorted, the first gets no dummy.

    Examples
    --------
    >>> columns = {"age": np.array(["30", "4"]), "job": np.array(["b", "a"])}
    >>> encode(columns, numbers=["age"], categories=["job"])
    (array([[30.,  1.],
           [ 4.,  0.]]), ('age', 'job=b'))
    """
    parts = [columns[name].astype(np.float64)[:, None] for name in numbers]
    names = list(numbers)
    for name in categories:
        values = np.unique(columns[name])[1:]
        parts.append((columns[name][:, None] == values).astype(np.float64))
        names += [f"{name}={value}" for value in values]
    return np.hstack(parts), tuple(names)
