"""The commands ``quantifair experiment ...``."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from quantifair.experiments.catalogue import Catalogue

experiment_app = typer.Typer(
    help="The experiments of the paper, and your own methods in them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Results = Annotated[Path, typer.Argument(help="Folder that `run` wrote.")]
Plugin = Annotated[
    list[Path] | None,
    typer.Option("--with", help="A Python file with methods, protocols or learners; repeat it."),
]


@experiment_app.command("list")
def list_(*, plugin: Plugin = None) -> None:
    """List the protocols, methods, learners and audited classifiers."""
    known = _catalogue(plugin)
    kinds = {
        "protocols": known.protocols,
        "methods": known.methods,
        "learners": known.learners,
        "audited classifiers": known.auditees,
    }
    for kind, names in kinds.items():
        typer.echo(f"{kind:<21}{', '.join(names)}")


@experiment_app.command()
def run(  # noqa: PLR0913
    *,
    out: Annotated[Path, typer.Argument(help="Folder of the results; a killed run resumes.")],
    dataset: Annotated[
        list[str] | None, typer.Option(help="A data set; repeat it. By default all three.")
    ] = None,
    learner: Annotated[list[str] | None, typer.Option(help="LR by default; repeat it.")] = None,
    protocol: Annotated[list[str] | None, typer.Option(help="By default all five.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="By default the paper's seven.")] = None,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="PCC, SLD and PACC, with and without cells.")
    ] = False,
    crossed: Annotated[
        bool, typer.Option("--crossed", help="Methods as the package runs them: cross-fitted.")
    ] = False,
    ladder: Annotated[
        bool, typer.Option("--ladder", help="The paper's seven, and the cross-fitted ones.")
    ] = False,
    auditee: Annotated[str, typer.Option(help="The audited classifier: LR or fair-tree.")] = "LR",
    splits: Annotated[int, typer.Option(help="How many of the 30 splits.")] = 30,
    repeats: Annotated[int, typer.Option(help="Samplings for each swept value.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the samplings.")] = 0,
    clean: Annotated[
        bool, typer.Option("--clean", help="Standardise on the training part alone.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Workers; -1 for one each core.")] = -1,
    backend: Annotated[str | None, typer.Option(help="A joblib backend.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, to run on its workers.")
    ] = None,
    plugin: Plugin = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run experiments, or what is left of them."""
    from quantifair.experiments.methods import ABLATION, CROSSED, LADDER
    from quantifair.experiments.study import Study, run_study

    families = ((ABLATION, ablation), (LADDER, ladder), (CROSSED, crossed))
    named = [name for family, wanted in families if wanted for name in family] + (method or [])
    chosen = {
        "datasets": dataset,
        "learners": learner,
        "protocols": protocol,
        "methods": dict.fromkeys(named),
    }
    study = Study(
        **{name: tuple(given) for name, given in chosen.items() if given},
        auditee=auditee,
        splits=splits,
        repeats=repeats,
        seed=seed,
        clean=clean,
    )
    with _workers(backend, scheduler), _progress(quiet=quiet) as progress:
        run_study(study, out, catalogue=_catalogue(plugin), jobs=jobs, progress=progress)
    typer.echo(f"in {out}")


@experiment_app.command()
def tables(
    *,
    results: Results,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write all tables to, in every form.")
    ] = None,
    form: Annotated[str, typer.Option(help="What to print: markdown, latex or csv.")] = "markdown",
    as_reference: Annotated[
        bool,
        typer.Option("--as-reference", help="Smooth and test as the reference implementation."),
    ] = False,
) -> None:
    """Print the paper's tables from results, and how they differ from the paper."""
    from quantifair.experiments import tables as make
    from quantifair.experiments.results import statistics_of

    found = statistics_of(results, as_reference=as_reference)
    compared = make.side_by_side(found)
    printed = make.render(found, form=form)
    for (protocol, learner), text in printed.items():
        typer.echo(f"{protocol}, {learner}\n\n{text}\n")
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    for kind, ending in (("markdown", "md"), ("latex", "tex"), ("csv", "csv")):
        for (protocol, learner), text in make.render(found, form=kind).items():
            (out / f"{protocol}-{learner}.{ending}").write_text(text, encoding="utf-8")
    for kind, ending in (("markdown", "md"), ("csv", "csv")):
        for (protocol, learner), text in make.render_side_by_side(compared, form=kind).items():
            path = out / f"{protocol}-{learner}-beside-the-paper.{ending}"
            path.write_text(text, encoding="utf-8")
    typer.echo(f"in {out}")


