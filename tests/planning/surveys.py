"""Surveys of people drawn from a known model."""

import numpy as np
from numpy.typing import ArrayLike
from tests.simulation import draw_scores

from quantifair.cells import DECISIONS
from quantifair.estimation import CellEstimate, Options
from quantifair.intervals import Moments, Sample
from quantifair.planning import Aim, Survey
from quantifair.planning.subject import assumed
from quantifair.sketch import Points
from quantifair.spread import spread_of

ROWS = 40_000


def assumed_survey(
    *,
    auc: float = 0.8,
    share: float = 0.3,
    rate: float = 0.4,
    disparity: float = -0.1,
    rows: int = ROWS,
    target: str = "rows",
) -> Survey:
    """A survey as large as the deployment, whose moments are exact."""
    subject = assumed(
        Aim(width=0.1),
        auc=auc,
        share=share,
        rate=rate,
        disparity=disparity,
        deployment_rows=rows,
        target=target,
    )
    return subject.survey


def drawn_survey(
    groups: int = 2,
    *,
    copies: int = 1,
    prevalences: ArrayLike | None = None,
    people: int = 1_000,
    shared: bool = False,
) -> Survey:
    """A survey of drawn people, evenly of all groups, each of whom is asked so many times."""
    rng = np.random.default_rng(0)
    even = np.full((2, groups), 1 / groups)
    q = even if prevalences is None else np.asarray(prevalences)
    estimates = {}
    asked = []
    for cell, own, each in zip(DECISIONS, q, even, strict=True):
        scores, codes = draw_scores(rng, each, 600, separation=1.2)
        later, _ = draw_scores(rng, own, people, separation=1.2)
        scores, codes = np.tile(scores, (copies, 1)), np.tile(codes, copies)
        sample = Sample(scores, codes, np.ones(len(codes)))
        moments = Moments.of(sample, Points(later, np.ones(people)), people)
        none = np.empty((0, groups))
        estimates[cell] = CellEstimate(own, people, np.zeros(groups), none, moments, people)
        asked.append(np.bincount(codes, minlength=groups))
    spread = spread_of(estimates, Options(shared=shared))
    return Survey(spread, np.array(asked, dtype=np.float64))
