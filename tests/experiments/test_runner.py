"""The runner against a slow one: a scikit-learn model and a quantifier for each trial and cell."""

import warnings
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from tests.experiments import small
from tests.experiments.test_folds import by_the_package

from quantifair.errors import NotIdentifiedError
from quantifair.experiments import runner
from quantifair.experiments.auditees import AUDITEES
from quantifair.experiments.folds import Folds
from quantifair.experiments.learners import LEARNERS, Estimator, Logistic
from quantifair.experiments.methods import ABLATION, CROSSED, LADDER, METHODS, Method
from quantifair.experiments.parts import parts_of
from quantifair.experiments.protocols import PROTOCOLS, Protocol, Trial
from quantifair.experiments.runner import Design, run_unit
from quantifair.quantifiers import ACC, PACC, HDy

EVERY = tuple((METHODS | ABLATION).values())
EXACT = Estimator("exact", LogisticRegression(solver="newton-cholesky", tol=1e-10))
# Scores agree with scikit-learn's to 1e-4; what the methods make of them, to a little more.
NEAR = 5e-4


class Given(Protocol):
    """Trials that a test made up."""

    name = "given"

    def __init__(self, *trials):
        self.given = trials

    def trials(self, training, cells, *, repeats, rng):
        del training, cells, repeats, rng
        yield from self.given


class ByLabel:
    """Decides as the label says, whatever the training."""

    name = "by-label"

    def decide(self, parts, trainings):
        return tuple(np.tile(p.label == 1, (len(trainings), 1)) for p in parts[1:])


def design(protocol, methods=EVERY, *, learner=EXACT, auditee="LR", repeats=1):
    audited = AUDITEES[auditee] if isinstance(auditee, str) else auditee
    chosen = PROTOCOLS[protocol] if isinstance(protocol, str) else protocol
    return Design(chosen, audited, learner, tuple(methods), repeats)


def run(parts, plan, seed=0):
    return run_unit(parts, plan, np.random.default_rng(seed))


@pytest.fixture
def fitted(monkeypatch):
    """The trials that were run, and the samples that the runner drew for them."""
    kept = SimpleNamespace()

    def spied(part, trials, learner, *, pooled, rng):
        kept.trials, kept.fits = trials, fit(part, trials, learner, pooled=pooled, rng=rng)
        return kept.fits

    fit = runner.fit_cells
    monkeypatch.setattr(runner, "fit_cells", spied)
    return kept


def without(rows, held):
    """The rows of a sample that are not held out; some occur more than once."""
    return np.array(list((Counter(rows.tolist()) - Counter(held.tolist())).elements()))


def one_by_one(parts, kept, method, t, cell):
    """A method's prevalence of one cell, accuracy and F1, with nothing shared."""
    trial, known = kept.trials[t], parts.auxiliary
    rows = np.concatenate(trial.auxiliary) if method.pooled else trial.auxiliary[cell]
    trained_on, learned_on = rows, rows
    if method.training == "held_out":
        learned_on = kept.fits.held[kept.fits.sample_of[t, 2 if method.pooled else cell]]
        trained_on = without(rows, learned_on)
    model = clone(EXACT.estimator).fit(known.features[trained_on], known.group[trained_on])

    def score(part, at):
        said = model.predict if method.hard else lambda x: model.predict_proba(x)[:, 1]
        return np.asarray(said(part.features[at]), dtype=float)

    at = trial.deployment[cell]
    asked, truth = score(parts.deployment, at), parts.deployment.group[at]
    quantifier = clone(method.quantifier)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # SLD, stopped
            quantifier.fit(score(known, learned_on), known.group[learned_on])
            found, lost = quantifier.predict(asked)[1], 0.0
    except NotIdentifiedError:
        found, lost = asked.mean(), 1.0
    said = asked
    if method.labels == "posteriors":
        prior = known.group[learned_on].mean()
        odds = asked / (1 - asked) * found / (1 - found) * (1 - prior) / prior
        said = odds > 1
    if not method.labels:
        return found, lost, None
    judged = accuracy_score(truth, said), f1_score(truth, said, zero_division=1.0)
    return found, lost, judged


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("learner", [EXACT, Logistic()], ids=["exact", "LR"])
def test_every_method_is_what_it_is_alone(compas, protocol, learner, fitted):
    parts = parts_of(compas, 0, "ABC")
    table = run(parts, design(protocol, learner=learner))
    usable = np.flatnonzero(table["problem"] == "")
    assert len(fitted.trials) == len(usable) > 4
    tolerance = 1e-9 if learner is EXACT else NEAR
    for t in np.linspace(0, len(usable) - 1, 4).astype(int):
        for method in EVERY:
            for cell in (0, 1):
                found = table[f"{method.name}:{cell}"][usable[t]]
                alone, lost, _ = one_by_one(parts, fitted, method, t, cell)
                # HDy and hard decisions move in steps: a score that moves over an edge.
                step = 0.01 if method.hard or "HDy" in method.name else 0
                slack = tolerance + (step if learner is not EXACT else 0)
                assert found == pytest.approx(alone, abs=slack), (method.name, cell)
                assert table[f"lost:{method.name}:{cell}"][usable[t]] == lost


