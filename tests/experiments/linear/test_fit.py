"""Many linear models at once are those that scikit-learn fits one by one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.simulation import examples

from quantifair.errors import QuantifairError
from quantifair.experiments.linear import LOGISTIC, SQUARED_HINGE, Problem, fit, fit_linear, newton
from quantifair.experiments.linear.narrow import Narrow
from quantifair.experiments.linear.wide import Wide
from quantifair.experiments.parts import parts_of

LOSSES = [LOGISTIC, SQUARED_HINGE]


def drawn(rows, columns, *, seed=0, share=0.3):
    """Standardised features, some of them rare dummies, and targets that they half explain."""
    rng = np.random.default_rng(seed)
    raw = rng.normal(size=(rows, columns))
    raw[:, 1::3] = raw[:, 1::3] > 1.5
    features = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    said = features @ rng.normal(size=columns) / np.sqrt(columns) + rng.logistic(size=rows)
    return features, (said > np.quantile(said, 1 - share)).astype(np.int64)


def by_sklearn(loss, features, targets, weights=None):
    if loss is LOGISTIC:
        model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1_000)
    else:
        model = LinearSVC(dual=False, tol=1e-10, max_iter=100_000)
    model.fit(features, targets, sample_weight=weights)
    found = np.append(model.coef_[0], model.intercept_[0])
    return found if loss is LOGISTIC else polished(found, features, targets, weights)


def polished(coef, features, targets, weights):
    """Go the rest of the way: liblinear's line search gives up at 1e-9 of the objective.

    On CreditCard that is 0.007 of a posterior, of people far from all others.
    """
    extended, sign = np.column_stack([features, np.ones(len(features))]), 2 * targets - 1
    weights = np.ones(len(features)) if weights is None else weights
    for _ in range(5):
        gap = np.maximum(1 - sign * (extended @ coef), 0)
        gradient = coef - 2 * (weights * sign * gap) @ extended
        bent = extended * (2 * weights * (gap > 0))[:, None]
        coef = coef - np.linalg.solve(extended.T @ bent + np.eye(len(coef)), gradient)
    assert np.abs(gradient).max() < 1e-7
    return coef


def objective(loss, coef, features, targets, weights=1.0):
    """|w|^2 / 2 and the losses, as scikit-learn's manual has them, with C = 1."""
    signed = (2 * targets - 1) * (features @ coef[:-1] + coef[-1])
    if loss is LOGISTIC:
        return coef[:-1] @ coef[:-1] / 2 + (weights * np.logaddexp(0, -signed)).sum()
    return coef @ coef / 2 + (weights * np.maximum(1 - signed, 0) ** 2).sum()


def posteriors(coef, features):
    return 1 / (1 + np.exp(-(features @ coef[:-1] + coef[-1])))


def assert_as_sklearn(loss, found, features, targets, problems):
    for coef, problem in zip(found, problems, strict=True):
        x = features[problem.rows]
        y = targets[problem.rows] if problem.targets is None else problem.targets
        weights = np.ones(len(x)) if problem.weights is None else problem.weights
        oracle = by_sklearn(loss, x, y, problem.weights)
        best = objective(loss, oracle, x, y, weights)
        assert objective(loss, coef, x, y, weights) == pytest.approx(best, rel=1e-6)
        apart = posteriors(coef, features) - posteriors(oracle, features)
        assert np.abs(apart).max() < 1e-4


@pytest.fixture
def ways(monkeypatch):
    """The batches that are minimised, as they come."""
    seen = []

    def spied(batch, start):
        seen.append(batch)
        return newton.minimise(batch, start)

    monkeypatch.setattr(fit, "minimise", spied)
    return seen


