"""Group classifiers of which only the AUC is known, and what a better one would need.

A stand-in for a classifier of which only the AUC is known: its scores are the posteriors that one
normal feature gives, of equal variance in both groups (binormal), at the auxiliary sample's shares.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit, logit, ndtri

from quantifair.errors import InputError
from quantifair.intervals import Moments
from quantifair.planning.aim import times_needed

if TYPE_CHECKING:
    from quantifair.estimation import CellEstimate
    from quantifair.planning.aim import Find, Reached
    from quantifair.planning.survey import Survey
    from quantifair.quantifiers.base import FloatArray

_NODES, _WEIGHTS = hermegauss(200)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
BETTER = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
"""The classifiers among which a better one is looked for."""


class Better(NamedTuple):
    """A group classifier that would do, and how many times the auxiliary people it needs."""

    auc: float
    times: float


def binormal(
    area: float,
    share: float,
    prevalence: FloatArray,
    people: float,
    asked: FloatArray,
    *,
    population: bool = False,
) -> Moments:
    """Return the moments of a calibrated classifier of two groups with a given AUC.

    With a feature that is N(0, 1) in the first group and N(d, 1) in the second, the AUC is
    Phi(d / sqrt(2)) and the posterior expit(logit(share) + d x - d^2 / 2). Its moments come from
    Gauss-Hermite quadrature.

    Parameters
    ----------
    area
        The AUC.
    share
        Share of the second group among the auxiliary people.
    prevalence
        Prevalences in the deployment's cell, which its mean score is put at.
    people
        Number of people in the deployment's cell.
    asked
        Auxiliary people of each group.
    population
        Whether the population behind the deployment's rows is meant, so that they vary by all the
        variance that scores have.

    Examples
    --------
    >>> moments = binormal(0.75, 0.5, np.array([0.5, 0.5]), 1000.0, np.array([100.0, 100.0]))
    >>> moments.means[:, 0].sum().round(6).item()
    1.0
    """
    apart = math.sqrt(2) * float(ndtri(area))
    scores = expit(logit(share) + apart * (_NODES + apart * np.arange(2)[:, None]) - apart**2 / 2)
    means = scores @ _WEIGHTS
    within = (scores - means[:, None]) ** 2 @ _WEIGHTS
    mean = prevalence @ means
    varying = prevalence @ (within + (means - mean) ** 2) if population else within
    return Moments(
        np.array([mean]),
        means[:, None],
        np.broadcast_to(varying, 2)[:, None, None],
        (within / asked)[:, None, None],
        people,
    )


def with_auc(survey: Survey, area: float) -> Survey:
    """Return the same survey with a binormal group classifier of this AUC; for two groups."""
    check_auc(area)
    spread = survey.spread
    if survey.people.shape[1] > 2:
        raise InputError(
            f"an AUC describes a classifier of two groups, not of {survey.people.shape[1]}"
        )
    both = zip(spread.estimates.items(), survey.people, strict=True)
    population = spread.options.target == "population"
    replaced = {c: _classified(estimate, n, area, population) for (c, estimate), n in both}
    return replace(survey, spread=replace(spread, estimates=replaced))


def _classified(
    estimate: CellEstimate,
    asked: FloatArray,
    area: float,
    population: bool,  # noqa: FBT001
) -> CellEstimate:
    if not (asked.all() and estimate.unknown):  # nothing is estimated there
        return estimate
    share, people = float(asked[1] / asked.sum()), max(1.0, estimate.people)
    moments = binormal(area, share, estimate.prevalence, people, asked, population=population)
    return replace(estimate, moments=moments)


def better_classifier(
    survey: Survey, find: Find, reached: Reached, *, above: float = 0.5, most: float = math.inf
) -> Better | None:
    """Return the least AUC with which so many times the people would reach an aim, if any does.

    ``None`` for more than two groups as well, whose classifier one AUC does not describe.

    Parameters
    ----------
    survey
        The present one.
    find, reached
        As for ``times_needed``.
    above
        The AUC of the present classifier.
    most
        How many times the present auxiliary people may be asked at most.
    """
    two = survey.people.shape[1] == 2
    for area in (a for a in BETTER if two and a > above):
        times = times_needed(with_auc(survey, area).spread, find, reached)
        if times <= most and math.isfinite(times):
            return Better(area, times)
    return None


def check_auc(area: float) -> None:
    """Refuse what is no AUC of a classifier that tells anything."""
    if not 0.5 < area < 1:
        raise InputError(f"auc lies between 0.5 and 1, not {area!r}")
