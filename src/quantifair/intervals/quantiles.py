"""How much deviance a confidence level allows: of one figure, or of all pairs of groups at once."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_TAIL = 9.0
"""Standard deviations beyond which a normal variable is not looked for."""


def quantile(level: float, degrees: int = 1) -> float:
    """Chi-square quantile: for a figure that departs from its true value in so many directions.

    Examples
    --------
    >>> round(quantile(0.95), 2)
    3.84
    """
    return float(chdtri(degrees, 1 - level))


def quantile_of_pairs(level: float, groups: int, rates: int = 1) -> float:
    """Deviance within which all pairs of groups lie at once, with a given probability.

    Half the squared quantile of the range of independent normal variables, one for each group
    (Tukey's studentised range); of several rates, each gets its part of the level (Šidák). Where
    groups are not measured equally well it is conservative.

    References
    ----------
    Hayter (1984), A proof of the conjecture that the Tukey-Kramer multiple comparisons procedure
    is conservative, doi:10.1214/aos/1176346392.

    Examples
    --------
    >>> round(quantile_of_pairs(0.95, 2), 2)
    3.84
    >>> round(quantile_of_pairs(0.95, 4), 2)
    6.6
    """
    each = level ** (1 / rates)
    width = brentq(lambda w: _range_within(w, groups) - each, 0.0, 2 * _TAIL, xtol=1e-10)
    return float(width) ** 2 / 2


def _range_within(width: float, groups: int) -> float:
    """Probability that so many standard normal variables lie within a range: P(max - min <= w)."""
    at = _TAIL * _NODES
    density = np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi)
    others = (ndtr(at) - ndtr(at - width)) ** (groups - 1)
    return float(_TAIL * groups * (_WEIGHTS * density * others).sum())
