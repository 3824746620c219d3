"""How large is a sketch, what does an import cost, how many classifiers are fitted?

Usage: python -m benchmarks.sizes
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression

from quantifair import Audit
from quantifair.datasets import simulate_lender
from quantifair.quantifiers import QUANTIFIERS
from quantifair.sketch import Sketch

RESULTS = Path(__file__).parent / "results" / "sizes.json"
ROWS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
GROUPS = (2, 3, 5, 10)
BATCH = 65_536


def sketch_size(rows: int, groups: int, rng: np.random.Generator) -> dict[str, Any]:
    """Bytes of a sketch of scores that a softmax of noisy features gives."""
    centres = rng.normal(size=(groups, 4))
    total = Sketch.from_scores(np.empty((0, groups)))
    for start in range(0, rows, BATCH):
        number = min(BATCH, rows - start)
        features = rng.normal(size=(number, 4)) + centres[rng.integers(groups, size=number)]
        logits = features @ centres.T - (centres**2).sum(axis=1) / 2
        scores = np.exp(logits - logits.max(axis=1, keepdims=True))
        total = total + Sketch.from_scores(scores / scores.sum(axis=1, keepdims=True))
    size = len(total.to_bytes())
    row = {"groups": groups, "rows": rows, "bytes": size, "per_row": round(size / rows, 2)}
    print(row, flush=True)
    return row


def import_seconds(module: str) -> float:
    """CPU time of a fresh interpreter that imports a module, best of seven."""
    code = f"import time; a = time.process_time(); import {module}; print(time.process_time() - a)"
    runs = (subprocess.check_output([sys.executable, "-c", code]) for _ in range(7))  # noqa: S603
    return min(float(run) for run in runs)


def classifier_fits() -> dict[str, int]:
    """Count fits of the learner while all seven quantifiers estimate two cells."""
    lender = simulate_lender(auxiliary_rows=1_000, deployment_rows=1_000)
    fits = 0
    fit = LogisticRegression.fit

    def counted(self: LogisticRegression, *args: Any, **options: Any) -> Any:
        nonlocal fits
        fits += 1
        return fit(self, *args, **options)

    with patch.object(LogisticRegression, "fit", counted):
        fitted = Audit(decision="approved", group="gender", learner="logistic", replicates=0).fit(
            lender.auxiliary
        )
        sketches = fitted.sketch(lender.deployment)
        for name in QUANTIFIERS:
            fitted.measure(sketches, quantifier=name)
    return {"cells": 2, "quantifiers": len(QUANTIFIERS), "fits": fits}


def main(path: Path = RESULTS) -> None:
    """Measure and store."""
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    sizes = [sketch_size(r, 2, rng) for r in ROWS]
    sizes += [sketch_size(r, g, rng) for g in GROUPS[1:] for r in ROWS[:-1]]
    modules = ("quantifair", "sklearn.linear_model")
    imports = {m: round(import_seconds(m), 3) for m in modules}
    stored = {"sketches": sizes, "imports": imports, "fits": classifier_fits()}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n")
    print(imports, stored["fits"], f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
