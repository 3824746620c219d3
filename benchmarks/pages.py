"""Write speed.md, accuracy.md, planning.md and assumption.md in docs/ from the stored results.

Usage: python -m benchmarks.pages [--check]
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

from benchmarks import assumption, planner
from benchmarks.coverage import missing
from quantifair.experiments import coverage as study
from quantifair.experiments import coverage_report as report
from quantifair.experiments.figures import save

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"

SPEED = """# Speed

Measured by `python -m benchmarks.speed` and `python -m benchmarks.sizes` on two shared cores; the
results are stored in `benchmarks/results`, and this page is written from them. CPU time on one
thread, best of five rounds.

## Quantifiers beside QuaPy 0.2.3

Both start from the same precomputed posteriors: a group classifier of AUC 0.76, 1,000 auxiliary
people. "From a sketch" is the time after the one pass over the data, whatever its size. QuaPy's
expectation maximisation is stopped at a change of 1e-4 for "stopped" and of 1e-10 for "converged".

{quantifiers}

The aim was 25 times for SLD and 50 times for HDy. {verdict}

## Intervals

Milliseconds for score intervals, the default, of all figures of two cells (shares, selection rates,
their differences and ratios, by group and by pair) from sketches of 100,000 rows; the aim was 5 for
two groups and 200 for five.

{score}

Seconds for a thousand replicates of a two-cell audit, for bootstrap intervals; the aim was two. The
size of the deployment plays no part.

{replicates}

## Sketches

Bytes of a sketch against the rows that it stands for.

{sketches}

## Classifier fits and import

All {counted} quantifiers on two cells cost {fits} classifier fits in all: five out-of-fold fits for
each cell, and none beside them. QuaPy's six quantifiers cost 21 fits on one cell.

`import quantifair` costs {ours:.3f} s of CPU time, scikit-learn's linear models {theirs:.3f} s: a
ratio of {ratio:.2f} where the aim was at most 0.6. Heavy libraries are loaded when they are used.
"""

ACCURACY = """# Accuracy and coverage

How often does a nominal 95% interval hold the truth? This page is written from stored results, and
everything can be run again.

## A grid that tries to break the default intervals

`quantifair experiment coverage` draws both samples afresh in every replicate, under prior shift,
with scores from the groups' own distributions: {auxiliary} auxiliary people in each cell, evenly of
all groups, and "ratio" times as many in the deployment, 40% of them accepted. The prevalences have
corners, where a group is rare, or rare in one cell alone, and equality, where all are selected
alike. The truth is that of the deployment's own rows. "Oracle" is the median width of Wald's
interval of somebody who sees the group of everybody in the deployment. The negative control
resamples the deployment alone and takes the auxiliary sample for the truth, as some tools do.

{grid_summary}

It passes where the mean lies between 0.94 and 0.98 and the worst setting is at least 0.925. A
setting has {grid_replicates} replicates, a Monte-Carlo standard error of {grid_error:.4f} at 95%.
Where a group may be absent nothing is ruled out, and intervals cover more than they promise. So do
those of the largest minus the smallest of four groups: their end near equality holds for all pairs
at once, whichever differs most, and with an AUC of 0.65 most of them are [0, 1].

![Coverage of each setting, by figure, where the control lies far below; and the width of the
difference's interval over the oracle's, by the AUC of the group classifier](figures/coverage.svg)

??? note "Every setting: the difference of selection rates"

{grid_table}

## With classifiers that are trained in every trial

Measured by `python -m benchmarks.coverage`, stored in `benchmarks/results/coverage.csv`. Each trial
draws both tables afresh under prior shift, trains the group classifier (logistic regression on four
features, five folds) in each cell, and audits. The auxiliary sample has as many people in each cell
as the table says, half of them of one group; the deployment is 40% accepted.
"Prevalences" are the group's true shares among the rejected and the accepted. The truth is the
disparity of the deployment's own rows. The median width and the mean absolute error stand beside
the coverage: an interval of width one or more says nothing, and says so honestly. "Answered" is the
share of trials with an estimate; the others count in no other column.

### Score intervals, the default

{score}

### Bootstrap intervals

