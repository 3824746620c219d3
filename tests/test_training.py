"""Training: who is scored by which classifier, and what becomes of the scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from quantifair import Audit
from quantifair.calibration import fit_calibration
from quantifair.cells import ACCEPTED, DECISIONS, EVERYBODY, LABELLED
from quantifair.errors import InputError
from quantifair.intervals import Sample
from quantifair.learner import prepared
from quantifair.roles import Features
from quantifair.training import Recipe, people_by_group, train_cells


class Memory(ClassifierMixin, BaseEstimator):
    """Gives 0.9 to people that it was fitted on, and 0.4 to new ones."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = set(X["person"])
        return self

    def predict_proba(self, X):
        second = np.where([p in self.known_ for p in X["person"]], 0.9, 0.4)
        return np.column_stack([1 - second, second])


class Reader(ClassifierMixin, BaseEstimator):
    """Reads the second group's probability from column ``p``."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        second = X["p"].to_numpy()
        return np.column_stack([1 - second, second])


class Unscored(ClassifierMixin, BaseEstimator):
    """Predicts, but can't say how sure it is."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self


def sample_of(codes, weights=None, clusters=None) -> Sample:
    groups = int(np.max(codes)) + 1
    weights = np.ones(len(codes)) if weights is None else weights
    return Sample(np.zeros((len(codes), groups)), np.asarray(codes), weights, clusters)


def people(rows=120, seed=0, separation=1.0):
    """Features, groups and a frame with them."""
    rng = np.random.default_rng(seed)
    codes = (np.arange(rows) % 3 == 0).astype(int)
    frame = pd.DataFrame(
        {"x": rng.normal(separation * codes), "z": rng.normal(size=rows), "person": range(rows)}
    )
    return frame, codes


