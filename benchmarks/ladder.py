"""Run the error ladder on the paper's data, store each unit's errors, write docs/ladder.md.

Usage: python -m benchmarks.ladder run | store | page | check [--folder F] [--jobs N]
       [--protocol P ...] [--splits N]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from quantifair.experiments.catalogue import BEST
from quantifair.experiments.figures import save
from quantifair.experiments.ladder import coverage, ladder, units_of
from quantifair.experiments.ladder_report import coverage_table, ladder_figure, ladder_tables
from quantifair.experiments.methods import CROSSED, LADDER
from quantifair.experiments.study import Study, run_study
from quantifair.experiments.tables import pipe_table

RESULTS = Path(__file__).parent / "results" / "ladder"
UNITS, COVERAGE = RESULTS / "units.parquet", RESULTS / "coverage.csv"
DOCS = Path(__file__).parents[1] / "docs"
DIGITS = 5


class Size(NamedTuple):
    """How much of a protocol is run."""

    splits: int
    repeats: int


SIZES = {
    "sample-prev-D3": Size(30, 5),
    "sample-prev-D2": Size(5, 1),
    "sample-size-D2": Size(5, 1),
    "sample-prev-D1": Size(5, 1),
    "flip-prev-D1": Size(5, 1),
}
"""Where all trials share the auxiliary people, fits are few; elsewhere each trial needs its own."""

DEFAULT = "posterior-x"
"""The method that audits use by default, with the classifier that each cell chooses."""

RUNGS = {"LR": tuple(LADDER), BEST: tuple(CROSSED)}
"""Methods by learner: the paper's methods have the paper's."""

PAGE = """# The error ladder

How far are estimates of the demographic parity difference from the truth, on the paper's data and
under its five protocols? Each line is a method with its group classifier. This page is written
from stored results by `python -m benchmarks.ladder page`; `python -m benchmarks.ladder run`
measures again, and `quantifair experiment ladder` makes such tables from any studies.

- The first seven are the paper's methods as the paper runs them: logistic regression (LR), ACC,
  PACC and HDy on a 60/40 split, SLD stopped early.
- An `x` marks methods as `Audit` runs them: scores are cross-fitted in five folds and calibrated,
  nothing is stopped early. Where the classifier is so overfitted that calibration is given up,
  methods that need probabilities have no answer; as where nothing is identified, the mean score
  stands in and counts as the estimate.
- `best` chooses the classifier in each auxiliary cell, among regularised logistic regressions,
  splines and small gradient boosting, by the log-loss on people that it has not seen. Where the
  deployment lies plays no part.
- `posterior-x(best)` is what `Audit` does unless it is told otherwise.

All lines of a protocol see the same trials. Beside each mean absolute error stands the difference
to the paper's method that did best there, chosen after the fact, and to the paper's PCC; negative
is better. Differences are paired by split. After ± stands the standard error, clustered by
partition: splits of one partition share its people. Five partitions leave it 4 degrees of
freedom, so that a difference is beyond chance at about 2.8 standard errors, not 2. Prevalences
are smoothed by one person, as in the paper.

![Mean absolute error of each method, by protocol](figures/ladder.svg)

{sizes}

## In short

The default beside the paper's method that did best in each place, which nobody knows beforehand,
and the paper's PCC. Only the first two protocols shift prevalences. In the others nothing shifts
between the auxiliary sample and the deployment, and PCC and the auxiliary shares alone (MLPE) do
best.

How well any estimator can do without shrinking depends on the classifier. Normal scores with an AUC
of 0.63, say, lie √2 Φ⁻¹(0.63) = 0.47 standard deviations apart in the two groups; 500 people tell a
prevalence from them to about 1 / (0.47 √500) = 0.095, and a disparity takes two prevalences.

{short}

{tables}

## Do the default intervals hold the truth on these data?

The 95% score interval of the demographic parity difference, from the same cross-fitted scores, in
each trial. The truth is that of the trial's own deployment rows; where one person is drawn twice,
they count once. Under all five protocols the assumption of the intervals, prior shift, holds in
the population behind the data: the parts are random, and samples are drawn by group. The width is
the median over splits of each split's median: wide intervals that hold the truth are no feat.