def as_the_package_has_it(parts, kept, method, t, cell):
    """A cross-fitted method's prevalence of one cell, from the package's own training."""
    rows = kept.fits.people[kept.fits.people_of[kept.fits.sample_of[t, cell]]]
    (fold,) = Folds.deal([rows], parts.auxiliary.group).fold
    trained = by_the_package(parts.auxiliary, rows, fold)
    people = parts.deployment.features[kept.trials[t].deployment[cell]]
    scores = trained.scorer(pd.DataFrame(people).add_prefix("x"))
    quantifier = clone(method.quantifier)
    try:
        quantifier.fit(trained.sample.scores, trained.sample.codes)
        found, lost = quantifier.predict(scores)[1], 0.0
    except NotIdentifiedError:
        found, lost = scores[:, 1].mean(), 1.0
    if trained.broken and quantifier.adjusts and quantifier.uses_posteriors:
        found, lost = scores[:, 1].mean(), 1.0
    return found, lost


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cross_fitted_methods_are_what_the_package_does(compas, protocol, fitted):
    parts = parts_of(compas, 0, "ABC")
    table = run(parts, design(protocol, CROSSED.values()))
    usable = np.flatnonzero(table["problem"] == "")
    for t in np.linspace(0, len(usable) - 1, 2).astype(int):
        for method in CROSSED.values():
            for cell in (0, 1):
                found = table[f"{method.name}:{cell}"][usable[t]]
                alone, lost = as_the_package_has_it(parts, fitted, method, t, cell)
                assert found == pytest.approx(alone, abs=1e-6), (method.name, cell)
                assert table[f"lost:{method.name}:{cell}"][usable[t]] == lost


def test_what_needs_probabilities_has_no_answer_where_the_classifier_is_broken():
    """Its count stands; what only needs scores that differ answers."""
    parts = small.parts()
    noise = np.random.default_rng(0).normal(size=(len(parts.auxiliary), 60))
    guessing = parts._replace(auxiliary=replace(parts.auxiliary, features=noise),
                              deployment=replace(parts.deployment, features=noise))  # fmt: skip
    trial = made_up(guessing, 30, 30)
    table = run(guessing, design(Given(trial), CROSSED.values(), auditee=ByLabel()))
    assert table["lost:SLD-x:1"].tolist() == [1.0]
    assert table["SLD-x:1"] == pytest.approx(table["PCC-x:1"])
    assert table["lost:PCC-x:1"] == table["lost:PACC-x:1"] == 0.0


def test_people_are_classified_as_one_by_one(compas, fitted):
    parts = parts_of(compas, 1, "BCA")
    table = run(parts, design("sample-prev-D3", repeats=1))
    judging = [method for method in EVERY if method.labels]
    assert [method.name for method in judging] == ["CC", "SLD"]
    for t in (0, 5, 10, 11, 21):
        for method in judging:
            for cell in (0, 1):
                _, _, (accuracy, f1) = one_by_one(parts, fitted, method, t, cell)
                found = [table[f"{k}:{method.name}:{cell}"][t] for k in ("accuracy", "f1")]
                assert found == pytest.approx([accuracy, f1], abs=1e-12)
    columns = {name.split(":")[1] for name in table if name.startswith(("accuracy:", "f1:"))}
    assert columns == {"CC", "SLD"}


