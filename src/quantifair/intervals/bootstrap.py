"""Uncertainty: replicates of the prevalences, by resampling both tables' scores.

Each replicate draws the auxiliary people again, and the deployment's scores group by group: its
composition is what is sought, so it stays as it is estimated, and the interval is about these rows,
not about a population behind them. It calibrates again where the quantifier reads posteriors, and
quantifies. Scores are first coarsened, so that the cost depends on neither table's size: for two
groups to the common refinement of HDy's histograms (bins at most 1/110 wide, so that a score's
variance within a bin is below 2.1e-5), for more to at most ``MOST_POINTS`` cells of a grid. What
coarsening shifts is put back.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix
from sklearn.base import clone

from quantifair.calibration import fit_calibration
from quantifair.quantifiers.base import Labelled
from quantifair.quantifiers.mixture import EDGES
from quantifair.sketch import Points, joint_resolution, nested_bins, unpack_cells

if TYPE_CHECKING:
    from quantifair.intervals.sample import Sample
    from quantifair.quantifiers.base import FloatArray, IntArray, Quantifier
    from quantifair.sketch import Sketch

BLOCK = 250
"""Replicates drawn from one random stream; fixed, so that workers don't change the answer."""

MOST_POINTS = 2_000


def replicate_prevalences(
    quantifier: Quantifier,
    sample: Sample,
    deployment: Sketch,
    *,
    replicates: int,
    seed: np.random.SeedSequence,
    people: float | None = None,
    recalibrate: bool = True,
    n_jobs: int = 1,
) -> FloatArray:
    """Draw prevalences of one cell as both tables might have given them.

    Parameters
    ----------
    quantifier
        The estimator; its parameters are used, what it learned is not.
    sample
        The cell's auxiliary people.
    deployment
        The cell's sketch.
    replicates
        How many to draw.
    seed
        Where randomness comes from; the same seed gives the same replicates on any number of
        workers.
    people
        Effective number of independent people in the sketch; by default its effective rows.
    recalibrate
        Whether scores are calibrated on the auxiliary people, and so depend on them.
    n_jobs
        Threads.

    Returns
    -------
    FloatArray
        Shape ``(replicates, groups)``; NaN where a replicate has no answer.
    """
    if not replicates:
        return np.empty((0, deployment.groups))
    coarse = _Coarse.of(sample, deployment)
    exact = clone(quantifier).fit_labelled(sample.labelled).estimate(deployment).prevalence
    effective = max(1.0, deployment.effective_rows if people is None else people)
    members = _members(coarse, exact, effective)
    calibrated = recalibrate and quantifier.uses_posteriors
    blocks = [min(BLOCK, replicates - start) for start in range(0, replicates, BLOCK)]
    # A copy, as spawning changes the seed itself.
    seeds = deepcopy(seed).spawn(len(blocks))
    drawn = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_draw)(quantifier, coarse, members, size, np.random.default_rng(child), calibrated)
        for size, child in zip(blocks, seeds, strict=True)
    )
    centre = _solve(quantifier, coarse, coarse.counts, coarse.deployment.weights, calibrated)
    moved = np.concatenate(drawn) + (exact - centre)
    return np.asarray(_to_simplex(moved))


