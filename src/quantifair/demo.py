"""The demonstration: a simulated lender, audited as anybody would, beside its known truth."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from quantifair.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def run_demo(
    out: Path,
    *,
    rows: int,
    seed: int,
    audit: Callable[..., None],
    say: Callable[[str], None],
    quiet: bool,
) -> None:
    """Write the lender's tables to a folder and audit them with the ``audit`` command."""
    import pyarrow.csv
    import pyarrow.parquet

    from quantifair.datasets import simulate_lender

    lender = simulate_lender(deployment_rows=rows, seed=seed)
    try:
        out.mkdir(parents=True, exist_ok=True)
        pyarrow.csv.write_csv(lender.auxiliary, out / "survey.csv")
        pyarrow.parquet.write_table(lender.truth, out / "deployment.parquet")
    except OSError as error:
        raise InputError(f"can't write to the folder {out}: {error.strerror}") from error

    seeded = f" --seed {seed}" if seed else ""

    def quoted(name: str) -> str:
        return shlex.quote(str(out / name))

    say(
        f"A lender decided on {rows:,} applicants without asking their gender; a survey asked "
        f"{lender.auxiliary.num_rows:,} earlier ones. As a command:\n\n"
        f"  quantifair audit {quoted('deployment.parquet')} --auxiliary {quoted('survey.csv')} "
        "--decision approved \\\n    --group gender --label repaid --truth true_gender "
        f"--json {quoted('audit.json')} --report {quoted('audit.html')}{seeded}\n"
    )
    audit(
        deployment=out / "deployment.parquet",
        auxiliary=out / "survey.csv",
        decision="approved",
        group=["gender"],
        label="repaid",
        truth=["true_gender"],
        json=out / "audit.json",
        report=out / "audit.html",
        seed=seed,
        quiet=quiet,
    )
    say(f"\nThe report is in {out}/audit.html, the figures are in {out}/audit.json")