def kinds(ways):
    return {type(batch) for batch in ways}


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
class TestAsScikitLearn:
    def test_few_of_the_rows_each(self, loss, ways):
        features, targets = drawn(3_000, 7)
        rng = np.random.default_rng(1)
        problems = [Problem(rng.choice(3_000, size, replace=False)) for size in (40, 300, 41, 200)]
        found = fit_linear(features, targets, problems, loss=loss)
        assert kinds(ways) == {Narrow}
        assert_as_sklearn(loss, found, features, targets, problems)

    def test_many_of_the_rows_each(self, loss, ways):
        features, targets = drawn(3_000, 20)
        rng = np.random.default_rng(2)
        problems = [Problem(rng.choice(3_000, size, replace=False)) for size in (1_800, 3_000)]
        found = fit_linear(features, targets, problems, loss=loss)
        assert kinds(ways) == {Wide}
        assert_as_sklearn(loss, found, features, targets, problems)

    @pytest.mark.parametrize("rows", [500, 1_000], ids=["narrow", "wide"])
    def test_rows_that_repeat(self, loss, rows, ways):
        features, targets = drawn(1_000, 15)
        problems = [Problem(np.random.default_rng(s).choice(50, rows)) for s in range(3)]
        features, targets = (features, targets) if rows == 1_000 else drawn(8_000, 3)
        found = fit_linear(features, targets, problems, loss=loss)
        assert kinds(ways) == {Wide if rows == 1_000 else Narrow}
        assert_as_sklearn(loss, found, features, targets, problems)

    @pytest.mark.parametrize("columns", [5, 20], ids=["narrow", "wide"])
    def test_rows_that_weigh_differently(self, loss, columns, ways):
        features, targets = drawn(2_000, columns)
        rng = np.random.default_rng(3)
        rows = rng.choice(2_000, 900 if columns == 20 else 100, replace=False)
        problems = [Problem(rows, weights=rng.exponential(size=len(rows))) for _ in range(2)]
        found = fit_linear(features, targets, problems, loss=loss)
        assert kinds(ways) == {Wide if columns == 20 else Narrow}
        assert_as_sklearn(loss, found, features, targets, problems)

    def test_targets_of_their_own_with_balanced_weights(self, loss, ways):
        features, targets = drawn(600, 8)
        rng = np.random.default_rng(4)
        problems = []
        for _ in range(3):
            rows = rng.choice(600, 500, replace=False)
            own = np.where(rng.random(500) < 0.2, 1 - targets[rows], targets[rows])
            problems.append(Problem(rows, own, (500 / (2 * np.bincount(own)))[own]))
        found = fit_linear(features, targets, problems, loss=loss)
        assert kinds(ways) == {Narrow}
        assert_as_sklearn(loss, found, features, targets, problems)

    @pytest.mark.parametrize("size", [60, 900], ids=["narrow", "wide"])
    def test_classes_that_a_feature_separates(self, loss, size):
        features, _ = drawn(1_000, 12)
        targets = (features[:, 0] > 1.0).astype(np.int64)
        problems = [Problem(np.arange(size)), Problem(np.arange(100 - size // 10, 1_000)[:size])]
        found = fit_linear(features, targets, problems, loss=loss)
        assert_as_sklearn(loss, found, features, targets, problems)

    @pytest.mark.parametrize("size", [60, 900], ids=["narrow", "wide"])
    def test_features_that_say_the_same_or_nothing(self, loss, size):
        features, targets = drawn(1_000, 12)
        features[:, 3] = features[:, 0] + 1e-7 * features[:, 1]
        features[:, 5] = 0.0
        problems = [Problem(np.arange(size)), Problem(np.arange(1_000 - size, 1_000))]
        found = fit_linear(features, targets, problems, loss=loss)
        assert_as_sklearn(loss, found, features, targets, problems)

    @pytest.mark.parametrize("size", [80, 900], ids=["narrow", "wide"])
    def test_a_class_of_three(self, loss, size):
        features, _ = drawn(1_000, 12)
        targets = np.zeros(1_000, dtype=np.int64)
        targets[[3, 40, 59]] = 1
        problems = [Problem(np.arange(size))]
        found = fit_linear(features, targets, problems, loss=loss)
        assert_as_sklearn(loss, found, features, targets, problems)

    @pytest.mark.parametrize("name", ["compas", "creditcard"])
    def test_the_papers_data(self, loss, name, paper_data):
        part = parts_of(paper_data[name], 0, "ABC").auxiliary
        rng = np.random.default_rng(5)
        accepted = np.flatnonzero(part.label == 1)
        problems = [Problem(accepted), Problem(rng.choice(len(part), 500, replace=False))]
        found = fit_linear(part.features, part.group, problems, loss=loss)
        assert_as_sklearn(loss, found, part.features, part.group, problems)

    def test_wherever_it_starts(self, loss):
        features, targets = drawn(1_000, 12)
        far = np.random.default_rng(6).normal(scale=3, size=(2, 13))
        problems = [Problem(np.arange(70)), Problem(np.arange(900))]
        found = fit_linear(features, targets, problems, loss=loss, start=far)
        assert_as_sklearn(loss, found, features, targets, problems)

    def test_a_model_is_the_same_in_any_company(self, loss):
        """More wide models than one batch takes, and narrow ones of unlike sizes between them."""
        features, targets = drawn(300, 10)
        rng = np.random.default_rng(7)
        sizes = [290, 20, 250, 25, 280] * 60
        problems = [Problem(rng.choice(300, size, replace=False)) for size in sizes]
        together = fit_linear(features, targets, problems, loss=loss)
        some = [0, 1, 2, 3, 150, 151, 298, 299]
        alone = [fit_linear(features, targets, [problems[i]], loss=loss)[0] for i in some]
        np.testing.assert_allclose(together[some], alone, atol=1e-4)


def test_small_problems_are_minimised_in_batches_of_like_size(ways):
    features, targets = drawn(90_000, 4)
    rng = np.random.default_rng(8)
    sizes = rng.integers(1_000, 3_000, 200)
    problems = [Problem(rng.choice(90_000, size, replace=False)) for size in sizes]
    fit_linear(features, targets, problems, loss=LOGISTIC)
    assert len(ways) > 1
    reach = [batch.weights.sum(axis=1) for batch in ways]
    assert sorted(np.concatenate(reach)) == sorted(sizes)
    for one, next_ in pairwise(reach):
        assert one.max() <= next_.min()


def test_models_that_do_not_arrive_are_no_result(monkeypatch):
    monkeypatch.setattr(newton, "_STEPS", 1)
    features, targets = drawn(100, 4)
    with pytest.raises(QuantifairError, match="1 linear models did not converge in 1 Newton steps"):
        fit_linear(features, targets, [Problem(np.arange(100))], loss=LOGISTIC)


# Laws

seeds = st.integers(0, 2**32 - 1)
one_loss = st.sampled_from(LOSSES)
sizes = st.sampled_from([30, 380])  # narrow and wide among 400 rows


@examples(20)
@given(one_loss, seeds, sizes)
def test_a_weight_of_two_is_the_row_twice(loss, seed, size):
    features, targets = drawn(400, 10, seed=seed % 100)
    rng = np.random.default_rng(seed)
    rows, counts = rng.choice(400, size, replace=False), rng.integers(1, 4, size)
    weighted, repeated = Problem(rows, weights=counts * 1.0), Problem(np.repeat(rows, counts))
    one, other = (fit_linear(features, targets, [p], loss=loss) for p in (weighted, repeated))
    np.testing.assert_allclose(one, other, atol=1e-4)


@examples(20)
@given(one_loss, seeds, sizes)
def test_swapped_classes_give_swapped_signs(loss, seed, size):
    features, targets = drawn(400, 10, seed=seed % 100)
    problems = [Problem(np.random.default_rng(seed).permutation(400)[:size])]
    one = fit_linear(features, targets, problems, loss=loss)
    other = fit_linear(features, 1 - targets, problems, loss=loss)
    np.testing.assert_allclose(one, -other, atol=1e-4)


@pytest.mark.parametrize("loss", [LOGISTIC, SQUARED_HINGE], ids=lambda loss: loss.name)
def test_steps_of_ill_conditioned_models_are_solved_exactly(loss, monkeypatch):
    """Heavy tails and near copies, as in CreditCard's bills: single precision loses the ridge."""
    rng = np.random.default_rng(0)
    base = rng.standard_t(2, size=(4_000, 3))
    features = np.column_stack([base, base[:, :2] * 1.0001 + 1e-4 * rng.normal(size=(4_000, 2))])
    features *= np.array([1.0, 1.0, 1.0, 30.0, 30.0])
    targets = (features[:, 0] + rng.normal(size=4_000) > 0).astype(int)
    problems = [Problem(np.sort(rng.choice(4_000, 3_500, replace=False))) for _ in range(3)]
    found = fit_linear(features, targets, problems, loss=loss)
    monkeypatch.setattr(newton, "_ROUGH_STEPS", 0)
    exact = fit_linear(features, targets, problems, loss=loss)
    for i, problem in enumerate(problems):
        here, there = (
            objective(loss, coef[i], features[problem.rows], targets[problem.rows])
            for coef in (found, exact)
        )
        assert here == pytest.approx(there, rel=1e-6)
        assert there <= here * (1 + 1e-9)
