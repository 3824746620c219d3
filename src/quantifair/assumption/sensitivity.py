"""How wrong the assumption may be before a finding is lost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quantifair import disparity
from quantifair.cells import DECISIONS
from quantifair.errors import InputError
from quantifair.figures import disparity_figure
from quantifair.serialisation import Shown
from quantifair.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from quantifair.cells import Cell
    from quantifair.estimation import CellEstimate, Options
    from quantifair.results import Figure

FOUR_FIFTHS = 0.8
SHARES = tuple(k / 100 for k in range(0, 21, 2))
"""Shares of people that the curve is computed for."""

PRECISION = 1e-3
"""How exactly the share is found at which a finding is lost."""


@dataclass(frozen=True)
class SensitivityPoint:
    """The demographic parity difference and ratio where a share of people may be anybody."""

    share: float
    difference: Figure
    ratio: Figure


@dataclass(frozen=True, repr=False)
class Sensitivity(Shown):
    """How wrong prior shift may be before a finding is lost.

    Within each cell, up to a share of each group's people in the deployment may be unlike the
    auxiliary people of their group, in any way; the others are like them.

    Attributes
    ----------
    curve
        Demographic parity, by share.
    sign_lost_at
        Least share at which the sign of the difference is no longer told (for three and more
        groups: that they differ at all); 0 where it is not told to begin with.
    four_fifths_lost_at
        Least share at which it is no longer told on which side of 0.8 the ratio lies.
    signed
        Whether the difference has a sign.
    direction
        What is subtracted from what.
    """

    curve: tuple[SensitivityPoint, ...]
    sign_lost_at: float
    four_fifths_lost_at: float
    signed: bool
    direction: str

    def __str__(self) -> str:
        rows = [f"{p.share:5.1%}  {p.difference}  ratio {p.ratio}" for p in self.curve]
        return "\n".join([*rows, self.sentence])

    __repr__ = __str__

    @property
    def sentence(self) -> str:
        """The shares in words."""
        kind = "the sign of the difference" if self.signed else "that groups are treated unlike"
        parts = (
            _lost(kind, self.sign_lost_at),
            _lost("on which side of four fifths the ratio lies", self.four_fifths_lost_at),
        )
        return " ".join(parts)

    def plot(self, ax: Any = None) -> Any:
        """Draw the interval of the difference against the share; return the axes.

        Parameters
        ----------
        ax
            Matplotlib's axes; by default new ones.
        """
        axes = _new_axes() if ax is None else ax
        shares = [p.share for p in self.curve]
        low = [p.difference.low for p in self.curve]
        high = [p.difference.high for p in self.curve]
        axes.fill_between(shares, low, high, alpha=0.3, linewidth=0)
        axes.plot(shares, [p.difference.estimate for p in self.curve])
        axes.axhline(0, color="black", linewidth=0.8)
        if 0 < self.sign_lost_at <= shares[-1]:
            axes.axvline(self.sign_lost_at, color="black", linewidth=0.8, linestyle="--")
        axes.set_xlabel("share of each group unlike the auxiliary people")
        axes.set_ylabel(f"demographic parity difference\n({self.direction})")
        return axes


@dataclass(frozen=True, eq=False)
class Sensible:
    """Computes a result's sensitivity; it knows the cells' moments and none of the people.

    Attributes
    ----------
    estimates
        The cells of decisions.
    options
        How figures are made.
    groups
        Their names.
    """

    estimates: dict[Cell, CellEstimate]
    options: Options
    groups: Sequence[str]

    @property
    def possible(self) -> bool:
        """Whether all that is needed is known."""
        return all(e.moments is not None or not e.unknown for e in self.estimates.values())

    def __call__(self, shares: Sequence[float] | None = None) -> Sensitivity:
        """Return the curve, and where findings are lost."""
        wanted = SHARES if shares is None else tuple(shares)
        wrong = [s for s in wanted if not 0 <= s < 1]
        if wrong or not wanted:
            raise InputError(f"shares lie between 0 and 1, such as 0.05; they are {wanted}")
        if not self.possible:
            raise InputError(
                "there is no sensitivity here: it is that of score intervals under prior shift, "
                "and needs interval='score', a quantifier that corrects for shift, and an estimate"
            )
        known: dict[float, SensitivityPoint] = {}

        def at(share: float) -> SensitivityPoint:
            if share not in known:
                known[share] = self._point(share)
            return known[share]

        signed = len(self.groups) == 2
        return Sensitivity(
            tuple(at(float(s)) for s in wanted),
            _lost_at(lambda s: _holds(at(s).difference, 0.0), wanted),
            _lost_at(lambda s: _holds(at(s).ratio, FOUR_FIFTHS), wanted),
            signed,
            disparity.direction(self.groups),
        )

    def _point(self, share: float) -> SensitivityPoint:
        spread = spread_of(self.estimates, replace(self.options, strangers=share))
        kinds = disparity.kinds(signed=True, groups=len(self.groups))
        found = {
            name: disparity_figure(spread, ("selection_rate",), kinds[name], len(self.groups))
            for name in ("difference", "ratio")
        }
        return SensitivityPoint(share, **found)


def sensible(
    estimates: dict[Cell, CellEstimate], options: Options, groups: Sequence[str]
) -> Sensible:
    """Keep what sensitivity follows from."""
    return Sensible({c: estimates[c] for c in DECISIONS}, options, groups)


def _holds(figure: Figure, value: float) -> bool:
    """Whether an interval leaves open on which side of a value the figure lies."""
    if figure.low is None or figure.high is None:
        return True
    return figure.low <= value <= figure.high


def _lost_at(open_at: Callable[[float], bool], shares: Iterable[float]) -> float:
    """Find the least share at which something is open: between two of the shares, then bisect.

    Infinite where it is never open: everybody is known.
    """
    low, high = 0.0, 1.0
    for share in (0.0, *sorted(shares)):
        if open_at(share):
            high = share
            break
        low = share
    while high - low > PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if open_at(middle) else (middle, high)
    return high if high < 1 else math.inf


def _lost(what: str, share: float) -> str:
    if not share:
        return f"The tables do not tell {what}, even if the assumption holds."
    if math.isinf(share):
        return f"The tables tell {what}, whether the assumption holds or not."
    return (
        f"The tables no longer tell {what} if {share:.1%} of each group, in each cell, may be "
        "unlike the auxiliary people in any way."
    )


def _new_axes() -> Any:
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise InputError("drawing takes Matplotlib: pip install quantifair[experiments]") from error
    return Canvas(layout="constrained").subplots()
