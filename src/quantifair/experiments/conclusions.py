"""What the paper concludes from its tables, and whether given numbers say so, too.

A claim yields orders of two numbers, and holds if all of them do. To claim something else, write
a function like those here and add a ``Conclusion`` to the tuple that ``check_conclusions`` reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quantifair.errors import InputError, did_you_mean
from quantifair.experiments.paper import paper_tables
from quantifair.experiments.statistics import DATASETS, LEARNERS, METHODS, PROTOCOLS
from quantifair.experiments.tables import TITLES, number, pipe_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    Claim = Callable[["Numbers"], Iterator["Order"]]

D3, D2, SIZE, D1, FLIP = PROTOCOLS
ADULT, COMPAS, CREDITCARD = DATASETS
NO_SHIFT = (SIZE, D1, FLIP)
"""The protocols where D2 and D3 are alike."""
ADJUSTED = ("ACC", "PACC", "SLD", "HDy")
"""The methods that were made for shift."""


class Named(NamedTuple):
    """A number and what it is of."""

    name: str
    value: float


class Order(NamedTuple):
    """Of two numbers, the one that should be the lower, and the other. A tie refutes nothing.

    Examples
    --------
    >>> print(Order("Adult", Named("SLD", 0.055), Named("PACC", 0.061)))
    Adult: SLD 0.055 < PACC 0.061
    """

    place: str
    low: Named
    high: Named

    @property
    def margin(self) -> float:
        """How far the numbers are from the opposite order."""
        return self.high.value - self.low.value

    def __str__(self) -> str:
        sign = "<" if self.margin > 0 else "=" if self.margin == 0 else ">"
        low, high = (f"{n.name} {number(n.value)}" for n in (self.low, self.high))
        return f"{self.place}: {low} {sign} {high}"


@dataclass(frozen=True)
class Numbers:
    """The tables of one learner, with three decimals, as the paper prints them."""

    rows: Mapping[tuple[str, str, str], Mapping[Any, Any]]

    def __call__(self, protocol: str, dataset: str, method: str, measure: str = "mae") -> float:
        """Return one number; KeyError where it lacks."""
        return round(float(self.rows[protocol, dataset, method][measure]), 3)


class Conclusion(NamedTuple):
    """What the paper concludes, where in it, and the claim on its numbers that this makes."""

    where: str
    text: str
    claim: Claim


def below(
    methods: Sequence[str],
    than: Sequence[str],
    protocols: Sequence[str],
    datasets: Sequence[str] = DATASETS,
) -> Claim:
    """Claim that the worst of ``methods`` is no worse than the best of the others."""

    def claim(numbers: Numbers) -> Iterator[Order]:
        for protocol, dataset in product(protocols, datasets):
            low, high = (
                [Named(m, numbers(protocol, dataset, m)) for m in group]
                for group in (methods, than)
            )
            place = f"{protocol}, {TITLES[dataset]}" if len(protocols) > 1 else TITLES[dataset]
            yield _nearest(place, low, high)

    return claim


def best(method: str, protocols: Sequence[str]) -> Claim:
    """Claim that no method is better."""
    return below([method], _all_but(method), protocols)


def harder(
    methods: Sequence[str],
    protocol: str,
    *,
    measures: Sequence[str] = ("mae",),
    datasets: Sequence[str] = (COMPAS, CREDITCARD),
    factor: float = 1.0,
) -> Claim:
    """Claim that errors are ``factor`` times those on Adult, or more."""

    def claim(numbers: Numbers) -> Iterator[Order]:
        for measure, method, dataset in product(measures, methods, datasets):
            easy = factor * numbers(protocol, ADULT, method, measure)
            times = "" if factor == 1 else f"{factor:.1f} times "
            yield Order(
                f"{measure.upper()} of {method}",
                Named(f"{times}{TITLES[ADULT]}", easy),
                Named(TITLES[dataset], numbers(protocol, dataset, method, measure)),
            )

    return claim


def rises(methods: Sequence[str], *, before: Sequence[str], after: Sequence[str]) -> Claim:
    """Claim that a method's error after is no lower than before, in any of the protocols."""

    def claim(numbers: Numbers) -> Iterator[Order]:
        for method, dataset in product(methods, DATASETS):
            low, high = (
                [Named(p, numbers(p, dataset, method)) for p in protocols]
                for protocols in (before, after)
            )
            yield _nearest(f"{method}, {TITLES[dataset]}", low, high)

    return claim