An option, and what an estimator that assumes no shift gets. Measured on a part of the grid.

{bootstrap}

All of these intervals are pointwise. A bootstrap interval of a largest-minus-smallest difference
over three or more groups covers less well where groups are equal: no replicate of it is zero.
"""


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def speed_page() -> str:
    """The page on speed."""
    speed = json.loads((HERE / "results" / "speed.json").read_text())
    sizes = json.loads((HERE / "results" / "sizes.json").read_text())
    ours, theirs = sizes["imports"]["quantifair"], sizes["imports"]["sklearn.linear_model"]
    seconds = {(r["method"], r["rows"]): r["seconds"] for r in speed["replicates"]}
    rows = sorted({n for _, n in seconds})
    methods = list(dict.fromkeys(m for m, _ in seconds))
    return SPEED.format(
        quantifiers=quantifier_table(speed["quantifiers"]),
        verdict=verdict(speed["quantifiers"]),
        score=table(
            ["groups", "ms"], [[str(r["groups"]), f"{r['ms']:.1f}"] for r in speed["score"]]
        ),
        replicates=table(
            ["quantifier", *(f"{n:,} rows" for n in rows)],
            [[m, *(f"{seconds[m, n]:.2f}" for n in rows)] for m in methods],
        ),
        sketches=size_table(sizes["sketches"]),
        fits=sizes["fits"]["fits"],
        counted=sizes["fits"]["quantifiers"],
        ours=ours,
        theirs=theirs,
        ratio=ours / theirs,
    )


def quantifier_table(rows: list[dict[str, Any]]) -> str:
    """Milliseconds of both libraries, and their ratio."""
    header = ["method", "rows", "quantifair, ms", "from a sketch, ms", "QuaPy, ms", "ratio"]
    return table(
        header,
        [
            [
                r["method"],
                f"{r['rows']:,}",
                f"{r['quantifair_ms']:.3f}",
                f"{r['sketch_ms']:.3f}",
                f"{r['quapy_ms']:.3f}",
                f"{r['ratio']:.1f}",
            ]
            for r in rows
        ],
    )


def verdict(rows: list[dict[str, Any]]) -> str:
    """Say which aims were missed."""
    aims = {"SLD stopped": 25, "SLD converged": 25, "HDy": 50}
    missed = [
        f"{r['method']} at {r['rows']:,} rows ({r['ratio']:.1f})"
        for r in rows
        if r["ratio"] < aims.get(r["method"], 1)
    ]
    return f"It is missed by {', '.join(missed)}." if missed else "It is reached everywhere."


def size_table(rows: list[dict[str, Any]]) -> str:
    """Bytes by rows and groups."""
    size = {(r["rows"], r["groups"]): r["bytes"] for r in rows}
    groups = sorted({g for _, g in size})
    return table(
        ["rows", *(f"{g} groups" for g in groups)],
        [
            [f"{n:,}", *(f"{size[n, g]:,}" if (n, g) in size else "" for g in groups)]
            for n in sorted({n for n, _ in size})
        ],
    )


def accuracy_page() -> str:
    """The page on coverage."""
    with (HERE / "results" / "coverage.csv").open() as file:
        rows = list(csv.DictReader(file))
    kinds = {k: [r for r in rows if r["interval"] == k] for k in ("score", "bootstrap")}
    sections = {kind: coverage_section(found) for kind, found in kinds.items()}
    return ACCURACY.format(**sections, **grid_sections())


def grid_sections() -> dict[str, Any]:
    """What the coverage study found, and its picture."""
    found = study.read(HERE / "results" / "coverage-grid.csv")
    save(report.coverage_figure(found), DOCS / "figures" / "coverage.svg")
    replicates = max(r.replicates for r in found)
    return {
        "auxiliary": study.AUXILIARY,
        "grid_summary": report.summary(found),
        "grid_replicates": f"{replicates:,}",
        "grid_error": (0.95 * 0.05 / replicates) ** 0.5,
        "grid_table": indent(report.table(found), "    "),
    }


def coverage_section(rows: list[dict[str, str]]) -> str:
    """Summary, table and what is wanting of one kind of interval."""
    return "\n\n".join(
        [
            coverage_summary(rows),
            coverage_missing(rows),
            coverage_table(rows),
            "Where, of the settings measured, the coverage is not between 0.93 and 0.97:",
            coverage_outside(rows),
        ]
    )


def coverage_summary(rows: list[dict[str, str]]) -> str:
    """Mean, worst cell and Monte-Carlo error by quantifier."""
    lines = []
    for name in dict.fromkeys(r["quantifier"] for r in rows):
        cover = [float(r["coverage"]) for r in rows if r["quantifier"] == name]
        inside = sum(0.93 <= c <= 0.97 for c in cover)
        lines.append(
            f"- {name}: mean {sum(cover) / len(cover):.3f} over {len(cover)} settings, from "
            f"{min(cover):.3f} to {max(cover):.3f}; {inside} lie in [0.93, 0.97]. Of the trials, "
            f"{answered(rows, name):.2%} were answered."
        )
    error, trials = max(float(r["standard_error"]) for r in rows), rows[0]["trials"]
    lines.append(
        f"\nEach setting has {trials} trials, a Monte-Carlo standard error of {error:.3f}."
    )
    return "\n".join(lines)


def answered(rows: list[dict[str, str]], name: str) -> float:
    """Share of a quantifier's trials in which it gave an estimate."""
    ours = [r for r in rows if r["quantifier"] == name]
    return sum(int(r["answered"]) for r in ours) / sum(int(r["trials"]) for r in ours)