def stated(rows, seed, honesty):
    """Scores whose log odds are the true ones divided by ``honesty``, with the groups."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1.5, rows)
    codes = (rng.random(rows) < 1 / (1 + np.exp(-truth))).astype(int)
    return pd.DataFrame({"p": 1 / (1 + np.exp(-truth / honesty))}), codes


# Who is scored by whom


@pytest.mark.parametrize("training", ["folds", "split"])
def test_nobody_is_scored_by_a_classifier_that_saw_them(training):
    frame, codes = people()
    trained = Recipe(Memory(), training, calibrate=False).train(frame, sample_of(codes), ["a", "b"])
    assert set(trained.sample.scores[:, 1]) == {0.4}


def test_training_on_all_scores_people_by_the_classifier_that_saw_them():
    frame, codes = people()
    trained = Recipe(Memory(), "all", calibrate=False).train(frame, sample_of(codes), ["a", "b"])
    assert set(trained.sample.scores[:, 1]) == {0.9}
    assert len(trained.scorer.models) == 1


@pytest.mark.parametrize("training", ["folds", "split"])
def test_a_person_with_several_rows_is_on_one_side(training):
    frame, codes = people(rows=120)
    repeated = frame.assign(person=np.arange(120) // 4)
    recipe = Recipe(Memory(), training, calibrate=False)
    apart = recipe.train(repeated, sample_of(codes), ["a", "b"])
    assert 0.9 in set(apart.sample.scores[:, 1])
    clusters = repeated["person"].to_numpy()
    together = recipe.train(repeated, sample_of(codes, clusters=clusters), ["a", "b"])
    assert set(together.sample.scores[:, 1]) == {0.4}


@pytest.mark.parametrize("training", ["folds", "split", "all"])
def test_scores_groups_and_weights_stay_with_their_person(training):
    codes = np.arange(60) % 2
    p = np.where(codes == 1, 0.6, 0.1) + np.arange(60) / 1000
    sample = sample_of(codes, weights=p * 10, clusters=np.arange(60) // 2)
    learner = make_pipeline(FunctionTransformer(), WeighedReader())
    trained = Recipe(learner, training, calibrate=False).train(
        pd.DataFrame({"p": p}), sample, ["a", "b"]
    )
    kept = trained.sample
    rows = np.flatnonzero(np.isin(p, kept.scores[:, 1]))
    assert kept.scores[:, 1].tolist() == p[rows].tolist()
    assert kept.weights.tolist() == (p[rows] * 10).tolist()
    assert kept.codes.tolist() == codes[rows].tolist()
    assert (np.diff(kept.clusters) == np.diff(rows // 2).clip(max=1)).all()


class WeighedReader(Reader):
    def fit(self, X, y, sample_weight=None):  # noqa: ARG002
        return super().fit(X, y)


def test_folds_keep_everybody_and_fit_a_classifier_each():
    frame, codes = people()
    trained = Recipe(LogisticRegression(), folds=4).train(frame, sample_of(codes), ["a", "b"])
    assert len(trained.scorer.models) == 4
    assert trained.sample.codes.tolist() == codes.tolist()


def test_there_are_no_more_folds_than_people_in_the_smallest_group():
    frame, _ = people()
    codes = (np.arange(120) < 3).astype(int)
    trained = Recipe(LogisticRegression()).train(frame, sample_of(codes), ["a", "b"])
    assert len(trained.scorer.models) == 3


def test_split_trains_on_sixty_percent_of_each_group_and_keeps_the_others():
    frame, codes = people(rows=150)
    trained = Recipe(Memory(), "split", calibrate=False).train(frame, sample_of(codes), ["a", "b"])
    assert np.bincount(trained.sample.codes).tolist() == [40, 20]
    (model,) = trained.scorer.models
    assert np.bincount(codes[sorted(model.known_)]).tolist() == [60, 30]


def test_distinct_people_are_counted_by_group():
    codes, clusters = np.array([0, 0, 0, 1, 1]), np.array([7, 7, 8, 9, 7])
    assert people_by_group(codes, None, 3).tolist() == [3, 2, 0]
    assert people_by_group(codes, clusters, 3).tolist() == [2, 2, 0]


# Calibration


def test_what_is_calibrated_is_what_is_applied():
    frame, codes = stated(600, 0, honesty=0.7)
    trained = Recipe(Reader()).train(frame, sample_of(codes), ["a", "b"])
    calibration = trained.scorer.calibration
    new = pd.DataFrame({"p": [0.1, 0.5, 0.9]})
    by_hand = np.exp(calibration.bias[1]) * (new["p"] / (1 - new["p"])) ** calibration.slope
    assert trained.scorer(new)[:, 1] == pytest.approx(by_hand / (1 + by_hand))
    assert trained.sample.scores == pytest.approx(trained.scorer(frame))


def test_each_fold_is_calibrated_before_the_mean_is_taken():
    frame, codes = people(separation=1.5)
    features = frame[["x", "z"]]
    scorer = Recipe(LogisticRegression()).train(features, sample_of(codes), ["a", "b"]).scorer
    each = [scorer.calibration(model.predict_proba(features)) for model in scorer.models]
    assert scorer(features) == pytest.approx(np.mean(each, axis=0))


def test_calibrated_scores_need_no_calibration():
    frame, codes = stated(1000, 1, honesty=0.7)
    trained = Recipe(Reader()).train(frame, sample_of(codes), ["a", "b"])
    again = fit_calibration(trained.sample.scores, trained.sample.labelled.counts)
    # The ridge of 0.001 beside an information of about a hundred moves the optimum this little.
    assert again.slope == pytest.approx(1, abs=1e-4)
    assert again.bias[1] == pytest.approx(0, abs=1e-4)


def test_scores_are_left_as_they_come_where_that_is_asked():
    frame, codes = stated(600, 0, honesty=0.7)
    trained = Recipe(Reader(), calibrate=False).train(frame, sample_of(codes), ["a", "b"])
    assert trained.scorer.calibration is None
    assert trained.sample.scores[:, 1] == pytest.approx(frame["p"].to_numpy())
    assert trained.slope == pytest.approx(0.7, abs=0.15)  # two standard errors of the slope


@pytest.mark.parametrize(("honesty", "calibrated"), [(0.3, False), (0.75, True)])
def test_a_broken_proxy_is_not_calibrated(honesty, calibrated):
    frame, codes = stated(3000, 2, honesty)
    trained = Recipe(Reader()).train(frame, sample_of(codes), ["a", "b"])
    assert (trained.scorer.calibration is not None) is calibrated
    untouched = np.array_equal(trained.sample.scores[:, 1], frame["p"])
    assert untouched is not calibrated
    assert trained.broken is not calibrated


@pytest.fixture
def wide():
    """So many features for so few people that logistic regression learns them by heart."""
    rng = np.random.default_rng(0)
    codes = (np.arange(400) % 2).astype(int)
    features = rng.normal(size=(400, 60))
    features[:, 0] += codes
    decided = np.repeat(["yes", "no"], 200)
    frame = pd.DataFrame(features).add_prefix("x").assign(hired=decided, group=codes)
    return frame.sample(frac=1, random_state=0)


def test_logistic_regression_is_regularised_until_it_is_honest(wide):
    cells = Audit(decision="hired", group="group", learner="logistic").fit(wide).cells
    models = [m for c in cells.values() for m in c.trained.scorer.models]
    assert {m[-1].C for m in models} < {0.1, 0.01, 0.001}
    assert all(c.trained.slope > 0.5 and not c.trained.broken for c in cells.values())


@pytest.mark.parametrize("per_cell", [True, False])
def test_cells_may_take_the_learners_that_others_chose(wide, per_cell):
    fitted = Audit(decision="hired", group="group", per_cell=per_cell).fit(wide)
    again = train_cells(fitted.auxiliary, Recipe(None), per_cell=per_cell, like=fitted.cells)
    for cell, trained in again.items():
        chosen = fitted.cells[cell]
        assert len(chosen.choice.log_loss) > 1
        expected = chosen.choice.log_loss[chosen.choice.chosen]
        assert list(trained.choice.log_loss.values()) == pytest.approx([expected])


def test_another_learner_is_not_regularised_for_its_owner(wide):
    cells = Audit(decision="hired", group="group", learner=LogisticRegression()).fit(wide).cells
    assert {m[-1].C for c in cells.values() for m in c.trained.scorer.models} == {1.0}
    assert all(c.trained.broken for c in cells.values())


# Learners


def test_a_fitted_learner_is_used_as_it_is(monkeypatch):
    frame, codes = people()
    features = frame[["x", "z"]]
    learner = LogisticRegression().fit(features, np.array(["man", "woman"])[codes])

    def refuse(*args, **kwargs):
        raise AssertionError((args, kwargs))

    monkeypatch.setattr(LogisticRegression, "fit", refuse)
    trained = Recipe(learner, calibrate=False).train(
        features, sample_of(1 - codes), ["woman", "man"]
    )
    assert trained.scorer.models == (learner,)
    assert np.array_equal(trained.scorer(features), learner.predict_proba(features)[:, ::-1])
    assert np.array_equal(trained.sample.scores, trained.scorer(features))


def test_the_classes_of_a_fitted_learner_may_be_whole_floats():
    frame, codes = people()
    learner = LogisticRegression().fit(frame[["x"]], codes.astype(float))
    trained = Recipe(learner, calibrate=False).train(frame, sample_of(codes), ["0", "1"])
    assert trained.sample.scores[:, 1].argmax() == frame["x"].argmax()


def test_a_fitted_learner_has_to_know_the_groups():
    frame, codes = people()
    learner = LogisticRegression().fit(frame[["x"]], np.array(["m", "f"])[codes])
    message = r"knows the groups \['f', 'm'\], the auxiliary table holds \['man', 'woman'\]"
    with pytest.raises(InputError, match=message):
        Recipe(learner).train(frame, sample_of(codes), ["man", "woman"])


def test_a_fitted_learner_has_to_give_probabilities():
    frame, codes = people()
    learner = LinearSVC().fit(frame[["x"]], codes)
    with pytest.raises(InputError, match="fitted learner LinearSVC has no predict_proba"):
        Recipe(learner).train(frame, sample_of(codes), ["0", "1"])


def test_a_fitted_learner_gives_each_group_a_column_of_probabilities():
    class Flat(Reader):
        def predict_proba(self, X):
            return X["p"].to_numpy()

    frame, codes = stated(100, 0, honesty=1)
    message = r"the learner Flat returned probabilities of shape \(100,\) for 100 rows"
    with pytest.raises(InputError, match=message):
        Recipe(Flat().fit(frame, codes)).train(frame, sample_of(codes), ["0", "1"])


def test_what_a_learner_can_not_do_is_one_sentence_with_its_name():
    frame, codes = people()
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    message = "the learner LogisticRegression can't be fitted .*: ValueError: could not convert"
    with pytest.raises(InputError, match=message) as raised:
        Recipe(learner).train(frame.assign(x="care"), sample_of(codes), ["a", "b"])
    assert "\n" not in str(raised.value)


WEIGHTS = {"man": 5, "woman": 1}


@pytest.mark.parametrize("groups", [["man", "woman"], ["woman", "man"]])
@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(class_weight=WEIGHTS),
        make_pipeline(FunctionTransformer(), LogisticRegression(class_weight=WEIGHTS)),
        GridSearchCV(LogisticRegression(), {"class_weight": [WEIGHTS]}),
    ],
)
def test_class_weights_are_given_by_group(learner, groups):
    frame, codes = people()
    features, names = frame[["x", "z"]], np.array(groups)[codes]
    expected = LogisticRegression(class_weight=WEIGHTS).fit(features, names)
    order = [list(expected.classes_).index(g) for g in groups]
    trained = Recipe(learner, "all", calibrate=False).train(features, sample_of(codes), groups)
    assert trained.scorer(features) == pytest.approx(expected.predict_proba(features)[:, order])


def test_class_weights_of_numbered_groups_are_given_by_number():
    frame, codes = people()
    numbered = LogisticRegression(class_weight={1.0: 5, 0.0: 1})
    trained = Recipe(numbered, "all").train(frame[["x"]], sample_of(codes), ["1", "0"])
    assert trained.scorer.models[0].class_weight == {0: 5, 1: 1}


def test_a_search_is_known_by_its_scores_as_its_times_are_never_the_same():
    def searched():
        steps = make_pipeline(SimpleImputer(), LogisticRegression())
        return GridSearchCV(steps, {"simpleimputer__strategy": ["mean", "median"]}, cv=3)

    assert fingerprint(searched()) == fingerprint(searched())
    assert fingerprint(searched()) != fingerprint(searched(), seed=1)


def test_a_learner_that_scores_nobody_is_refused():
    frame, codes = people()
    with pytest.raises(InputError, match="Unscored has neither predict_proba nor decision"):
        Recipe(Unscored()).train(frame, sample_of(codes), ["0", "1"])


def weights_of(rows):
    return np.random.default_rng(9).integers(1, 4, rows).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "learner", [LinearSVC(), make_pipeline(FunctionTransformer(), LinearSVC())]
)
def test_margins_become_probabilities_by_platt_scaling(learner, weighted):
    frame, codes = people()
    features = frame[["x", "z"]]
    weights = weights_of(len(frame)) if weighted else None
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    platt = CalibratedClassifierCV(LinearSVC(), method="sigmoid", cv=folds)
    expected = platt.fit(features, codes, sample_weight=weights).predict_proba(features)
    recipe = Recipe(learner, "all", calibrate=False, seed=3)
    found = recipe.train(features, sample_of(codes, weights), ["a", "b"]).scorer(features)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("steps", [[], [StandardScaler(with_mean=False, with_std=False)]])
def test_a_weight_of_three_is_three_people(steps):
    frame, codes = people()
    features, weights = frame[["x", "z"]], weights_of(len(frame))
    times = weights.astype(int)
    learner = make_pipeline(*steps, LogisticRegression(tol=1e-10))
    recipe = Recipe(learner, "all")
    weighted = recipe.train(features, sample_of(codes, weights), ["a", "b"])
    repeated = recipe.train(
        features.loc[features.index.repeat(times)], sample_of(codes.repeat(times)), ["a", "b"]
    )
    # As exact as the solver.
    assert weighted.scorer(features) == pytest.approx(repeated.scorer(features), abs=1e-6)


# Identity


def fingerprint(learner=None, *, rows=120, data=0, columns=("x", "z"), **options):
    frame, codes = people(rows, seed=data)
    recipe = Recipe(LogisticRegression() if learner is None else learner, **options)
    return recipe.train(frame[list(columns)], sample_of(codes), ["a", "b"]).scorer.fingerprint


def test_the_same_training_gives_the_same_fingerprint():
    assert fingerprint() == fingerprint()
    assert fingerprint(LinearSVC()) == fingerprint(LinearSVC())


@pytest.mark.parametrize(
    "changed",
    [
        {"seed": 1},
        {"learner": LogisticRegression(C=0.5)},
        {"columns": ("x",)},
        {"data": 1},
        {"training": "all"},
        {"folds": 3},
        {"calibrate": False},
        {"meaning": "approved=no is favourable"},
    ],
)
def test_any_other_training_gives_another_fingerprint(changed):
    assert fingerprint(**changed) != fingerprint()


def test_a_learner_that_can_not_be_pickled_is_known_by_its_scores():
    def squared(power):
        return make_pipeline(FunctionTransformer(lambda x: x**power), LogisticRegression())

    assert fingerprint(squared(2)) == fingerprint(squared(2))
    assert fingerprint(squared(2)) != fingerprint(squared(3))


# Preparation


def table(rows=200, seed=0, **columns):
    rng = np.random.default_rng(seed)
    codes = np.arange(rows) % 2
    decision = (np.arange(rows) // 2) % 2
    label = (np.arange(rows) // 4) % 2
    frame = pd.DataFrame(
        {
            "x": rng.normal(codes * 2.0),
            "hired": decision,
            "stayed": label,
            "sex": np.array(["man", "woman"])[codes],
        }
    )
    return frame.assign(**columns)


def audit(**options) -> Audit:
    given = {"decision": "hired", "group": "sex", "features": ["x"], "replicates": 0}
    return Audit(**{**given, "learner": LogisticRegression()} | options)


def gaps(**columns):
    """Applicants with text, dates and gaps."""
    frame = table(**columns)
    opened = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(frame)), unit="D")
    return frame.assign(x=frame["x"].where(frame.index % 5 > 0), town="Rome", opened=opened)


ALL = ["x", "town", "opened"]


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(),
        RandomForestClassifier(5),
        GaussianNB(),
        LinearSVC(),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
        VotingClassifier([("one", LogisticRegression()), ("other", GaussianNB())], voting="soft"),
    ],
)
def test_a_classifier_alone_gets_the_default_encoder_in_front(learner):
    scorer = audit(learner=learner, features=ALL).fit(gaps()).cells[DECISIONS[0]].trained.scorer
    assert np.isfinite(scorer(gaps()[ALL])).all()


def test_a_classifier_alone_is_trained_as_the_default_one():
    alone = audit(learner=LogisticRegression(max_iter=1000), features=ALL).fit(gaps())
    default = audit(learner="logistic", features=ALL).fit(gaps())
    scores, expected = (f.cells[DECISIONS[0]].trained.scorer(gaps()[ALL]) for f in (alone, default))
    # As exact as the solver, which is given dense columns in the one case.
    assert scores == pytest.approx(expected, abs=1e-3)


class Columns(ClassifierMixin, BaseEstimator):
    """Reads columns by name, text too."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.columns_ = list(X.columns)
        return self

    def predict_proba(self, X):
        return np.column_stack([X["town"] != "Rome", X["town"] == "Rome"])


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(Columns()),
        VotingClassifier([("one", make_pipeline(Columns()))], voting="soft"),
        GridSearchCV(make_pipeline(Columns()), {"memory": [None]}),
        CalibratedClassifierCV(FrozenEstimator(Columns().fit(gaps()[ALL], [0, 1]))),
    ],
)
def test_what_holds_a_pipeline_or_is_fitted_gets_the_columns_as_they_are(learner):
    features = Features({"x": "number", "town": "text", "opened": "date"})
    assert prepared(learner, features) is learner


