"""People drawn from a known model, and what several test modules do with them."""

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from quantifair.quantifiers import (
    ACC,
    CC,
    EAC,
    MLPE,
    PACC,
    PCC,
    SLD,
    EDy,
    HDy,
    KDEy,
    Labelled,
    PosteriorMedian,
    Quantifier,
)
from quantifair.sketch import Points, kish

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BY_MOMENTS = PosteriorMedian(likelihood="moments")
QUANTIFIERS = [
    *(CC(), PCC(), ACC(), PACC(), SLD(), SLD(converged=False), HDy(), MLPE()),
    *(EAC(), KDEy(), EDy(), PosteriorMedian(), BY_MOMENTS),
]
COUNTING_PEOPLE = [EAC(), PosteriorMedian(), BY_MOMENTS]
"""They weigh one sample against the other, so that a weight is not just a number of repetitions."""

ADJUSTING = [q for q in QUANTIFIERS if q.adjusts]


def examples(number: int) -> settings:
    """The same examples every time, however slow the machine is."""
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )


def name(quantifier: Quantifier) -> str:
    return repr(quantifier)


def draw_scores(
    rng: np.random.Generator,
    prevalence: ArrayLike,
    people: int,
    *,
    auxiliary: ArrayLike | None = None,
    separation: float = 1.0,
) -> tuple[FloatArray, IntArray]:
    """Draw score vectors and groups under prior shift.

    Each group is normal around its own corner of a simplex with edges ``separation * sqrt(2)``.
    Scores are the true posteriors where groups are as common as ``auxiliary`` says (evenly, if
    nothing is said); for two groups their AUC is Phi(separation).
    """
    p = np.asarray(prevalence, dtype=np.float64)
    prior = np.full(len(p), 1 / len(p)) if auxiliary is None else np.asarray(auxiliary)
    codes = rng.choice(len(p), size=people, p=p)
    features = rng.normal(size=(people, len(p))) + separation * np.eye(len(p))[codes]
    return softmax(separation * features + np.log(prior)), codes


def softmax(logits: FloatArray) -> FloatArray:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def labelled(scores: FloatArray, codes: IntArray, weights: FloatArray | None = None) -> Labelled:
    """Arrange people whose group is known as quantifiers read them."""
    ones = np.ones(len(scores)) if weights is None else weights
    counts = np.where(codes == np.arange(scores.shape[1])[:, None], ones, 0.0)
    return Labelled(Points(scores, ones), counts)


def on_rows(fitted: Quantifier, scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Estimate from weighted rows, without a sketch."""
    return fitted.project(fitted.solve(Points(scores, weights, unit=kish(weights))))


def score_vectors(
    groups: int, *, min_size: int = 0, max_size: int = 30
) -> st.SearchStrategy[FloatArray]:
    """Score vectors with many zeros, ones and ties among them."""
    share = st.one_of(st.integers(0, 4).map(float), st.floats(0.001, 1.0))
    row = st.lists(share, min_size=groups, max_size=groups).filter(any)
    rows = st.lists(row, min_size=min_size, max_size=max_size)
    return rows.map(lambda r: normalised(np.array(r).reshape(-1, groups)))


def normalised(shares: FloatArray) -> FloatArray:
    return shares / shares.sum(axis=1, keepdims=True)
