"""The command line: parse, call, print."""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quantifair.datasets.commands import datasets_app
from quantifair.errors import InputError, QuantifairError, did_you_mean
from quantifair.experiments.commands import experiment_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quantifair.audit import Audit
    from quantifair.fitted import FittedAudit
    from quantifair.results import AuditResult
    from quantifair.tables import Table as OpenTable

BAD_INPUT = 2
INTERRUPTED = 130
DEFECT = 70

app = typer.Typer(
    name="quantifair",
    help="Measure fairness where nobody recorded who belongs to which group.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(datasets_app, name="datasets")
app.add_typer(experiment_app, name="experiment")

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
Method = Annotated[str, typer.Option("--quantifier", help="cc, pcc, acc, pacc, sld, hdy or mlpe.")]
Learner = Annotated[str, typer.Option(help="The group classifier: logistic, svm or boosting.")]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Interval = Annotated[str, typer.Option(help="score, bootstrap or none.")]
Target = Annotated[
    str, typer.Option(help="What intervals are about: these rows, or the population behind them.")
]
Replicates = Annotated[int, typer.Option(help="Replicates of bootstrap intervals.")]
Seed = Annotated[int, typer.Option(help="Seed of folds and replicates.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the result as JSON to this file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


@app.command()
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
    quantifier: Method = "sld",
    learner: Learner = "logistic",
    level: Level = 0.95,
    interval: Interval = "score",
    target: Target = "rows",
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

    _check_writable(json)
    _check_writable(report, endings=(".html", ".md"))
    spec = Audit(
        decision=decision,
        group=_one_or_many(group),
        label=label,
        features=feature or None,
        weight=weight,
        id=id_,
        scores=_scores(score),
        favourable=favourable,
        favourable_label=favourable_label,
        reference=reference,
        learner=_learner(learner),
        quantifier=quantifier,
        level=level,
        interval=interval,
        target=target,
        replicates=replicates,
        seed=seed,
    )
    table = open_table(deployment, "deployment")
    for column in truth or ():
        table.require(column, "true group")
    call = partial(_measure, table=table, truth=tuple(truth or ()))
    result = _run(spec, auxiliary, table, quiet=quiet, call=call)
    typer.echo(str(result))
    if json is not None:
        with _writing(json):
            result.to_json(json)
    if report is not None:
        with _writing(report):
            write(result, report)
    if truth:
        typer.echo(f"\nAgainst the truth\n\n{result.compare(table, group=tuple(truth))}")


@app.command()
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
    quantifier: Method = "sld",
    learner: Learner = "logistic",
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

    _check_writable(json)
    spec = Audit(
        decision=decision,
        group=_one_or_many(group),
        features=feature or None,
        weight=weight,
        id=id_,
        scores=_scores(score),
        favourable=favourable,
        learner=_learner(learner),
        quantifier=quantifier,
        level=level,
        interval=interval,
        target=target,
        replicates=replicates,
        seed=seed,
    )
    table = open_table(deployment, "deployment")
    result = _run(spec, auxiliary, table, quiet=quiet, call=lambda f: f.quantify)
    typer.echo(str(result))
    if json is not None:
        with _writing(json):
            result.to_json(json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the tables and the report.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="Applicants in the deployment.")] = 30_000,
    seed: Seed = 0,
    quiet: Quiet = False,  # noqa: FBT002
) -> None:
    """Audit a simulated lender and set the estimate beside the known truth."""
    from quantifair.demo import run_demo

    run_demo(out, rows=rows, seed=seed, audit=audit, say=typer.echo, quiet=quiet)


def main() -> None:
    """Run the command line; bad input is one sentence and exit status 2, never a traceback."""
    try:
        app(prog_name="quantifair")
    except QuantifairError as error:
        typer.secho(f"error: {' '.join(str(error).split())}", fg="red", err=True)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        typer.secho("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except Exception:  # noqa: BLE001
        traceback.print_exc()
        typer.secho("This is a defect of quantifair, not of your data; please report it.", err=True)
        sys.exit(DEFECT)


def _measure(
    fitted: FittedAudit, *, table: OpenTable, truth: tuple[str, ...]
) -> Callable[..., AuditResult]:
    """Return what measures, once it is known that it can be compared."""
    from quantifair.comparison import Comparer

    if truth:
        Comparer.of(fitted).check(table, truth)
    return fitted.measure


def _run(
    spec: Audit,
    auxiliary: Path,
    table: OpenTable,
    *,
    quiet: bool,
    call: Callable[[FittedAudit], Callable[..., Any]],
) -> Any:
    """Train, read and estimate, showing how far it is."""
    with _progress(quiet=quiet) as (say, advance):
        say("training the group classifiers")
        fitted = spec.fit(auxiliary, columns=table.columns)
        say("scoring the deployment")
        measured = call(fitted)(table, progress=advance)
        say("done")
    return measured


@contextmanager
def _progress(
    *, quiet: bool
) -> Iterator[tuple[Callable[[str], None], Callable[[int, int | None], None]]]:
    """Show a bar on a terminal's standard error; what is printed stays clean."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=None)

        def advance(rows: int, total: int | None) -> None:
            bar.update(task, completed=rows, total=total)
            if rows == total:
                bar.update(task, description="drawing replicates")

        yield (lambda text: bar.update(task, description=text)), advance


def _learner(name: str) -> Any:
    """Return the learner of that name; ``None`` is the default one."""
    from quantifair.learner import LEARNERS

    if name not in LEARNERS:
        raise InputError(f"no learner {name!r}; {did_you_mean(name, LEARNERS)}")
    return None if name == "logistic" else name


def _one_or_many(names: list[str]) -> str | tuple[str, ...]:
    return names[0] if len(names) == 1 else tuple(names)


def _scores(pairs: list[str] | None) -> dict[str, str] | None:
    if not pairs:
        return None
    wrong = [p for p in pairs if "=" not in p]
    if wrong:
        raise InputError(f"--score takes GROUP=COLUMN, not {wrong[0]!r}")
    return dict(p.split("=", 1) for p in pairs)


def _check_writable(path: Path | None, *, endings: tuple[str, ...] = ()) -> None:
    """Find out before the work whether a result can be written."""
    if path is None:
        return
    with _writing(path):
        if path.is_dir():
            raise InputError(f"{path} is a directory; name a file to write")
        if not path.resolve().parent.is_dir():
            raise InputError(f"there is no folder {path.resolve().parent} to write {path.name} to")
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{path} should end in {' or '.join(endings)}")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}") from error
