"""How well does each group classifier predict the group, and which one is chosen?

Usage: python -m benchmarks.learners [data sets]
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quantifair import Audit
from quantifair.datasets import load
from quantifair.experiments.parts import parts_of

RESULTS = Path(__file__).parent / "results" / "learners.csv"
PARTITIONS = (0, 1)


def people(name: str, partition: int) -> pd.DataFrame:
    """Return the second third, decided upon by a logistic regression of the label on the first."""
    data = load(name)
    training, auxiliary, _ = parts_of(data, partition, "ABC")
    decider = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    decider.fit(training.features, training.label)
    frame = pd.DataFrame(auxiliary.features, columns=list(data.feature_names))
    return frame.assign(group_=auxiliary.group, decision_=decider.predict(auxiliary.features))


def measured(name: str, partition: int) -> list[dict[str, Any]]:
    """Train a part's cells, and return a row for each cell and classifier that was tried."""
    started = time.process_time()
    audit = Audit(decision="decision_", group="group_", learner="best")
    cells = audit.fit(people(name, partition)).cells.values()
    seconds = round(time.process_time() - started, 1)
    return [
        {
            "data": name,
            "partition": partition,
            "cell": cell.name.removesuffix("_"),
            "rows": sum(cell.rows),
            "smallest_group": min(cell.rows),
            "classifier": classifier,
            "log_loss": round(loss, 4),
            "log_loss_of_shares": round(cell.choice.log_loss_of_shares, 4),
            "chosen": classifier == cell.choice.chosen,
            "seconds_for_all_cells": seconds,
        }
        for cell in cells
        if cell.choice is not None
        for classifier, loss in cell.choice.log_loss.items()
    ]


def main(names: list[str]) -> None:
    """Measure the data sets and store the table."""
    rows = [row for name in names for p in PARTITIONS for row in measured(name, p)]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:] or ["adult", "compas", "creditcard"])
