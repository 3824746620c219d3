"""The page's section on time: each study's, and the reference implementation's beside ours."""

from __future__ import annotations

import json

import pandas as pd

from benchmarks.reproduction.studies import RESULTS
from quantifair.experiments.tables import TITLES, number, pipe_table

REFERENCE = RESULTS.parent / "reference"
RUNS = {"as-it-is": "as it is: BLAS on both cores", "one-thread": "with BLAS held to one thread"}


def time_table() -> str:
    """How long each study took."""
    spent = json.loads((RESULTS / "time.json").read_text())
    lines = [[name, f"{s['seconds'] / 60:.1f}", str(s["jobs"]), s["note"]]
             for name, s in spent.items()]  # fmt: skip
    return pipe_table(["study", "minutes", "workers", "note"], lines)


def reference_table() -> str:
    """Seconds of both sides on the same splits of the five protocols, and their ratio."""
    lines = []
    for folder, title in RUNS.items():
        rows = pd.read_json(REFERENCE / folder / "reference.json")
        side = rows["side"].eq("quantifair").map({True: "ours", False: "theirs"})
        seconds = rows.pivot_table(index=["data", "split"], columns=side, values="seconds")
        for data, splits in seconds.groupby("data", sort=False):
            ours, theirs = splits["ours"].sum(), splits["theirs"].sum()
            lines.append([TITLES[data], title, str(len(splits)), f"{theirs / len(splits):.1f}",
                          f"{ours / len(splits):.2f}", f"{theirs / ours:.0f}"])  # fmt: skip
    header = ["data", "reference", "splits", "its seconds a split", "ours", "ratio"]
    return pipe_table(header, lines)


def agreement() -> str:
    """Mean difference of the MAE by protocol and method, on the splits that both have run."""
    rows = pd.read_csv(REFERENCE / "one-thread" / "reference.csv")
    side = rows["side"].eq("quantifair").map({True: "ours", False: "theirs"})
    keys = ["data", "protocol", "method"]
    mae = rows.pivot_table(index=keys, columns=side, values="mae").dropna()
    return number(float((mae["ours"] - mae["theirs"]).abs().mean()))
