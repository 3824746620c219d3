"""The demo lender's sensitivity and bounds, and what testing the assumption costs.

Usage: python -m benchmarks.assumption
"""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from quantifair import Audit, Figure
from quantifair.assumption.judging import cell_tests
from quantifair.assumption.sensitivity import Sensitivity, SensitivityPoint
from quantifair.datasets import simulate_lender
from quantifair.experiments import assumption as study
from quantifair.experiments import assumption_report as report
from quantifair.experiments.figures import save, styled
from quantifair.experiments.tables import pipe_table

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
RESULT = HERE / "results" / "assumption.json"
ROUNDS = 5
ROWS = 200_000

PAGE = """# The assumption, tested

Estimates rest on *prior shift*: within each cell, people of one group look alike in both tables
(see [What it can and cannot say](limits.md#what-has-to-be-true)). Every audit tests that as far
as it can be tested, and can say how wrong it may be before a finding is lost. This page is
written from stored results.

## How it is tested

Under prior shift, the mean of anything that is known of the deployment's people is a mix of the
groups' auxiliary means, by the same shares for all. With more means than shares, that can fail.
In each cell two sets of means are compared: how many people's scores lie in each of ten bins, and
the features themselves (the tenth of the auxiliary values in which a number lies; the frequent
categories; gaps). The statistic is J = min over q of T(q)' V(q)^-1 T(q), where T is what the
shares q leave unexplained and V its covariance. It is chi-square if prior shift holds. The bins
are counted for each fold's classifier apart: the bin of a mean of scores is not the mean of their
bins, and the test of mean scores ("averaged" below) rejects too often.

The result says one of three things:

- **not consistent with prior shift**: some test rejects at 5%, adjusted by Holm's method for
  their number;
- **consistent with prior shift**: none does, and in each cell a test would notice, with a chance
  of 80%, if everybody had drifted by half a standard deviation within groups, in a direction
  taken at random;
- **can't tell**: the people are too few for that.

**Passing is no proof.** A change that looks like another mix of the groups is invisible to any
test: if women become more like men in just the features that tell them apart, they are counted as
men.

## Size and power

Measured by `quantifair experiment assumption`, stored in `benchmarks/results/assumption.csv`.
Each replicate draws both tables of a cell afresh and trains the group classifier in five folds.
Four features are normal within groups, two of them tell the groups apart. The second group is
half of the auxiliary people; it is 30% of the deployment under "prior" and 2% under "prior, rare
group". "Covariate" keeps people with a chance that rises in two features, one of which tells the
groups apart. "Drift" moves one feature of the second group's members by {drift} standard
deviations.

The numbers are shares of rejections at 5%: the first two kinds of shift are where the assumption
holds, so they should be 0.05 there; elsewhere the more the better. "Either" is what the result
goes by. With {replicates} replicates a share of 0.05 has a Monte-Carlo error of {error:.3f}, and
any share at most {worst:.3f} (with boosting, {few} replicates: {few_error:.3f} and
{few_worst:.3f}). "Detectable" is the drift of everybody, in standard deviations, that the test of
features says it detects. "Bias" is the mean error of the group's share by PACC: what goes wrong
if nothing is noticed.

{size}

{table}

## How wrong it may be

`result.sensitivity()` asks the other way round: let a share of each group's people, in each cell,
be unlike the auxiliary people in any way. At what share can the sign of the disparity no longer
be told, or on which side of four fifths the ratio lies? Scores lie between 0 and 1, so that such
people can move a mean score by so much and no more. For the demo's lender ({rows:,} rows, seed 0;
`python -m benchmarks.assumption`):

![The interval of the difference against the share of people who may be
anybody](figures/sensitivity.svg)

{sentence}

## Bounds where nothing ties the group to the decision

`fitted.bounds(deployment)` assumes less, and something else: only that among people of like
scores, by one classifier that is blind to the decision, groups are as common as in the auxiliary
table. Who of them is accepted may depend on the group in any way. Then a disparity is not
identified, only bounded (Kallus, Mao, Zhou 2022). For the same lender the difference lies between
{low:+.3f} and {high:+.3f}. Where the shares given the features did change, as they do under prior
shift, these bounds are wrong, too.

## What it costs

Summing what the tests need takes {cost:.2f} s of CPU time for a million rows of the lender's
eight features and two cells, beside {bare:.2f} s for the sketch without it; the tests themselves
take {tests:.0f} ms, the sensitivity {sensitivity:.0f} ms.
"""