def mostly_below_cc(numbers: Numbers) -> Iterator[Order]:
    """Claim that ACC, PACC, SLD and HDy are better than CC in most cells of the tables."""
    wins = [
        numbers(protocol, dataset, method) < numbers(protocol, dataset, "CC")
        for protocol, dataset in product(PROTOCOLS, DATASETS)
        for method in ADJUSTED
    ]
    share = Named(f"share of {len(wins)} below CC", sum(wins) / len(wins))
    yield Order("all protocols", Named("half", 0.5), share)


def best_balance(numbers: Numbers) -> Iterator[Order]:
    """Claim that SLD's MAE is the lowest on average over protocols and data sets."""
    cells = list(product(PROTOCOLS, DATASETS))
    sld, others = (
        [Named(m, float(np.mean([numbers(p, d, m) for p, d in cells]))) for m in group]
        for group in (["SLD"], _all_but("SLD"))
    )
    yield _nearest(f"mean of {len(cells)}", sld, others)


def _nearest(place: str, low: Sequence[Named], high: Sequence[Named]) -> Order:
    """Return the order of the largest that should be low and the smallest that should be high."""
    value = attrgetter("value")
    return Order(place, max(low, key=value), min(high, key=value))


def _all_but(*methods: str) -> tuple[str, ...]:
    return tuple(m for m in METHODS if m not in methods)


CONCLUSIONS = (
    Conclusion(
        "5.3.2, 6",
        "Under a shift of D3, SLD is the best.",
        best("SLD", [D3]),
    ),
    Conclusion(
        "5.3.2",
        "Under a shift of D3, PACC is second to SLD alone.",
        below(["PACC"], _all_but("SLD", "PACC"), [D3]),
    ),
    Conclusion(
        "5.3.2",
        "Under a shift of D3, PACC outperforms ACC and PCC.",
        below(["PACC"], ["ACC", "PCC"], [D3]),
    ),
    Conclusion(
        "5.3.2",
        "Under a shift of D3, CC, PCC and MLPE are unreliable; ACC, PACC, SLD and HDy are not.",
        below(ADJUSTED, ["CC", "PCC", "MLPE"], [D3]),
    ),
    Conclusion(
        "5.3.2",
        "Under a shift of D3, COMPAS and CreditCard are harder than Adult for ACC, PACC, SLD, HDy.",
        harder(ADJUSTED, D3),
    ),
    Conclusion(
        "6",
        "Under a shift of D2, SLD is the best.",
        best("SLD", [D2]),
    ),
    Conclusion(
        "5.4.2",
        "A shift of D2 hurts MLPE, CC, PCC and HDy more than ACC, PACC and SLD.",
        below(["ACC", "PACC", "SLD"], ["MLPE", "CC", "PCC", "HDy"], [D2]),
    ),
    Conclusion(
        "5.4.2",
        "ACC and PACC are worse under a shift of D2, with its 1,000 rows, than under one of D3.",
        rises(["ACC", "PACC"], before=[D3], after=[D2]),
    ),
    Conclusion(
        "5.4.2",
        "Under a shift of D2, COMPAS and CreditCard are harder than Adult for ACC, PACC, SLD, HDy.",
        harder(ADJUSTED, D2),
    ),
    Conclusion(
        "5.5.2",
        "Without shift between D2 and D3, PCC and MLPE are the best.",
        below(["PCC", "MLPE"], _all_but("PCC", "MLPE"), NO_SHIFT),
    ),
    Conclusion(
        "5.5.2",
        "With a small D2, ACC and PACC are poor; SLD and HDy are fairly reliable.",
        below(["SLD", "HDy"], ["ACC", "PACC"], [SIZE]),
    ),
    Conclusion(
        "5.6.2",
        "On Adult, under a shift of D1, every method outperforms CC.",
        below(_all_but("CC"), ["CC"], [D1], [ADULT]),
    ),
    Conclusion(
        "5.6.2",
        "Under a shift of D1, PCC is the best.",
        best("PCC", [D1]),
    ),
    Conclusion(
        "5.6.2",
        "Under a shift of D1, COMPAS and CreditCard are harder than Adult, in MAE and in MSE.",
        harder(METHODS, D1, measures=["mae", "mse"]),
    ),
    Conclusion(
        "5.6.2",
        "Under a shift of D1, from Adult to COMPAS the MAE and MSE of SLD and PACC grow by an "
        "order of magnitude (here: at least by the root of ten).",
        harder(["SLD", "PACC"], D1, measures=["mae", "mse"], datasets=[COMPAS], factor=10**0.5),
    ),
    Conclusion(
        "5.7.2",
        "Under flipped labels, every method outperforms CC.",
        below(_all_but("CC"), ["CC"], [FLIP]),
    ),
    Conclusion(
        "5.7.2",
        "Under flipped labels, PCC remains very effective: it is the best.",
        best("PCC", [FLIP]),
    ),
    Conclusion(
        "5.7.2",
        "Under flipped labels, SLD and HDy are good on COMPAS and CreditCard.",
        below(["SLD", "HDy"], ["CC", "ACC", "PACC"], [FLIP], [COMPAS, CREDITCARD]),
    ),
    Conclusion(
        "6",
        "CC is suboptimal: ACC, PACC, SLD and HDy outperform it in most combinations.",
        mostly_below_cc,
    ),
    Conclusion(
        "6",
        "PCC suffers under shift between D2 and D3.",
        rises(["PCC"], before=NO_SHIFT, after=[D3, D2]),
    ),
    Conclusion(
        "6",
        "HDy, ACC and PACC are worse with a small D2 than with all of it under a shift of D1.",
        rises(["HDy", "ACC", "PACC"], before=[D1], after=[SIZE]),
    ),
    Conclusion(
        "5.4.2, 6",
        "PACC always outperforms ACC.",
        below(["PACC"], ["ACC"], PROTOCOLS),
    ),
    Conclusion(
        "6",
        "SLD strikes the best balance across all protocols: the lowest MAE on average.",
        best_balance,
    ),
)


