"""Results as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quantifair.errors import InputError, did_you_mean
from quantifair.results import RATES

if TYPE_CHECKING:
    from quantifair.results import AuditResult, Figure, MeasureResult

    Row = tuple[str, str, str, Figure, str | None]

_BACKENDS = ("pandas", "polars", "pyarrow")
_NUMBERS = ("estimate", "low", "high")
_FIGURES = ("count", "share", *RATES)


def group_frame(result: AuditResult) -> Any:
    """Return a pandas frame with a row for each group and, for each figure, its interval."""
    import pandas as pd

    rows = {}
    for group in result.groups:
        row: dict[str, float | None] = {}
        for name in _FIGURES:
            figure = getattr(group, name)
            if figure is not None:
                row |= {
                    name: figure.estimate,
                    f"{name}_low": figure.low,
                    f"{name}_high": figure.high,
                }
        rows[group.name] = row
    frame = pd.DataFrame.from_dict(rows, orient="index", dtype="float64")
    return frame.rename_axis("group")


def figure_frame(result: AuditResult, backend: str) -> Any:
    """Return each figure of the measures and of the groups as a row of a long frame."""
    import narwhals as nw
    import pyarrow as pa

    if backend not in _BACKENDS:
        raise InputError(f"no backend {backend!r}; {did_you_mean(backend, _BACKENDS)}")
    rows = [row for measure in result.measures.values() for row in _of_measure(measure)]
    rows += [
        ("group", g.name, name, getattr(g, name), None)
        for g in result.groups
        for name in _FIGURES
        if getattr(g, name) is not None
    ]
    columns: dict[str, list[Any]] = {
        "scope": [r[0] for r in rows],
        "name": [r[1] for r in rows],
        "figure": [r[2] for r in rows],
        **{number: [getattr(r[3], number) for r in rows] for number in _NUMBERS},
        "verdict": [r[4] for r in rows],
    }
    # By way of Arrow, as pandas takes what is missing among texts for the word None.
    schema = pa.schema({n: pa.float64() if n in _NUMBERS else pa.string() for n in columns})
    return nw.from_arrow(pa.table(columns, schema), backend=backend).to_native()  # type: ignore[arg-type]


def _of_measure(measure: MeasureResult) -> list[Row]:
    ratio = None if measure.ratio_verdict is None else measure.ratio_verdict.value
    return [
        ("measure", measure.name, "difference", measure.difference, measure.verdict.value),
        ("measure", measure.name, "ratio", measure.ratio, ratio),
        ("measure", measure.name, "variance", measure.variance, None),
    ]
