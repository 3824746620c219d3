"""Many linear classifiers at once, on the same rows: what scikit-learn's loop does one by one."""

from quantifair.experiments.linear.fit import Problem, fit_linear
from quantifair.experiments.linear.losses import LOGISTIC, SQUARED_HINGE, Loss

__all__ = ["LOGISTIC", "SQUARED_HINGE", "Loss", "Problem", "fit_linear"]
