"""When not to believe the answer: checks that every audit runs and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quantifair.assumption.verdicts import REJECTED
from quantifair.quantifiers.base import group_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.assumption.verdicts import Assumption
    from quantifair.candidates import Choice
    from quantifair.intervals import Sample
    from quantifair.quantifiers.base import Estimate, FloatArray

FEWEST = 5
"""Auxiliary people of a group in a cell below which nothing is estimated there."""

FEW = 30
"""Auxiliary people of a group in a cell below which the estimate is called fragile."""

BROKEN_SLOPE = 0.5
"""Slope of a group classifier's calibration below which calibrating makes estimates worse."""

_STANDARD_ERRORS = 2.0
_LARGE_SKETCH_ERROR = 1e-3


class Caution(NamedTuple):
    """Something that the reader of a result has to know.

    Attributes
    ----------
    code
        A stable name for programs.
    message
        What is the matter, and what to do.
    where
        The cell, table or column concerned.
    """

    code: str
    message: str
    where: str


def too_few(counts: Sequence[int], groups: Sequence[str], where: str) -> Caution | None:
    """Find a group that is absent from a cell's auxiliary people, or has too few to learn from."""
    for group, count in zip(groups, counts, strict=True):
        if count == 0:
            return Caution(
                "group_absent",
                f"the auxiliary table holds nobody of group {group!r} with {where}, so nothing "
                "can be estimated there; survey such people, or merge groups",
                where,
            )
        if count < FEWEST:
            return Caution(
                "group_too_small",
                f"the auxiliary table holds only {count} of group {group!r} with {where}; at "
                f"least {FEWEST} are needed (and {FEW} advisable). Survey more, or merge groups",
                where,
            )
    return None


def alone(columns: Sequence[str], where: str) -> Caution:
    """Say which attributes are audited for themselves."""
    return Caution(
        "audited_alone",
        "an intersection is too small to be estimated, so each attribute alone "
        f"({', '.join(columns)}) is audited for itself, with its own group classifiers",
        where,
    )


def of_assumption(assumption: Assumption) -> list[Caution]:
    """Say where prior shift is rejected, and that covariate shift is taken on trust."""
    if assumption.assumed == "covariate_shift":
        return [
            Caution(
                "covariate_shift_declared",
                "the estimates rest on the auditor's declaration that people of the same features "
                "belong to each group as often in both tables (covariate shift); no table without "
                "groups can prove that",
                "deployment",
            )
        ]
    rejected = [t for t in assumption.tests if t.verdict == REJECTED]
    return [
        Caution(
            "not_prior_shift",
            f"the {t.moments} of people with {t.cell} are not those of any mix of the auxiliary "
            f"groups (J = {t.statistic:.1f}, {t.degrees} degrees of freedom, adjusted p = "
            f"{t.adjusted:.2g}), so within groups people differ between the tables, and estimates "
            "and intervals may be wrong; find out what changed, or survey people like those of "
            "the deployment",
            t.cell,
        )
        for t in rejected
    ]


def few(counts: Sequence[int], groups: Sequence[str], where: str) -> list[Caution]:
    """Find groups with so few auxiliary people that the estimate is fragile."""
    return [
        Caution(
            "few_rows",
            f"only {count} auxiliary people of group {group!r} with {where}: the estimate leans "
            f"on few people; {FEW} or more are advisable",
            where,
        )
        for group, count in zip(groups, counts, strict=True)
        if FEWEST <= count < FEW
    ]


