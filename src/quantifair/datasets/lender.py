"""A simulated lender whose true disparities are known, shifted against its survey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_SECTORS = np.array(["care", "construction", "education", "industry", "office", "retail"])
_SECTOR_SHARES = {
    "man": [0.06, 0.20, 0.07, 0.32, 0.20, 0.15],
    "woman": [0.24, 0.02, 0.19, 0.11, 0.22, 0.22],
}
_SURVEY_WOMEN = (0.50, 0.40)
_DEPLOYMENT_WOMEN = (0.62, 0.22)
_ACCEPTED = 0.55


@dataclass(frozen=True)
class Lender:
    """Tables of the simulated lender.

    Attributes
    ----------
    auxiliary
        A survey of applicants who told their ``gender``.
    deployment
        All applicants of a later month, without it.
    truth
        The same applicants in the same order, with it as ``true_gender``.
    """

    auxiliary: pa.Table
    deployment: pa.Table
    truth: pa.Table


def simulate_lender(
    *, auxiliary_rows: int = 3_000, deployment_rows: int = 30_000, seed: int = 0
) -> Lender:
    """Simulate a lender that approves by features which differ between men and women.

    Within each decision, the features of a gender follow the same law in the survey and in the
    deployment, but women are less common among those approved later (22% against 40%), and more
    among those rejected (62% against 50%): prior shift, as quantifiers assume it.

    Examples
    --------
    >>> lender = simulate_lender(auxiliary_rows=200, deployment_rows=500)
    >>> lender.deployment.num_rows, "gender" in lender.deployment.column_names
    (500, False)
    """
    if min(auxiliary_rows, deployment_rows) < 1:
        raise InputError("a simulated lender needs at least one applicant in each table")
    rng = np.random.default_rng(seed)
    survey = _draw(auxiliary_rows, _SURVEY_WOMEN, rng)
    later = _draw(deployment_rows, _DEPLOYMENT_WOMEN, rng)
    truth = later.rename_columns([*later.column_names[:-1], "true_gender"])
    return Lender(survey, later.select(later.column_names[:-1]), truth)


def _draw(rows: int, women: tuple[float, float], rng: np.random.Generator) -> pa.Table:
    """Draw applicants with a given share of women among those rejected and approved."""
    import pyarrow as pa

    approved = rng.random(rows) < _ACCEPTED
    woman = rng.random(rows) < np.where(approved, women[1], women[0])
    columns: dict[str, Any] = {}
    for gender, decision in ((g, d) for g in (False, True) for d in (False, True)):
        place = np.flatnonzero((woman == gender) & (approved == decision))
        for name, values in _applicants(
            len(place), woman=gender, approved=decision, rng=rng
        ).items():
            columns.setdefault(name, np.empty(rows, dtype=values.dtype))[place] = values
    columns["approved"] = np.where(approved, "yes", "no")
    columns["repaid"] = columns["repaid"].astype(bool)
    columns["gender"] = np.where(woman, "woman", "man")
    return pa.table(columns)


def _applicants(
    rows: int,
    *,
    woman: bool,
    approved: bool,
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    """Draw people of one gender and decision by rejection from all of that gender."""
    kept: list[dict[str, NDArray[Any]]] = []
    found = 0
    while not kept or found < rows:
        people, score = _population(4 * rows + 100, woman=woman, rng=rng)
        chosen = (score > 0) == approved
        kept.append({name: values[chosen] for name, values in people.items()})
        found += int(chosen.sum())
    return {name: np.concatenate([k[name] for k in kept])[:rows] for name in kept[0]}


def _population(
    rows: int,
    *,
    woman: bool,
    rng: np.random.Generator,
) -> tuple[dict[str, NDArray[Any]], FloatArray]:
    sector = rng.choice(_SECTORS, size=rows, p=_SECTOR_SHARES["woman" if woman else "man"])
    part_time = rng.random(rows) < (0.42 if woman else 0.12)
    years = rng.gamma(2.0, 3.5 if woman else 4.5, rows).round(1)
    income = np.exp(rng.normal(10.3 - 0.12 * woman - 0.45 * part_time, 0.35, rows)).round(-2)
    amount = np.exp(rng.normal(9.2 - 0.15 * woman, 0.6, rows)).round(-2)
    car_loan = rng.random(rows) < (0.18 if woman else 0.36)
    opened = np.datetime64("2015-01-01") + rng.integers(0, 3650, rows)
    burden = np.log(amount) - np.log(income)
    score = 0.6 * (np.log(income) - 10.1) + 0.04 * years - 0.5 * (burden + 1)
    chance = 1 / (1 + np.exp(-(1.2 + score)))
    people = {
        "income": np.where(rng.random(rows) < 0.03, np.nan, income),
        "amount": amount,
        "years_employed": years,
        "part_time": part_time,
        "sector": sector,
        "car_loan": car_loan,
        "account_opened": opened,
        "repaid": rng.random(rows) < chance,
    }
    return people, score + rng.normal(0, 0.5, rows)