@dataclass(frozen=True, eq=False)
class _Coarse:
    """Both tables of one cell on few points."""

    auxiliary: Points
    counts: FloatArray
    deployment: Points
    sample: Sample
    place: IntArray

    @classmethod
    def of(cls, sample: Sample, sketch: Sketch) -> _Coarse:
        groups = sample.scores.shape[1]
        if groups == 2:
            place = np.searchsorted(EDGES, nested_bins(sample.scores[:, 1]), side="right")
            keys = np.searchsorted(EDGES, sketch.joint.keys, side="right")
        else:
            place, keys = _shared_grid(sample.scores, sketch)
        points = sketch.points
        auxiliary, place = _grouped(place, sample.labelled.points)
        deployment, _ = _grouped(keys, points)
        labelled = np.zeros((groups, len(auxiliary.weights)))
        np.add.at(labelled, (sample.codes, place), sample.weights)
        return cls(auxiliary, labelled, deployment, sample, place)

    def resampled_auxiliary(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Counts by group and point in ``size`` replicates, (size, groups, points)."""
        sample, shape = self.sample, self.counts.shape
        if sample.clusters is None and (sample.weights == 1).all():
            flat = self.counts.ravel()
            occupied = np.flatnonzero(flat)
            drawn = np.zeros((size, flat.size))
            shares = flat[occupied] / flat.sum()
            drawn[:, occupied] = rng.multinomial(len(sample.codes), shares, size=size)
            return drawn.reshape(size, *shape)
        clusters = np.arange(len(sample.codes))
        if sample.clusters is not None:
            clusters = np.unique(sample.clusters, return_inverse=True)[1]
        number = int(clusters.max()) + 1
        cell = sample.codes * shape[1] + self.place
        spread = csr_matrix((sample.weights, (cell, clusters)), shape=(self.counts.size, number))
        times = rng.multinomial(number, np.full(number, 1 / number), size=size)
        return np.asarray((spread @ times.T).T).reshape(size, *shape)


def _members(coarse: _Coarse, prevalence: FloatArray, people: float) -> FloatArray:
    """Expected people of each group at each deployment point, shape ``(groups, points)``.

    The posteriors at the estimate: scores times the ratio of prevalences, normalised; the scores
    themselves where nobody is possible at the estimate.
    """
    points, shares = coarse.deployment, coarse.counts.sum(axis=1) / coarse.counts.sum()
    tilt = np.divide(prevalence, shares, out=np.ones_like(shares), where=shares > 0)
    posteriors = points.scores * tilt
    possible = posteriors.sum(axis=1, keepdims=True) > 0
    posteriors = np.where(possible, posteriors, points.scores)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    return np.asarray(posteriors.T * points.weights * (people / points.weights.sum()))


def _draw(
    quantifier: Quantifier,
    coarse: _Coarse,
    members: FloatArray,
    size: int,
    rng: np.random.Generator,
    calibrated: bool,  # noqa: FBT001
) -> FloatArray:
    """Draw replicates; the deployment keeps its composition, as these rows are the target."""
    counts = coarse.resampled_auxiliary(size, rng)
    weights = np.zeros((size, members.shape[1]))
    # Whole people by group, rounded so that none is lost.
    numbers = np.diff(np.rint(members.sum(axis=1).cumsum()).astype(np.int64), prepend=0)
    for group, number in zip(members, numbers, strict=True):
        if number:
            weights += rng.multinomial(number, group / group.sum(), size=size)
    # Back from independent people to the unit of the weights.
    weights *= coarse.deployment.weights.sum() / numbers.sum()
    return _solve(quantifier, coarse, counts, weights, calibrated)


def _solve(
    quantifier: Quantifier,
    coarse: _Coarse,
    counts: FloatArray,
    weights: FloatArray,
    calibrated: bool,  # noqa: FBT001
) -> FloatArray:
    deployment = coarse.deployment._replace(weights=weights)
    if calibrated:
        again = fit_calibration(coarse.auxiliary.scores, counts)
        deployment = deployment._replace(scores=again(deployment.scores))
    fitted, auxiliary = clone(quantifier), Labelled(coarse.auxiliary, counts)
    fitted.prevalence_ = auxiliary.shares
    fitted.classes_ = np.arange(counts.shape[-2])
    with np.errstate(all="ignore"):
        fitted.learn(auxiliary)
        return np.asarray(fitted.project(fitted.solve(deployment)))


def _grouped(keys: IntArray, points: Points) -> tuple[Points, IntArray]:
    """Merge points that share a key into one at their mean score."""
    scores, weights = points.scores, points.weights
    _, place = np.unique(keys, return_inverse=True)
    total = np.asarray(np.bincount(place, weights=weights), dtype=np.float64)
    means = np.column_stack([np.bincount(place, weights=weights * s) for s in scores.T])
    return Points(means / total[:, None], total, unit=points.unit), place


def _shared_grid(scores: FloatArray, sketch: Sketch) -> tuple[IntArray, IntArray]:
    """Keys on the finest grid, no finer than the sketch's, with few occupied cells."""
    groups = sketch.groups
    resolution = joint_resolution(groups)
    hard, cells = unpack_cells(sketch.joint.keys, groups)
    mine = np.minimum((scores * resolution).astype(np.int64), resolution - 1)
    own = np.argmax(scores, axis=1)
    factor = 1
    while True:
        place = _key(own, mine // factor, resolution)
        keys = _key(hard, cells // factor, resolution)
        most = max(len(np.unique(place)), len(np.unique(keys)))
        if most <= MOST_POINTS or factor >= resolution:
            return place, keys
        factor *= 2


def _key(hard: IntArray, cells: IntArray, resolution: int) -> IntArray:
    keys = hard.astype(np.int64)
    for k in range(cells.shape[1]):
        keys = keys * resolution + cells[:, k]
    return keys


def _to_simplex(prevalences: FloatArray) -> FloatArray:
    clipped = np.clip(prevalences, 0.0, 1.0)
    return np.asarray(clipped / clipped.sum(axis=-1, keepdims=True))