def measure() -> dict[str, Any]:
    """Audit the lender, and take the time of each part."""
    lender = simulate_lender(deployment_rows=ROWS, seed=0)
    spec = {"decision": "approved", "group": "gender", "learner": "logistic"}
    with_tests = Audit(**spec).fit(lender.auxiliary)
    without = Audit(**spec, assume="covariate_shift").fit(lender.auxiliary)
    sketched = with_tests.sketch(lender.deployment)
    result = with_tests.measure(sketched)
    million = 1e6 / ROWS
    seconds = {
        "sketch": million * best(lambda: without.sketch(lender.deployment)),
        "sketch_with_tests": million * best(lambda: with_tests.sketch(lender.deployment)),
        "sensitivity": best(result.sensitivity),
        "tests": best(lambda: [cell_tests(t, sketched, c) for c, t in with_tests.cells.items()]),
    }
    return {
        "rows": ROWS,
        "seconds": seconds,
        "sensitivity": result.sensitivity([k / 100 for k in range(21)]).to_dict(),
        "bounds": with_tests.bounds(lender.deployment).to_dict(),
    }


def best(call: Any) -> float:
    """CPU seconds of the fastest of some rounds."""
    found = []
    for _ in range(ROUNDS):
        start = process_time()
        call()
        found.append(process_time() - start)
    return min(found)


def page() -> str:
    """The page on the assumption, and its picture."""
    rows, stored = study.read(HERE / "results" / "assumption.csv"), json.loads(RESULT.read_text())
    sensitivity = read_sensitivity(stored["sensitivity"])
    with styled():
        axes = sensitivity.plot()
        save(axes.figure, DOCS / "figures" / "sensitivity.svg")
    seconds = stored["seconds"]
    many, few = (
        max(r.replicates for r in rows if r.learner == n) for n in ("logistic", "boosting")
    )
    return PAGE.format(
        drift=study.DRIFT,
        replicates=many,
        few=few,
        error=np.sqrt(0.05 * 0.95 / many),
        worst=0.5 / np.sqrt(many),
        few_error=np.sqrt(0.05 * 0.95 / few),
        few_worst=0.5 / np.sqrt(few),
        size=size(rows),
        table=report.table(rows),
        rows=stored["rows"],
        sentence=sensitivity.sentence,
        low=stored["bounds"]["difference"][0],
        high=stored["bounds"]["difference"][1],
        bare=seconds["sketch"],
        cost=seconds["sketch_with_tests"] - seconds["sketch"],
        tests=1e3 * seconds["tests"],
        sensitivity=1e3 * seconds["sensitivity"],
    )


def size(rows: list[study.Row]) -> str:
    """Mean and range of the rejections where the assumption holds, and of those where not."""
    lines = []
    for learner in ("logistic", "boosting"):
        for shift in study.SHIFTS:
            cells = [learner, shift]
            for test in report.TESTS:
                found = [
                    r.rejected
                    for r in rows
                    if (r.learner, r.shift, r.test) == (learner, shift, test)
                ]
                cells.append(f"{np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})")
            lines.append(cells)
    return pipe_table(["learner", "shift", *report.TESTS], lines)


def read_sensitivity(stored: dict[str, Any]) -> Sensitivity:
    """Rebuild a curve from its JSON."""
    points = [
        SensitivityPoint(p["share"], Figure(**p["difference"]), Figure(**p["ratio"]))
        for p in stored["curve"]
    ]
    rest = {k: v for k, v in stored.items() if k not in {"curve", "schema_version"}}
    return Sensitivity(tuple(points), **rest)


if __name__ == "__main__":
    RESULT.write_text(json.dumps(measure(), indent=2) + "\n")
