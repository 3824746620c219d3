"""Replicates of prevalences: reproducible, bounded in cost, and as wide as they should be."""

import numpy as np
import pytest
from sklearn.base import clone
from tests.simulation import COUNTING_PEOPLE, QUANTIFIERS, FloatArray, draw_scores, name

from quantifair.calibration import fit_calibration
from quantifair.disparity import difference, group_rates
from quantifair.errors import NotIdentifiedError
from quantifair.intervals import Sample, replicate_prevalences
from quantifair.intervals.bootstrap import BLOCK, MOST_POINTS, _Coarse, _members
from quantifair.quantifiers import ACC, CC, MLPE, PACC, PCC, SLD, HDy, PosteriorMedian, Quantifier
from quantifair.sketch import Sketch

each = pytest.mark.parametrize("quantifier", QUANTIFIERS, ids=name)
# A posterior of many groups walks for a tenth of a second a replicate.
of_any_size = pytest.mark.parametrize(
    ("quantifier", "groups"),
    [
        pytest.param(q, groups, id=f"{name(q)}-{groups}")
        for q in QUANTIFIERS
        for groups in (2, 4, 6)
        if groups == 2 or not isinstance(q, PosteriorMedian)
    ],
)


def sampled(
    groups: int = 2,
    *,
    people: int = 400,
    separation: float = 1.5,
    seed: int = 0,
) -> tuple[Sample, FloatArray]:
    """Draw an auxiliary sample and a shifted deployment of ten times its size, both calibrated."""
    rng = np.random.default_rng(seed)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), people, separation=separation)
    shifted = np.arange(2, groups + 2) / np.arange(2, groups + 2).sum()
    deployment, _ = draw_scores(rng, shifted, 10 * people, separation=separation)
    raw = Sample(scores, codes, np.ones(people))
    calibration = fit_calibration(scores, raw.labelled.counts)
    return Sample(calibration(scores), codes, np.ones(people)), calibration(deployment)


def replicates(
    quantifier: Quantifier, sample: Sample, deployment: FloatArray | Sketch, **options: object
) -> FloatArray:
    sketch = deployment if isinstance(deployment, Sketch) else Sketch.from_scores(deployment)
    options = {"replicates": 50, "seed": np.random.SeedSequence(0)} | options
    return replicate_prevalences(quantifier, sample, sketch, **options)  # type: ignore[arg-type]


def estimate(quantifier: Quantifier, sample: Sample, deployment: FloatArray) -> FloatArray:
    fitted = clone(quantifier).fit_labelled(sample.labelled)
    return fitted.predict(Sketch.from_scores(deployment))


@each
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_workers(
    quantifier: Quantifier,
) -> None:
    sample, deployment = sampled()
    seed = np.random.SeedSequence(7)
    number = 2 * BLOCK + 10
    once, again, on_two = (
        replicates(quantifier, sample, deployment, replicates=number, seed=seed, n_jobs=jobs)
        for jobs in (1, 1, 2)
    )
    assert once.shape == (number, 2)
    assert once.tobytes() == again.tobytes() == on_two.tobytes()


def test_another_seed_gives_other_replicates() -> None:
    sample, deployment = sampled()
    one, other = (
        replicates(PACC(), sample, deployment, seed=np.random.SeedSequence(s)) for s in (1, 2)
    )
    assert (one != other).all()


def test_blocks_are_independent_and_more_replicates_extend_fewer() -> None:
    sample, deployment = sampled()
    few, many = (replicates(PACC(), sample, deployment, replicates=k * BLOCK) for k in (1, 2))
    assert (many[:BLOCK] == few).all()
    assert (many[BLOCK:] != few).all()


def test_no_replicates_are_none() -> None:
    sample, deployment = sampled(3)
    assert replicates(PACC(), sample, deployment, replicates=0).shape == (0, 3)


@of_any_size
def test_replicates_are_prevalences_without_nan(quantifier: Quantifier, groups: int) -> None:
    sample, deployment = sampled(groups)
    found = replicates(quantifier, sample, deployment)
    assert found.shape == (50, groups)
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (found.std(axis=0) > 1e-4).all()


@of_any_size
def test_replicates_surround_the_estimate_however_coarse_their_grid(
    quantifier: Quantifier, groups: int
) -> None:
    sample, deployment = sampled(groups, people=2000)
    found = replicates(quantifier, sample, deployment, replicates=BLOCK)
    off = (found.mean(axis=0) - estimate(quantifier, sample, deployment)) / found.std(axis=0)
    # Four Monte Carlo errors are 0.25 standard deviations, the rest is curvature. HDy is biased
    # by resampling, which roughens histograms.
    assert np.abs(off).max() < (1.3 if isinstance(quantifier, HDy) else 0.35)


