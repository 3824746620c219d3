"""The choice of the group classifier: which is taken, by what rule, and what is said of it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from quantifair import Audit
from quantifair.candidates import Choice, candidates, choose, losses_of, try_out
from quantifair.cells import EVERYBODY
from quantifair.diagnostics import no_better_than_shares
from quantifair.intervals import Sample
from quantifair.learner import ScoreColumns, Scorer
from quantifair.roles import Features
from quantifair.training import Trained

LOGISTIC = ["logistic", "logistic, C=0.1", "logistic, C=0.01", "logistic, C=0.001"]
FLEXIBLE = ["splines", "boosting", "boosting, larger"]


def straight(x: np.ndarray) -> np.ndarray:
    return 1.2 * x[:, 0] - 0.8 * x[:, 1]


def bump(x: np.ndarray) -> np.ndarray:
    return 2 * (np.abs(x[:, 0]) < 0.7) - 1.0


def interaction(x: np.ndarray) -> np.ndarray:
    return 3 * np.sign(x[:, 0]) * np.sign(x[:, 1])


def nothing(x: np.ndarray) -> np.ndarray:
    return np.zeros(len(x))


def people(log_odds, rows=500, seed=0, features=2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, features))
    codes = rng.random(rows) < 1 / (1 + np.exp(-log_odds(x)))
    frame = pd.DataFrame(x).add_prefix("x")
    return frame.assign(ok=np.arange(rows) % 2, sex=np.where(codes, "man", "woman"))


def fitted(table, **options):
    """One cell, so that the choice is made once."""
    features = [c for c in table if str(c).startswith("x")]
    given = {"group": "sex", "learner": "best", "folds": 3, "features": features}
    return Audit(**{**given, **options}).fit(table)


def choice_of(table, **options) -> Choice:
    choice = fitted(table, **options).cells[EVERYBODY].choice
    assert choice is not None
    return choice


# What is chosen


@pytest.mark.parametrize("seed", range(4))
def test_logistic_regression_is_kept_where_it_is_true(seed):
    assert choice_of(people(straight, seed=seed)).chosen in LOGISTIC


def test_a_feature_that_is_not_monotone_takes_curves():
    assert choice_of(people(bump)).chosen in FLEXIBLE


def test_an_interaction_takes_trees():
    choice = choice_of(people(interaction))
    assert choice.chosen.startswith("boosting")
    assert choice.log_loss[choice.chosen] < choice.log_loss["splines"] - 0.1


def test_classifiers_that_learn_people_by_heart_stand_back():
    table = people(lambda x: 0.5 * x[:, 0], rows=200, features=60)
    cell = fitted(table).cells[EVERYBODY]
    assert cell.trained.slope > 0.5
    assert not cell.trained.broken
    assert cell.choice.chosen != "logistic"


@pytest.mark.parametrize("training", ["split", "all"])
def test_the_choice_is_by_people_whom_the_classifiers_have_not_seen(training):
    """In their own sample, trees tell people apart where nothing does."""
    table = people(straight, rows=300)
    cell = fitted(table, training=training).cells[EVERYBODY]
    assert cell.choice.chosen in LOGISTIC
    assert len(cell.trained.scorer.models) == 1
    assert cell.trained.sample.codes.size == (300 if training == "all" else 120)
    if training == "all":
        assert cell.choice == choice_of(table)


def test_three_groups_weights_and_people_who_repeat():
    rng = np.random.default_rng(3)
    codes = np.repeat(rng.integers(0, 3, 130), 2)
    table = pd.DataFrame(
        {
            "x": rng.normal(2.0 * codes),
            "sex": np.array(["a", "b", "c"])[codes],
            "w": rng.uniform(0.5, 2, 260),
            "person": np.arange(260) // 2,
        }
    )
    options = {"features": ["x"], "weight": "w", "id": "person"}
    choice = choice_of(table, **options)
    assert list(choice.log_loss) == LOGISTIC[: len(choice.log_loss)]
    shares = table.groupby("sex")["w"].sum() / table["w"].sum()
    assert choice.log_loss_of_shares == pytest.approx(-(shares * np.log(shares)).sum())
    assert choice.log_loss[choice.chosen] < choice.log_loss_of_shares - 0.3
    assert choice.beats_shares


def test_the_same_seed_makes_the_same_choice_and_the_same_scoring_function():
    table = people(bump, rows=200)
    one, other = (fitted(table).cells[EVERYBODY] for _ in range(2))
    assert one.choice == other.choice
    assert one.trained.scorer.fingerprint == other.trained.scorer.fingerprint
    again = pickle.loads(pickle.dumps(one.trained.scorer))  # noqa: S301
    assert np.array_equal(again(table), one.trained.scorer(table))


# What is tried


def tried(learner, frame, fewest=100) -> list[str]:
    kinds = {c: "number" if frame[c].dtype.kind == "f" else "text" for c in frame}
    families = candidates(learner, Features(kinds), frame, fewest)
    return [name for family in families for name, _ in family]


def test_the_simplest_is_tried_first():
    frame = people(straight, rows=60)[["x0"]]
    assert tried("best", frame) == LOGISTIC + FLEXIBLE
    assert tried(None, frame) == tried("best", frame)
    assert tried("logistic", frame) == LOGISTIC
    assert tried("boosting", frame) == ["boosting"]
    assert tried(ScoreColumns(["x0"]), frame) == ["scores"]


def test_few_people_are_not_for_curves_and_few_values_not_for_splines():
    frame = people(straight, rows=60)[["x0"]]
    assert tried("best", frame, fewest=49) == LOGISTIC
    flags = frame.assign(x0=np.arange(60) % 2 + 0.0, town="Rome")
    assert tried("best", flags) == LOGISTIC + FLEXIBLE[1:]


def tried_out(families, losses, *, broken=(), chooses=True) -> list[str]:
    """Names that are tried, of classifiers with the given mean losses."""
    made = (((name, name) for name in family) for family in families)

    def train(name):
        return trained([losses[name]] * 4, broken=name in broken)

    return list(try_out(made, train, chooses=chooses)[1])


def test_within_a_family_the_next_is_tried_where_the_last_is_the_best_so_far():
    families = [["a", "b", "c"], ["d", "e"], ["f", "g"]]
    losses = {"a": 0.6, "b": 0.5, "c": 0.55, "d": 0.51, "e": 0.1, "f": 0.4, "g": 0.3}
    assert tried_out(families, losses) == ["a", "b", "c", "d", "f", "g"]
    assert tried_out(families, losses | {"b": 0.6}) == ["a", "b", "d", "e", "f"]


def test_an_overfitted_one_is_followed_by_the_next_of_its_family_and_is_no_best():
    losses = {"a": 0.1, "b": 0.6, "c": 0.5, "d": 0.4}
    assert tried_out([["a", "b"], ["c", "d"]], losses, broken=["a"]) == ["a", "b", "c", "d"]
    assert tried_out([["a", "b", "c"]], losses, broken=["a"], chooses=False) == ["a", "b"]


# The rule


def trained(losses, *, broken=False, codes=None, clusters=None) -> Trained:
    losses = np.asarray(losses, dtype=float)
    codes = np.arange(len(losses)) % 2 if codes is None else codes
    sample = Sample(np.full((len(losses), 2), 0.5), codes, np.ones(len(losses)), clusters)
    return Trained(Scorer((), (0, 1), None, "f"), sample, 1.0, broken, losses=losses)


def around(mean, rows=100):
    """Losses with a deviation of one, hence a standard error of 0.1."""
    return mean + np.tile([-1.0, 1.0], rows // 2)


@pytest.mark.parametrize(("gain", "chosen"), [(0.09, "simple"), (0.11, "complex")])
def test_the_simpler_is_taken_within_one_standard_error_of_the_difference(gain, chosen):
    simple, better = np.zeros(100), around(-gain)
    assert choose({"simple": trained(simple), "complex": trained(better)}).chosen == chosen


def test_the_difference_is_paired():
    """Losses that vary much, from person to person alike, differ by little for sure."""
    noise = np.random.default_rng(0).normal(size=100)
    found = choose({"simple": trained(noise), "complex": trained(noise - 0.001)})
    assert found.chosen == "complex"


def test_a_person_of_four_rows_counts_once_in_the_standard_error():
    better = np.repeat(around(-0.11, 100), 4)
    chosen = {}
    for name, clusters in {"rows": None, "people": np.arange(400) // 4}.items():
        both = {"simple": np.zeros(400), "complex": better + 0.03}
        both = {k: trained(v, clusters=clusters) for k, v in both.items()}
        chosen[name] = choose(both).chosen
    assert chosen == {"rows": "complex", "people": "simple"}


def test_an_overfitted_classifier_is_taken_only_if_all_are():
    losses = {"simple": around(0.0), "complex": around(1.0)}
    one = {"simple": trained(losses["simple"], broken=True), "complex": trained(losses["complex"])}
    assert choose(one).chosen == "complex"
    both = {name: trained(v, broken=True) for name, v in losses.items()}
    assert choose(both).chosen == "simple"


def test_losses_are_those_of_the_own_group():
    sample = Sample(np.zeros((3, 2)), np.array([0, 1, 1]), np.ones(3), None)
    scores = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    assert losses_of(scores, sample) == pytest.approx(-np.log([0.25, 0.5, 1e-15]))


# What is said


def test_features_that_say_nothing_are_a_caution():
    beaten = [choice_of(people(nothing, rows=200, seed=s)).beats_shares for s in range(2)]
    assert beaten == [False, False]
    choice = Choice("logistic", {"logistic": 0.694, "splines": 0.7}, 0.693, beats_shares=False)
    (caution,) = no_better_than_shares(choice, "hired=1")
    assert caution.code == "no_better_than_shares"
    assert "(log-loss 0.694 against 0.693)" in caution.message


def test_no_caution_where_a_classifier_beats_the_shares_or_was_tried_alone():
    told = Choice("logistic", {"logistic": 0.6, "splines": 0.7}, 0.693, beats_shares=True)
    alone = Choice("trees", {"trees": 0.9}, 0.693, beats_shares=False)
    assert no_better_than_shares(told, "hired=1") == no_better_than_shares(alone, "hired=1") == []


def test_the_result_says_which_classifier_serves_each_cell():
    table = people(straight, rows=80)  # few people: logistic regressions alone
    result = fitted(table, decision="ok").measure(table.drop(columns="sex"))
    for cell in json.loads(result.to_json())["cells"]:
        tried_there = list(cell["classifier"]["log_loss"])
        assert tried_there == LOGISTIC[: len(tried_there)]
        assert cell["classifier"]["chosen"] in LOGISTIC
    assert "Group classifiers: ok=0: logistic" in str(result)
    named = fitted(table, decision="ok", learner="svm").measure(table.drop(columns="sex"))
    assert list(named.cells[0].classifier.log_loss) == ["svm"]
    assert "Group classifiers" not in str(named)
