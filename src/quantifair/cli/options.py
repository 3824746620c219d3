"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Table = Annotated[
    Path, typer.Argument(help="The deployment table: a CSV or Parquet file, or a glob.")
]
Survey = Annotated[
    Path,
    typer.Option("--auxiliary", "-a", help="The auxiliary table, with groups: CSV or Parquet."),
]
Group = Annotated[
    list[str], typer.Option(help="Column of the group; repeat it to audit intersections.")
]
Feature = Annotated[
    list[str] | None,
    typer.Option(help="A feature column; repeat it. By default all that both tables share."),
]
Weight = Annotated[str | None, typer.Option(help="Column of survey weights.")]
Id = Annotated[str | None, typer.Option("--id", help="Column that identifies people.")]
Score = Annotated[
    list[str] | None,
    typer.Option(help="GROUP=COLUMN, a column of that group's probability; repeat it."),
]
Favourable = Annotated[str | None, typer.Option(help="The favourable decision, if not obvious.")]
Method = Annotated[
    str | None,
    typer.Option(
        "--quantifier",
        help="cc, pcc, acc, pacc, sld, hdy, eac, kdey, edy, posterior or mlpe; by default "
        "posterior, or pcc under covariate shift.",
    ),
]
Assume = Annotated[
    str,
    typer.Option(
        "--assume",
        help="prior_shift, which is tested, or covariate_shift, which you declare: see the docs.",
    ),
]
Learner = Annotated[
    str | None,
    typer.Option(help="The group classifier: logistic, splines, svm or boosting; else the best."),
]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Interval = Annotated[str, typer.Option(help="score, bootstrap or none.")]
Target = Annotated[
    str, typer.Option(help="What intervals are about: these rows, or the population behind them.")
]
Margin = Annotated[
    float, typer.Option(help="Largest difference of rates that counts as fair: a convention.")
]
RatioMargin = Annotated[
    float, typer.Option(help="Smallest ratio of selection rates that counts as fair.")
]
Replicates = Annotated[int, typer.Option(help="Replicates of bootstrap intervals.")]
Seed = Annotated[int, typer.Option(help="Seed of folds and replicates.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the result as JSON to this file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
