"""What each protocol of the paper sweeps, laid out as the x axis of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quantifair.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SUBS = {"": "", "rejected": r"\ominus", "accepted": r"\oplus"}


class Sweep(NamedTuple):
    """What a protocol sweeps.

    Attributes
    ----------
    label
        What the paper calls it; ``SUB`` stands for the decision of the sub-protocol.
    column
        Where a frame has it.
    decimals
        What it is rounded to, if it is measured rather than set.
    natural
        Whether it is a prevalence, which has a natural value.
    """

    label: str = "swept value"
    column: str = "value"
    decimals: int | None = None
    natural: bool = True


SWEEPS = {
    "sample-prev-D1": Sweep(r"$\Pr(Y=S)$ in $\breve{\mathcal{D}}_1$"),
    "flip-prev-D1": Sweep(r"true disparity $\delta_h^S$", "truth", decimals=1, natural=False),
    "sample-size-D2": Sweep(r"$|\breve{\mathcal{D}}_2|$", natural=False),
    "sample-prev-D2": Sweep(r"$\Pr(S=1\,|\,\hat{Y}=SUB)$ in $\breve{\mathcal{D}}_2$"),
    "sample-prev-D3": Sweep(r"$\Pr(S=1\,|\,\hat{Y}=SUB)$ in $\breve{\mathcal{D}}_3$"),
}


class Layout(NamedTuple):
    """An x axis of categories: the first at 0, the next at 1, and so on.

    Attributes
    ----------
    values
        The swept value of each row.
    ticks
        The categories, ascending.
    label
        Of the axis.
    natural
        The natural prevalence, or NaN.
    """

    values: FloatArray
    ticks: FloatArray
    label: str
    natural: float

    def tick_names(self) -> list[str]:
        """Return the categories as text."""
        return [f"{t:,.10g}".replace("-", "\N{MINUS SIGN}") for t in self.ticks]

    def natural_place(self) -> float:
        """Return where the natural prevalence lies; beyond an end, its gap is the measure."""
        if self.ticks.size < 2:
            return np.nan
        left = int(np.clip(np.searchsorted(self.ticks, self.natural) - 1, 0, self.ticks.size - 2))
        start, end = self.ticks[left : left + 2]
        return float(left + (self.natural - start) / (end - start))


def check(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Refuse a frame without rows, or without one of the columns."""
    for name in columns:
        if name not in frame:
            hint = did_you_mean(name, frame.columns)
            raise InputError(f"the frame to draw lacks the column {name!r}; {hint}")
    if frame.empty:
        raise InputError("a figure takes at least one row; the frame to draw has none")


def lay_out(frame: pd.DataFrame) -> Layout:
    """Return the x axis for the rows of one sub-protocol.

    What is rounded keeps its gaps: every multiple between the least and the greatest is a
    category, though no row may be there.
    """
    protocol, sub = protocol_of(frame), subs_of(frame)
    if len(sub) > 1:
        raise InputError(f"a panel shows one sub-protocol, not {sub}")
    sweep = SWEEPS.get(protocol, Sweep())
    check(frame, [sweep.column])
    # Ten decimals make 0.1 + 0.2 a 0.3, and adding zero makes -0.0 a 0.0.
    decimals = 10 if sweep.decimals is None else sweep.decimals
    values = np.round(frame[sweep.column].to_numpy(dtype=np.float64), decimals) + 0.0
    ticks = np.unique(values[np.isfinite(values)])
    if sweep.decimals is not None and ticks.size:
        least, greatest = np.rint(ticks[[0, -1]] * 10**decimals)
        ticks = np.arange(least, greatest + 1) / 10**decimals
    marked = sweep.natural and "natural" in frame
    natural = float(frame["natural"].mean()) if marked else np.nan
    return Layout(values, ticks, sweep.label.replace("SUB", SUBS[sub[0]]), natural)


def protocol_of(frame: pd.DataFrame) -> str:
    """Return the one protocol of a frame; empty where it does not say."""
    found = list(frame["protocol"].unique()) if "protocol" in frame else [""]
    if len(found) > 1:
        raise InputError(f"a figure shows one protocol, not {found}")
    return str(found[0])


def subs_of(frame: pd.DataFrame) -> list[str]:
    """Return the sub-protocols of a frame in the order of the paper."""
    check(frame, ["sub"])
    found = set(frame["sub"])
    if unknown := found - set(SUBS):
        raise InputError(f"a sub-protocol is one of {list(SUBS)}, not {min(map(str, unknown))!r}")
    return [sub for sub in SUBS if sub in found]


def title_of(protocol: str, sub: str) -> str:
    """Return a protocol's name as the paper writes it: its set in script, with the decision."""
    name, found, number = protocol.rpartition("-D")
    return rf"{name}-$\mathcal{{D}}_{{{number}}}^{{{SUBS[sub]}}}$" if found else f"{protocol} {sub}"
