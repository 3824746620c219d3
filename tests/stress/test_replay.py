"""What is replayed is what an audit would have said."""

from dataclasses import replace

import numpy as np
import pytest
from tests.stress.surveys import AUDIT, read, survey

from quantifair.estimation import Options
from quantifair.quantifiers import QUANTIFIERS
from quantifair.stress.replay import Replayer
from quantifair.stress.shifts import Mix
from quantifair.training import Recipe, train_cells


def replayer(audit, auxiliary, held, centre="sld"):
    people = read(auxiliary, audit)
    meaning = (people.groups, people.favourable, people.positive)
    recipe = Recipe(None, audit.training, audit.folds, audit.calibrate, audit.seed, meaning)
    trained = train_cells(people, recipe, per_cell=audit.per_cell)
    estimators = {name: kind() for name, kind in QUANTIFIERS.items()}
    options = Options(
        audit.level, smoothing=audit.smoothing, target=audit.target, shared=not audit.per_cell
    )
    return Replayer.of(trained, read(held, audit), estimators, options, centre)


def audits():
    weighted = survey(300, seed=3).assign(w=np.tile([1.0, 3.0], 150))
    repeated = survey(300, seed=3).assign(person=np.arange(300) // 2)
    repeated["g"] = repeated["g"].to_numpy()[np.arange(300) // 2 * 2]
    return {
        "plain": (AUDIT, survey(300, seed=3)),
        "smoothing": (replace(AUDIT, smoothing=True), survey(300, seed=3)),
        "population": (replace(AUDIT, target="population"), survey(300, seed=3)),
        "one quantifier": (replace(AUDIT, per_cell=False), survey(300, seed=3)),
        "three groups": (AUDIT, survey(300, groups="abc", seed=3)),
        "weights": (replace(AUDIT, weight="w"), weighted),
        "repeated people": (replace(AUDIT, id="person"), repeated),
    }


@pytest.mark.parametrize("name", audits())
def test_estimates_and_interval_are_the_audits_own(name):
    audit, auxiliary = audits()[name]
    held = auxiliary.sample(frac=1, random_state=0).reset_index(drop=True)
    held["x"] += np.random.default_rng(5).normal(size=len(held)) / 10
    if audit.id is not None:
        held["person"] += 1_000  # other people than those surveyed
    kept = np.random.default_rng(6).random((1, len(held))) < 0.7
    outcome = replayer(audit, auxiliary, held).replay(kept)
    drawn = held[kept[0]]
    result = audit.fit(auxiliary).measure(drawn.drop(columns="g"))
    truth = result.compare(drawn).rows[0].truth
    # Weights are divided by their mean, and a sketch keeps them to 2^-20.
    assert outcome.truth[0] == pytest.approx(truth, abs=1e-6)
    found = {n: float(e[0] + outcome.truth[0]) for n, e in outcome.errors.items()}
    assert found == pytest.approx(result.estimators, abs=2e-5)
    figure = result.demographic_parity.difference
    assert outcome.widths[0] == pytest.approx(figure.high - figure.low, abs=2e-5)
    assert outcome.covered[0] == (figure.low <= truth <= figure.high)


def test_each_draw_is_estimated_as_it_would_be_alone():
    one = replayer(AUDIT, survey(300, seed=1), survey(200, seed=2))
    kept = np.random.default_rng(0).random((4, 200)) < 0.5
    together = one.replay(kept)
    for d in range(4):
        alone = one.replay(kept[[d]])
        assert alone.truth[0] == together.truth[d]
        for name, errors in together.errors.items():
            assert alone.errors[name][0] == pytest.approx(errors[d], abs=1e-12)
        assert alone.widths[0] == pytest.approx(together.widths[d])


def test_a_draw_without_one_decision_is_no_trial():
    held = survey(200, seed=2)
    kept = (held["ok"] == "yes").to_numpy()[None]
    outcome = replayer(AUDIT, survey(300, seed=1), held).replay(kept)
    assert np.isnan(outcome.truth).all()
    assert np.isnan(outcome.covered).all()


def test_a_mix_has_the_share_and_its_scores_move_by_bayes_theorem():
    whole = replayer(AUDIT, survey(2_000, seed=1), survey(100, seed=2))
    mixed = whole.mixed(Mix(1, 1, 0.8), np.random.default_rng(0), tilts=True)
    before, after = whole.cells[1].trained.trained.sample, mixed.cells[1].trained.trained.sample
    assert abs(after.codes.sum() - 0.8 * len(after.codes)) <= 1
    prior, share = before.codes.mean(), after.codes.mean()
    odds = whole.cells[1].scores[:, 1] / whole.cells[1].scores[:, 0]
    moved = mixed.cells[1].scores[:, 1] / mixed.cells[1].scores[:, 0]
    assert moved == pytest.approx(odds * share / (1 - share) * (1 - prior) / prior)
    assert mixed.cells[0] is whole.cells[0]


def test_scores_from_elsewhere_do_not_follow_the_mix():
    whole = replayer(AUDIT, survey(500, seed=1), survey(100, seed=2))
    mixed = whole.mixed(Mix(1, 1, 0.8), np.random.default_rng(0), tilts=False)
    assert mixed.cells[1].scores == pytest.approx(whole.cells[1].scores)


def test_cells_that_share_auxiliary_people_share_them_in_a_mix():
    audit = replace(AUDIT, per_cell=False)
    mixed = replayer(audit, survey(500, seed=1), survey(100, seed=2)).mixed(
        Mix(1, 1, 0.8), np.random.default_rng(0), tilts=True
    )
    first, second = (c.trained.trained.sample for c in mixed.cells)
    assert (first.scores == second.scores).all()


def test_features_that_tell_nothing_leave_only_those_who_assume_no_shift():
    one = replayer(AUDIT, survey(300, apart=0, seed=1), survey(200, apart=0, seed=2))
    outcome = one.replay(np.ones((1, 200), dtype=bool))
    answers = {n for n, e in outcome.errors.items() if np.isfinite(e).all()}
    adjusting = {n for n, kind in QUANTIFIERS.items() if kind().adjusts}
    assert not answers & adjusting
    assert "mlpe" in answers
    assert np.isnan(outcome.covered).all()
