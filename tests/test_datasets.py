"""The simulated lender is what its documentation says."""

import numpy as np
import pyarrow as pa
import pytest

from quantifair import InputError
from quantifair.datasets import simulate_lender

LENDER = simulate_lender(auxiliary_rows=20_000, deployment_rows=20_000, seed=1)
NUMBERS = ["amount", "years_employed", "part_time", "car_loan"]


def test_the_same_seed_gives_the_same_tables() -> None:
    first, again, other = (
        simulate_lender(auxiliary_rows=50, deployment_rows=70, seed=seed) for seed in (4, 4, 5)
    )
    for name in ("auxiliary", "deployment", "truth"):
        assert getattr(first, name).to_pandas().equals(getattr(again, name).to_pandas())
        assert not getattr(first, name).to_pandas().equals(getattr(other, name).to_pandas())


def test_the_deployment_is_the_truth_without_the_gender() -> None:
    assert LENDER.truth.column_names == [*LENDER.deployment.column_names, "true_gender"]
    assert LENDER.truth.drop(["true_gender"]).to_pandas().equals(LENDER.deployment.to_pandas())
    assert "gender" not in LENDER.deployment.column_names
    assert LENDER.auxiliary.column_names == [*LENDER.deployment.column_names, "gender"]


def test_tables_have_as_many_rows_as_asked() -> None:
    lender = simulate_lender(auxiliary_rows=3, deployment_rows=1)
    assert (lender.auxiliary.num_rows, lender.deployment.num_rows) == (3, 1)


@pytest.mark.parametrize("rows", [{"auxiliary_rows": 0}, {"deployment_rows": -5}])
def test_a_lender_without_applicants_is_refused(rows: dict[str, int]) -> None:
    with pytest.raises(InputError, match="at least one applicant in each table"):
        simulate_lender(**rows)


@pytest.mark.parametrize(
    ("table", "gender", "approved", "women"),
    [
        (LENDER.auxiliary, "gender", "no", 0.50),
        (LENDER.auxiliary, "gender", "yes", 0.40),
        (LENDER.truth, "true_gender", "no", 0.62),
        (LENDER.truth, "true_gender", "yes", 0.22),
    ],
    ids=["rejected, surveyed", "approved, surveyed", "rejected later", "approved later"],
)
def test_women_are_as_common_as_documented(
    table: pa.Table, gender: str, approved: str, women: float
) -> None:
    people = table.to_pandas()
    chosen = people[people["approved"] == approved]
    assert (chosen[gender] == "woman").mean() == pytest.approx(women, abs=0.02)


def test_within_gender_and_decision_the_features_follow_the_same_law() -> None:
    survey = LENDER.auxiliary.to_pandas().groupby(["gender", "approved"])[NUMBERS]
    truth = LENDER.truth.to_pandas().rename(columns={"true_gender": "gender"})
    later = truth.groupby(["gender", "approved"])[NUMBERS]
    errors = np.sqrt(survey.var() / survey.count() + later.var() / later.count())
    assert ((survey.mean() - later.mean()).abs() / errors).to_numpy().max() < 4


def test_features_tell_the_genders_apart_within_a_decision() -> None:
    approved = LENDER.auxiliary.to_pandas().query("approved == 'yes'").groupby("gender")
    assert approved["part_time"].mean()["woman"] > approved["part_time"].mean()["man"] + 0.1
    assert approved["car_loan"].mean()["woman"] < approved["car_loan"].mean()["man"] - 0.1


def test_some_incomes_are_missing() -> None:
    missing = LENDER.deployment["income"].to_pandas().isna().mean()
    assert missing == pytest.approx(0.03, abs=0.01)
