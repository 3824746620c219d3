"""The command line: parse, call, print."""

from __future__ import annotations

import sys
import traceback

import typer

from quantifair.cli.audit import audit, demo, quantify
from quantifair.cli.plan import plan
from quantifair.cli.stress import stress
from quantifair.datasets.commands import datasets_app
from quantifair.errors import QuantifairError
from quantifair.experiments.commands import experiment_app

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
for command in (audit, quantify, stress, plan, demo):
    app.command()(command)
app.add_typer(datasets_app, name="datasets")
app.add_typer(experiment_app, name="experiment")


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
