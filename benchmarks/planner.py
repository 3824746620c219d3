"""Do surveys of the planned size give the planned interval?

Scores with a given AUC are drawn afresh for surveys of given sizes and of planned ones: the planned
width stands beside the median realised one, and the planned power beside the share of intervals
that exclude zero. Surveys of a simulated lender, with group classifiers that are trained on each,
stand beside what pilots of 1,500 people planned for their size.

Usage: python -m benchmarks.planner [--replicates 200] [--jobs 2]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import special
from threadpoolctl import threadpool_limits

from quantifair import Audit
from quantifair.cells import DECISIONS
from quantifair.datasets import simulate_lender
from quantifair.estimation import CellEstimate
from quantifair.experiments.figures import styled
from quantifair.experiments.tables import pipe_table
from quantifair.intervals import Moments, Sample
from quantifair.planning import Aim, Survey, parity
from quantifair.planning.aim import beyond, spanned
from quantifair.planning.plan import make_plan
from quantifair.planning.subject import assumed, of_pilot
from quantifair.quantifiers import PACC
from quantifair.sketch import Points
from quantifair.spread import spread_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = """# Planned and realised

`quantifair plan` tells how many people must be asked
([How-to](howto.md#how-many-people-must-we-ask)). This page sets its plans beside surveys that were
drawn afresh. It is written from `benchmarks/results/planner.csv`, which `python -m
benchmarks.planner` writes in some minutes.

## Widths

Scores are drawn as posteriors of one normal feature with the stated AUC; shares, rates and
disparities are those that the plan assumes. {replicates} surveys each. The realised width is their
median; the middle 80% of the widths stand beside it, for a single survey is wider or narrower than
expected.

{widths}

The median realised width is {least:.2f} to {most:.2f} times the planned one.

## Where to ask

Surveys planned for a width of {wished:g}, asked at random, chosen by decision, or by decision and
group. Settings in which no number is enough are left out, here and below.

{allocated}

Where people are chosen by group, the group classifier learns from other shares than the plan
assumed, and its scores weigh people a little differently: that is what the last way loses.

## Detection

Surveys planned to find a disparity in 80% of audits: the share of 95% intervals that exclude zero,
with a Monte-Carlo standard error of {error:.3f}.

{powers}

They are found in {rarely:.0%} to {often:.0%} of the audits.

## With classifiers that are trained

A simulated lender with {lender:,} applicants; {pilots} pilots of {pilot:,} people planned the
widths of surveys of other sizes, and as many such surveys were taken, each with group classifiers
of its own. "Plans" is the middle 80% of what the pilots said.

{lenders}

A plan holds the pilot's classifier fixed. With more people it gets better, so larger surveys do
better than planned; with fewer it gets worse.

![Widths that a pilot plans, and widths that surveys had](figures/planner.svg)
"""
RESULTS = Path(__file__).parent / "results" / "planner.csv"
SEED = 20_261_120
AUC = (0.65, 0.75, 0.85)
PEOPLE = ((0.5, 0.4, 0.0), (0.3, 0.4, -0.2), (0.1, 0.2, 0.1))
"""Share of the second group, selection rate, disparity."""
SIZES = ((1_000, 4_000), (1_000, 20_000), (4_000, 20_000))
"""Auxiliary and deployment people."""
WIDTH, DIFFERENCES, LARGE = 0.2, (0.1, 0.2), 20_000
WAYS = ("at random", "by decision", "by decision and group")
PILOT, LENDER = 1_500, 20_000
LENDER_SIZES = (750, 1_500, 3_000, 6_000)


class Setting(NamedTuple):
    """What is drawn: a group classifier, people, and the disparity between them."""

    auc: float
    share: float
    rate: float
    disparity: float
    deployment: int


class Row(NamedTuple):
    """What was planned, and what came of it.

    Attributes
    ----------
    study
        ``width``, a way of asking, ``power``, ``lender`` or ``pilot``.
    auc, share, rate, disparity, deployment
        The setting; of the lender, what its pilots found in the median.
    people
        Auxiliary people.
    planned, realised
        Widths, or how often a difference is found. Of a pilot, the median plan.
    low, high
        The middle 80% of the realised widths; of a pilot, of the plans.
    replicates
        How many surveys.
    """

    study: str
    auc: float
    share: float
    rate: float
    disparity: float
    deployment: int
    people: int
    planned: float
    realised: float
    low: float
    high: float
    replicates: int


def survey_of(setting: Setting) -> Survey:
    """Return the survey that is planned for a setting."""
    auc, share, rate, disparity, rows = setting
    subject = assumed(Aim(width=0.1), auc=auc, share=share, rate=rate, disparity=disparity,
                      deployment_rows=rows)  # fmt: skip
    return subject.survey


def drawn(setting: Setting, people: np.ndarray, rng: np.random.Generator) -> Any:
    """Draw both tables and return the interval; ``people`` are expected by cell and group.

    The auxiliary people's groups are a matter of chance within each decision, as in a survey.
    """
    estimates, spread = {}, survey_of(setting).spread
    true = spread.estimated(list(DECISIONS))[0]
    for cell, expected, size in zip(DECISIONS, people, true, strict=True):
        share = expected[1] / expected.sum()
        codes = (rng.random(round(expected.sum())) < share).astype(int)
        theirs = np.repeat([0, 1], np.rint(size).astype(int))
        scores = [posteriors(c, setting.auc, share, rng) for c in (codes, theirs)]
        sample = Sample(scores[0], codes, np.ones(len(codes)))
        points = Points(scores[1], np.ones(len(theirs)))
        found = PACC().fit_labelled(sample.labelled)
        prevalence = found.project(found.solve(points))
        moments, count = Moments.of(sample, points, len(theirs)), float(len(theirs))
        none = np.empty((0, 2))
        estimates[cell] = CellEstimate(prevalence, count, np.zeros(2), none, moments, count)
    return parity(spread_of(estimates, spread.options))


def posteriors(codes: np.ndarray, auc: float, share: float, rng: np.random.Generator) -> np.ndarray:
    """Posteriors by one normal feature, where the second group has this share."""
    apart = np.sqrt(2) * special.ndtri(auc)
    feature = rng.normal(size=len(codes)) + apart * codes
    second = special.expit(special.logit(share) + apart * feature - apart**2 / 2)
    return np.column_stack([1 - second, second])


def widths(setting: Setting, size: int, replicates: int) -> Row:
    """Plan a width for a survey of some size, and draw such surveys."""
    survey = survey_of(setting)
    people = survey.people * size / survey.people.sum()
    return realised("width", setting, people, spanned(parity(survey.asking(people))), replicates)


def allocated(setting: Setting, width: float, replicates: int) -> list[Row]:
    """Plan surveys for a width, in each of three ways, and draw such surveys."""
    auc, share, rate, disparity, rows = setting
    aim = Aim(width=width)
    plan = make_plan(assumed(aim, auc=auc, share=share, rate=rate, disparity=disparity,
                             deployment_rows=rows), aim)  # fmt: skip
    found = (plan.needed, plan.by_decision, plan.by_decision_and_group)
    return [
        realised(name, setting, by_cell(way), width, replicates)
        for name, way in zip(WAYS, found, strict=True)
        if way is not None
    ]


def realised(
    study: str, setting: Setting, people: np.ndarray, planned: float, replicates: int
) -> Row:
    """Draw surveys and return how wide their intervals are."""
    rng = np.random.default_rng([SEED, *np.rint(people.ravel()).astype(int)])
    found = [spanned(drawn(setting, people, rng)) for _ in range(replicates)]
    low, middle, high = np.quantile(found, [0.1, 0.5, 0.9])
    return Row(study, *setting, round(people.sum()), *rounded(planned, middle, low, high),
               replicates)  # fmt: skip


def powers(setting: Setting, replicates: int) -> Row | None:
    """Plan a survey that finds the setting's disparity four times in five, and draw such ones."""
    auc, share, rate, disparity, rows = setting
    aim = Aim(detect=disparity)
    plan = make_plan(assumed(aim, auc=auc, share=share, rate=rate, deployment_rows=rows), aim)
    if plan.needed is None:
        return None
    people = by_cell(plan.needed)
    rng = np.random.default_rng([SEED, 1, *people.ravel().astype(int)])
    found = np.mean([beyond(drawn(setting, people, rng)) for _ in range(replicates)])
    error = float(np.sqrt(0.8 * 0.2 / replicates))
    return Row("power", *setting, plan.needed.people,
               *rounded(0.8, found, found - 2 * error, found + 2 * error), replicates)  # fmt: skip


def by_cell(allocation: Any) -> np.ndarray:
    """People of an allocation as an array."""
    return np.array([list(groups.values()) for groups in allocation.cells.values()], dtype=float)


def lender(number: int, size: int) -> tuple[float, list[float], list[float]]:
    """Audit a lender with a survey of some size; plan others from it if it is a pilot's."""
    with threadpool_limits(1):
        tables = simulate_lender(
            auxiliary_rows=size, deployment_rows=LENDER, seed=1_000 * size + number
        )
        fitted = Audit(
            decision="approved", group="gender", learner="logistic", quantifier="sld"
        ).fit(tables.auxiliary)
        sketch = fitted.sketch(tables.deployment)
        result = fitted.measure(sketch)
        if size != PILOT:
            return spanned(result.demographic_parity.difference), [], []
        subject = of_pilot(fitted._measurement(sketch, None, None), Aim(width=0.1))  # noqa: SLF001
        grown = [subject.survey.people * s / size for s in LENDER_SIZES]
        planned = [spanned(parity(subject.survey.asking(people))) for people in grown]
        shares = [float(np.mean(list(subject.auc.values()))), result.groups[1].share.estimate,
                  sum(g.count.estimate * g.selection_rate.estimate for g in result.groups) / LENDER,
                  result.demographic_parity.difference.estimate]  # fmt: skip
        return spanned(result.demographic_parity.difference), planned, shares


def lenders(replicates: int, jobs: int) -> list[Row]:
    """Surveys of the lender of several sizes, and what pilots of one size planned for them."""
    found = {
        size: Parallel(n_jobs=jobs)(delayed(lender)(i, size) for i in range(replicates))
        for size in LENDER_SIZES
    }
    plans = np.array([planned for _, planned, _ in found[PILOT]])
    setting = [round(float(x), 3) for x in np.median([s for *_, s in found[PILOT]], axis=0)]
    rows = []
    for size, planned in zip(LENDER_SIZES, plans.T, strict=True):
        got = np.quantile([width for width, *_ in found[size]], [0.5, 0.1, 0.9])
        plan = np.quantile(planned, [0.5, 0.1, 0.9])
        head = (*setting, LENDER, size)
        rows.append(Row("lender", *head, *rounded(plan[0], *got), replicates))
        rows.append(Row("pilot", *head, *rounded(plan[0], got[0], *plan[1:]), replicates))
    return rows


def rounded(*numbers: float) -> list[float]:
    """Numbers as they are stored."""
    return [round(float(n), 4) for n in numbers]


def main(replicates: int, jobs: int, path: Path = RESULTS) -> None:
    """Run all studies; the table is stored after each."""
    settings, run = [(a, *p) for a in AUC for p in PEOPLE], Parallel(n_jobs=jobs)
    rows = run(
        delayed(widths)(Setting(*s, deployment), size, replicates)
        for s in settings
        for size, deployment in SIZES
    )
    write(rows, path)
    wished = [Setting(*s[:3], d, LARGE) for s in settings for d in DIFFERENCES]
    rows += [row for row in run(delayed(powers)(s, 2 * replicates) for s in wished) if row]
    write(rows, path)
    rows += lenders(max(20, replicates // 10), jobs)
    write(rows, path)
    for some in run(delayed(allocated)(Setting(*s, LARGE), WIDTH, replicates) for s in settings):
        rows += some
    write(rows, path)


def write(rows: list[Row], path: Path) -> None:
    """Write the table whole."""
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([Row._fields, *rows])


def stored(path: Path = RESULTS) -> list[Row]:
    """Rows of the stored table."""
    whole = {"deployment", "people", "replicates"}
    with path.open() as file:
        return [
            Row(**{k: v if k == "study" else (int if k in whole else float)(v)
                   for k, v in line.items()})
            for line in csv.DictReader(file)
        ]  # fmt: skip


def page(rows: list[Row]) -> str:
    """The page that says what was planned and what came of it."""
    of = {study: [r for r in rows if r.study == study] for study in {r.study for r in rows}}
    ratios = [r.realised / r.planned for r in of["width"]]
    asked = [r for group in zip(*(of[way] for way in WAYS), strict=True) for r in group]
    return PAGE.format(
        replicates=of["width"][0].replicates,
        widths=setting_table(of["width"]),
        least=min(ratios),
        most=max(ratios),
        wished=WIDTH,
        allocated=setting_table(asked, first="asked"),
        error=(0.8 * 0.2 / of["power"][0].replicates) ** 0.5,
        powers=setting_table(of["power"]),
        rarely=min(r.realised for r in of["power"]),
        often=max(r.realised for r in of["power"]),
        lender=LENDER,
        pilots=of["pilot"][0].replicates,
        pilot=PILOT,
        lenders=lender_table(of["lender"], of["pilot"]),
    )


def setting_table(rows: list[Row], *, first: str = "") -> str:
    """A line for each setting; ``first`` names a column of what was asked."""
    spread = rows[0].study != "power"
    header = [first] * bool(first) + ["AUC", "share", "rate", "disparity", "deployment", "people",
              "planned", "realised"] + ["middle 80%"] * spread  # fmt: skip
    lines = [
        [r.study] * bool(first)
        + [f"{r.auc:g}", f"{r.share:g}", f"{r.rate:g}", f"{r.disparity:g}", f"{r.deployment:,}",
           f"{r.people:,}", f"{r.planned:.3f}", f"{r.realised:.3f}"]
        + [f"{r.low:.3f} to {r.high:.3f}"] * spread
        for r in rows
    ]  # fmt: skip
    return pipe_table(header, lines)


def lender_table(surveys: list[Row], pilots: list[Row]) -> str:
    """A line for each size of the lender's survey."""
    lines = [
        [f"{s.people:,}", f"{p.planned:.3f}", f"{p.low:.3f} to {p.high:.3f}", f"{s.realised:.3f}",
         f"{s.low:.3f} to {s.high:.3f}"]
        for s, p in zip(surveys, pilots, strict=True)
    ]  # fmt: skip
    return pipe_table(["people", "planned", "plans", "realised", "middle 80%"], lines)


def picture(rows: list[Row]) -> Figure:
    """The widths that pilots of the lender plan, beside those that surveys had."""
    surveys, pilots = ([r for r in rows if r.study == s] for s in ("lender", "pilot"))
    sizes = [r.people for r in surveys]
    with styled():
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(6.4, 3.8), layout="constrained")
        axis = figure.subplots()
        axis.fill_between(sizes, [r.low for r in pilots], [r.high for r in pilots], alpha=0.25,
                          color="tab:blue", label=f"plans of pilots of {PILOT:,}")  # fmt: skip
        axis.plot(sizes, [r.planned for r in pilots], color="tab:blue", label="their median")
        reach = [[r.realised - r.low for r in surveys], [r.high - r.realised for r in surveys]]
        axis.errorbar(sizes, [r.realised for r in surveys], reach, fmt="o", color="tab:orange",
                      label="surveys, and their middle 80%")  # fmt: skip
        axis.set_xscale("log")
        axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        axis.set_xlabel("auxiliary people")
        axis.set_ylabel("width of the 95% interval")
        axis.legend()
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    main(arguments.replicates, arguments.jobs)
