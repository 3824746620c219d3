"""What every command does: show progress, read options, write files whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from quantifair.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from quantifair.audit import Audit
    from quantifair.fitted import FittedAudit
    from quantifair.results import AuditResult, PrevalenceResult
    from quantifair.tables import Table


def run(
    spec: Audit,
    auxiliary: Path,
    table: Table,
    *,
    quiet: bool,
    call: Callable[[FittedAudit], Callable[..., Any]],
) -> Any:
    """Train, read and estimate, showing how far it is."""
    with progress_bar(quiet=quiet) as (say, advance):
        say("training the group classifiers")
        fitted = spec.fit(auxiliary, columns=table.columns)
        say("scoring the deployment")
        measured = call(fitted)(table, progress=advance)
        say("done")
    return measured


@contextmanager
def progress_bar(
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


def learner_option(name: str | None) -> str | None:
    """Return the name of a learner, if there is one, once it is known."""
    from quantifair.candidates import NAMES

    if name is not None and name not in NAMES:
        raise InputError(f"no learner {name!r}; {did_you_mean(name, NAMES)}")
    return name


def one_or_many(names: list[str]) -> str | tuple[str, ...]:
    """Return the one name, or all of them."""
    return names[0] if len(names) == 1 else tuple(names)


def score_columns(pairs: list[str] | None) -> dict[str, str] | None:
    """Return the columns by group of options such as ``woman=p_woman``."""
    if not pairs:
        return None
    wrong = [p for p in pairs if "=" not in p]
    if wrong:
        raise InputError(f"--score takes GROUP=COLUMN, not {wrong[0]!r}")
    return dict(p.split("=", 1) for p in pairs)


def check_writable(path: Path | None, *, endings: tuple[str, ...] = ()) -> None:
    """Find out before the work whether a result can be written."""
    if path is None:
        return
    with writing(path):
        if path.is_dir():
            raise InputError(f"{path} is a directory; name a file to write")
        if not path.resolve().parent.is_dir():
            raise InputError(f"there is no folder {path.resolve().parent} to write {path.name} to")
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{path} should end in {' or '.join(endings)}")


def write_json(result: AuditResult | PrevalenceResult, path: Path | None) -> None:
    """Write a result as JSON where a file is named."""
    if path is not None:
        with writing(path):
            result.to_json(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the file system refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}") from error