@pytest.mark.parametrize("truth", [0.5, 0.8])
@pytest.mark.parametrize(("people", "rows"), [(300, 30_000), (3000, 500), (800, 2000)])
def test_paccs_spread_is_its_standard_error(truth: float, people: int, rows: int) -> None:
    rng = np.random.default_rng(people)
    scores, codes = draw_scores(rng, [0.5, 0.5], people)
    deployment, unknown = draw_scores(rng, [1 - truth, truth], rows)
    sample = Sample(scores, codes, np.ones(people))
    found = replicates(PACC(), sample, deployment, replicates=2000)[:, 1]

    own, other = scores[codes == 1, 1], scores[codes == 0, 1]
    q = estimate(PACC(), sample, deployment)[1]
    # These rows are the target, so that their scores vary within the groups alone.
    within = q * deployment[unknown == 1, 1].var() + (1 - q) * deployment[unknown == 0, 1].var()
    moment = within / rows + q**2 * own.var() / len(own) + (1 - q) ** 2 * other.var() / len(other)
    expected = np.sqrt(moment) / (own.mean() - other.mean())
    # Three Monte Carlo errors of a standard deviation, 1/sqrt(2 * 2000) each, are 5%; the
    # groups' variances are estimated on either side (3%).
    assert found.std() == pytest.approx(expected, rel=0.08)


@pytest.mark.parametrize("groups", [2, 3])
def test_as_many_people_of_each_group_are_drawn_as_are_estimated(groups: int) -> None:
    sample, deployment = sampled(groups)
    found = estimate(SLD(), sample, deployment)
    coarse = _Coarse.of(sample, Sketch.from_scores(deployment))
    members = _members(coarse, found, 500.0)
    # Where the likelihood is highest, the mean posteriors are the prevalences; coarse scores
    # shift that a little. The mean scores are farther away than that.
    assert members.sum(axis=1) / 500 == pytest.approx(found, abs=2e-3)
    assert np.abs(deployment.mean(axis=0) - found).max() > 0.01
    assert members.sum(axis=0) == pytest.approx(coarse.deployment.weights * 500 / len(deployment))


@pytest.mark.parametrize("factor", [4, 0.25])
def test_the_number_of_people_behind_the_rows_can_be_given(factor: float) -> None:
    sample, _ = sampled(people=20_000)
    deployment, _ = draw_scores(np.random.default_rng(3), [0.4, 0.6], 400, separation=1.5)
    rows = replicates(PACC(), sample, deployment, replicates=2000, people=400)[:, 1].std()
    given = replicates(PACC(), sample, deployment, replicates=2000, people=factor * 400)[:, 1].std()
    # The auxiliary sample adds little; four Monte Carlo errors of a ratio are 9%.
    assert given / rows == pytest.approx(factor**-0.5, rel=0.12)


@pytest.mark.parametrize("quantifier", COUNTING_PEOPLE, ids=name)
def test_replicates_of_a_weighted_table_hold_as_many_independent_people(
    quantifier: Quantifier,
) -> None:
    sample, deployment = sampled()
    rows = deployment[:600]
    # All weights the same: as good as none, in another unit.
    plain, weighted = (Sketch.from_scores(rows, weights=w) for w in (None, np.full(600, 4.0)))
    assert replicates(quantifier, sample, weighted) == pytest.approx(
        replicates(quantifier, sample, plain), abs=1e-6
    )


def test_a_weighted_sketch_counts_as_its_effective_rows() -> None:
    sample, _ = sampled(people=20_000)
    deployment, _ = draw_scores(np.random.default_rng(3), [0.4, 0.6], 600, separation=1.5)
    weights = np.where(np.arange(600) % 2, 5.0, 1.0)
    sketch = Sketch.from_scores(deployment, weights=weights)
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert kish < 450
    found = replicates(PACC(), sample, sketch)
    assert (found == replicates(PACC(), sample, sketch, people=kish)).all()
    assert not (found == replicates(PACC(), sample, sketch, people=600)).all()


def in_clusters(sample: Sample, times: int) -> Sample:
    """Repeat every row ``times`` over, as the same person."""
    rows = np.tile(np.arange(len(sample.codes)), times)
    return Sample(sample.scores[rows], sample.codes[rows], np.ones(len(rows)), rows)


def test_people_who_repeat_are_drawn_whole() -> None:
    sample, deployment = sampled(people=300)
    repeated = in_clusters(sample, 5)
    unaware = Sample(repeated.scores, repeated.codes, repeated.weights)
    alone, whole, naive = (
        replicates(PACC(), s, deployment, replicates=2000, people=1e6)[:, 1].std()
        for s in (sample, repeated, unaware)
    )
    # Four Monte Carlo errors of a ratio of standard deviations are 9%.
    assert whole / alone == pytest.approx(1, rel=0.09)
    assert naive / alone == pytest.approx(5**-0.5, rel=0.09)


