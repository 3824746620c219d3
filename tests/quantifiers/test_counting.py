"""CC, PCC and MLPE are what the paper writes."""

import numpy as np
import pytest
from tests.simulation import draw_scores, on_rows

from quantifair.quantifiers import CC, MLPE, PCC

AUXILIARY = [0.2, 0.9, 0.7, 0.6], ["f", "m", "m", "m"]


def test_cc_is_the_share_of_hard_decisions() -> None:
    assert CC().fit(*AUXILIARY).predict([0.1, 0.51, 0.49, 0.9, 1.0]).tolist() == [0.4, 0.6]


def test_a_tie_goes_to_the_first_group() -> None:
    assert CC().fit(*AUXILIARY).predict([0.5, 0.5, 0.5, 0.6]).tolist() == [0.75, 0.25]
    three = CC().fit(np.eye(3), ["a", "b", "c"])
    tied = [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.4, 0.2, 0.4], [0.3, 0.3, 0.4]]
    assert three.predict(tied).tolist() == [0.5, 0.25, 0.25]


def test_pcc_is_the_mean_score() -> None:
    assert PCC().fit(*AUXILIARY).predict([0.25, 0.5, 1.0, 0.0]).tolist() == [0.5625, 0.4375]
    three = PCC().fit(np.eye(3), ["a", "b", "c"])
    assert three.predict([[0.5, 0.25, 0.25], [0.0, 0.25, 0.75]]).tolist() == [0.25, 0.25, 0.5]


def test_mlpe_repeats_the_auxiliary_prevalences() -> None:
    fitted = MLPE().fit(*AUXILIARY)
    assert fitted.predict([0.1]).tolist() == [0.25, 0.75]
    assert fitted.predict([0.9, 0.99, 1.0]).tolist() == [0.25, 0.75]


@pytest.mark.parametrize("groups", [2, 3])
def test_people_count_by_their_weight(groups: int) -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 50)
    weights = rng.uniform(0, 3, size=50)
    shares = weights / weights.sum()
    hard = np.eye(groups)[scores.argmax(axis=1)]
    assert on_rows(CC().fit(scores, codes), scores, weights) == pytest.approx(shares @ hard)
    assert on_rows(PCC().fit(scores, codes), scores, weights) == pytest.approx(shares @ scores)


def test_neither_needs_every_group_in_the_auxiliary_sample() -> None:
    for quantifier in (CC(), PCC(), MLPE()):
        quantifier.fit([0.2, 0.9], ["f", "m"], sample_weight=[0.0, 1.0])
        assert quantifier.prevalence_.tolist() == [0.0, 1.0]
    assert MLPE().fit([0.2, 0.9], ["f", "m"], sample_weight=[0, 1]).predict([0.1])[1] == 1
