"""Quantifiers against QuaPy, from the same precomputed posteriors, in one run.

Usage: python -m benchmarks.speed
"""

from __future__ import annotations

import json
import time
import timeit
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from quantifair.cells import DECISIONS
from quantifair.estimation import CellEstimate, Options
from quantifair.experiments.coverage import draw as posteriors
from quantifair.figures import group_results, measure_results
from quantifair.intervals import Moments, Sample, replicate_prevalences
from quantifair.quantifiers import CC, PACC, PCC, SLD, HDy
from quantifair.sketch import Sketch
from quantifair.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results" / "speed.json"
SIZES = (500, 1_000_000)
AUXILIARY = 1_000


def draw(rows: int, prevalence: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors of a group classifier with AUC 0.76, and the groups."""
    groups = (rng.random(rows) < prevalence).astype(int)
    second = 1 / (1 + np.exp(0.5 - rng.normal(groups, 1.0)))
    return np.column_stack([1 - second, second]), groups


def milliseconds(call: Callable[[], Any]) -> float:
    """Best of five rounds of CPU time, each of at least a tenth of a second."""
    once = timeit.timeit(call, number=1, timer=time.process_time)
    number = max(1, int(0.1 / max(once, 1e-6)))
    return min(timeit.repeat(call, number=number, repeat=5, timer=time.process_time)) / number * 1e3


def quapy_calls(
    scores: np.ndarray, groups: np.ndarray, sample: np.ndarray
) -> dict[str, Callable[[], Any]]:
    """QuaPy's aggregation functions, fitted on the same posteriors."""
    from quapy.functional import prevalence_from_probabilities
    from quapy.method.aggregative import ACC as QACC
    from quapy.method.aggregative import EMQ
    from quapy.method.aggregative import PACC as QPACC
    from quapy.method.aggregative import HDy as QHDy

    prior = np.bincount(groups, minlength=2) / len(groups)
    learner = LogisticRegression().fit(scores, groups)

    def fitted(method: type) -> Any:
        quantifier = method(learner, fit_classifier=False, val_split=None)
        quantifier.aggregation_fit(scores.argmax(1) if method is QACC else scores, groups)
        return quantifier

    pacc, hdy = fitted(QPACC), fitted(QHDy)
    return {
        "PCC": lambda: prevalence_from_probabilities(sample, binarize=False),
        "PACC": lambda: pacc.aggregate(sample),
        "SLD stopped": lambda: EMQ.EM(prior, sample)[0],
        "SLD converged": lambda: EMQ.EM(prior, sample, epsilon=1e-10)[0],
        "HDy": lambda: hdy.aggregate(sample),
    }


def compare(rows: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Time both on one sample size; the estimates stand beside the times."""
    scores, groups = draw(AUXILIARY, 0.5, rng)
    sample, _ = draw(rows, 0.2, rng)
    sketch = Sketch.from_scores(sample)
    ours = {
        "PCC": PCC(),
        "PACC": PACC(),
        "SLD stopped": SLD(converged=False),
        "SLD converged": SLD(),
        "HDy": HDy(),
    }
    found = []
    for name, theirs in quapy_calls(scores, groups, sample).items():
        quantifier = ours[name].fit(scores, groups)
        mine = milliseconds(lambda q=quantifier: q.predict(sample))
        sketched = milliseconds(lambda q=quantifier: q.predict(sketch))
        quapy = milliseconds(theirs)
        row = {
            "method": name,
            "rows": rows,
            "quantifair_ms": round(mine, 4),
            "sketch_ms": round(sketched, 4),
            "quapy_ms": round(quapy, 4),
            "ratio": round(quapy / mine, 1),
            "estimate": round(float(quantifier.predict(sample)[1]), 6),
            "quapy_estimate": round(float(theirs()[1]), 6),
        }
        print(row, flush=True)
        found.append(row)
    return found


def replicates(rng: np.random.Generator) -> list[dict[str, Any]]:
    """CPU time of a thousand replicates of a two-cell audit, for two deployment sizes."""
    found = []
    scores, groups = draw(AUXILIARY, 0.5, rng)
    sample = Sample(scores, groups, np.ones(len(groups)))
    for rows in SIZES:
        sketch = Sketch.from_scores(draw(rows, 0.2, rng)[0])
        for quantifier in (CC(), PCC(), PACC(), SLD(), HDy()):

            def both(q: Any = quantifier, s: Sketch = sketch) -> None:
                for seed in (0, 1):
                    seeds = np.random.SeedSequence(seed)
                    replicate_prevalences(q, sample, s, replicates=1000, seed=seeds)

            row = {"method": type(quantifier).__name__, "rows": rows}
            row["seconds"] = round(milliseconds(both) / 1e3, 3)
            print(row, flush=True)
            found.append(row)
    return found


def score_intervals(rng: np.random.Generator) -> list[dict[str, Any]]:
    """CPU time of all figures of two cells with score intervals, from their sketches."""
    found = []
    for groups in (2, 5):
        names = [str(k) for k in range(groups)]
        cells = {}
        for cell in DECISIONS:
            codes = np.arange(AUXILIARY) % groups
            scores = posteriors(codes, groups, 0.75, rng)
            theirs = rng.integers(groups, size=100_000)
            sketch = Sketch.from_scores(posteriors(theirs, groups, 0.75, rng))
            cells[cell] = Sample(scores, codes, np.ones(AUXILIARY)), sketch

        def figures(cells: Any = cells, names: list[str] = names) -> None:
            even, none = np.full(len(names), 1 / len(names)), np.empty((0, len(names)))
            estimates = {
                cell: CellEstimate(
                    even,
                    sketch.weight,
                    0 * even,
                    none,
                    Moments.of(sample, sketch.points, sketch.rows),
                    sketch.rows,
                )
                for cell, (sample, sketch) in cells.items()
            }
            spread = spread_of(estimates, Options())
            measure_results(spread, names)
            group_results(spread, names, [{}] * len(names))

        row = {"groups": groups, "ms": round(milliseconds(figures), 2)}
        print(row, flush=True)
        found.append(row)
    return found


def main(path: Path = RESULTS) -> None:
    """Measure on one thread and store."""
    rng = np.random.default_rng(0)
    with threadpool_limits(1):
        quantifiers = [row for rows in SIZES for row in compare(rows, rng)]
        stored = {
            "quantifiers": quantifiers,
            "score": score_intervals(rng),
            "replicates": replicates(rng),
        }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
