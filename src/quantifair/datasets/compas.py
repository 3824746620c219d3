"""COMPAS: whether a defendant in Broward County reoffended."""

from __future__ import annotations

import numpy as np

from quantifair.datasets.dataset import Dataset, Entry, encode, read_csv
from quantifair.datasets.sources import Web, Wheel
from quantifair.datasets.store import DataFile

_NUMBERS = ("age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
_GROUPS = ("African-American", "Caucasian")
_NAME = "compas-scores-two-years.csv"


def prepare(raw: bytes) -> Dataset:
    """Make the data set of ProPublica's file, by ProPublica's filters.

    The label is ``is_recid == 0``, as in the paper's code, not ``two_year_recid``.
    """
    every = read_csv(raw)
    days = every["days_b_screening_arrest"]
    kept_rows = (
        (np.abs(np.where(days == "", "nan", days).astype(np.float64)) <= 30)
        & (every["is_recid"] != "-1")
        & (every["c_charge_degree"] != "O")
        & (every["score_text"] != "N/A")
        & np.isin(every["race"], _GROUPS)
    )
    kept = {name: values[kept_rows] for name, values in every.items()}
    features, names = encode(kept, numbers=_NUMBERS, categories=("c_charge_degree",))
    return Dataset(
        name="compas",
        features=features,
        feature_names=names,
        group=(kept["race"] == "Caucasian").astype(np.int64),
        label=(kept["is_recid"] == "0").astype(np.int64),
        group_name="race",
        group_values=_GROUPS,
        label_name="recidivist",
        label_values=("yes", "no"),
    )


COMPAS = Entry(
    name="compas",
    title="COMPAS (ProPublica)",
    about="Defendants in Broward County, Florida, 2013 and 2014, and whether they reoffended.",
    preparation="ProPublica's filters; African-American and Caucasian defendants only; the label "
    "is is_recid == 0, not two_year_recid; the degree of the charge is a dummy.",
    licence="none stated",
    files=(
        DataFile(
            name=_NAME,
            sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
            page="https://github.com/propublica/compas-analysis",
            sources=(
                Web(f"https://raw.githubusercontent.com/propublica/compas-analysis/master/{_NAME}"),
                Wheel("aif360==0.2.3", f"aif360/data/raw/compas/{_NAME}", 56),
                # Its metadata is refused by pip 24.1 and later.
                Wheel("fairness==0.1.8", "fairness/data/raw/propublica-recidivism.csv", 14),
            ),
        ),
    ),
    prepare=prepare,
    rows=5_278,
    columns=6,
    group="race: 0 African-American, 1 Caucasian",
    label="recidivist: 0 yes, 1 no",
    counts=(1_773, 1_402, 874, 1_229),
)