def test_rows_say_what_was_tried_and_what_is_true(compas, fitted):
    parts = parts_of(compas, 0, "CAB")
    table = run(parts, design("sample-prev-D2", [METHODS["MLPE"]], learner=Logistic()))
    assert len(table["value"]) == len(fitted.trials) == 18
    for i, trial in enumerate(fitted.trials):
        tried = [table[name][i] for name in ("sub", "value", "repeat", "natural")]
        assert tried == [trial.sub, trial.value, trial.repeat, trial.natural]
        for cell in (0, 1):
            sought, known = trial.deployment[cell], trial.auxiliary[cell]
            assert table[f"size:{cell}"][i] == len(sought)
            assert table[f"true:{cell}"][i] == parts.deployment.group[sought].mean()
            assert table[f"prior:{cell}"][i] == parts.auxiliary.group[known].mean()
            assert table[f"MLPE:{cell}"][i] == pytest.approx(table[f"prior:{cell}"][i])


def test_the_audited_classifier_splits_people(compas, fitted):
    parts = parts_of(compas, 0, "ABC")
    run(parts, design("sample-size-D2", [METHODS["CC"]], learner=Logistic()))
    model = LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=10_000)
    model.fit(parts.training.features, parts.training.label)
    for part, side in ((parts.auxiliary, "auxiliary"), (parts.deployment, "deployment")):
        accepted = model.predict(part.features)
        for trial in fitted.trials:
            for cell, rows in enumerate(getattr(trial, side)):
                assert (accepted[rows] == cell).mean() > 0.999


# Refused trials


def made_up(parts, ones=5, zeros=5, *, decision=1, deployment=(50, 50)):
    """A trial with so many of each group among the accepted, or the rejected, auxiliary people."""
    rng = np.random.default_rng(0)
    group = parts.auxiliary.group
    few = [rng.choice(np.flatnonzero(group == g), n) for g, n in ((0, zeros), (1, ones))]
    auxiliary = [np.arange(100), np.arange(100)]
    auxiliary[decision] = np.concatenate(few)
    rows = [np.arange(n) for n in deployment]
    return Trial("", 0.0, 0, tuple(auxiliary), tuple(rows))


@pytest.mark.parametrize("decision", [0, 1])
@pytest.mark.parametrize(("ones", "zeros"), [(4, 40), (40, 4), (0, 40), (0, 0)])
def test_a_trial_with_fewer_than_five_of_a_group_in_a_cell_is_refused(decision, ones, zeros):
    parts = small.parts()
    good, bad = made_up(parts), made_up(parts, ones, zeros, decision=decision)
    table = run(parts, design(Given(good, bad, good), learner=Logistic()))
    refusal = "fewer than 5 of a group in an auxiliary cell"
    assert table["problem"].tolist() == ["", refusal, ""]
    for method in EVERY:
        for cell in (0, 1):
            estimates = table[f"{method.name}:{cell}"]
            assert np.isnan(estimates).tolist() == [False, True, False]
            assert estimates[0] == estimates[2]


def test_a_trial_with_nobody_to_quantify_is_refused():
    parts = small.parts()
    table = run(parts, design(Given(made_up(parts, deployment=(50, 0)), made_up(parts))))
    assert table["problem"].tolist() == ["nobody in a deployment cell", ""]


def test_a_trial_with_one_person_alone_of_a_group_in_a_cell_is_refused():
    """Who is in no other fold can't be learned from."""
    parts = small.parts()
    good = made_up(parts)
    person = np.flatnonzero(parts.auxiliary.group == 1)[:1]
    others = np.flatnonzero(parts.auxiliary.group == 0)[:20]
    cells = (good.auxiliary[0], np.r_[np.repeat(person, 9), others])
    table = run(parts, design(Given(good, good._replace(auxiliary=cells))))
    refusal = "one person alone is all of a group in an auxiliary cell"
    assert table["problem"].tolist() == ["", refusal]