def test_numbers_of_clusters_may_have_gaps() -> None:
    sample, deployment = sampled()
    clusters = np.arange(400) // 2
    close, gaps = (
        Sample(sample.scores, sample.codes, sample.weights, ids)
        for ids in (clusters, 1000 * clusters + 17)
    )
    found = replicates(PACC(), close, deployment)
    assert (found == replicates(PACC(), gaps, deployment)).all()


def test_the_scale_of_auxiliary_weights_is_immaterial() -> None:
    sample, deployment = sampled()
    weights = np.random.default_rng(5).uniform(0.5, 2, size=400)
    one, other = (
        replicates(PACC(), Sample(sample.scores, sample.codes, w), deployment)
        for w in (weights, 8 * weights)
    )
    assert one == pytest.approx(other, abs=1e-12)


def test_unequal_auxiliary_weights_widen_the_spread() -> None:
    rng = np.random.default_rng(6)
    scores, codes = draw_scores(rng, [0.5, 0.5], 600)
    weights = np.where(rng.random(600) < 0.2, 8.0, 1.0)
    deployment, _ = draw_scores(rng, [0.3, 0.7], 20_000)
    sample = Sample(scores, codes, weights)
    found = replicates(PACC(), sample, deployment, replicates=2000, people=1e7)[:, 1].std()
    q = estimate(PACC(), sample, deployment)[1]
    mean, error = np.empty(2), np.empty(2)
    for k in (0, 1):
        v, w = scores[codes == k, 1], weights[codes == k]
        mean[k] = w @ v / w.sum()
        error[k] = ((w * (v - mean[k])) ** 2).sum() / w.sum() ** 2
    expected = np.sqrt(q**2 * error[1] + (1 - q) ** 2 * error[0]) / (mean[1] - mean[0])
    # Three Monte Carlo errors are 5%; the linear approximation is good to a few per cent.
    assert found == pytest.approx(expected, rel=0.08)


def test_a_perfect_group_classifier_leaves_nothing_uncertain_about_these_rows() -> None:
    codes = np.arange(100) % 2
    sample = Sample(np.eye(2)[codes], codes, np.ones(100))
    deployment = np.eye(2)[np.repeat([0, 1], [30, 70])]
    for quantifier in (CC(), ACC(), PACC(), SLD(), HDy()):
        found = replicates(quantifier, sample, deployment, recalibrate=False)
        assert found == pytest.approx(np.tile([0.3, 0.7], (50, 1)), abs=1e-12)


@pytest.mark.parametrize("rows", [5_000, 400_000])
def test_two_groups_cost_a_fixed_number_of_points_for_tables_of_any_size(rows: int) -> None:
    scores = np.linspace(0, 1, rows)
    matrix = np.column_stack([1 - scores, scores])
    sample = Sample(matrix, np.arange(rows) % 2, np.ones(rows))
    coarse = _Coarse.of(sample, Sketch.from_scores(scores))
    most = len({i / b for b in range(10, 111, 10) for i in range(1, b + 1)})
    assert len(coarse.auxiliary.weights) == len(coarse.deployment.weights) == most
    assert coarse.deployment.weights.sum() == coarse.counts.sum() == rows


@pytest.mark.parametrize("groups", [3, 6])
def test_many_groups_cost_a_bounded_number_of_points_for_tables_of_any_size(groups: int) -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, np.full(groups, 1 / groups), 60_000)
    sample = Sample(scores, codes, np.ones(60_000))
    few = Sketch.from_scores(scores[:50])
    for sketch in (few, Sketch.from_scores(scores)):
        coarse = _Coarse.of(sample, sketch)
        assert len(coarse.deployment.weights) <= MOST_POINTS
        assert len(coarse.auxiliary.weights) <= MOST_POINTS
        assert coarse.counts.sum() == 60_000


@pytest.mark.parametrize("groups", [2, 4])
def test_coarsening_keeps_the_mean_scores_of_everybody_and_of_each_group(groups: int) -> None:
    sample, deployment = sampled(groups)
    coarse = _Coarse.of(sample, Sketch.from_scores(deployment))
    mean = coarse.deployment.weights @ coarse.deployment.scores / len(deployment)
    assert mean == pytest.approx(deployment.mean(axis=0), abs=1e-9)
    mean = coarse.auxiliary.weights @ coarse.auxiliary.scores / len(sample.codes)
    assert mean == pytest.approx(sample.scores.mean(axis=0), abs=1e-12)
    assert coarse.counts.sum(axis=1).tolist() == np.bincount(sample.codes).tolist()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("quantifier", [ACC(), PACC(), SLD(), HDy()], ids=name)
