"""Stress tests: the shifts that an auditor fears, replayed on people whose group is known.

The rows of the auxiliary table are split in halves, several times. One half plays the auxiliary
table. Of the other, deployments are drawn under each shift, so that every estimate has a truth.
"""

from quantifair.stress.replays import stress_test
from quantifair.stress.results import (
    Coverage,
    FamilyResult,
    Performance,
    SettingResult,
    StressResult,
)
from quantifair.stress.shifts import (
    SHIFTS,
    Composition,
    Covariate,
    Drift,
    NoShift,
    PriorShift,
    Setting,
    Shift,
    Size,
)

__all__ = [
    "SHIFTS",
    "Composition",
    "Covariate",
    "Coverage",
    "Drift",
    "FamilyResult",
    "NoShift",
    "Performance",
    "PriorShift",
    "Setting",
    "SettingResult",
    "Shift",
    "Size",
    "StressResult",
    "stress_test",
]
