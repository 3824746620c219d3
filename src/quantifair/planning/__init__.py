"""How many people must be asked: intervals and their widths at other sizes of the survey."""

from quantifair.planning.aim import Aim, parity, times_needed
from quantifair.planning.allocation import allocate
from quantifair.planning.classifier import better_classifier, with_auc
from quantifair.planning.plan import make_plan, plan_from_assumptions, plan_from_pilot
from quantifair.planning.result import PlanResult
from quantifair.planning.survey import Survey, at_difference, scaled

__all__ = [
    "Aim",
    "PlanResult",
    "Survey",
    "allocate",
    "at_difference",
    "better_classifier",
    "make_plan",
    "parity",
    "plan_from_assumptions",
    "plan_from_pilot",
    "scaled",
    "times_needed",
    "with_auc",
]