def check_conclusions(
    statistics: pd.DataFrame,
    *,
    paper: pd.DataFrame | None = None,
    conclusions: Sequence[Conclusion] = CONCLUSIONS,
) -> pd.DataFrame:
    """Return which of the paper's conclusions hold for our numbers, and for the paper's own.

    Parameters
    ----------
    statistics
        What ``statistics.summarize`` returned.
    paper
        By default ``paper.paper_tables()``.
    conclusions
        By default those of the paper which its tables can tell. All are about the MAE, unless
        they say otherwise, as the paper prints it; where the paper speaks of "similar trends",
        they are about all three data sets.

    Returns
    -------
    DataFrame
        For each conclusion a row for each learner that is ours: ``where`` (in the paper), ``text``,
        ``learner``, ``ours`` and ``paper`` ("holds", "does not hold", or "not measured" where a
        number is missing), and ``ours_numbers`` and ``paper_numbers``: how many orders of numbers
        are as claimed, and those that are not, or else the closest.
    """
    import pandas as pd

    both = {"ours": statistics, "paper": paper_tables() if paper is None else paper}
    present = set(statistics["learner"])
    rows = []
    for conclusion, learner in product(conclusions, [x for x in LEARNERS if x in present]):
        row = {"where": conclusion.where, "text": conclusion.text, "learner": learner}
        for whose, tables in both.items():
            row[whose], row[f"{whose}_numbers"] = _verdict(conclusion, _numbers(tables, learner))
        rows.append(row)
    return pd.DataFrame(rows)


def render_conclusions(checked: pd.DataFrame, *, form: str = "markdown") -> str:
    """Return what ``check_conclusions`` returned as ``"markdown"`` or ``"csv"``."""
    if form == "csv":
        return checked.to_csv(index=False, lineterminator="\n")
    if form != "markdown":
        raise InputError(f"no form {form!r}; {did_you_mean(form, ['markdown', 'csv'])}")
    rows = [
        [
            row["where"],
            row["text"],
            row["learner"],
            *(f"{row[whose]}: {row[f'{whose}_numbers']}" for whose in ("ours", "paper")),
        ]
        for row in checked.to_dict("records")
    ]
    return pipe_table(["section", "conclusion", "", "ours", "paper"], rows)


def _verdict(conclusion: Conclusion, numbers: Numbers) -> tuple[str, str]:
    try:
        orders = list(conclusion.claim(numbers))
    except KeyError:
        return "not measured", ""
    broken = [order for order in orders if order.margin < 0]
    shown = "; ".join(str(o) for o in broken or [min(orders, key=lambda o: o.margin)])
    counted = f"{len(orders) - len(broken)} of {len(orders)}"
    if broken:
        return "does not hold", f"{counted}, but {shown}"
    return "holds", f"{counted}, the closest {shown}"


def _numbers(tables: pd.DataFrame, learner: str) -> Numbers:
    rows = tables[tables["learner"] == learner].to_dict("records")
    return Numbers({(r["protocol"], r["dataset"], r["method"]): r for r in rows})
