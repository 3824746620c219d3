"""CPU time of a stress test: ten features, two groups, all quantifiers, default shifts and draws.

Usage: python -m benchmarks.stress
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from quantifair import Audit
from quantifair.quantifiers import QUANTIFIERS

RESULTS = Path(__file__).parent / "results" / "stress.json"
SIZES = (1_000, 5_000)


def survey(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw people with nine numbers and a town, of which four numbers and the town tell."""
    woman = rng.random(rows) < 0.4
    accepted = rng.random(rows) < np.where(woman, 0.4, 0.55)
    numbers = rng.normal(size=(rows, 9))
    numbers[:, :4] += 0.5 * woman[:, None]
    table = pd.DataFrame(numbers, columns=[f"x{k}" for k in range(9)])
    town = np.where(rng.random(rows) < 0.3, woman.astype(int), rng.integers(5, size=rows))
    return table.assign(
        town=np.array(["Rome", "Pisa", "Lucca", "Siena", "Prato"])[town],
        approved=np.where(accepted, "yes", "no"),
        gender=np.where(woman, "woman", "man"),
    )


def measure() -> dict[str, object]:
    """Seconds of CPU time by number of rows, on one thread, after a first call that imports."""
    audit = Audit(decision="approved", group="gender")
    tables = {rows: survey(rows, np.random.default_rng(rows)) for rows in SIZES}
    seconds = {}
    with threadpool_limits(1):
        audit.stress(tables[SIZES[0]], partitions=2, draws=1)
        for rows, table in tables.items():
            start = time.process_time()
            audit.stress(table)
            seconds[str(rows)] = round(time.process_time() - start, 2)
    return {"seconds": seconds, "quantifiers": list(QUANTIFIERS)}


if __name__ == "__main__":
    found = measure()
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found))