# Cells


def test_cells_are_those_that_decisions_and_labels_define():
    accepted = table()
    accepted["stayed"] = accepted["stayed"].where(accepted["hired"] == 1)
    assert tuple(audit(decision=None).fit(table()).cells) == (EVERYBODY,)
    assert tuple(audit().fit(table()).cells) == DECISIONS
    assert tuple(audit(label="stayed").fit(table()).cells) == DECISIONS + LABELLED
    assert tuple(audit(label="stayed").fit(accepted).cells) == DECISIONS + ACCEPTED


def test_cells_are_named_as_the_columns_are():
    cells = audit(label="stayed").fit(table(stayed=np.array(["no", "yes"]).repeat(100))).cells
    assert [c.name for c in cells.values()] == [
        "hired=0",
        "hired=1",
        "stayed=no, hired=0",
        "stayed=no, hired=1",
        "stayed=yes, hired=0",
        "stayed=yes, hired=1",
    ]
    assert audit(decision=None).fit(table()).cells[EVERYBODY].name == "any decision"


def test_each_cell_learns_from_its_own_people():
    cells = audit().fit(table()).cells
    assert [c.trained.sample.codes.size for c in cells.values()] == [100, 100]
    assert len({c.trained.scorer.fingerprint for c in cells.values()}) == 2


