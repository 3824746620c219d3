"""Verdicts: fair within a margin, unfair, or inconclusive; never from an estimate alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from quantifair.results import Figure

FAIR: Literal["fair"] = "fair"
UNFAIR: Literal["unfair"] = "unfair"
INCONCLUSIVE: Literal["inconclusive"] = "inconclusive"

Value = Literal["fair", "unfair", "inconclusive"]

FOUR_FIFTHS = ("selection_rate",)
"""The rates that the four-fifths rule is about."""


@dataclass(frozen=True)
class Margins:
    """How far rates may be apart: the largest difference, and the smallest ratio.

    A twentieth is a convention; four fifths are the rule of thumb of the Uniform Guidelines on
    Employee Selection Procedures, 29 CFR 1607.4 (D).
    """

    difference: float = 0.05
    ratio: float = 0.8


@dataclass(frozen=True)
class Verdict:
    """What an interval says of a margin.

    Attributes
    ----------
    value
        ``fair`` where the whole interval lies within the margin, ``unfair`` where all of it lies
        beyond, else ``inconclusive``.
    sentence
        The same in words.
    measure, kind
        What it is about: a measure's ``difference`` or ``ratio``.
    margin
        The largest difference, or the smallest ratio, that counts as fair.
    advice
        What would help where it is inconclusive.
    """

    value: Value
    sentence: str
    measure: str
    kind: Literal["difference", "ratio"]
    margin: float
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.sentence} {self.advice}".rstrip()


class Verdicts(NamedTuple):
    """Of a difference, and of the ratio of the same rates where a rule is about it."""

    difference: Verdict
    ratio: Verdict | None


def verdicts(
    measure: str, rates: Sequence[str], difference: Figure, ratio: Figure, margins: Margins
) -> Verdicts:
    """Judge the difference of some rates, and the ratio of selection rates."""
    words = [rate.replace("_", " ") for rate in rates]
    named = " or ".join(f"{word}s" for word in words)
    return Verdicts(
        of_difference(difference, margins.difference, measure=measure, rates=named),
        of_ratio(ratio, margins.ratio, measure=measure, rate=words[0])
        if tuple(rates) == FOUR_FIFTHS
        else None,
    )


def of_difference(
    figure: Figure, margin: float, *, measure: str = "", rates: str = "rates"
) -> Verdict:
    """Judge a difference: fair if no larger than the margin, whatever its sign.

    It tests two hypotheses at once, each at the level of the figure's interval: that the
    difference is beyond the margin, and that it is within. Where it lies on the margin, an
    interval of level 0.95 with equal tails leads to ``fair`` in at most 2.5% of audits, and to
    ``unfair`` in as many. Like the interval it is about this one figure (pointwise).

    References
    ----------
    Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power
    approach. Journal of Pharmacokinetics and Biopharmaceutics 15. doi:10.1007/BF01068419

    Examples
    --------
    >>> from quantifair import Figure
    >>> of_difference(Figure(-0.12, -0.15, -0.09), 0.05).value
    'unfair'
    >>> print(of_difference(Figure(0.05, -0.02, 0.12), 0.05))
    Can't tell: the difference in rates may be -2.0 to 12.0 points, on both sides of the margin
    of 5.
    """
    low, high = _ends(figure)
    least, most = _sizes(low, high)
    return Verdict(
        *_judged(
            figure,
            fair=most <= margin,
            unfair=least > margin,
            within=f"The {rates} differ by at most {_points(most)} points, within the margin of "
            f"{_limit(margin)}",
            beyond=f"The {rates} differ by {_range(least, most)} points, more than the "
            f"margin of {_limit(margin)}",
            between=f"the difference in {rates} may be {_range(low, high)} points, on "
            f"both sides of the margin of {_limit(margin)}",
        ),
        measure,
        "difference",
        margin,
    )


def of_ratio(figure: Figure, margin: float, *, measure: str = "", rate: str = "rate") -> Verdict:
    """Judge a ratio, either rate on top: fair if the smaller is at least so much of the larger.

    The error rates are those of ``of_difference``.

    Examples
    --------
    >>> from quantifair import Figure
    >>> print(of_ratio(Figure(0.6, 0.5, 0.7), 0.8))
    The smallest rate is 50.0 to 70.0% of the largest, less than 80%: unfair.
    >>> of_ratio(Figure(1.1, 0.9, 1.2), 0.8).value
    'fair'
    """
    least, most = _shares(*_ends(figure))
    return Verdict(
        *_judged(
            figure,
            fair=least >= margin,
            unfair=most < margin,
            within=f"The smallest {rate} is at least {_points(least)}% of the largest, no less "
            f"than {_limit(margin)}%",
            beyond=f"The smallest {rate} is {_range(least, most)}% of the largest, less "
            f"than {_limit(margin)}%",
            between=f"the smallest {rate} may be {_range(least, most)}% of the largest, "
            f"on both sides of {_limit(margin)}%",
        ),
        measure,
        "ratio",
        margin,
    )


class Better(NamedTuple):
    """Another group classifier, and how many auxiliary people would do with it."""

    auc: float
    people: float


def advice(
    aucs: Mapping[str, float], people: int, needed: float | None, better: Better | None = None
) -> str:
    """Say why an interval is too wide for a verdict, and what would help.

    Parameters
    ----------
    aucs
        Area under the ROC curve of the group classifier, by the name of the cell.
    people
        Auxiliary people in these cells.
    needed
        How many would do, were the estimate the truth; infinite if no number would, ``None`` if
        that is not known.
    better
        A classifier that would do.

    Examples
    --------
    >>> advice({"hired=no": 0.62, "hired=yes": 0.6}, 400, 5180.0).partition("; ")[2]
    'if the estimate is right, with such an AUC about 5,200 would be needed.'
    """
    told = ", ".join(f"{auc:.2f} with {cell}" for cell, auc in aucs.items())
    head = f"This group classifier (AUC {told}) can't certify it with {people:,} auxiliary people"
    if needed is None:
        return f"{head}; more of them, or features that tell more of the group, would help."
    other = ""
    if better is not None:
        other = f"; with an AUC of {better.auc:.2f} about {_two_digits(better.people):,} would do"
    if math.isfinite(needed):
        enough = f"with such an AUC about {_two_digits(needed):,} would be needed"
        return f"{head}; if the estimate is right, {enough}{other}."
    why = "the deployment's own noise remains, or the estimate is too near to the margin"
    might = other or "; a higher AUC or a larger deployment might do"
    return f"{head}, nor with any number of them: {why}{might}."


def _ends(figure: Figure) -> tuple[float, float]:
    """Return an interval's ends, NaN where there is none: NaN is on no side of a margin."""
    if figure.estimate is None or figure.low is None or figure.high is None:
        return math.nan, math.nan
    return figure.low, figure.high