def not_separated(sample: Sample, where: str, *, estimated: bool = False) -> list[Caution]:
    """Find scores whose group means differ by no more than chance.

    The smallest singular value of the matrix of mean scores by group (for two groups about
    tpr - fpr) is compared with two standard errors of a group's mean score vector. ``estimated``
    tells whether the quantifier, which does not correct for shift, gives a number all the same.
    """
    labelled = sample.labelled
    means = group_means(labelled, sample.scores)
    spread = np.maximum(group_means(labelled, sample.scores**2) - means**2, 0.0)
    effective = labelled.sizes**2 / (labelled.counts**2).sum(axis=-1)
    noise = float(np.sqrt((spread.sum(axis=-1) / effective).max()))
    smallest = float(np.linalg.svd(means, compute_uv=False)[-1])
    if smallest >= _STANDARD_ERRORS * max(noise, 1e-12):
        return []
    effect = "the estimate says nothing of the deployment" if estimated else "there is no estimate"
    return [
        Caution(
            "not_separated",
            f"the features do not tell the groups apart with {where} (tpr and fpr differ by no "
            f"more than noise), so {effect}; add features related to the group, or survey more "
            "people",
            where,
        )
    ]


def auc(sample: Sample) -> float:
    """Return how well the scores tell the groups apart: the area under the ROC curve.

    The chance that of two people, one of the group and one not, the score of the group puts the
    right one first; of several groups that of the least told apart. 0.5 is no better than chance.
    """
    from sklearn.metrics import roc_auc_score

    groups = range(1 if sample.scores.shape[1] == 2 else 0, sample.scores.shape[1])
    return min(
        float(roc_auc_score(sample.codes == k, sample.scores[:, k], sample_weight=sample.weights))
        for k in groups
    )


def broken_proxy(slope: float, where: str, *, estimated: bool = True) -> list[Caution]:
    """Find a group classifier that is far too sure of itself.

    ``estimated`` tells whether the quantifier gives a number all the same: one that reads scores
    as probabilities in order to correct for shift would be misled by them.
    """
    if slope >= BROKEN_SLOPE:
        return []
    effect = "" if estimated else ", so there is no estimate"
    instead = "" if estimated else "quantifier='pacc', which needs no calibration, "
    return [
        Caution(
            "broken_proxy",
            f"the group classifier is far too sure of itself with {where} (calibration slope "
            f"{slope:.2f}, 1 is honest, below {BROKEN_SLOPE} is overfitted){effect}; use {instead}"
            "a simpler or more regularised learner, or survey more people",
            where,
        )
    ]


def no_better_than_shares(choice: Choice, where: str) -> list[Caution]:
    """Find out whether none of several group classifiers learned anything from the features.

    One that was tried alone may only be badly calibrated.
    """
    if choice.beats_shares or len(choice.log_loss) == 1:
        return []
    return [
        Caution(
            "no_better_than_shares",
            f"no group classifier predicts the group with {where} better, beyond chance, than the "
            f"groups' shares alone (log-loss {min(choice.log_loss.values()):.3f} against "
            f"{choice.log_loss_of_shares:.3f}): the features say next to nothing about the group. "
            "Add features related to it, or survey more people",
            where,
        )
    ]


def of_estimate(estimate: Estimate, groups: Sequence[str], where: str) -> list[Caution]:
    """Find out what is odd about an estimate."""
    found = []
    if estimate.clipped:
        raw = ", ".join(f"{g}: {p:.3f}" for g, p in zip(groups, estimate.raw, strict=True))
        found.append(
            Caution(
                "clipped",
                f"the raw prevalences with {where} lay outside 0 to 1 ({raw}) and were brought "
                "back; the groups may differ from the auxiliary ones, or the sample is small",
                where,
            )
        )
    elif _at_corner(estimate.prevalence):
        found.append(
            Caution(
                "clipped",
                f"a prevalence with {where} is estimated as exactly 0 or 1, the edge of what is "
                "possible; read the interval, not the number",
                where,
            )
        )
    if estimate.sketch_error > _LARGE_SKETCH_ERROR:
        found.append(
            Caution(
                "sketch_error",
                f"binning the scores may move the prevalences with {where} by up to "
                f"{estimate.sketch_error:.2g}",
                where,
            )
        )
    return found


def _at_corner(prevalence: FloatArray) -> bool:
    return bool((prevalence < 1e-9).any())