def test_probabilities_that_are_not_finite_are_named_by_learner_rows_and_cell():
    auxiliary = table().assign(p=np.tile([0.4, 0.6], 100))
    learner = make_pipeline(FunctionTransformer(), Reader())
    spec = audit(learner=learner, features=["p"], calibrate=False)
    told = "the learner Reader gave probabilities that are not finite for 3 of {} rows with hired=1"
    advice = "; look for missing and extreme values in the features, .*, or use learner='logistic'"
    hired = np.flatnonzero(auxiliary["hired"] == 1)[:3]
    wrong = auxiliary.assign(p=np.where(np.isin(np.arange(200), hired), np.nan, 0.5))
    with pytest.raises(InputError, match=told.format("[0-9]+ auxiliary") + advice):
        replace(spec, training="all").fit(wrong)
    with pytest.raises(InputError, match=told.format("100 deployment") + advice):
        spec.fit(auxiliary).measure(wrong.drop(columns="sex"))


def test_one_scoring_function_may_serve_all_cells():
    cells = audit(per_cell=False, label="stayed").fit(table()).cells
    assert [c.rows for c in cells.values()] == [(50, 50), (50, 50), *[(25, 25)] * 4]
    assert {c.trained.sample.codes.size for c in cells.values()} == {200}
    assert len({id(c.trained.scorer) for c in cells.values()}) == 1


