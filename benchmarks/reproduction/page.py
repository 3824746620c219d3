"""Write docs/reproduction.md and its figures from the stored results."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from scipy.stats import t

from benchmarks.reproduction.speed import agreement, reference_table, time_table
from benchmarks.reproduction.studies import DEVIATIONS, RESULTS, SHIFTS
from quantifair.experiments.conclusions import check_conclusions, render_conclusions
from quantifair.experiments.figures import paper_figures, save
from quantifair.experiments.methods import ABLATION, METHODS
from quantifair.experiments.parts import PARTITIONS
from quantifair.experiments.statistics import KEYS, MEASURES, summarize
from quantifair.experiments.tables import TITLES, number, pipe_table, render, side_by_side

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATE = Path(__file__).with_name("page.md")
FIGURES = DOCS / "figures"
COLUMNS = {"mae": "MAE", "mse": "MSE", "p_ae_lt_0.1": "P(AE<0.1)", "p_ae_lt_0.2": "P(AE<0.2)"}


def stored(name: str) -> pd.DataFrame:
    """Errors of a study."""
    return pd.read_parquet(RESULTS / f"{name}.parquet")


def compared(statistics: pd.DataFrame) -> pd.DataFrame:
    """Ours and the paper's numbers, all four measures of a row side by side."""
    frames = [side_by_side(statistics, measure=m).assign(measure=m) for m in MEASURES]
    return pd.concat(frames, ignore_index=True)


def beside(comparison: pd.DataFrame) -> str:
    """A table for each protocol and learner: ours, the paper's, the difference."""
    parts = []
    for (protocol, learner), rows in comparison.groupby(["protocol", "learner"], sort=False):
        wide = rows.pivot_table(index=["dataset", "method"], columns="measure", sort=False,
                                values=["ours", "paper", "difference", "se"])  # fmt: skip
        lines = []
        for (dataset, method), row in wide.iterrows():
            line = [TITLES[dataset], method]
            for measure in MEASURES:
                ours, paper = row["ours", measure], row["paper", measure]
                line.append(f"{number(ours)} / {number(paper)}")
                if measure == "mae":
                    line += [number(row["difference", measure], "+"), number(row["se", measure])]
            lines.append(line)
        header = ["data", "method", "MAE ours / paper", "difference", "SE",
                  *(f"{COLUMNS[m]} ours / paper" for m in list(MEASURES)[1:])]  # fmt: skip
        parts.append(f"### {protocol}, {learner}\n\n{pipe_table(header, lines)}")
    return "\n\n".join(parts)


def flagged(comparison: pd.DataFrame) -> pd.DataFrame:
    """Numbers that differ by more than three standard errors, and what accounts for it.

    First the reference's smoothing, if with it the number lies within three standard errors or
    rounding of the paper's; then its logistic regressions that have not arrived, if what they
    change on the trials where both were run brings the number as near; then chance in the paper's
    own samples, as its standard error is of the same size: the difference is within three standard
    errors of a difference.
    """
    reference = pd.read_csv(RESULTS / "deviations.csv")
    both = reference[reference["deviation"] == "both"].melt(
        id_vars=KEYS, value_vars=list(MEASURES), var_name="measure", value_name="as_reference"
    )
    rows = comparison[comparison["differs"]].merge(both, on=[*KEYS, "measure"])
    rows = rows.merge(stopping(), on=[*KEYS, "measure"], how="left")
    near = (3 * rows["se"]).clip(lower=0.0011)
    smoothed = (rows["as_reference"] - rows["paper"]).abs() <= near
    stopped = (rows["ours"] + rows["stopping"] - rows["paper"]).abs() <= near
    chance = rows["difference"].abs() <= 3 * 2**0.5 * rows["se"] + 0.0005
    reason = pd.Series("unexplained", rows.index).mask(chance, "chance")
    return rows.assign(reason=reason.mask(stopped, "steps").mask(smoothed, "smoothing"))


def stopping() -> pd.DataFrame:
    """What scikit-learn's hundred steps change of each number, on the trials that were run so."""
    arrived, stopped = both_runs()
    frames = [
        summarize(errors.assign(learner="LR"), list(METHODS)).set_index(KEYS)[list(MEASURES)]
        for errors in (arrived, stopped)
    ]
    change = (frames[1] - frames[0]).reset_index()
    return change.melt(id_vars=KEYS, var_name="measure", value_name="stopping")


def both_runs() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same trials with logistic regressions that arrived, and with stopped ones."""
    ours, stopped = stored("LR"), stored("LR-100")
    keys = ["dataset", "protocol", "partition", "roles"]
    return ours.merge(stopped[keys].drop_duplicates(), on=keys), stopped


def flagged_table(rows: pd.DataFrame) -> str:
    """The flagged numbers with their reasons."""
    header = ["protocol", "learner", "data", "method", "number", "ours", "paper", "SE",
              "as the reference", "accounted for by"]  # fmt: skip
    lines = [
        [r.protocol, r.learner, TITLES[r.dataset], r.method, COLUMNS[r.measure], number(r.ours),
         number(r.paper), number(r.se), number(r.as_reference), r.reason]
        for r in rows.itertuples()
    ]  # fmt: skip
    return pipe_table(header, lines)


def deviation_table() -> str:
    """The effect of each deviation of the reference on the numbers of the tables."""
    every = pd.read_csv(RESULTS / "deviations.csv").fillna("")
    ours = every[every["deviation"] == "none"].set_index(KEYS)
    lines = []
    for one in DEVIATIONS[1:]:
        theirs = every[every["deviation"] == one.name].set_index(KEYS)
        change = (theirs["mae"] - ours["mae"]).loc[ours.index]
        marks = int((theirs["mae_mark"] != ours["mae_mark"]).sum())
        largest = change.abs().idxmax()
        where = f"{largest[0]}, {largest[1]}, {TITLES[largest[2]]}, {largest[3]}"
        lines.append([one.text, number(change.abs().mean()),
                      f"{number(change[largest], '+')} ({where})", str(marks)])  # fmt: skip
    header = ["deviation", "mean change of MAE", "largest change", "marks that change, of 210"]
    return pipe_table(header, lines)


def unconverged_table() -> str:
    """MAE with scikit-learn's hundred steps beside the converged one, on the same trials."""
    shared, stopped = both_runs()
    lines = []
    for (protocol, dataset), rows in stopped.groupby(["protocol", "dataset"], sort=False):
        same = shared[(shared["protocol"] == protocol) & (shared["dataset"] == dataset)]
        mae = [f"{number(same[m].abs().mean())} / {number(rows[m].abs().mean())}" for m in METHODS]
        lines.append([protocol, TITLES[dataset], *mae])
    return pipe_table(["protocol", "data", *METHODS], lines)


