"""The commands ``quantifair audit | quantify | demo``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quantifair.cli.options import (
    Assume,
    Favourable,
    Feature,
    Group,
    Id,
    Interval,
    Json,
    Learner,
    Level,
    Margin,
    Method,
    Quiet,
    RatioMargin,
    Replicates,
    Score,
    Seed,
    Survey,
    Table,
    Target,
    Weight,
)
from quantifair.cli.running import (
    check_writable,
    learner_option,
    one_or_many,
    run,
    score_columns,
    write_json,
    writing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from quantifair.fitted import FittedAudit
    from quantifair.results import AuditResult
    from quantifair.tables import Table as OpenTable


def audit(  # noqa: PLR0913
    *,
    deployment: Table,
    auxiliary: Survey,
    decision: Annotated[str, typer.Option(help="Column of the decision, in both tables.")],
    group: Group,
    label: Annotated[
        str | None, typer.Option(help="Column of the true outcome, in both tables.")
    ] = None,
    feature: Feature = None,
    weight: Weight = None,
    id_: Id = None,
    score: Score = None,
    favourable: Favourable = None,
    favourable_label: Annotated[
        str | None, typer.Option(help="The favourable label, if not obvious.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="The group that is subtracted, of two.")
    ] = None,
    quantifier: Method = None,
    assume: Assume = "prior_shift",
    learner: Learner = None,
    level: Level = 0.95,
    interval: Interval = "score",
    target: Target = "rows",
    margin: Margin = 0.05,
    ratio_margin: RatioMargin = 0.8,
    replicates: Replicates = 1000,
    seed: Seed = 0,
    truth: Annotated[
        list[str] | None,
        typer.Option(help="Column of the true group in the deployment, to validate; repeat it."),
    ] = None,
    json: Json = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report to this .html or .md file.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Estimate disparities between groups, with intervals."""
    from quantifair.audit import Audit
    from quantifair.report import write
    from quantifair.tables import open_table

    check_writable(json)
    check_writable(report, endings=(".html", ".md"))
    spec = Audit(
        decision=decision,
        group=one_or_many(group),
        label=label,
        features=feature or None,
        weight=weight,
        id=id_,
        scores=score_columns(score),
        favourable=favourable,
        favourable_label=favourable_label,
        reference=reference,
        learner=learner_option(learner),
        quantifier=quantifier,
        assume=assume,
        level=level,
        interval=interval,
        target=target,
        margin=margin,
        ratio_margin=ratio_margin,
        replicates=replicates,
        seed=seed,
    )
    table = open_table(deployment, "deployment")
    for column in truth or ():
        table.require(column, "true group")
    call = partial(_measure, table=table, truth=tuple(truth or ()))
    result = run(spec, auxiliary, table, quiet=quiet, call=call)
    typer.echo(str(result))
    write_json(result, json)
    if report is not None:
        with writing(report):
            write(result, report)
    if truth:
        typer.echo(f"\nAgainst the truth\n\n{result.compare(table, group=tuple(truth))}")


def quantify(  # noqa: PLR0913
    *,
    deployment: Table,
    auxiliary: Survey,
    group: Group,
    decision: Annotated[
        str | None, typer.Option(help="Column of a decision, for prevalences by decision.")
    ] = None,
    feature: Feature = None,
    weight: Weight = None,
    id_: Id = None,
    score: Score = None,
    favourable: Favourable = None,
    quantifier: Method = None,
    assume: Assume = "prior_shift",
    learner: Learner = None,
    level: Level = 0.95,
    interval: Interval = "score",
    target: Target = "rows",
    replicates: Replicates = 1000,
    seed: Seed = 0,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Estimate how common each group is: the prevalences alone."""
    from quantifair.audit import Audit
    from quantifair.tables import open_table

    check_writable(json)
    spec = Audit(
        decision=decision,
        group=one_or_many(group),
        features=feature or None,
        weight=weight,
        id=id_,
        scores=score_columns(score),
        favourable=favourable,
        learner=learner_option(learner),
        quantifier=quantifier,
        assume=assume,
        level=level,
        interval=interval,
        target=target,
        replicates=replicates,
        seed=seed,
    )
    table = open_table(deployment, "deployment")
    result = run(spec, auxiliary, table, quiet=quiet, call=lambda f: f.quantify)
    typer.echo(str(result))
    write_json(result, json)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the tables and the report.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="Applicants in the deployment.")] = 30_000,
    seed: Seed = 0,
    quiet: Quiet = False,  # noqa: FBT002
) -> None:
    """Audit a simulated lender and set the estimate beside the known truth."""
    from quantifair.demo import run_demo

    run_demo(out, rows=rows, seed=seed, audit=audit, say=typer.echo, quiet=quiet)


def _measure(
    fitted: FittedAudit, *, table: OpenTable, truth: tuple[str, ...]
) -> Callable[..., AuditResult]:
    """Return what measures, once it is known that it can be compared."""
    from quantifair.comparison import Comparer

    if truth:
        Comparer.of(fitted).check(table, truth)
    return fitted.measure