def test_people_of_weight_zero_are_not_there():
    woman = np.arange(200) % 2 == 1
    weights = np.where(woman & (np.arange(200) >= 16), 0.0, 2.0)
    cell = audit(weight="w").fit(table(w=weights)).cells[DECISIONS[0]]
    assert cell.rows == (50, 4)
    assert cell.trained is None
    assert cell.problem.code == "group_too_small"
    assert "only 4 of group 'woman' with hired=0" in cell.problem.message


def test_rows_of_one_person_do_not_make_a_group():
    person = np.where(np.arange(200) % 2 == 1, -1 - np.arange(200) // 50, np.arange(200))
    cell = audit(id="person").fit(table(person=person)).cells[DECISIONS[0]]
    assert cell.rows == (50, 50)
    assert cell.people == (50, 4)
    assert cell.problem.code == "group_too_small"


def test_shares_are_those_of_the_weights():
    weights = np.where(np.arange(200) % 2 == 1, 3.0, 1.0)
    cells = audit(weight="w").fit(table(w=weights)).cells
    assert [c.shares.tolist() for c in cells.values()] == [[0.25, 0.75]] * 2


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({}, []),
        ({"learner": LogisticRegression(class_weight="balanced")}, ["class_weight"]),
        ({"training": "all"}, ["in_sample_scores"]),
        ({"learner": "svm", "training": "split"}, []),
    ],
)
def test_what_is_special_about_the_learner_is_said(options, codes):
    assert [c.code for c in audit(**options).fit(table()).cautions] == codes


def test_an_external_learner_is_said_to_need_new_people():
    frame = table()
    learner = LogisticRegression().fit(frame[["x"]], frame["sex"])
    cautions = audit(learner=learner, training="all").fit(frame).cautions
    assert [c.code for c in cautions] == ["external_learner"]


def test_score_columns_were_not_fitted_on_the_auxiliary_people():
    p = np.tile([0.25, 0.75], 100)
    columns = {"p": 1 - p, "q": p}
    scores = {"man": "p", "woman": "q"}
    spec = audit(learner=None, features=None, scores=scores)
    assert spec.fit(table(**columns)).cautions == ()


@pytest.mark.parametrize(
    ("calibrate", "advice"), [(True, "puts the priors right"), (False, "biased unless calibrate")]
)
def test_reweighted_classes_are_harmless_where_scores_are_calibrated(calibrate, advice):
    spec = audit(learner=LogisticRegression(class_weight="balanced"), calibrate=calibrate)
    (caution,) = spec.fit(table()).cautions
    assert advice in caution.message
