"""Features that say nothing in the deployment are noticed, whatever makes them blank there."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.people import codes, tables

from quantifair import Audit
from quantifair.profiles import STATES, Profile


def features(rows: int = 400, seed: int = 1) -> pd.DataFrame:
    """Draw numbers, dates and text, some of each missing."""
    rng = np.random.default_rng(seed)
    days = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, rows), "D"))
    town = pd.Series(rng.choice(["Rome", "Pisa", "Lucca"], rows, p=[0.5, 0.3, 0.2]), dtype=object)
    gone = rng.random((3, rows)) < 0.1
    return pd.DataFrame(
        {
            "income": np.where(gone[0], np.nan, rng.normal(30_000, 5_000, rows)),
            "flag": (rng.random(rows) < 0.3).astype(float),
            "day": days.astype("datetime64[us]").mask(gone[1]),
            "town": town.mask(gone[2]),
        }
    )


def noticed(deployment: pd.DataFrame, auxiliary: pd.DataFrame | None = None) -> dict[str, str]:
    """Return what is said of each feature."""
    profile = Profile.of(features() if auxiliary is None else auxiliary)
    return {c.where: c.message for c in profile.cautions(profile.counts(deployment))}


def test_rows_are_counted_by_what_the_auxiliary_table_knows() -> None:
    auxiliary = pd.DataFrame({"x": np.arange(10.0), "town": ["Rome"] * 6 + ["Pisa"] * 4})
    there = pd.DataFrame({"x": [-5.0, 4.5, 99.0, np.nan], "town": ["Pisa", None, "Ostia", "Rome"]})
    x, town = Profile.of(auxiliary).counts(there)
    assert x[:2].tolist() == [1, 0]
    assert town[:2].tolist() == [1, 1]
    assert x[2:].nonzero()[0].tolist() == [0, 5, 9]
    assert x.sum() == town.sum() == 4


def test_counts_of_blocks_add_up_to_those_of_the_table() -> None:
    profile, there = Profile.of(features()), features(100, seed=2)
    parts = profile.counts(there[:30]) + profile.counts(there[30:])
    assert parts.tolist() == profile.counts(there).tolist()
    assert parts.sum(axis=1).tolist() == [100] * 4
    assert profile.counts(there[:0]).shape == (4, STATES)


@pytest.mark.parametrize("rows", [1, 10, 100, 5_000])
def test_people_like_the_auxiliary_ones_bring_no_caution(rows: int) -> None:
    for seed in range(2, 12):
        there = features(rows, seed)
        filled = there.fillna({"income": 3e4, "day": pd.Timestamp("2024-02-01"), "town": "Pisa"})
        assert noticed(filled) == {}
        if rows > 1:
            assert noticed(there) == {}


BLANK: dict[str, tuple[str, Any, str]] = {
    "numbers all missing": ("income", np.nan, "is missing in 100% of the rows (auxiliary: 9%)"),
    "text all missing": ("town", None, "is missing in 100% of the rows"),
    "dates all missing": ("day", pd.NaT, "is missing in 100% of the rows"),
    "most missing": ("income", [np.nan] * 80 + [3e4] * 20, "is missing in 80% of the rows"),
    "a code for missing": ("income", -999.0, "has about one value in all rows (as 9% of"),
    "another unit": ("income", np.linspace(20, 40, 100), "has about one value in all rows"),
    "one flag": ("flag", 0.0, "has about one value in all rows (as 7"),
    "one town": ("town", "Pisa", "has about one value in all rows"),
    "one day": ("day", pd.Timestamp(dt.datetime(2025, 1, 1)), "has about one value in all rows"),
    "other capitals": ("town", "ROME", "has values that the auxiliary table lacks in 100% of"),
    "a trailing blank": ("town", ["Rome "] * 70 + ["Pisa"] * 30, "table lacks in 70% of the rows"),
}


@pytest.mark.parametrize("case", BLANK)
def test_a_feature_that_says_nothing_in_the_deployment_is_named(case: str) -> None:
    name, values, message = BLANK[case]
    found = noticed(features(100, seed=2).assign(**{name: values}))
    assert list(found) == [name]
    assert message in found[name]
    assert "check that both tables write it alike" in found[name]


def test_what_says_nothing_in_the_auxiliary_table_may_be_anything() -> None:
    here = features().assign(income=7.0, flag=np.nan, day=pd.NaT, town=None)
    assert noticed(features(100, seed=2), here) == {}


def test_names_that_are_new_in_either_table_are_no_wonder() -> None:
    here = features(400).assign(town=[f"person {i}" for i in range(400)])
    there = features(100).assign(town=[f"person {i}" for i in range(1_000, 1_100)])
    assert noticed(there, here) == {}


def test_one_value_in_a_few_rows_may_be_chance() -> None:
    assert noticed(features(50, seed=2).assign(flag=0.0)) == {}


def test_an_audit_says_so_of_a_table_of_parts_and_of_a_sketch() -> None:
    auxiliary, deployment = tables()
    unlike = deployment.assign(city=deployment["city"].str.upper())
    fitted = Audit(decision="ok", group="g", training="split", replicates=20).fit(auxiliary)
    whole = fitted.measure(unlike)
    parts = fitted.measure(fitted.sketch(unlike[:70]) + fitted.sketch(unlike[70:]))
    for result in (whole, parts):
        (caution,) = result.warnings
        assert (caution.code, caution.where) == ("feature_differs", "city")
        assert "has values that the auxiliary table lacks in 100% of the rows" in caution.message
    assert codes(fitted.measure(deployment)) == []
