"""Laws that hold for whatever scores come."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from sklearn.base import clone
from tests.simulation import (
    QUANTIFIERS,
    FloatArray,
    draw_scores,
    examples,
    labelled,
    name,
    score_vectors,
)

from quantifair.errors import NotIdentifiedError
from quantifair.quantifiers import MLPE, Labelled, Quantifier
from quantifair.sketch import Points, Sketch

each = pytest.mark.parametrize("quantifier", QUANTIFIERS, ids=name)
two_and_four = pytest.mark.parametrize("groups", [2, 4])
quickly = examples(25)
PERFECT = {
    "KDEy()": 1e-8,  # densities below 1e-9 of the highest count as none
    # Variances below 1e-14 count as 1e-14, and chains of many groups see that much.
    "PosteriorMedian(likelihood='moments')": 2e-4,
}
seeds = st.integers(0, 2**32 - 1)


def draw(
    seed: int, groups: int, *, people: int = 60, separation: float = 1.0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw an auxiliary sample in which every group occurs, and a shifted deployment."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(groups, 5.0))
    scores, codes = draw_scores(rng, prior, people, auxiliary=prior, separation=separation)
    codes[:groups] = np.arange(groups)
    prevalence = rng.dirichlet(np.full(groups, 2.0))
    deployment, _ = draw_scores(rng, prevalence, people, auxiliary=prior, separation=separation)
    return scores, codes, deployment


@st.composite
def anything(draw_: st.DrawFn) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Scores with zeros, ones and ties, of 2 to 4 groups that all occur."""
    groups = draw_(st.integers(2, 4))
    auxiliary = draw_(score_vectors(groups, min_size=groups))
    rest = len(auxiliary) - groups
    more = draw_(st.lists(st.integers(0, groups - 1), min_size=rest, max_size=rest))
    deployment = draw_(score_vectors(groups, min_size=1))
    return auxiliary, np.r_[np.arange(groups), np.array(more, dtype=int)], deployment


@each
@quickly
@given(anything())
@pytest.mark.filterwarnings("ignore:SLD changed by more than")
def test_an_answer_lies_on_the_simplex(
    quantifier: Quantifier, tables: tuple[FloatArray, FloatArray, FloatArray]
) -> None:
    scores, codes, deployment = tables
    try:
        found = clone(quantifier).fit(scores, codes).predict(deployment)
    except NotIdentifiedError:
        reject()
    assert found.shape == (scores.shape[1],)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)


@each
@quickly
@given(seeds)
def test_exchanging_two_groups_exchanges_their_prevalences(
    quantifier: Quantifier, seed: int
) -> None:
    scores, codes, deployment = draw(seed, 2)
    there = clone(quantifier).fit(scores, codes).predict(deployment)
    back = clone(quantifier).fit(scores[:, ::-1], 1 - codes).predict(deployment[:, ::-1])
    # Newton starts at the other end.
    assert back == pytest.approx(there[::-1], abs=1e-9)


@each
@quickly
@given(seeds, st.permutations(range(4)))
def test_renumbering_groups_renumbers_their_prevalences(
    quantifier: Quantifier, seed: int, order: list[int]
) -> None:
    scores, codes, deployment = draw(seed, 4)
    try:
        found = clone(quantifier).fit(scores, codes).predict(deployment)
    except NotIdentifiedError:
        reject()
    renamed = np.argsort(order)[codes]
    again = clone(quantifier).fit(scores[:, order], renamed).predict(deployment[:, order])
    # The heavy row of ACC's and PACC's least squares, and SLD's steps, end at 1e-12 of each other.
    assert again == pytest.approx(found[order], abs=1e-8)


@each
@two_and_four
@quickly
@given(seed=seeds)
def test_the_order_of_rows_is_immaterial(quantifier: Quantifier, groups: int, seed: int) -> None:
    scores, codes, deployment = draw(seed, groups)
    try:
        found = clone(quantifier).fit(scores, codes).predict(deployment)
    except NotIdentifiedError:
        reject()
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(scores)), rng.permutation(len(deployment))
    again = clone(quantifier).fit(scores[rows], codes[rows]).predict(deployment[columns])
    assert again == pytest.approx(found, abs=1e-10)


