"""The moment equation of a cell, by hand and by simulation."""

import numpy as np
import pytest
from tests.simulation import draw_scores

from quantifair.intervals import Moments, Sample
from quantifair.sketch import Points, Sketch


def drawn(
    groups: int = 3, *, people: int = 300, weights: bool = False, seed: int = 0
) -> tuple[Sample, Points]:
    rng = np.random.default_rng(seed)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), people)
    later, _ = draw_scores(rng, np.arange(1, groups + 1) / np.arange(1, groups + 1).sum(), 900)
    given = rng.uniform(0.5, 2, people) if weights else np.ones(people)
    return Sample(scores, codes, given), Sketch.from_scores(later).points


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_moments_are_means_and_covariances(groups: int) -> None:
    sample, points = drawn(groups)
    found = Moments.of(sample, points, 900)
    for g in range(groups):
        own = sample.scores[sample.codes == g, 1:]
        assert found.means[g] == pytest.approx(own.mean(axis=0))
        covariance = np.atleast_2d(np.cov(own, rowvar=False))
        assert found.within[g] == pytest.approx(covariance)
        assert found.sampling[g] == pytest.approx(covariance / len(own))
    assert found.mean == pytest.approx(points.weights @ points.scores[:, 1:] / 900)


def test_weights_and_repeated_people_count() -> None:
    sample, points = drawn(2, people=200)
    twice = Sample(
        np.repeat(sample.scores, 2, axis=0),
        sample.codes.repeat(2),
        np.full(400, 0.5),
        np.arange(200).repeat(2),
    )
    once, again = (Moments.of(s, points, 900) for s in (sample, twice))
    for name in ("means", "within", "sampling"):
        assert getattr(again, name) == pytest.approx(getattr(once, name)), name


def test_unequal_weights_widen_the_means() -> None:
    """By Kish's factor, but for what weights and scores have to do with each other by chance."""
    sample, points = drawn(2, people=4_000, weights=True)
    found = Moments.of(sample, points, 900)
    for g in range(2):
        own = sample.weights[sample.codes == g]
        factor = (own**2).sum() / own.sum() ** 2
        assert factor > 1.1 / len(own)
        assert found.sampling[g] == pytest.approx(found.within[g] * factor, rel=0.05)


@pytest.mark.parametrize("groups", [2, 4])
def test_the_deviance_is_the_squared_excess_over_its_covariance(groups: int) -> None:
    found = Moments.of(*drawn(groups), 900)
    q = np.random.default_rng(0).dirichlet(np.ones(groups))
    excess = found.mean - q @ found.means
    covariance = sum(
        share * found.within[g] / 900 + share**2 * found.sampling[g] for g, share in enumerate(q)
    )
    assert found.deviance(q) == pytest.approx(excess @ np.linalg.inv(covariance) @ excess)
    assert found.deviance(np.stack([q, q[::-1]]))[0] == pytest.approx(found.deviance(q))


@pytest.mark.parametrize("groups", [2, 3])
def test_at_the_truth_the_deviance_is_chi_square(groups: int) -> None:
    """Its mean is its degrees of freedom; the tolerance is three Monte-Carlo standard errors."""
    rng, truth, repeats = np.random.default_rng(1), np.arange(1, groups + 1), 400
    counts = 100 * truth
    values = []
    for _ in range(repeats):
        scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 400)
        later = np.concatenate(
            [draw_scores(rng, np.eye(groups)[g], n)[0] for g, n in enumerate(counts.tolist())]
        )
        sample = Sample(scores, codes, np.ones(400))
        moments = Moments.of(sample, Sketch.from_scores(later).points, len(later))
        values.append(moments.deviance(truth / truth.sum()))
    degrees = groups - 1
    assert np.mean(values) == pytest.approx(degrees, abs=3 * np.sqrt(2 * degrees / repeats))


def test_a_population_varies_in_its_composition_too() -> None:
    rows, people = (Moments.of(*drawn(2), 900, population=p) for p in (False, True))
    q = np.array([0.4, 0.6])
    assert (people.covariance(q) > rows.covariance(q)).all()
    points = drawn(2)[1]
    total = np.average((points.scores[:, 1] - rows.mean) ** 2, weights=points.weights)
    assert people.within[:, 0, 0] == pytest.approx(total)


def test_a_perfect_classifier_leaves_no_prevalence_but_the_true_one() -> None:
    codes = np.arange(100) % 2
    scores = np.eye(2)[codes]
    found = Moments.of(
        Sample(scores, codes, np.ones(100)), Sketch.from_scores(scores[:50]).points, 50
    )
    assert found.deviance(np.array([0.5, 0.5])) == pytest.approx(0)
    assert found.deviance(np.array([0.51, 0.49])) > 1e6
