"""The command ``quantifair stress``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quantifair.cli.options import (
    Favourable,
    Feature,
    Group,
    Id,
    Json,
    Learner,
    Level,
    Method,
    Quiet,
    Score,
    Seed,
    Target,
    Weight,
)
from quantifair.cli.running import (
    check_writable,
    learner_option,
    one_or_many,
    progress_bar,
    score_columns,
    writing,
)
from quantifair.errors import InputError

if TYPE_CHECKING:
    from quantifair.stress import Shift


Known = Annotated[
    Path, typer.Argument(help="The auxiliary table, with groups: a CSV or Parquet file, or a glob.")
]
Picture = Annotated[
    Path | None, typer.Option(help="Draw errors and coverage to this .svg or .pdf file.")
]


def stress(  # noqa: PLR0913
    *,
    auxiliary: Known,
    decision: Annotated[str, typer.Option(help="Column of the decision.")],
    group: Group,
    label: Annotated[
        str | None, typer.Option(help="Column of the true outcome; it is no feature.")
    ] = None,
    shift: Annotated[
        list[str] | None,
        typer.Option(
            help="none, prior, composition, size, covariate or drift; the last two also as "
            "covariate=COLUMN. Repeat it. By default all."
        ),
    ] = None,
    partitions: Annotated[int, typer.Option(help="How often people are split in halves.")] = 8,
    draws: Annotated[int, typer.Option(help="Deployments drawn at each strength.")] = 5,
    feature: Feature = None,
    weight: Weight = None,
    id_: Id = None,
    score: Score = None,
    favourable: Favourable = None,
    quantifier: Method = None,
    learner: Learner = None,
    level: Level = 0.95,
    target: Target = "rows",
    seed: Seed = 0,
    json: Json = None,
    figure: Picture = None,
    quiet: Quiet = False,
) -> None:
    """Replay shifts on the auxiliary people: which estimator to trust, whether intervals hold."""
    from quantifair.audit import Audit

    check_writable(json)
    check_writable(figure, endings=(".svg", ".pdf"))
    spec = Audit(
        decision=decision,
        group=one_or_many(group),
        label=label,
        features=feature or None,
        weight=weight,
        id=id_,
        scores=score_columns(score),
        favourable=favourable,
        learner=learner_option(learner),
        quantifier=quantifier,
        level=level,
        target=target,
        seed=seed,
    )
    shifts = [_shift(text) for text in shift] if shift else None
    with progress_bar(quiet=quiet) as (say, advance):
        say("replaying shifts")
        result = spec.stress(
            auxiliary, shifts=shifts, partitions=partitions, draws=draws, progress=advance
        )
    typer.echo(str(result))
    if json is not None:
        with writing(json):
            result.to_json(json)
    if figure is not None:
        from quantifair.experiments.figures import save

        with writing(figure):
            save(result.plot()[0, 0].figure, figure)


def _shift(text: str) -> str | Shift:
    """Return the name of a shift, or a shift along a feature."""
    from quantifair.stress import Covariate, Drift

    name, equals, feature = text.partition("=")
    if not equals:
        return name
    along: dict[str, type[Covariate] | type[Drift]] = {"covariate": Covariate, "drift": Drift}
    if name not in along:
        raise InputError(f"--shift {text}: only covariate and drift take a column")
    return along[name](feature)