def test_replicates_that_miss_a_rare_group_are_nan_and_the_others_are_not(
    quantifier: Quantifier, groups: int, jobs: int
) -> None:
    rng = np.random.default_rng(0)
    prior = np.r_[np.full(groups - 1, 1 / (groups - 1)), 0]
    scores, codes = draw_scores(rng, prior, 100, auxiliary=np.full(groups, 1 / groups))
    rare, _ = draw_scores(rng, np.eye(groups)[-1], 2, separation=2.5)
    sample = Sample(np.r_[scores, rare], np.r_[codes, [groups - 1] * 2], np.ones(102))
    deployment, _ = draw_scores(rng, np.full(groups, 1 / groups), 500)
    found = replicates(quantifier, sample, deployment, replicates=2 * BLOCK, n_jobs=jobs)
    missed = np.isnan(found).any(axis=1)
    # Two of 102 people are missed by exp(-2) = 13.5% of samples; 0.06 are four Monte Carlo
    # errors. ACC also loses those in which no hard decision tells the groups apart.
    assert missed.mean() == pytest.approx(0.135, abs=0.06)
    assert np.isnan(found[missed]).all()
    assert np.isfinite(found[~missed]).all()


def test_calibration_is_drawn_again_only_where_it_matters_and_is_asked_for() -> None:
    sample, deployment = sampled()
    for quantifier in QUANTIFIERS:
        again, once = (
            replicates(quantifier, sample, deployment, recalibrate=r) for r in (True, False)
        )
        assert (again != once).any() == quantifier.uses_posteriors
    # PCC's uncertainty is mostly that of its calibration.
    again, once = (
        replicates(PCC(), sample, deployment, recalibrate=r)[:, 1].std() for r in (True, False)
    )
    assert again > 3 * once


@pytest.mark.parametrize("quantifier", [CC(), PCC(), PACC(), MLPE()], ids=name)
@pytest.mark.parametrize("groups", [2, 3])
def test_one_row_has_replicates_too(quantifier: Quantifier, groups: int) -> None:
    sample, _ = sampled(groups)
    found = replicates(quantifier, sample, np.full((1, groups), 1 / groups))
    assert np.isfinite(found).all()


def test_scores_that_are_impossible_at_the_estimate_do_not_stop_the_replicates() -> None:
    second = np.array([0.3, 0.4, 0.5, 0.5, 0.6, 0.7] * 20)
    sample = Sample(np.column_stack([1 - second, second]), np.arange(120) // 3 % 2, np.ones(120))
    deployment = np.r_[np.zeros(99), 1.0]
    certain = np.column_stack([1 - deployment, deployment])
    assert estimate(PACC(), sample, certain).tolist() == [1, 0]
    assert np.isfinite(replicates(PACC(), sample, certain)).all()


@pytest.mark.parametrize("quantifier", [CC(), PCC(), MLPE()], ids=name)
def test_who_does_not_adjust_has_replicates_without_a_group_as_well(
    quantifier: Quantifier,
) -> None:
    sample, deployment = sampled()
    without = Sample(sample.scores, np.zeros(400, dtype=int), np.ones(400))
    assert np.isfinite(replicates(quantifier, without, deployment)).all()


def test_what_is_not_identified_has_no_replicates() -> None:
    sample, deployment = sampled()
    useless = Sample(np.full((400, 2), 0.5), sample.codes, np.ones(400))
    with pytest.raises(NotIdentifiedError):
        replicates(PACC(), useless, deployment)


TRIALS = 120


def covers(seed: int) -> bool:
    """Whether the 95% interval of the difference in selection rates holds that of these rows."""
    rng = np.random.default_rng(seed)
    counts, truth = [], []
    for truths in ([0.6, 0.4], [0.3, 0.7]):  # of the rejected, of the accepted
        scores, codes = draw_scores(rng, [0.5, 0.5], 300, separation=0.75)
        deployment, unknown = draw_scores(rng, truths, 1000, separation=0.75)
        found = replicates(
            PACC(),
            Sample(scores, codes, np.ones(300)),
            deployment,
            replicates=BLOCK,
            seed=np.random.SeedSequence(seed),
        )
        counts.append(found * len(deployment))
        truth.append(np.bincount(unknown, minlength=2))

    def disparity(decided: FloatArray) -> FloatArray:
        return difference(group_rates(decided)["selection_rate"], signed=True)

    low, high = np.quantile(disparity(np.stack(counts, axis=-2)), [0.025, 0.975])
    return bool(low <= disparity(np.array(truth, dtype=float)) <= high)


def test_intervals_cover_what_they_promise() -> None:
    coverage = np.mean([covers(seed) for seed in range(TRIALS)])
    # Nominal 95%, between 93% and 97% over many trials; two Monte Carlo errors of 120 trials,
    # sqrt(.95 * .05 / 120) = 0.02 each, on either side.
    assert 0.93 - 0.04 <= coverage <= 0.97 + 0.04
