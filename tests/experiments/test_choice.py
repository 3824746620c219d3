"""The learner that is chosen in each sample."""

import numpy as np
import pandas as pd
import pytest
from tests.experiments import small

from quantifair.candidates import candidates, choose
from quantifair.experiments.catalogue import BEST, Catalogue, best
from quantifair.experiments.choice import Chosen, Tried, cross_fit, preferred
from quantifair.experiments.folds import FOLDS, Folds
from quantifair.experiments.learners import Logistic
from quantifair.experiments.parts import Part
from quantifair.experiments.splines import Splines
from quantifair.intervals import Sample
from quantifair.roles import Features
from quantifair.training import Trained

BOTH = np.arange(2)


def part_of(bent, people=600):
    """Groups that a line tells apart, or only a bend: the second group is in the middle."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(people, 3))
    said = 1.5 - 4 * features[:, 0] ** 2 if bent else 2 * features[:, 0]
    group = (rng.random(people) < 1 / (1 + np.exp(-said))).astype(np.int64)
    return Part(features, group, group)


def chosen_of(part, samples, learner=None):
    learner = learner or Chosen("two", (Logistic("line"),), ((Splines("bend"),),))
    folds = Folds.deal(samples, part.group)
    return cross_fit(learner, part.features, part.group, folds), folds


def kinds(classifiers):
    return [type(classifiers.parts[p]).__name__ for p in classifiers.part]


def test_what_predicts_best_is_chosen_and_otherwise_the_simplest():
    everybody = [np.random.default_rng(1).permutation(600)]
    assert set(kinds(chosen_of(part_of(bent=False), everybody)[0])) == {"LogisticClassifiers"}
    assert set(kinds(chosen_of(part_of(bent=True), everybody)[0])) == {"CurvedClassifiers"}


def test_each_sample_chooses_for_all_its_folds_and_keeps_their_classifiers():
    part = part_of(bent=True)
    few = np.concatenate([np.flatnonzero(part.group == g)[:40] for g in BOTH])
    samples = [few, np.arange(600), few[::-1], np.arange(300)]
    found, folds = chosen_of(part, samples)
    line, bend = ["LogisticClassifiers"] * FOLDS, ["CurvedClassifiers"] * FOLDS
    assert kinds(found) == line + bend + line + bend
    for learner, some in ((Logistic(), [0, 2]), (Splines(), [1, 3])):
        chosen = folds.select(np.array(some))
        alone = learner.fit(part.features, part.group, chosen.trainings)
        models = np.concatenate([FOLDS * s + np.arange(FOLDS) for s in some])
        ours = found.scores(part.features, models)
        assert ours == pytest.approx(alone.scores(part.features, np.arange(10)), abs=1e-4)


def test_the_choice_of_a_whole_sample_is_fitted_on_all_of_it():
    part = part_of(bent=True)
    samples = [np.arange(300), np.arange(600)]
    found = Chosen("two", (Logistic(),), ((Splines(),),)).fit(part.features, part.group, samples)
    alone = Splines().fit(part.features, part.group, samples)
    assert found.scores(part.features, BOTH) == pytest.approx(
        alone.scores(part.features, BOTH), abs=1e-4
    )
    decided = found.select(np.array([1])).decisions(part.features, np.array([0]))
    assert (decided == alone.decisions(part.features, np.array([1]))).all()


def test_the_rule():
    """One standard error of the paired difference: here 0.1 / sqrt(100) = 0.01."""
    rng = np.random.default_rng(0)
    noise = rng.permutation(np.repeat([-0.1, 0.1], 50))
    least = Tried(np.full(100, 0.5), broken=False)
    near = Tried(0.5 + 0.009 + noise, broken=False)
    far = Tried(0.5 + 0.011 + noise, broken=False)
    people = np.arange(100)
    assert preferred({0: near, 1: least}, people) == 0
    assert preferred({0: far, 1: least}, people) == 1
    assert preferred({0: far, 1: least._replace(broken=True)}, people) == 0
    assert preferred({0: least._replace(broken=True)}, people) == 0


def test_people_who_repeat_count_once_in_the_standard_error():
    """Twenty-five people four times over: the standard error doubles."""
    noise = np.repeat(np.r_[np.full(12, -0.1), np.full(12, 0.1), 0.0], 4)
    least, near = Tried(np.full(100, 0.5), broken=False), Tried(0.515 + noise, broken=False)
    assert preferred({0: near, 1: least}, np.repeat(np.arange(25), 4)) == 0
    assert preferred({0: near, 1: least}, np.arange(100)) == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_is_the_packages(seed):
    rng = np.random.default_rng(seed)
    person = rng.integers(30, size=80)
    clusters = np.unique(person, return_inverse=True)[1]
    sample = Sample(np.zeros((80, 2)), rng.integers(2, size=80), np.ones(80), clusters)
    losses = 0.6 + 0.05 * rng.random((4, 1)) + 0.1 * rng.random((4, 30))[:, person]
    broken = rng.random(4) < 0.3
    tried = {k: Tried(losses[k], bool(broken[k])) for k in range(4)}
    theirs = {
        str(k): Trained(None, sample, 1.0, broken=bool(broken[k]), losses=losses[k])
        for k in range(4)
    }
    assert str(preferred(tried, person)) == choose(theirs).chosen


def test_within_a_family_the_next_is_tried_where_the_last_is_the_best_so_far():
    tried = []

    class Noted(Logistic):
        def fit(self, features, groups, samples, *, near=None):
            tried.append((self.name, len(samples) // FOLDS))
            return super().fit(features, groups, samples, near=near)

    part = part_of(bent=False)
    lines = tuple(Noted(str(c), strength=c) for c in (1.0, 1e-4, 1.0))
    learner = Chosen("three", lines, ((Noted("last", strength=1e-4), Noted("none")),))
    chosen_of(part, [np.arange(600), np.arange(300)], learner)
    # Shrinking a good line makes it worse, so that nothing comes after that in its family.
    assert tried == [("1.0", 2), ("0.0001", 2), ("last", 2)]


def test_the_candidates_are_the_packages():
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    features = Features({"a": "number", "b": "number"})
    families = candidates(BEST, features, numbers, 50)
    theirs = dict(pair for family in families for pair in family)
    lines = [theirs[name].steps[-1][1].C for name in list(theirs)[:5]]
    learner = best()
    ours = [candidate.strength for candidate in learner.candidates[:5]]
    assert ours == lines == [1.0, 0.1, 0.01, 0.001, 0.1]
    assert list(theirs)[4:] == [candidate.name for candidate in learner.candidates[4:]]
    for candidate in learner.candidates[5:]:
        trees = theirs[candidate.name].steps[-1][1].get_params()
        read = {"categorical_features": "from_dtype"}  # a study's matrix has no categories
        assert candidate.estimator.get_params() == trees | read


def test_the_packages_choice_is_known_by_name():
    learner = Catalogue().learners[BEST]
    names = [c.name for c in learner.candidates]
    assert names[:4] == ["LR, C=1", "LR, C=0.1", "LR, C=0.01", "LR, C=0.001"]
    assert names[4:] == ["splines", "boosting", "boosting, larger"]


def test_every_candidate_can_be_fitted_and_the_result_is_the_same_again():
    part = small.parts().auxiliary
    samples = [np.arange(200)]
    one, other = (chosen_of(part, samples, best())[0] for _ in range(2))
    scores = one.scores(part.features, np.arange(FOLDS))
    assert (scores == other.scores(part.features, np.arange(FOLDS))).all()
    assert ((scores > 0) & (scores < 1)).all()