def _sizes(low: float, high: float) -> tuple[float, float]:
    """Return the least and the greatest size of a difference in an interval."""
    least, most = sorted((abs(low), abs(high)))
    return (0.0 if low <= 0 <= high else least), most


def _shares(low: float, high: float) -> tuple[float, float]:
    """Return the least and the greatest ratio of the smaller to the larger rate."""
    least, most = sorted(min(end, 1 / end) if end > 0 else end for end in (low, high))
    return least, (1.0 if low <= 1 <= high else most)


def _judged(
    figure: Figure, *, fair: bool, unfair: bool, within: str, beyond: str, between: str
) -> tuple[Value, str]:
    """Return the verdict and its sentence, one of three."""
    if fair:
        return FAIR, f"{within}: {FAIR}."
    if unfair:
        return UNFAIR, f"{beyond}: {UNFAIR}."
    if figure.estimate is None:
        between = "there is no estimate"
    elif figure.low is None or figure.high is None:
        between = "an estimate without an interval may be chance"
    return INCONCLUSIVE, f"Can't tell: {between}."


def _range(low: float, high: float) -> str:
    """Return an interval, or one number where both ends look alike."""
    return " to ".join(dict.fromkeys((_points(low), _points(high))))


def _points(value: float) -> str:
    """Return a share as percentage points."""
    return f"{round(100 * value, 1) + 0.0:.1f}"


def _limit(margin: float) -> str:
    """Return a margin to its digits."""
    return f"{100 * margin:.4g}"


def _two_digits(number: float) -> int:
    """Round a number of people: more digits would promise too much."""
    return int(round(number, 1 - math.floor(math.log10(number))))
