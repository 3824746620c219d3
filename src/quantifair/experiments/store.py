"""Results on disk: a file for each unit, whole or not there."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from quantifair.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from quantifair.experiments.study import Unit

_SETTINGS = "study.json"
_TEXT = ("sub", "problem")


def claim(folder: Path, settings: dict[str, Any]) -> None:
    """Make the folder of a study, or check that it is this study's."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _SETTINGS
    wanted = json.loads(json.dumps(settings))
    if not path.exists():
        write_whole(path, json.dumps(wanted, indent=2).encode())
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    other = sorted(k for k in {*found, *wanted} if found.get(k) != wanted.get(k))
    if other:
        raise InputError(
            f"{folder} holds a study with another {' and '.join(other)} "
            f"({', '.join(str(found.get(k)) for k in other)}); name another folder"
        )


def done(folder: Path, unit: Unit) -> bool:
    """Tell whether a unit's results are there."""
    return _file(folder, unit).exists()


def write(folder: Path, unit: Unit, table: dict[str, Any]) -> None:
    """Store a unit's table; a reader never meets half of it."""
    import pyarrow as pa
    from pyarrow import parquet

    lost = {k for k, v in table.items() if k.startswith("lost:") and not np.nansum(v)}
    columns = {k: pa.array(v.tolist() if k in _TEXT else v) for k, v in table.items()
               if k not in lost}  # fmt: skip
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink, compression="zstd")
    write_whole(_file(folder, unit), sink.getvalue().to_pybytes())


def read(folder: Path) -> pd.DataFrame:
    """Return the trials of a study, in an order that does not depend on who ran first.

    Its columns are those of ``Unit``, and ``sub``, ``value``, ``repeat``, ``natural``,
    ``problem``; by decision ``d`` the number of people ``size:d``, the group's true prevalence
    ``true:d`` and its auxiliary one ``prior:d``; and for each method ``METHOD:d``.
    """
    import pandas as pd

    files = sorted((folder / "units").glob("*.parquet"))
    if not files:
        raise InputError(f"{folder} holds no results; run `quantifair experiment run` first")
    frames = []
    for file in files:
        dataset, learner, protocol, partition, roles = map(unquote, file.stem.split("_"))
        frame = pd.read_parquet(file)
        frames.append(
            frame.assign(
                dataset=dataset,
                learner=learner,
                protocol=protocol,
                partition=int(partition),
                roles=roles,
            )
        )
    return pd.concat(frames, ignore_index=True)


def settings(folder: Path) -> dict[str, Any]:
    """Return the settings of the study that a folder holds."""
    path = folder / _SETTINGS
    if not path.exists():
        raise InputError(f"{folder} is not the folder of a study: it has no {_SETTINGS}")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _file(folder: Path, unit: Unit) -> Path:
    return folder / "units" / f"{unit.name}.parquet"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is whole at any time, in a folder that need not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