def coverage_table(rows: list[dict[str, str]]) -> str:
    """One line a setting, both quantifiers side by side."""
    names = list(dict.fromkeys(r["quantifier"] for r in rows))
    header = ["auxiliary", "deployment", "AUC", "prevalences"]
    for name in names:
        header += [f"{name} answered", "coverage", "width", "error"]
    keys = ("auxiliary", "deployment", "auc", "rejected", "accepted")
    settings = dict.fromkeys(tuple(r[k] for k in keys) for r in rows)
    lines = []
    for setting in settings:
        auxiliary, deployment, auc, rejected, accepted = setting
        line = [f"{int(auxiliary):,}", f"{int(deployment):,}", auc, f"{rejected}, {accepted}"]
        for r in rows:
            if tuple(r[k] for k in keys) == setting:
                line.append(f"{int(r['answered']) / int(r['trials']):.4g}")
                line += [f"{float(r[k]):.3f}" for k in ("coverage", "width", "mean_absolute_error")]
        lines.append(line)
    return table(header, lines)


def coverage_missing(rows: list[dict[str, str]]) -> str:
    """The settings of the planned grid that were not run."""
    method = (rows[0]["interval"], rows[0]["quantifier"])
    lacking = [
        f"- {auxiliary:,} auxiliary and {deployment:,} deployment rows, AUC {auc}, prevalences "
        f"{rejected} and {accepted}"
        for auxiliary, deployment, auc, (rejected, accepted) in missing(rows, method)
    ]
    if not lacking:
        return "All settings of the planned grid are measured."
    return "\n".join(["Of the planned grid these settings are not measured yet:\n", *lacking])


def coverage_outside(rows: list[dict[str, str]]) -> str:
    """The settings that miss the aim."""
    missed = [
        f"- {r['quantifier']}, {int(r['auxiliary']):,} auxiliary and {int(r['deployment']):,} "
        f"deployment rows, AUC {r['auc']}, prevalences {r['rejected']} and {r['accepted']}: "
        f"{float(r['coverage']):.3f}"
        for r in rows
        if not 0.93 <= float(r["coverage"]) <= 0.97
    ]
    return "\n".join(missed) or "- nowhere."


def main() -> None:
    """Write the pages, or fail where they differ from the results."""
    plans = planner.stored()
    save(planner.picture(plans), DOCS / "figures" / "planner.svg")
    pages = {
        DOCS / "speed.md": speed_page(),
        DOCS / "accuracy.md": accuracy_page(),
        DOCS / "planning.md": planner.page(plans),
        DOCS / "assumption.md": assumption.page(),
    }
    for path, text in pages.items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path} does not say what benchmarks/results say; run {__spec__.name}")


if __name__ == "__main__":
    main()
