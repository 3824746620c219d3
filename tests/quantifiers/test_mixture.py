"""HDy: the nearest of 101 mixtures for eleven histograms, and their median."""

import numpy as np
import pytest
from tests.simulation import FloatArray, draw_scores, on_rows

from quantifair.quantifiers import HDy


def papers_hdy(inside: FloatArray, outside: FloatArray, observed: FloatArray) -> float:
    """Appendix B of the paper in plain loops."""
    nearest = []
    for bins in range(10, 111, 10):
        v1, v0, u = (
            np.histogram(scores, bins=bins, range=(0, 1))[0] / len(scores)
            for scores in (inside, outside, observed)
        )
        distances = []
        for step in range(101):
            alpha = step / 100
            mixture = (1 - alpha) * v0 + alpha * v1
            distances.append(np.sqrt(((np.sqrt(mixture) - np.sqrt(u)) ** 2).sum()))
        nearest.append(int(np.argmin(distances)) / 100)
    return float(np.median(nearest))


@pytest.mark.parametrize("truth", [0.0, 0.03, 0.37, 0.8, 1.0])
@pytest.mark.parametrize("separation", [0.3, 1.0, 2.5])
def test_two_groups_are_matched_as_the_paper_says(truth: float, separation: float) -> None:
    rng = np.random.default_rng(round(100 * truth))
    scores, codes = draw_scores(rng, [0.6, 0.4], 300, separation=separation)
    deployment, _ = draw_scores(rng, [1 - truth, truth], 250, separation=separation)
    second = scores[:, 1]
    expected = papers_hdy(second[codes == 1], second[codes == 0], deployment[:, 1])
    # The same multiple of 1/100 (or of 1/200: a median), in floating point.
    assert HDy().fit(scores, codes).predict(deployment)[1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("people", [19_999, 20_001, 100_000])
def test_many_people_are_counted_as_few_are(people: int) -> None:
    rng = np.random.default_rng(1)
    scores, codes = draw_scores(rng, [0.5, 0.5], 500)
    deployment, _ = draw_scores(rng, [0.7, 0.3], people)
    expected = papers_hdy(scores[codes == 1, 1], scores[codes == 0, 1], deployment[:, 1])
    assert HDy().fit(scores, codes).predict(deployment)[1] == pytest.approx(expected, abs=1e-12)


def test_more_groups_are_matched_one_against_the_rest_and_normalised() -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, [0.2, 0.3, 0.5], 400)
    deployment, _ = draw_scores(rng, [0.5, 0.3, 0.2], 400)
    alone = np.array(
        [
            papers_hdy(scores[codes == k, k], scores[codes != k, k], deployment[:, k])
            for k in range(3)
        ]
    )
    found = HDy().fit(scores, codes).predict(deployment)
    assert found == pytest.approx(alone / alone.sum(), abs=1e-12)


def test_a_score_on_the_edge_of_a_bin_belongs_to_the_bin_below() -> None:
    # 0.5 is an edge in all eleven histograms.
    fitted = HDy().fit([0.5 + 2.0**-30, 0.5 - 2.0**-30], ["a", "b"])
    assert fitted.predict([0.5] * 3).tolist() == [0, 1]


def test_scores_of_zero_and_one_belong_to_the_outermost_bins() -> None:
    fitted = HDy().fit([0.001, 0.999], ["a", "b"])
    assert fitted.predict([0.0, 0.0, 0.0, 1.0]).tolist() == [0.75, 0.25]


@pytest.mark.parametrize("groups", [2, 3])
def test_weights_are_numbers_of_people(groups: int) -> None:
    rng = np.random.default_rng(6)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 200)
    times = rng.integers(0, 4, size=200)
    fitted = HDy().fit(scores, codes)
    repeated = fitted.predict(np.repeat(scores, times, axis=0))
    assert on_rows(fitted, scores, times / 3) == pytest.approx(repeated, abs=1e-12)
