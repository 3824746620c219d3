"""Chen et al.'s estimators are CC and PCC under Bayes' theorem: the paper's Proposition 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from tests.simulation import FloatArray, examples, score_vectors

from quantifair.direct import threshold_estimator, weighted_estimator
from quantifair.disparity import group_rates
from quantifair.errors import InputError
from quantifair.quantifiers import CC, PCC, Quantifier

both = pytest.mark.parametrize("estimator", [threshold_estimator, weighted_estimator])


def test_the_threshold_estimator_by_hand() -> None:
    # Called f: rows 1, 2, 5, of which one is accepted; called m: rows 3, 4, both accepted.
    found = threshold_estimator([0.1, 0.3, 0.8, 0.6, 0.5], [1, 0, 1, 1, 0])
    assert found.tolist() == [1 / 3, 1]


def test_the_weighted_estimator_by_hand() -> None:
    found = weighted_estimator([0.1, 0.3, 0.8], [1, 0, 1])
    assert found == pytest.approx([(0.9 + 0.2) / (0.9 + 0.7 + 0.2), (0.1 + 0.8) / 1.2])


def test_more_groups_by_hand() -> None:
    scores = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1], [0.7, 0.2, 0.1]]
    accepted = [True, True, False, False]
    assert threshold_estimator(scores, accepted).tolist() == [0.5, 0, 1]
    assert weighted_estimator(scores, accepted) == pytest.approx([0.7 / 1.5, 0.5 / 1.5, 0.8 / 1.0])


def by_quantification(
    quantifier: Quantifier, scores: FloatArray, accepted: FloatArray
) -> FloatArray:
    """Prevalences among the accepted and the rejected, and Bayes' theorem: no smoothing."""
    groups = np.arange(scores.shape[1])
    fitted = clone(quantifier).fit(np.eye(len(groups)), groups)
    counts = [fitted.predict(scores[accepted == d]) * (accepted == d).sum() for d in (0, 1)]
    return group_rates(np.array(counts))["selection_rate"]


@st.composite
def decided_scores(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    scores = draw(score_vectors(draw(st.integers(2, 5)), min_size=2, max_size=25))
    rest = len(scores) - 2
    more = draw(st.lists(st.integers(0, 1), min_size=rest, max_size=rest))
    return scores, np.array([0, 1, *more])


@pytest.mark.parametrize(
    ("quantifier", "estimator"), [(CC(), threshold_estimator), (PCC(), weighted_estimator)]
)
@examples(100)
@given(decided_scores())
def test_proposition_2(
    quantifier: Quantifier,
    estimator: type[threshold_estimator],
    case: tuple[FloatArray, FloatArray],
) -> None:
    scores, accepted = case
    expected = by_quantification(quantifier, scores, accepted)
    found = estimator(scores, accepted)
    # NaN where nobody counts for a group, on both sides.
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@both
def test_a_group_of_nobody_has_no_rate_and_no_warning(estimator: type) -> None:
    found = estimator([0.0, 0.0], [1, 0])
    assert found[0] == 0.5
    assert np.isnan(found[1])


@both
@pytest.mark.parametrize("decisions", [[1], [1, 2], [0.5, 1], [1, np.nan], [[1, 0]]])
def test_decisions_that_are_no_zeros_and_ones_are_refused(
    estimator: type, decisions: object
) -> None:
    with pytest.raises(InputError, match="decisions must be 2 zeros and ones"):
        estimator([0.2, 0.7], decisions)


@both
def test_scores_that_are_no_probabilities_are_refused(estimator: type) -> None:
    with pytest.raises(InputError, match="1 of 2 score vectors"):
        estimator([0.2, np.nan], [0, 1])
