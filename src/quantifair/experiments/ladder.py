"""The ladder of errors: methods of any studies of the same trials, compared split by split.

A *units frame* has a row for each unit and method: ``UNIT`` and ``RUNG``, the number of
``trials``, the mean ``truth`` of their disparities, the mean absolute error ``mae``, the share
``lost`` of the trials without an answer in a cell, and where the method has intervals the share
``covered`` of those that hold the truth and their median ``width``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair.errors import InputError
from quantifair.experiments.methods import METHODS
from quantifair.experiments.outcomes import method_names, signed_errors
from quantifair.experiments.statistics import DATASETS, LEARNERS, PROTOCOLS, clustered
from quantifair.experiments.store import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd

UNIT = ["protocol", "dataset", "partition", "roles"]
RUNG = ["method", "learner"]
BLOCK = UNIT[:2]
PCC = ("PCC", "LR")
"""What the ladder's methods should not lose to where nothing shifts."""

_SAME = 1e-9


def units_of(folders: Sequence[Path]) -> pd.DataFrame:
    """Return the units frame of the studies in some folders.

    Raises
    ------
    InputError
        Where two folders hold other trials of the same unit, so that nothing is paired, or the
        same method twice.
    """
    import pandas as pd

    units = pd.concat([_units(folder) for folder in folders], ignore_index=True)
    twice = units.duplicated(UNIT + RUNG)
    if twice.any():
        first = units[twice].iloc[0]
        raise InputError(
            f"the folders hold {first['method']}({first['learner']}) on {first['dataset']} twice; "
            "leave one out"
        )
    seen: Any = units.groupby(UNIT)
    other: Any = (seen["trials"].nunique() > 1) | (
        seen["truth"].max() - seen["truth"].min() > _SAME
    )
    if other.any():
        raise InputError(
            f"the folders hold other trials of {' '.join(map(str, other.idxmax()))}; only studies "
            "with the same seed, repeats and audited classifier can be compared"
        )
    return units


def _units(folder: Path) -> pd.DataFrame:
    trials = read(folder)
    run = trials[trials["problem"] == ""].reset_index(drop=True)
    methods = method_names(run)
    errors = signed_errors(run, methods)
    return _summed(run, errors, methods)


def _summed(run: pd.DataFrame, errors: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    frames = []
    for method in methods:
        judged = errors[[*UNIT, "learner", "truth"]].assign(
            method=method, trials=1, mae=errors[method].abs(), lost=_lost(run, method)
        )
        if f"low:{method}" in run:
            low, high = run[f"low:{method}"], run[f"high:{method}"]
            inside = (low <= judged["truth"] + _SAME) & (judged["truth"] <= high + _SAME)
            judged = judged.assign(covered=inside.astype(float), width=high - low)
        how = {"trials": "sum", "truth": "mean", "mae": "mean", "lost": "mean"}
        how |= {"covered": "mean", "width": "median"} if "width" in judged else {}
        frames.append(judged.groupby(UNIT + RUNG, as_index=False).agg(how))
    return pd.concat(frames, ignore_index=True)


def _lost(run: pd.DataFrame, method: str) -> Any:
    """Return where a method had no answer in one cell or the other."""
    columns = [c for c in (f"lost:{method}:0", f"lost:{method}:1") if c in run]
    return (run[columns].fillna(0) > 0).any(axis=1).astype(float)


def ladder(units: pd.DataFrame) -> pd.DataFrame:
    """Return the error of each rung, beside the paper's best and PCC on the same splits.

    Parameters
    ----------
    units
        A units frame. Of each protocol and data set the splits count that every rung has.

    Returns
    -------
    DataFrame
        For each protocol, data set and rung: the number of ``splits``, the ``mae`` over them,
        ``best`` (the name of the paper's method with the least error there, with the paper's own
        learners, chosen after the fact), the differences ``over_best`` and ``over_pcc``, and
        ``lost``. Each of the first has its standard error ``_se``, clustered by partition: five
        partitions leave it 4 degrees of freedom.
    """
    import pandas as pd

    return pd.DataFrame([row for block in _blocks(units) for row in _rungs(block)])


def _rungs(block: pd.DataFrame) -> Iterator[dict[str, Any]]:
    wide: Any = block.pivot(index=["partition", "roles"], columns=RUNG, values="mae").dropna()
    place = dict(zip(BLOCK, block[BLOCK].iloc[0], strict=True))
    if wide.empty:
        raise InputError(f"no split of {' '.join(place.values())} was run for every method")
    partition = wide.index.get_level_values("partition").to_numpy()
    paper = [rung for rung in wide if rung[0] in METHODS and rung[1] in LEARNERS]
    best = wide[paper].mean().idxmin() if paper else None
    lost: Any = block.groupby(RUNG)["lost"].mean()
    for rung in wide:
        yield {
            **place,
            **dict(zip(RUNG, rung, strict=True)),
            "splits": len(wide),
            **_mean("mae", wide[rung], partition),
            "best": called(*best) if best else "",
            **_mean("over_best", wide[rung] - wide[best] if best else None, partition),
            **_mean("over_pcc", wide[rung] - wide[PCC] if PCC in wide else None, partition),
            "lost": float(lost[rung]),
        }


def _mean(name: str, values: pd.Series | None, partition: Any) -> dict[str, float]:
    if values is None:
        return {name: np.nan, f"{name}_se": np.nan}
    numbers = values.to_numpy(np.float64)
    error = float(clustered(numbers[:, None], partition)[0])
    return {name: float(numbers.mean()), f"{name}_se": error}


def coverage(units: pd.DataFrame) -> pd.DataFrame:
    """Return how often intervals hold the truth, by protocol, data set and rung.

    Its standard error is clustered by partition; the width is the median over units.
    """
    import pandas as pd

    with_intervals = units[units["covered"].notna()] if "covered" in units else units[:0]
    rows = [
        {
            **some[BLOCK + RUNG].iloc[0],
            "splits": len(some),
            "trials": int(some["trials"].sum()),
            **_mean("covered", some["covered"], some["partition"].to_numpy()),
            "width": float(some["width"].median()),
        }
        for block in _blocks(with_intervals)
        for _, some in block.groupby(RUNG, sort=False)
    ]
    return pd.DataFrame(rows)


def _blocks(units: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of each protocol and data set, in the paper's order, then others."""
    found = [block for _, block in units.groupby(BLOCK, sort=False)]

    def order(block: pd.DataFrame) -> list[int]:
        place = zip(block[BLOCK].iloc[0], (PROTOCOLS, DATASETS), strict=True)
        return [known.index(name) if name in known else len(known) for name, known in place]

    return sorted(found, key=order)


def called(method: str, learner: str) -> str:
    """Return what a rung is called."""
    return method if method == "MLPE" else f"{method}({learner})"
