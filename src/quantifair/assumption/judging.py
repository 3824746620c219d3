"""Tests of prior shift: by cell, and all together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quantifair.assumption.verdicts import (
    BINS,
    CONSISTENT,
    DECLARED,
    FEATURES,
    LARGEST_DRIFT,
    LEVEL,
    REJECTED,
    UNKNOWN,
    Assumption,
    CellTest,
)
from quantifair.intervals.jtest import JTest, holm, j_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quantifair.cells import Cell, Deployment
    from quantifair.estimation import TrainedCell


def cell_tests(trained: TrainedCell, deployment: Deployment, cell: Cell) -> tuple[CellTest, ...]:
    """Test one cell by its score bins and by its features; nothing where it is not wanted."""
    here, sums = trained.trained, deployment.evidence.get(cell)
    if here is None:
        return tuple(_untested(trained.name, moments) for moments in (BINS, FEATURES))
    evidence = here.evidence
    if evidence is None or sums is None:
        return ()
    people = deployment.sketches[cell].effective_rows * deployment.distinct_share
    found: dict[str, JTest | None] = {BINS: None, FEATURES: None}
    if sums[0]:
        if not evidence.in_sample:
            found[BINS] = j_test(evidence.moments_of_bins(here.sample, sums, people))
        found[FEATURES] = j_test(evidence.moments_of_features(here.sample, sums, people))
    return tuple(_tested(trained.name, moments, test) for moments, test in found.items())


def judged(assumed: str, tests: Sequence[CellTest]) -> Assumption:
    """Adjust the tests for their number, and say what they say together."""
    if assumed == "covariate_shift":
        return Assumption(assumed, DECLARED, ())
    made = [t for t in tests if t.p_value is not None]
    adjusted = iter(holm(np.array([t.p_value for t in made])).tolist())
    final = tuple(_final(t, next(adjusted)) if t in made else t for t in tests)
    verdicts = {cell: {t.verdict for t in final if t.cell == cell} for cell in _cells(final)}
    if any(REJECTED in found for found in verdicts.values()):
        verdict = REJECTED
    elif verdicts and all(CONSISTENT in found for found in verdicts.values()):
        verdict = CONSISTENT
    else:
        verdict = UNKNOWN
    return Assumption(assumed, verdict, final)


def _cells(tests: Sequence[CellTest]) -> list[str]:
    return list(dict.fromkeys(t.cell for t in tests))


def _untested(cell: str, moments: str) -> CellTest:
    return CellTest(cell, moments, None, None, None, None, None, UNKNOWN)


def _tested(cell: str, moments: str, test: JTest | None) -> CellTest:
    if test is None:
        return _untested(cell, moments)
    numbers = (test.statistic, test.degrees, test.p_value, None, test.detectable)
    return CellTest(cell, moments, *numbers, UNKNOWN)


def _final(test: CellTest, adjusted: float) -> CellTest:
    verdict = UNKNOWN
    if adjusted <= LEVEL:
        verdict = REJECTED
    elif test.detectable is not None and test.detectable <= LARGEST_DRIFT:
        verdict = CONSISTENT
    return replace(test, adjusted=adjusted, verdict=verdict)
