"""The command ``quantifair plan``."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quantifair.cli.options import (
    Favourable,
    Feature,
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
    run,
    score_columns,
    writing,
)
from quantifair.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from quantifair.fitted import FittedAudit
    from quantifair.planning import Aim, PlanResult

Pilot = Annotated[
    Path | None, typer.Option("--auxiliary", "-a", help="A pilot, with groups: CSV or Parquet.")
]
Audited = Annotated[
    Path | None, typer.Option("--deployment", "-d", help="The table that will be audited.")
]
Picture = Annotated[
    Path | None, typer.Option("--figure", help="Draw the curve into this .svg or .pdf file.")
]


def plan(  # noqa: PLR0913
    *,
    width: Annotated[
        float | None, typer.Option(help="Wished width of the demographic parity interval.")
    ] = None,
    detect: Annotated[
        float | None, typer.Option(help="In place of --width, a difference that is to be found.")
    ] = None,
    power: Annotated[float, typer.Option(help="How often it is to be found.")] = 0.8,
    margin: Annotated[
        float, typer.Option(help="Differences up to this are fair, and need not be found.")
    ] = 0.0,
    auxiliary: Pilot = None,
    deployment: Audited = None,
    decision: Annotated[
        str | None, typer.Option(help="Column of the decision, in both tables.")
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(help="Column of the group in the pilot; repeat it.")
    ] = None,
    auc: Annotated[
        float | None, typer.Option(help="Without a pilot: the assumed AUC of a group classifier.")
    ] = None,
    share: Annotated[
        float | None, typer.Option(help="Without a pilot: the share of the second group.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Without a pilot: the share of favourable decisions.")
    ] = None,
    disparity: Annotated[
        float, typer.Option(help="Without a pilot: the second group's rate minus the first's.")
    ] = 0.0,
    deployment_rows: Annotated[
        int, typer.Option(help="Without a pilot: people in the deployment.")
    ] = 10_000,
    feature: Feature = None,
    weight: Weight = None,
    id_: Id = None,
    score: Score = None,
    favourable: Favourable = None,
    reference: Annotated[
        str | None, typer.Option(help="The group that is subtracted, of two.")
    ] = None,
    quantifier: Method = None,
    learner: Learner = None,
    level: Level = 0.95,
    target: Target = "rows",
    seed: Seed = 0,
    json: Json = None,
    figure: Picture = None,
    quiet: Quiet = False,
) -> None:
    """Tell how many people must be asked, from a pilot or from assumptions alone."""
    from quantifair.planning import Aim, plan_from_assumptions

    check_writable(json)
    check_writable(figure, endings=(".svg", ".pdf"))
    aim = Aim(width=width, detect=detect, power=power, margin=margin)
    tables = {"auxiliary": auxiliary, "deployment": deployment, "decision": decision}
    assumed = {"auc": auc, "share": share, "rate": rate}
    if _complete(tables | {"group": group or None}, assumed) is assumed:
        found = plan_from_assumptions(
            aim,
            **assumed,
            disparity=disparity,
            deployment_rows=deployment_rows,
            level=level,
            target=target,
        )
    else:
        roles = {
            "decision": decision,
            "group": one_or_many(group or []),
            "features": feature or None,
            "weight": weight,
            "id": id_,
            "scores": score_columns(score),
            "favourable": favourable,
            "reference": reference,
            "learner": learner_option(learner),
            "quantifier": quantifier,
            "level": level,
            "target": target,
            "seed": seed,
        }
        found = _from_pilot(aim, tables, roles, quiet=quiet)
    _show(found, json, figure)


def _complete(tables: dict[str, Any], assumed: dict[str, Any]) -> dict[str, Any]:
    """Return the one of two sets of options that is given, and whole."""
    given = [[n for n, value in each.items() if value is not None] for each in (tables, assumed)]
    if all(given):
        raise InputError(
            f"--{given[1][0]} is for a plan without tables, --{given[0][0]} for one from a pilot; "
            "drop one of them"
        )
    chosen = assumed if given[1] else tables
    lacking = [f"--{n}" for n, value in chosen.items() if value is None]
    if lacking and not any(given):
        raise InputError(
            "a plan starts from a pilot (--auxiliary, --deployment, --decision, --group) or from "
            "assumptions (--auc, --share, --rate); give those of one kind"
        )
    if lacking:
        raise InputError(f"this plan needs {' and '.join(lacking)}, too")
    return chosen


def _from_pilot(
    aim: Aim, tables: dict[str, Any], roles: dict[str, Any], *, quiet: bool
) -> PlanResult:
    from quantifair.audit import Audit
    from quantifair.tables import open_table

    def call(fitted: FittedAudit) -> Callable[..., PlanResult]:
        return partial(fitted.plan, **asdict(aim))

    table = open_table(tables["deployment"], "deployment")
    spec = Audit(**roles)
    found: PlanResult = run(spec, tables["auxiliary"], table, quiet=quiet, call=call)
    return found


def _show(found: PlanResult, json: Path | None, figure: Path | None) -> None:
    typer.echo(str(found))
    if json is not None:
        with writing(json):
            found.to_json(json)
    if figure is not None:
        _draw(found, figure)


def _draw(found: PlanResult, path: Path) -> None:
    from quantifair.experiments.figures import save, styled

    with styled():
        from matplotlib.figure import Figure

        canvas = Figure(figsize=(6.4, 3.8), layout="constrained")
        found.plot(ax=canvas.subplots())
    with writing(path):
        save(canvas, path)