def mean_errors(errors: pd.DataFrame, methods: list[str], by: list[str]) -> str:
    """MAE of some methods by some columns."""
    found = errors.groupby(by, sort=False)[methods].agg(lambda e: e.abs().mean()).reset_index()
    lines = [[*map(str, row[: len(by)]), *map(number, row[len(by) :])]
             for row in found.itertuples(index=False)]  # fmt: skip
    return pipe_table([*by, *methods], lines)


def draw(errors: pd.DataFrame, ablation: pd.DataFrame, fair: pd.DataFrame) -> dict[str, str]:
    """Draw the figures of Adult, as in the paper, and return their Markdown by group."""
    FIGURES.mkdir(exist_ok=True)
    adult = errors[errors["dataset"] == "adult"]
    drawn = paper_figures(
        adult,
        fairness_aware=fair,
        decoupling=pd.read_csv(RESULTS / "decoupling.csv"),
        ablation=(),
    ) | paper_figures(ablation, methods=())
    groups: dict[str, list[str]] = {}
    for name, figure in drawn.items():
        save(figure, FIGURES / f"{name}.svg")
        special = name.split("-sample")[0] if "-sample" in name else ""
        text = name.replace("-adult-", " on Adult, ").replace("-", " ")
        groups.setdefault(special, []).append(f"![{text}](figures/{name}.svg)")
    return {group: "\n\n".join(lines) for group, lines in groups.items()}


def fairness(errors: pd.DataFrame, fair: pd.DataFrame) -> dict[str, str]:
    """Mean true disparity of both audited classifiers on whole deployment parts."""
    natural = json.loads((RESULTS / "natural.json").read_text())
    some = errors[(errors["dataset"] == "adult") & (errors["protocol"] == "sample-prev-D3")]
    lines = [["logistic regression", *(number(some[m].abs().mean()) for m in METHODS)],
             ["fair tree", *(number(fair[m].abs().mean()) for m in METHODS)]]  # fmt: skip
    table = pipe_table(["audited classifier", *METHODS], lines)
    return {"fair_table": table, **{k: number(v) for k, v in natural.items()}}


def page() -> str:
    """Compose the page."""
    errors = pd.concat([stored("LR"), stored("SVM")], ignore_index=True)
    ablation, fair = stored("ablation"), stored("fair-tree")
    statistics = summarize(errors, list(METHODS))
    comparison = compared(statistics)
    rows = flagged(comparison)
    figures = draw(errors, ablation, fair)
    reasons = rows["reason"].value_counts()
    some = ablation[ablation["protocol"].isin(SHIFTS)]
    refused = pd.read_csv(RESULTS / "refused.csv")
    lost = pd.read_csv(RESULTS / "not_identified.csv")
    return TEMPLATE.read_text().format(
        trials=f"{len(errors):,}",
        estimates=f"{len(errors) * len(METHODS):,}",
        numbers=len(comparison),
        flagged=len(rows),
        smoothing=reasons.get("smoothing", 0),
        steps=reasons.get("steps", 0),
        chance=reasons.get("chance", 0),
        unexplained=reasons.get("unexplained", 0),
        expected=round(2 * len(comparison) * t.sf(3, PARTITIONS - 1)),
        mean_difference=number(
            comparison[comparison["measure"] == "mae"]["difference"].abs().mean()
        ),
        conclusions=render_conclusions(check_conclusions(statistics)),
        flagged_table=flagged_table(rows),
        deviations=deviation_table(),
        unconverged=unconverged_table(),
        beside=beside(comparison),
        tables="\n\n".join(
            f"### {p}, {ln}\n\n{shown}" for (p, ln), shown in render(statistics).items()
        ),
        figures=figures[""],
        ablation_figures=figures["ablation"],
        fair_figures=figures["fairness-aware"],
        decoupling_figures=figures["decoupling"],
        ablation=mean_errors(some, list(ABLATION), ["protocol", "learner"]),
        refused=csv_table(refused) or "None.",
        lost=csv_table(lost) or "None.",
        time=time_table(),
        reference=reference_table(),
        agreement=agreement(),
        **fairness(errors, fair),
    )


def csv_table(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table; empty where it has no rows."""
    lines = [[str(v) for v in row] for row in frame.itertuples(index=False)]
    return pipe_table(list(frame.columns), lines) if lines else ""


def main(*, check: bool = False) -> None:
    """Write the page, or fail where it differs from the results."""
    path, text = DOCS / "reproduction.md", page()
    if not check:
        path.write_text(text)
    elif path.read_text() != text:
        raise SystemExit(f"{path} does not say what {RESULTS} says; write it again")
