"""Means, clustered errors and rankings, against calculations by hand."""

import numpy as np
import pytest

from quantifair.stress import NoShift, PriorShift
from quantifair.stress.replay import Outcome
from quantifair.stress.runner import Replayed
from quantifair.stress.summary import Mean, family_result


def outcome(errors, covered=(1.0, 1.0)):
    found = {name: np.array(values, dtype=float) for name, values in errors.items()}
    covered = np.array(covered)
    return Outcome(found, np.zeros(2), covered, np.full(2, 0.2), np.full(2, 50.0))


def summed(*outcomes, shift=None, level=0.95):
    replayed = [Replayed("", 0.0, tuple(outcomes))]
    return family_result(shift or PriorShift(), replayed, level=level, sought=2)


def test_a_mean_has_the_error_of_its_partitions_means():
    found = Mean.of(np.array([[1.0, 3.0], [4.0, 6.0], [np.nan, 3.0]]))
    assert found.value == pytest.approx(17 / 5)
    assert found.error == pytest.approx(np.std([2, 5, 3], ddof=1) / np.sqrt(3))


def test_nothing_has_no_mean():
    assert np.isnan(Mean.of(np.full((2, 2), np.nan))).all()


def test_estimators_are_ranked_by_their_absolute_error():
    found = summed(
        outcome({"a": [-0.3, 0.3], "b": [0.1, 0.1], "mlpe": [0.5, 0.5]}),
        outcome({"a": [-0.3, 0.3], "b": [0.2, 0.2], "mlpe": [0.5, 0.6]}),
    )
    assert found.ranking == ("b", "a", "mlpe")
    assert found.estimators["a"].error == pytest.approx(0.3)
    assert found.estimators["a"].bias == pytest.approx(0.0)
    assert found.as_good == ("b",)


def test_as_good_is_who_errs_more_by_no_more_than_the_paired_standard_error():
    found = summed(
        outcome({"a": [0.1, 0.1], "b": [0.2, 0.2], "c": [0.13, 0.13], "mlpe": [0.9, 0.9]}),
        outcome({"a": [0.1, 0.1], "b": [0.02, 0.02], "c": [0.12, 0.12], "mlpe": [0.9, 0.9]}),
    )
    # b minus a is 0.1 and -0.08: 0.01 with standard error 0.09; c minus a is 0.025 with 0.005.
    assert found.as_good == ("a", "b")


def test_who_keeps_silent_is_not_ranked_and_spoils_no_comparison():
    nan = np.nan
    found = summed(
        outcome({"silent": [0.0, nan], "b": [0.1, 0.3], "mlpe": [0.5, 0.5]}),
        outcome({"silent": [nan, 0.0], "b": [0.1, 0.3], "mlpe": [0.5, 0.5]}),
    )
    assert found.ranking == ("b", "mlpe")
    assert found.estimators["silent"].answered == 0.5
    assert "Not ranked, as they often have no answer: silent" in found.sentence


def test_where_the_tables_do_not_differ_the_auxiliary_sample_need_not_be_beaten():
    same = outcome({"a": [0.3, 0.3], "mlpe": [0.1, 0.1]})
    assert summed(same, same, shift=NoShift()).beats_auxiliary is None
    assert summed(same, same).beats_auxiliary is False


def test_a_lead_that_chance_explains_is_none():
    found = summed(
        outcome({"a": [0.1, 0.1], "mlpe": [0.3, 0.3]}),
        outcome({"a": [0.2, 0.2], "mlpe": [0.15, 0.15]}),
    )
    assert found.ranking[0] == "a"
    assert found.beats_auxiliary is False


def test_intervals_hold_unless_chance_does_not_explain_how_often_they_miss():
    errors = {"a": [0.1, 0.1], "mlpe": [0.2, 0.2]}
    assert summed(outcome(errors), outcome(errors)).interval_holds is True
    missed = outcome(errors, covered=(0.0, 1.0))
    assert summed(missed, missed).interval_holds is False
    once = summed(missed, *[outcome(errors)] * 2)  # 0.83 with standard error 0.17
    assert once.interval_holds is True
    twice = summed(missed, missed, outcome(errors))  # 0.67 with standard error 0.17
    assert twice.interval_holds is None
    assert "perhaps by chance" in twice.sentence
    unknown = outcome(errors, covered=(np.nan, np.nan))
    assert summed(unknown, unknown).interval_holds is None