@experiment_app.command()
def figures(
    *,
    results: Results,
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    form: Annotated[str, typer.Option(help="svg or pdf.")] = "svg",
) -> None:
    """Draw the paper's figures from results."""
    from quantifair.experiments.figures import paper_figures, save
    from quantifair.experiments.outcomes import method_names, signed_errors
    from quantifair.experiments.results import decoupling
    from quantifair.experiments.store import read

    trials = read(results)
    methods = method_names(trials)
    errors = signed_errors(trials, methods)
    ablated = [name for name in methods if name.endswith("-nosD2")]
    judged = decoupling(trials)
    drawn = paper_figures(
        errors,
        decoupling=None if judged.empty else judged,
        methods=[name for name in methods if name not in ablated],
        ablation=methods if ablated else (),
    )
    out.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        save(figure, out / f"{name}.{form}")
    typer.echo(f"{len(drawn)} figures in {out}")


@experiment_app.command()
def ladder(
    *,
    results: Annotated[list[Path], typer.Argument(help="Folders that `run` wrote.")],
    out: Annotated[
        Path | None, typer.Option(help="Parquet file to write each unit's errors to.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw an .svg or .pdf as well.")] = None,
) -> None:
    """Compare methods and learners split by split, and show how often intervals hold the truth."""
    from quantifair.experiments import ladder as study
    from quantifair.experiments import ladder_report as report
    from quantifair.experiments.figures import save

    units = study.units_of(results)
    found, covered = study.ladder(units), study.coverage(units)
    for protocol, text in report.ladder_tables(found).items():
        typer.echo(f"{protocol}\n\n{text}\n")
    if len(covered):
        typer.echo(f"95% intervals\n\n{report.coverage_table(covered)}\n")
    if out is not None:
        units.to_parquet(out, compression="zstd", index=False)
    if figure is not None:
        save(report.ladder_figure(found), figure)


@experiment_app.command()
def coverage(
    *,
    out: Annotated[Path, typer.Argument(help="CSV of the results; a killed run resumes.")],
    groups: Annotated[
        list[int] | None, typer.Option(help="2 or 4; repeat it. By default both.")
    ] = None,
    replicates: Annotated[int, typer.Option(help="Draws of both tables for a setting.")] = 2000,
    settings: Annotated[
        int | None, typer.Option(help="Run so many settings only, spread over the grid.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw an .svg or .pdf as well.")] = None,
    jobs: Annotated[int, typer.Option(help="Workers; -1 for one each core.")] = -1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Measure how often the default intervals hold the truth."""
    from quantifair.errors import InputError
    from quantifair.experiments import coverage as study
    from quantifair.experiments import coverage_report as report
    from quantifair.experiments.figures import save

    chosen = groups or list(study.PREVALENCES)
    if unknown := [k for k in chosen if k not in study.PREVALENCES]:
        raise InputError(f"--groups is 2 or 4, not {unknown[0]}")
    grid = study.grid(chosen)
    if settings is not None:
        grid = grid[:: max(1, len(grid) // max(1, settings))][:settings]
    with _progress(quiet=quiet) as progress:
        rows = study.run(grid, out, replicates=replicates, jobs=jobs, progress=progress)
    typer.echo(f"{report.summary(rows)}\n\n{report.table(rows)}\n\nin {out}")
    if figure is not None:
        save(report.coverage_figure(rows), figure)


@experiment_app.command()
def assumption(
    *,
    out: Annotated[Path, typer.Argument(help="CSV of the results; a killed run resumes.")],
    replicates: Annotated[int, typer.Option(help="Draws of both tables for a setting.")] = 500,
    jobs: Annotated[int, typer.Option(help="Workers; -1 for one each core.")] = -1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Measure size and power of the tests of prior shift."""
    from quantifair.experiments import assumption as study
    from quantifair.experiments.assumption_report import table

    with _progress(quiet=quiet) as progress:
        rows = study.run(study.grid(), out, replicates=replicates, jobs=jobs, progress=progress)
    typer.echo(f"{table(rows)}\n\nin {out}")


def _catalogue(plugins: list[Path] | None) -> Catalogue:
    from quantifair.experiments.catalogue import Catalogue

    known = Catalogue()
    for path in plugins or ():
        known = known.extended(path)
    return known


@contextmanager
def _workers(backend: str | None, scheduler: str | None) -> Iterator[None]:
    """Choose joblib's backend, on a Dask cluster where one is named."""
    from joblib import parallel_config

    from quantifair.errors import InputError

    client: AbstractContextManager[Any] = nullcontext()
    if scheduler is not None:
        try:
            from distributed import Client
        except ImportError as error:
            raise InputError("--scheduler takes Dask: pip install distributed") from error
        client, backend = Client(scheduler), "dask"  # type: ignore[no-untyped-call]
    with client:
        if backend is None:
            yield
            return
        try:
            config = parallel_config(backend=backend)
        except ValueError as error:
            raise InputError(f"no joblib backend {backend!r}: {error}") from error
        with config:
            yield


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left on a terminal's standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
