"""What is said of the assumption."""

from __future__ import annotations

from dataclasses import dataclass

CONSISTENT = "consistent with prior shift"
REJECTED = "not consistent with prior shift"
UNKNOWN = "can't tell"
DECLARED = "covariate shift is declared, not tested"

BINS, FEATURES = "score bins", "features"

LEVEL = 0.05
"""Chance of a false rejection, over all cells and tests of an audit."""

LARGEST_DRIFT = 0.5
"""A test that would overlook a drift of so many standard deviations does not tell."""


@dataclass(frozen=True)
class CellTest:
    """A test of prior shift in one cell.

    Attributes
    ----------
    cell
        Which people.
    moments
        What is compared: ``score bins`` or ``features``.
    statistic, degrees, p_value
        J and its distribution under prior shift, chi-square; ``None`` where it can't be tested.
    adjusted
        The p-value adjusted by Holm's method for the number of tests.
    detectable
        Least drift, in standard deviations within groups in a random direction, that this test
        detects with a chance of 80%.
    verdict
        ``consistent with prior shift``, ``not consistent with prior shift``, or ``can't tell``
        where there are too few people, or where ``detectable`` is above 0.5.
    """

    cell: str
    moments: str
    statistic: float | None
    degrees: int | None
    p_value: float | None
    adjusted: float | None
    detectable: float | None
    verdict: str


@dataclass(frozen=True)
class Assumption:
    """What was assumed, and what tests say of it; passing them is no proof.

    Attributes
    ----------
    assumed
        ``prior_shift`` or ``covariate_shift``.
    verdict
        ``not consistent with prior shift`` if any test rejects it; ``consistent with prior shift``
        if in each cell a test could have; else ``can't tell``.
    tests
        For each cell, one of its score bins and one of its features.
    """

    assumed: str
    verdict: str
    tests: tuple[CellTest, ...]

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return _SENTENCES[self.verdict]


_SENTENCES = {
    CONSISTENT: (
        "The estimates assume that within each cell the features of a group's members look alike "
        "in both tables (prior shift). The tables are consistent with that: in each cell a mix of "
        "the auxiliary groups explains the deployment. That is no proof: a change that looks like "
        "another mix of the groups can't be seen."
    ),
    REJECTED: (
        "The estimates assume that within each cell the features of a group's members look alike "
        "in both tables (prior shift). The tables are not consistent with that: in some cell no "
        "mix of the auxiliary groups explains the deployment, so estimates and intervals may be "
        "wrong."
    ),
    UNKNOWN: (
        "The estimates assume that within each cell the features of a group's members look alike "
        "in both tables (prior shift). Whether that holds can't be told: in some cell there are "
        "too few people to notice a change of half a standard deviation."
    ),
    DECLARED: (
        "The auditor declared covariate shift: people of the same features belong to each group "
        "as often in both tables. The estimates rest on that; it can't be tested without groups."
    ),
}
