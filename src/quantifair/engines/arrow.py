"""In memory, from files, from DuckDB: Arrow batches in, one sketch by cell out."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from quantifair.cells import Deployment, Plan
    from quantifair.tables import Table


def sketch_table(
    table: Table, plan: Plan, progress: Callable[[int, int | None], None] | None = None
) -> Deployment:
    """Read a table once, block by block, and return its sketches.

    Parameters
    ----------
    table
        The table to read.
    plan
        What to do with each block.
    progress
        Called with the rows read and the rows in all, where known.
    """
    total = plan.empty()
    # Closed at once where a block is bad: an open result blocks a DuckDB connection.
    with closing(table.blocks(plan.columns)) as blocks:
        for block in blocks:
            total = total + plan.sketch(block, table.name)
            if progress is not None:
                progress(total.rows, table.rows)
    return total
