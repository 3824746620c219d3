"""Write docs/cli.md from the command line's own help, or check that it is up to date.

Usage: python scripts/cli_reference.py [--check]
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
WIDTH = 90
HEAD = """\
# Command line

<!-- Written by scripts/cli_reference.py (`make docs`). Edit the help in src/quantifair/cli/. -->
"""


def sections(command: Any, name: str, parent: Any = None) -> Iterator[str]:
    """Yield one section for `command` and one for each command below it."""
    context = command.context_class(
        command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )
    title = context.command_path
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"## {title}\n\n```text\n{help_text.strip()}\n```\n"
    for child in getattr(command, "commands", {}):
        yield from sections(command.commands[child], child, context)


def reference() -> str:
    """Return the page: the plain help of every command, the same on every terminal."""
    os.environ |= {"TYPER_USE_RICH": "0", "NO_COLOR": "1"}  # Typer reads it when it is imported
    typer_main = importlib.import_module("typer.main")
    app = importlib.import_module("quantifair.cli").app
    return "\n".join([HEAD, *sections(typer_main.get_command(app), "quantifair")])


if __name__ == "__main__":
    page = reference()
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        sys.exit("docs/cli.md is out of date: run `make docs`")