@pytest.mark.parametrize(
    "quantifier", [q for q in QUANTIFIERS if not isinstance(q, MLPE)], ids=name
)
@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("source", [np.asarray, Sketch.from_scores], ids=["rows", "sketch"])
def test_a_perfect_group_classifier_gives_the_truth(
    quantifier: Quantifier, groups: int, source: type
) -> None:
    codes = np.arange(60) % groups
    # Multiples of 1/100, HDy's grid.
    truth = np.rint(np.random.default_rng(groups).dirichlet(np.ones(groups)) * 100)
    truth[0] += 100 - truth.sum()
    deployment = np.repeat(np.eye(groups), truth.astype(int), axis=0)
    found = clone(quantifier).fit(np.eye(groups)[codes], codes).predict(source(deployment))
    assert found == pytest.approx(truth / 100, abs=PERFECT.get(name(quantifier), 1e-12))


@pytest.mark.parametrize("axes", [(5,), (2, 3)], ids=["one axis", "two axes"])
@each
@two_and_four
def test_a_batch_of_replicates_is_a_loop_over_them(
    quantifier: Quantifier, groups: int, axes: tuple[int, ...]
) -> None:
    scores, codes, deployment = draw(0, groups, people=300, separation=1.5)
    points, counts = labelled(scores, codes)
    rng = np.random.default_rng(1)
    times = rng.poisson(1.0, size=(*axes, 1, 300))
    weights = rng.poisson(1.0, size=(*axes, 300)).astype(float)
    fitted = clone(quantifier).fit_labelled(Labelled(points, counts * times))
    batch = fitted.project(fitted.solve(Points(deployment, weights)))
    assert batch.shape == (*axes, groups)
    for at in np.ndindex(axes):
        alone = clone(quantifier).fit_labelled(Labelled(points, counts * times[at]))
        found = alone.project(alone.solve(Points(deployment, weights[at])))
        assert batch[at] == pytest.approx(found, abs=1e-12)


@each
@two_and_four
def test_one_fit_serves_many_deployments_and_many_fits_one(
    quantifier: Quantifier, groups: int
) -> None:
    scores, codes, deployment = draw(0, groups, people=300, separation=1.5)
    points, counts = labelled(scores, codes)
    rng = np.random.default_rng(1)
    times = rng.poisson(1.0, size=(4, 1, 300))
    weights = rng.poisson(1.0, size=(4, 300)).astype(float)
    one = clone(quantifier).fit_labelled(Labelled(points, counts))
    found = one.project(one.solve(Points(deployment, weights)))
    alone = [one.project(one.solve(Points(deployment, w))) for w in weights]
    assert np.broadcast_to(found, (4, groups)) == pytest.approx(np.array(alone), abs=1e-12)

    many = clone(quantifier).fit_labelled(Labelled(points, counts * times))
    found = many.project(many.solve(Points(deployment, weights[0])))
    alone = []
    for t in times:
        one = clone(quantifier).fit_labelled(Labelled(points, counts * t))
        alone.append(one.project(one.solve(Points(deployment, weights[0]))))
    assert np.broadcast_to(found, (4, groups)) == pytest.approx(np.array(alone), abs=1e-12)


@each
def test_the_truth_is_found_where_only_the_prevalence_shifts(quantifier: Quantifier) -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, [0.5, 0.5], 40_000, separation=1.5)
    deployment, unknown = draw_scores(rng, [0.2, 0.8], 40_000, separation=1.5)
    error = abs(clone(quantifier).fit(scores, codes).predict(deployment)[1] - unknown.mean())
    # Standard errors are below 0.004; HDy searches in steps of 0.01; who does not adjust is off.
    assert error < 0.015 if quantifier.adjusts else error > 0.03
