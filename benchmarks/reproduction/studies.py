"""The studies that the reproduction is made of, and what of them is stored in the repository."""

from __future__ import annotations

import json
import platform
import time
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from quantifair.datasets import load
from quantifair.experiments.auditees import AUDITEES
from quantifair.experiments.methods import ABLATION
from quantifair.experiments.outcomes import method_names, refused, signed_errors
from quantifair.experiments.parts import PARTITIONS, ROLES, parts_of
from quantifair.experiments.protocols import PROTOCOLS
from quantifair.experiments.results import decoupling
from quantifair.experiments.statistics import KEYS, MEASURES, summarize
from quantifair.experiments.store import read
from quantifair.experiments.study import Study, run_study

RESULTS = Path(__file__).parents[1] / "results" / "reproduction"
DIGITS = 5
RNG = np.random.default_rng(0)
SHIFTS = ("sample-prev-D2", "sample-prev-D3")
STUDIES = {
    "LR": Study(learners=("LR",)),
    "SVM": Study(learners=("SVM",)),
    "ablation": Study(
        datasets=("adult",), learners=("LR", "SVM"), protocols=SHIFTS, methods=tuple(ABLATION)
    ),
    "fair-tree": Study(datasets=("adult",), protocols=("sample-prev-D3",), auditee="fair-tree"),
    "LR-100": Study(
        datasets=("adult", "creditcard"), learners=("LR-100",), auditee="LR-100", splits=6,
        protocols=("sample-prev-D3", "sample-prev-D2"),
    ),
}  # fmt: skip


class Deviation(NamedTuple):
    """What the reference implementation does otherwise than the paper says."""

    name: str
    text: str
    prior_of_truth: bool = False
    smoothed_truth: bool = False
    paired: bool = True


DEVIATIONS = (
    Deviation("none", "none"),
    Deviation("prior", "the accepted cell is smoothed by its true prevalence", prior_of_truth=True),
    Deviation("truth", "the true prevalences are smoothed as well", smoothed_truth=True),
    Deviation("both", "both of these", prior_of_truth=True, smoothed_truth=True),
    Deviation("unpaired", "the t-test is not paired", paired=False),
)


def run(folder: Path, jobs: int) -> None:
    """Run what is left of each study, and keep how long it took."""
    for name, study in STUDIES.items():
        started = time.perf_counter()
        before = len(list((folder / name).glob("units/*")))
        run_study(study, folder / name, jobs=jobs)
        if len(list((folder / name).glob("units/*"))) > before:
            spent = {"seconds": round(time.perf_counter() - started, 1), "jobs": jobs,
                     "note": "resumed" if before else "", "machine": platform.machine(),
                     "python": platform.python_version(), "numpy": np.__version__}  # fmt: skip
            (folder / f"{name}.json").write_text(json.dumps(spent, indent=2) + "\n")


def store(folder: Path) -> None:
    """Write what tables, figures and the page need, small enough for the repository."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    trials = {name: read(folder / name) for name in STUDIES}
    for name, frame in trials.items():
        small = signed_errors(frame, method_names(frame))
        numbers = small.select_dtypes("number").columns
        small[numbers] = small[numbers].round(DIGITS)
        small = small.astype(dict.fromkeys(method_names(frame), "float32"))
        small.to_parquet(RESULTS / f"{name}.parquet", compression="zstd", index=False)
    paper = {name: trials[name] for name in ("LR", "SVM")}
    pd.concat(map(deviations, paper.values())).to_csv(RESULTS / "deviations.csv", **CSV)
    pd.concat(map(refused, paper.values())).to_csv(RESULTS / "refused.csv", **CSV)
    pd.concat(map(lost, paper.values())).to_csv(RESULTS / "not_identified.csv", **CSV)
    shifted = (t[t["protocol"].isin(SHIFTS) & (t["dataset"] == "adult")] for t in paper.values())
    pd.concat(map(decoupling, shifted)).round(DIGITS).to_csv(RESULTS / "decoupling.csv", **CSV)
    natural = {
        "natural_lr": natural_disparity("LR"),
        "natural_fair": natural_disparity("fair-tree"),
    }
    (RESULTS / "natural.json").write_text(json.dumps(natural, indent=2) + "\n")
    spent = {name: json.loads((folder / f"{name}.json").read_text()) for name in STUDIES
             if (folder / f"{name}.json").exists()}  # fmt: skip
    (RESULTS / "time.json").write_text(json.dumps(spent, indent=2) + "\n")


def natural_disparity(auditee: str) -> float:
    """Mean true disparity of an audited classifier on Adult's whole deployment parts."""
    data, found = load("adult"), []
    for partition, roles in product(range(PARTITIONS), ROLES):
        parts = parts_of(data, partition, roles)
        trainings = PROTOCOLS["sample-prev-D3"].trainings(parts.training, repeats=1, rng=RNG)
        _, favourable = AUDITEES[auditee].decide(parts, trainings)
        rates = [favourable[0, parts.deployment.group == group].mean() for group in (0, 1)]
        found.append(rates[1] - rates[0])
    return round(float(np.mean(found)), DIGITS)


CSV = {"index": False, "lineterminator": "\n"}


def deviations(trials: pd.DataFrame) -> pd.DataFrame:
    """MAE and marks under each deviation of the reference implementation."""
    methods, frames = method_names(trials), []
    for one in DEVIATIONS:
        options = {"prior_of_truth": one.prior_of_truth, "smoothed_truth": one.smoothed_truth}
        found = summarize(signed_errors(trials, methods, **options), methods, paired=one.paired)
        columns = [*KEYS, *MEASURES, "mae_mark", "mse_mark"]
        frames.append(found[columns].round(DIGITS).assign(deviation=one.name))
    return pd.concat(frames)


def lost(trials: pd.DataFrame) -> pd.DataFrame:
    """How often a method had no answer in a cell, and its classifier's own count stood in."""
    keys, frames = ["protocol", "learner", "dataset"], []
    for method in method_names(trials):
        columns = [c for c in trials if c.startswith("lost:") and c.split(":")[1] == method]
        cells = trials[columns].fillna(0).sum(axis=1)
        found = trials[keys].assign(method=method, cells=2, lost=cells)
        frames.append(found.groupby([*keys, "method"], as_index=False).sum())
    every = pd.concat(frames)
    return every[every["lost"] > 0].astype({"lost": int})
