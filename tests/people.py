"""Small tables of people, and a quick audit of them."""

from typing import Any

import numpy as np
import pandas as pd

from quantifair import Audit
from quantifair.results import AuditResult

ROLES = {"decision": "ok", "group": "g", "training": "split", "replicates": 20}


def draw(rows: int, seed: int) -> pd.DataFrame:
    """Draw people of groups ``a`` and ``b``, told apart by ``x``; ``a`` is accepted more often."""
    rng = np.random.default_rng(seed)
    in_b = rng.random(rows) < 0.5
    accepted = rng.random(rows) < np.where(in_b, 0.4, 0.6)
    return pd.DataFrame(
        {
            "x": rng.normal(size=rows) + 2 * in_b,
            "city": rng.choice(["Rome", "Pisa", "Lucca"], rows),
            "ok": np.where(accepted, "yes", "no"),
            "g": np.where(in_b, "b", "a"),
        }
    )


def tables(**columns: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw an auxiliary table and a deployment table, and put columns in place of theirs.

    A column is a value, or a function of a table and a generator; ``None`` leaves it out.
    """
    auxiliary, deployment = draw(200, 1), draw(150, 2).drop(columns="g")
    return with_columns(auxiliary, **columns), with_columns(
        deployment, **{name: value for name, value in columns.items() if name != "g"}
    )


def with_columns(table: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(len(table))
    for name, value in columns.items():
        if value is None:
            table = table.drop(columns=name)
        else:
            table = table.assign(**{name: value(table, rng) if callable(value) else value})
    return table


def roles_with(**roles: Any) -> dict[str, Any]:
    """Return the roles; score columns need no training."""
    return {k: v for k, v in ROLES.items() if k != "training" or "scores" not in roles} | roles


def audited(auxiliary: Any, deployment: Any, **roles: Any) -> AuditResult:
    return Audit(**roles_with(**roles)).fit(auxiliary).measure(deployment)


def codes(result: Any) -> list[str]:
    return [warning.code for warning in result.warnings]


def parity(result: AuditResult) -> float:
    """Return the estimate of the demographic parity difference, where there is one."""
    estimate = result.demographic_parity.difference.estimate
    assert estimate is not None, codes(result)
    return estimate