def test_where_every_trial_is_refused_there_is_a_table_without_estimates():
    parts = small.parts()
    table = run(parts, design(Given(made_up(parts, 4))))
    assert len(table["problem"]) == 1
    assert "CC:0" not in table


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_classifier_that_accepts_everybody_has_all_its_trials_refused(protocol):
    class Everybody(ByLabel):
        def decide(self, parts, trainings):
            return tuple(np.ones((len(trainings), len(p)), dtype=bool) for p in parts[1:])

    parts = small.parts()
    table = run(parts, design(protocol, auditee=Everybody()))
    assert len(table["problem"]) >= 5
    assert (table["problem"] != "").all()


def test_flipped_labels_of_compas_are_tried_at_every_share(compas):
    """At the ends, h decides by group, and hardly anybody of one is accepted."""
    parts = parts_of(compas, 0, "ABC")
    for protocol in ("flip-prev-D1", "sample-prev-D1"):
        table = run(parts, design(protocol, [METHODS["CC"]], learner=Logistic(), repeats=2))
        assert len(table["problem"]) == 22
        refused = table["problem"] != ""
        assert (np.isnan(table["CC:0"]) == refused).all()


# What must not matter


def assert_same(one, other, columns=None):
    for name in columns or one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_methods_do_not_see_each_other():
    parts = small.parts()
    every = run(parts, design("sample-prev-D2", LADDER.values(), learner=Logistic()))
    for method in LADDER.values():
        alone = run(parts, design("sample-prev-D2", [method], learner=Logistic()))
        assert_same(alone, every)


def test_learners_see_the_same_trials():
    parts = small.parts()
    one, other = (
        run(parts, design("sample-prev-D3", [METHODS["MLPE"]], learner=learner))
        for learner in LEARNERS.values()
    )
    assert_same(one, other)


def test_blocks_of_trials_are_for_speed_alone(monkeypatch):
    parts = small.parts()
    plan = design("sample-prev-D2", learner=Logistic())
    one = run(parts, plan)
    monkeypatch.setattr(runner, "_NUMBERS", 3 * len(parts.auxiliary))
    other = run(parts, plan)
    for name, values in one.items():
        if values.dtype == object:
            assert (values == other[name]).all()
        else:
            np.testing.assert_allclose(values, other[name], rtol=1e-9, atol=1e-12)


def test_the_seed_decides():
    parts = small.parts()
    plan = design("sample-prev-D3", [METHODS["PCC"]], learner=Logistic())
    assert_same(run(parts, plan), run(parts, plan))
    assert (run(parts, plan)["PCC:0"] != run(parts, plan, seed=1)["PCC:0"]).any()


# Estimates that are not identified


class Same:
    """A learner whose classifiers say 0.3 of everybody."""

    name = "same"

    def fit(self, features, groups, samples, *, near=None):
        del features, groups, samples, near
        return self

    def select(self, models):
        del models
        return self

    def scores(self, features, models):
        return np.full((len(models), len(features)), 0.3)

    def decisions(self, features, models):
        return self.scores(features, models) > 0.5


@pytest.mark.parametrize(
    ("method", "count"),
    [
        (Method("ACC", ACC(), training="held_out", hard=True), 0.0),
        (Method("PACC", PACC(), training="held_out"), 0.3),
        (Method("HDy", HDy(), training="held_out"), 0.3),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_useless_scores_are_counted_and_marked(method, count):
    """As in the reference implementation, the classifier's own count stands."""
    parts = small.parts()
    trials = made_up(parts, 30, 20), made_up(parts, 20, 30)
    table = run(parts, design(Given(*trials), [method], learner=Same()))
    for cell in (0, 1):
        assert table[f"{method.name}:{cell}"] == pytest.approx(count)
        assert (table[f"lost:{method.name}:{cell}"] == 1).all()
