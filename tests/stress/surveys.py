"""Small auxiliary tables, and what the stress tests' tests do with them."""

from typing import Any

import numpy as np
import pandas as pd

from quantifair import Audit
from quantifair.auxiliary import Auxiliary, read_auxiliary
from quantifair.tables import open_table

AUDIT = Audit(decision="ok", group="g", training="split")


def survey(rows: int = 800, *, apart: float = 2.0, groups: str = "ab", seed: int = 0) -> Any:
    """Draw people whose feature ``x`` tells the groups apart, and ``z``, which does not."""
    rng = np.random.default_rng(seed)
    code = rng.integers(len(groups), size=rows)
    accepted = rng.random(rows) < np.where(code == 1, 0.35, 0.6)
    return pd.DataFrame(
        {
            "x": rng.normal(size=rows) + apart * code,
            "z": rng.normal(size=rows),
            "ok": np.where(accepted, "yes", "no"),
            "g": np.array(list(groups))[code],
        }
    )


def read(table: Any, audit: Audit = AUDIT) -> Auxiliary:
    return read_auxiliary(audit, open_table(table, "auxiliary"), None)
