"""``Audit.stress``: what it finds, how it says so, and what it refuses."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.stress.surveys import AUDIT, read, survey

from quantifair import Audit, InputError
from quantifair.quantifiers import QUANTIFIERS
from quantifair.stress import Covariate, NoShift, PriorShift
from quantifair.stress.runner import halved

SHORT = {"partitions": 3, "draws": 3}


@pytest.fixture(scope="module")
def result():
    return AUDIT.stress(survey(), **SHORT)


def test_every_family_and_every_quantifier_is_replayed(result):
    names = [f.name for f in result.families]
    assert names == ["none", "prior", "composition", "size", "covariate", "drift"]
    for family in result.families:
        assert list(family.estimators) == list(QUANTIFIERS)
        assert all(s.draws == 9 for s in family.settings)


def test_features_that_separate_the_groups_leave_no_error():
    found = AUDIT.stress(survey(apart=40.0), shifts=["prior"], **SHORT)["prior"]
    for name in ("cc", "pcc", "acc", "pacc", "sld"):
        # Calibrated scores of people who are told apart for sure stop short of 0 and 1.
        assert found.estimators[name].error < 2e-3
    assert found.interval.coverage == 1
    assert found.beats_auxiliary


def test_useless_features_leave_no_estimator_to_trust():
    family = AUDIT.stress(survey(apart=0.0, seed=4), shifts=["prior"], **SHORT)["prior"]
    assert not family.beats_auxiliary
    assert "No estimator can be trusted" in family.sentence
    assert family.estimators["mlpe"].error > 0.1
    assert all(family.estimators[n].answered < 0.9 for n in ("sld", "pacc", "acc"))
    assert not {"sld", "pacc", "acc"} & {*family.ranking}


def test_the_auxiliary_sample_alone_is_right_only_where_nothing_shifts(result):
    still, shifted = result["none"], result["prior"]
    assert still.beats_auxiliary is None
    assert shifted.beats_auxiliary
    assert shifted.ranking[-1] == "mlpe"
    assert shifted.estimators["mlpe"].error > 4 * still.estimators["mlpe"].error > 0


def test_intervals_hold_where_the_assumption_does():
    prior = AUDIT.stress(survey(1_500, seed=7), shifts=["prior"], partitions=12, draws=2)["prior"]
    assert prior.interval_holds
    assert prior.interval.coverage + 3 * prior.interval.coverage_se > 0.95


def test_intervals_fail_where_the_features_of_everybody_change():
    table = survey(6_000, apart=1.5, seed=8)
    shift = Covariate("x", (-1.0,))
    found = AUDIT.stress(table, shifts=[shift], partitions=20, draws=1)["covariate"]
    assert found.estimators["pcc"].error < found.estimators["sld"].error
    assert found.interval_holds is False
    assert "too rarely" in found.sentence


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    table = survey(300)
    one, again, other = (
        replace(AUDIT, seed=seed).stress(table, shifts=["none", "size"], **SHORT).families
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_a_family_does_not_depend_on_what_else_is_replayed(result):
    assert AUDIT.stress(survey(), shifts=["prior"], **SHORT)["prior"] == result["prior"]


def test_the_order_of_rows_changes_no_more_than_another_seed_does(result):
    shuffled = AUDIT.stress(survey().sample(frac=1, random_state=0), shifts=["prior"], **SHORT)
    for name, one in result["prior"].estimators.items():
        other = shuffled["prior"].estimators[name]
        assert abs(one.error - other.error) < 5 * math.hypot(one.error_se, other.error_se)


def test_groups_swapped_turn_the_sign_of_the_bias():
    shift = [PriorShift((0.5,))]
    table = survey(400)
    one = AUDIT.stress(table, shifts=shift, **SHORT)["prior"]
    other = replace(AUDIT, reference="b").stress(table, shifts=shift, **SHORT)["prior"]
    for name in ("pacc", "mlpe"):
        assert np.sign(one.estimators[name].bias) == -np.sign(other.estimators[name].bias)


def test_of_three_groups_the_difference_is_the_largest_minus_the_smallest():
    found = AUDIT.stress(survey(900, groups="abc"), shifts=["none"], partitions=2, draws=2)
    assert found.settings["direction"] == "largest minus smallest"
    (setting,) = found["none"].settings
    assert math.isfinite(setting.interval.width)


def test_half_of_the_people_are_held_out_with_all_their_rows():
    table = survey(400).assign(person=np.arange(400) // 4)
    table["g"] = table["g"].to_numpy()[np.arange(400) // 4 * 4]
    part = read(table, replace(AUDIT, id="person"))
    first = halved(part, np.random.default_rng(0))
    assert first.sum() == 200
    assert (first.reshape(-1, 4) == first[::4, None]).all()


def test_a_group_too_small_to_hold_out_is_refused_by_name():
    table = survey(200)
    few = table.drop(table.query("g == 'b' and ok == 'yes'").index[7:])
    with pytest.raises(InputError, match=r"group 'b' in column 'g' .* has 7 people with ok=yes"):
        AUDIT.stress(few)


def test_a_small_group_brings_a_caution():
    table = survey(200)
    few = table.drop(table.query("g == 'b' and ok == 'yes'").index[20:])
    found = AUDIT.stress(few, shifts=["none"], partitions=2, draws=1)
    assert ("few_held_out", "ok=yes") in {(w.code, w.where) for w in found.warnings}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partitions": 1}, "partitions is a whole number of at least 2"),
        ({"draws": 0.5}, "draws is a whole number of at least 1"),
        ({"shifts": ["prio"]}, "did you mean 'prior'"),
        ({"shifts": []}, "nothing to replay"),
    ],
)
def test_what_can_not_be_replayed_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        AUDIT.stress(survey(100), **options)


def test_a_stress_test_needs_decisions():
    with pytest.raises(InputError, match="decision="):
        Audit(group="g").stress(survey(100))


def test_labels_are_no_features_and_need_not_be_learned():
    table = survey(300).assign(y=lambda t: np.where(t["g"] == "b", 1, 0))
    found = replace(AUDIT, label="y").stress(table, shifts=["none"], partitions=2, draws=1)
    assert found.settings["features"] == ["x", "z"]


def test_the_result_is_a_frame_a_document_and_a_summary(result):
    frame = result.to_frame()
    settings = sum(len(f.settings) for f in result.families)
    assert len(frame) == settings * len(QUANTIFIERS)
    document = json.loads(result.to_json())
    assert [f["name"] for f in document["families"]] == [f.name for f in result.families]
    rows = result.summary()
    assert [r["best"] for r in rows] == [f.ranking[0] for f in result.families]
    assert rows[1]["sentence"] in str(result)


def test_an_unknown_family_is_told_by_name(result):
    with pytest.raises(InputError, match="no shift 'priors' was replayed; did you mean 'prior'"):
        result["priors"]


def test_progress_is_told():
    told = []
    AUDIT.stress(
        survey(200),
        shifts=[NoShift()],
        partitions=2,
        draws=1,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(0, 2), (1, 2)]


def test_the_figure_has_error_above_coverage_for_each_thing_varied(result):
    pytest.importorskip("matplotlib")
    axes = result.plot()
    assert axes.shape == (2, 8)  # none, two priors, two compositions, size, covariate, drift
    curve = axes[0, 1].get_lines()[0].get_ydata()
    settings = [s for s in result["prior"].settings if s.what.endswith("no")]
    assert curve == pytest.approx([s.estimators["cc"].error for s in settings])
    highest = max(
        p.error for f in result.families for s in f.settings for p in s.estimators.values()
    )
    assert all(axis.get_ylim()[0] == 0 < highest <= axis.get_ylim()[1] for axis in axes[0])
    assert result.plot(axes=axes) is not None
    with pytest.raises(InputError, match=r"axes have the shape \(2, 8\)"):
        result.plot(axes=axes[:, :1])