{coverage}
"""


def folder_of(folder: Path, protocol: str, learner: str) -> Path:
    """Where a study is kept."""
    return folder / f"{protocol}-{learner}"


def run(folder: Path, protocols: list[str], jobs: int, splits: int) -> None:
    """Run what is left of each study."""
    for protocol in protocols:
        size = SIZES[protocol]
        for learner, methods in RUNGS.items():
            study = Study(
                learners=(learner,),
                protocols=(protocol,),
                methods=methods,
                splits=min(splits, size.splits),
                repeats=size.repeats,
            )
            run_study(study, folder_of(folder, protocol, learner), jobs=jobs)


def store(folder: Path) -> None:
    """Keep each unit's errors, and the coverage of the intervals."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    units = units_of(sorted(path.parent for path in folder.glob("*/units")))
    numbers = units.select_dtypes("float").columns
    units[numbers] = units[numbers].round(DIGITS)
    units.to_parquet(UNITS, compression="zstd", index=False)
    coverage(units).round(DIGITS).to_csv(COVERAGE, index=False, lineterminator="\n")


def page(units: pd.DataFrame, covered: pd.DataFrame) -> str:
    """Compose the page."""
    found = ladder(units)
    tables = [f"## {name}\n\n{text}" for name, text in ladder_tables(found).items()]
    return PAGE.format(
        sizes=size_table(units, found),
        short=short_table(found),
        tables="\n\n".join(tables),
        coverage=coverage_table(covered),
    )


def short_table(found: pd.DataFrame) -> str:
    """Set the default beside the paper's best method and its PCC."""
    lines = []
    for row in found[(found["method"] == DEFAULT) & (found["learner"] == BEST)].itertuples():
        paper, pcc = row.mae - row.over_best, row.mae - row.over_pcc
        ours = f"{row.mae:.3f} ± {row.mae_se:.3f}"
        numbers = [f"{paper:.3f} ({row.best})", f"{pcc:.3f}", ours, f"{row.over_pcc:+.3f}"]
        lines.append([row.protocol, row.dataset, *numbers])
    header = ["protocol", "data", "paper's best", "PCC", "default", "default minus PCC"]
    return pipe_table(header, lines)


def size_table(units: pd.DataFrame, found: pd.DataFrame) -> str:
    """How many splits and trials stand behind each table, and how many had no answer."""
    one = units.drop_duplicates(["protocol", "dataset", "partition", "roles"])
    trials = one.groupby("protocol")["trials"].sum()
    lines = []
    for protocol, rows in found.groupby("protocol", sort=False):
        worst = rows.loc[rows["lost"].idxmax()]
        lost = f"{worst['method']}({worst['learner']}), {worst['dataset']}: {worst['lost']:.1%}"
        splits = "/".join(str(n) for n in rows.groupby("dataset", sort=False)["splits"].first())
        lines.append([str(protocol), splits, f"{trials[protocol]:,}", lost])
    header = ["protocol", "splits by data set", "trials", "most often without an answer"]
    return pipe_table(header, lines)


def main(*, check: bool = False) -> None:
    """Write the page and its picture, or fail where the page differs from the results."""
    units = pd.read_parquet(UNITS)
    path, text = DOCS / "ladder.md", page(units, pd.read_csv(COVERAGE))
    if not check:
        path.write_text(text)
        save(ladder_figure(ladder(units)), DOCS / "figures" / "ladder.svg")
    elif path.read_text() != text:
        sys.exit(f"{path} does not say what {RESULTS} says; run python -m benchmarks.ladder page")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("run", "store", "page", "check"))
    parser.add_argument("--folder", type=Path, default=Path("ladder"))
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--protocol", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--splits", type=int, default=30)
    given = parser.parse_args()
    if given.step == "run":
        run(given.folder, given.protocol, given.jobs, given.splits)
    if given.step in {"run", "store"}:
        store(given.folder)
    main(check=given.step == "check")
