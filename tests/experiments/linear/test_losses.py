"""Losses: their derivatives are those of their values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation import examples

from quantifair.experiments.linear import LOGISTIC, SQUARED_HINGE

margins = st.floats(-30, 30)
targets = st.sampled_from([0.0, 1.0])
losses = st.sampled_from([LOGISTIC, SQUARED_HINGE])
STEP = 1e-5


@examples(100)
@given(losses, margins, targets)
def test_the_slope_is_that_of_the_value(loss, margin, target):
    ends = np.array([margin - STEP, margin + STEP])
    low, high = loss.value(ends, np.full(2, target))
    slope, _ = loss.derivatives(np.array([margin]), np.array([target]))
    assert slope[0] == pytest.approx((high - low) / (2 * STEP), rel=1e-6, abs=1e-8)


@examples(100)
@given(losses, margins, targets)
def test_the_curvature_is_that_of_the_slope(loss, margin, target):
    if abs((2 * target - 1) * margin - 1) <= STEP:
        return  # where the hinge bends, it has two curvatures
    ends = np.array([margin - STEP, margin + STEP])
    low, high = loss.derivatives(ends, np.full(2, target))[0]
    _, curvature = loss.derivatives(np.array([margin]), np.array([target]))
    assert curvature[0] == pytest.approx((high - low) / (2 * STEP), rel=1e-6, abs=1e-8)


def test_the_logistic_loss_by_hand():
    value = LOGISTIC.value(np.array([0.0, np.log(3), np.log(3)]), np.array([1.0, 1.0, 0.0]))
    assert value.tolist() == pytest.approx([np.log(2), np.log(4 / 3), np.log(4)])


def test_the_squared_hinge_by_hand():
    value = SQUARED_HINGE.value(np.array([0.0, 2.0, 0.5, 0.5]), np.array([1.0, 1.0, 1.0, 0.0]))
    assert value.tolist() == [1.0, 0.0, 0.25, 2.25]


def test_the_intercept_is_free_for_logistic_regression_and_penalised_for_machines():
    coef, margin, target = np.array([3.0, 4.0]), np.array([2.0]), np.array([1.0])
    free = LOGISTIC.objective(margin, target, coef) - LOGISTIC.value(margin, target)[0]
    penalised = SQUARED_HINGE.objective(margin, target, coef)
    assert (free, penalised) == (pytest.approx(9 / 2), pytest.approx(25 / 2))


def test_far_from_the_threshold_nothing_overflows():
    far = np.array([-1e4, 1e4, -1e4, 1e4])
    for loss in (LOGISTIC, SQUARED_HINGE):
        slope, curvature = loss.derivatives(far, np.array([0.0, 0.0, 1.0, 1.0]))
        assert np.isfinite([*slope, *curvature, *loss.value(far, np.array([0.0, 0, 1, 1]))]).all()
