"""What the study of the tests of prior shift found, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quantifair.experiments.tables import pipe_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.experiments.assumption import Row

TESTS = ("score bins", "features", "either", "averaged")


def table(rows: Sequence[Row]) -> str:
    """Return the share of rejections of each test, a line for each setting."""
    lines = []
    for setting in dict.fromkeys(r[:5] for r in rows):
        of = {r.test: r for r in rows if r[:5] == setting}
        learner, auc, auxiliary, shift, deployment = setting
        rates, features = [f"{of[t].rejected:.3f}" for t in TESTS], of["features"]
        lines.append([shift, learner, f"{auc:g}", f"{auxiliary:,}", f"{deployment:,}", *rates,
                      f"{features.detectable:.2f}", f"{features.bias:+.3f}"])  # fmt: skip
    header = ["shift", "learner", "AUC", "auxiliary", "deployment", *TESTS, "detectable", "bias"]
    return pipe_table(header, lines)
