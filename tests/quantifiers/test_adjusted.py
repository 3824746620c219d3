"""ACC and PACC invert the classifier's rates, and stay on the simplex."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.simulation import FloatArray, draw_scores, labelled, name, on_rows

from quantifair.quantifiers import ACC, PACC, Quantifier

both = pytest.mark.parametrize("quantifier", [ACC(), PACC()], ids=name)


def test_acc_by_hand() -> None:
    # Of four people in group m three are called m (tpr 3/4), of five in group f one (fpr 1/5).
    scores = [0.9, 0.8, 0.6, 0.5, 0.7, 0.5, 0.4, 0.2, 0.1]
    fitted = ACC().fit(scores, ["m"] * 4 + ["f"] * 5)
    deployment = [0.9] * 4 + [0.2] * 6  # 4/10 are called m
    assert fitted.predict(deployment)[1] == pytest.approx((0.4 - 0.2) / (0.75 - 0.2), abs=1e-15)


def test_pacc_by_hand() -> None:
    fitted = PACC().fit([0.9, 0.5, 0.1, 0.3, 0.2], ["m", "m", "f", "f", "f"])
    tpr, fpr = 0.7, 0.2
    observed = (0.4 + 0.8 + 0.3) / 3
    expected = (observed - fpr) / (tpr - fpr)
    assert fitted.predict([0.4, 0.8, 0.3])[1] == pytest.approx(expected, abs=1e-14)


def test_a_classifier_that_is_wrong_on_purpose_is_inverted_too() -> None:
    scores = np.array([0.1, 0.1, 0.9, 0.9])
    fitted = PACC().fit(scores, ["m", "m", "f", "f"])
    assert fitted.predict([0.1, 0.1, 0.1, 0.9]) == pytest.approx([0.25, 0.75])


@both
@pytest.mark.parametrize(("score", "second"), [(0.01, 0.0), (0.99, 1.0)])
def test_two_groups_are_clipped_and_the_raw_estimate_is_kept(
    quantifier: Quantifier, score: float, second: float
) -> None:
    quantifier.fit([0.2, 0.3, 0.6, 0.4, 0.8, 0.9], list("fffmmm"))
    estimate = quantifier.estimate([score] * 5)
    assert estimate.prevalence.tolist() == [1 - second, second]
    assert estimate.clipped
    assert abs(estimate.raw[1] - second) > 0.4
    assert estimate.raw.sum() == pytest.approx(1, abs=1e-15)


@both
def test_an_estimate_within_the_simplex_is_not_clipped(quantifier: Quantifier) -> None:
    quantifier.fit([0.2, 0.3, 0.6, 0.4, 0.8, 0.9], list("fffmmm"))
    estimate = quantifier.estimate([0.1, 0.3, 0.6, 0.9])
    assert not estimate.clipped
    assert (estimate.raw == estimate.prevalence).all()


def rates_and_observed(
    quantifier: Quantifier, scores: FloatArray, codes: FloatArray, deployment: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P(j said | k true) as columns, and the share of j said in the deployment; plain loops."""
    groups = scores.shape[1]

    def said(row: FloatArray) -> FloatArray:
        return row if isinstance(quantifier, PACC) else np.eye(groups)[int(np.argmax(row))]

    columns = [
        np.mean([said(row) for row, code in zip(scores, codes, strict=True) if code == k], axis=0)
        for k in range(groups)
    ]
    return np.array(columns).T, np.mean([said(row) for row in deployment], axis=0)


@both
@pytest.mark.parametrize("groups", [3, 4, 5])
def test_many_groups_inside_the_simplex_solve_the_confusion_matrix(
    quantifier: Quantifier, groups: int
) -> None:
    rng = np.random.default_rng(groups)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 600, separation=2)
    deployment, _ = draw_scores(rng, np.arange(1, groups + 1) / sum(range(groups + 1)), 600)
    rates, observed = rates_and_observed(quantifier, scores, codes, deployment)
    estimate = quantifier.fit(scores, codes).estimate(deployment)
    assert not estimate.clipped
    assert rates @ estimate.prevalence == pytest.approx(observed, abs=1e-12)


@both
@pytest.mark.parametrize("groups", [3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_many_groups_outside_the_simplex_explain_the_rates_as_well_as_possible(
    quantifier: Quantifier, groups: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 400)
    prevalence = np.r_[0.9, 0.1, np.zeros(groups - 2)]
    deployment, _ = draw_scores(rng, prevalence, 100, separation=1.3)
    rates, observed = rates_and_observed(quantifier, scores, codes, deployment)
    estimate = quantifier.fit(scores, codes).estimate(deployment)
    assert estimate.clipped
    assert (estimate.raw < 0).any()
    best = minimize(
        lambda q: ((rates @ q - observed) ** 2).sum(),
        np.full(groups, 1 / groups),
        jac=lambda q: 2 * rates.T @ (rates @ q - observed),
        bounds=[(0, 1)] * groups,
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 500},
    )
    assert best.success
    # SLSQP meets its optimum to about 1e-8; so does the heavy row that enforces the sum.
    assert estimate.prevalence == pytest.approx(best.x, abs=1e-6)


@both
@pytest.mark.parametrize("groups", [2, 3])
def test_weights_count_in_rates_and_in_the_deployment(quantifier: Quantifier, groups: int) -> None:
    rng = np.random.default_rng(5)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 300, separation=1.5)
    times = rng.integers(1, 4, size=300)
    fitted = quantifier.fit_labelled(labelled(scores, codes, times.astype(float)))
    repeated = type(quantifier)().fit(np.repeat(scores, times, axis=0), np.repeat(codes, times))
    # Sums in another order.
    assert on_rows(fitted, scores[:99], times[:99] / 7) == pytest.approx(
        repeated.predict(np.repeat(scores[:99], times[:99], axis=0)), abs=1e-12
    )
