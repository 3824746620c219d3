"""Quantifiers: from scores of people whose group is unknown to the prevalence of each group."""

from quantifair.errors import InputError, did_you_mean
from quantifair.quantifiers.adjusted import ACC, PACC
from quantifair.quantifiers.base import Estimate, Labelled, Quantifier
from quantifair.quantifiers.counting import CC, PCC
from quantifair.quantifiers.density import KDEy
from quantifair.quantifiers.efficient import EAC
from quantifair.quantifiers.em import SLD
from quantifair.quantifiers.energy import EDy
from quantifair.quantifiers.mixture import HDy
from quantifair.quantifiers.posterior import PosteriorMedian
from quantifair.quantifiers.prior import MLPE

__all__ = [
    "ACC",
    "ASSUMPTIONS",
    "CC",
    "EAC",
    "MLPE",
    "PACC",
    "PCC",
    "QUANTIFIERS",
    "SLD",
    "EDy",
    "Estimate",
    "HDy",
    "KDEy",
    "Labelled",
    "PosteriorMedian",
    "Quantifier",
    "named_quantifier",
    "suited_quantifier",
]

QUANTIFIERS: dict[str, type[Quantifier]] = {
    "cc": CC,
    "pcc": PCC,
    "acc": ACC,
    "pacc": PACC,
    "sld": SLD,
    "hdy": HDy,
    "eac": EAC,
    "kdey": KDEy,
    "edy": EDy,
    "posterior": PosteriorMedian,
    "mlpe": MLPE,
}


ASSUMPTIONS = {"prior_shift": "posterior", "covariate_shift": "pcc"}
"""What may be assumed to stay the same between the tables, with the quantifier that suits it."""


def suited_quantifier(quantifier: str | Quantifier | None, assume: str) -> Quantifier:
    """Return a quantifier, or the one that suits an assumption; refuse one that contradicts it."""
    chosen = named_quantifier(quantifier or ASSUMPTIONS[assume])
    if assume == "covariate_shift" and chosen.adjusts:
        raise InputError(
            f"{type(chosen).__name__} corrects for prior shift, but covariate shift is declared "
            "(assume='covariate_shift'), under which that correction is wrong; leave out the "
            "quantifier (PCC is used), or the declaration"
        )
    return chosen


def named_quantifier(quantifier: str | Quantifier) -> Quantifier:
    """Return the quantifier of that name, or the instance itself."""
    if isinstance(quantifier, Quantifier):
        return quantifier
    if str(quantifier).lower() not in QUANTIFIERS:
        raise InputError(
            f"no quantifier {quantifier!r}; {did_you_mean(str(quantifier), QUANTIFIERS)}"
        )
    return QUANTIFIERS[str(quantifier).lower()]()
