"""The test of prior shift: its statistic, its size, and what it can't be told."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2, ncx2

from quantifair.intervals import Moments, Sample
from quantifair.intervals.jtest import holm, j_test, noncentrality


def drawn(
    groups: int = 2,
    *,
    columns: int = 5,
    drift: float = 0.0,
    seed: int = 0,
    prevalence: tuple[float, ...] | None = None,
) -> Moments:
    """Normal columns, whose means differ between groups; everybody later drifts in the last."""
    rng = np.random.default_rng(seed)
    truth = prevalence or tuple(np.full(groups, 1 / groups))
    centres = np.eye(groups, columns)

    def people(shares: tuple[float, ...], size: int) -> tuple[np.ndarray, np.ndarray]:
        codes = rng.choice(groups, size, p=shares)
        return rng.normal(size=(size, columns)) + centres[codes], codes

    here, codes = people(tuple(np.full(groups, 1 / groups)), 600)
    there, _ = people(truth, 1_000)
    there[:, -1] += drift
    sample = Sample(np.zeros((600, groups)), codes, np.ones(600))
    return Moments.of_columns(here, sample, there.mean(axis=0), 1_000.0)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_statistic_is_the_least_deviance(groups: int, seed: int) -> None:
    moments = drawn(groups, seed=seed, drift=0.1)
    found = j_test(moments)
    assert found is not None

    def deviance(logits: np.ndarray) -> float:
        shares = np.exp(logits - logits.max())
        return float(moments.deviance(shares / shares.sum()))

    starts = np.random.default_rng(0).normal(size=(5, groups))
    least = min(minimize(deviance, start, method="Nelder-Mead").fun for start in starts)
    assert found.statistic == pytest.approx(least, rel=1e-3, abs=1e-3)
    assert found.degrees == 5 - (groups - 1)
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, found.degrees))


def test_columns_that_repeat_others_change_nothing() -> None:
    moments = drawn()
    twice = np.concatenate([np.eye(5), np.ones((5, 2)), np.zeros((5, 1))], axis=1)
    more = Moments(
        moments.mean @ twice,
        moments.means @ twice,
        twice.T @ moments.within @ twice,
        twice.T @ moments.sampling @ twice,
        moments.people,
    )
    once, again = j_test(moments), j_test(more)
    assert once is not None
    assert again is not None
    assert again.degrees == once.degrees
    assert again.statistic == pytest.approx(once.statistic, rel=1e-6)


@pytest.mark.parametrize(("groups", "prevalence"), [(2, (0.7, 0.3)), (2, (1.0, 0.0)), (3, None)])
def test_under_prior_shift_it_rejects_as_often_as_it_says(
    groups: int, prevalence: tuple[float, ...] | None
) -> None:
    """Three standard errors of 300 replicates at 5% are 0.038; also where a group is absent."""
    tests = [j_test(drawn(groups, seed=s, prevalence=prevalence)) for s in range(300)]
    assert np.mean([t is not None and t.p_value <= 0.05 for t in tests]) == pytest.approx(
        0.05, abs=0.038
    )


def test_a_drift_is_found_as_often_as_it_says_that_it_is() -> None:
    """In a direction in which groups do not differ; three standard errors of 200 are 0.085."""
    clean = j_test(drawn())
    assert clean is not None
    # A random direction lies in part along the groups' difference, one of five dimensions.
    drift = clean.detectable * np.sqrt(4 / 5)
    tests = [j_test(drawn(drift=drift, seed=s)) for s in range(200)]
    assert np.mean([t is not None and t.p_value <= 0.05 for t in tests]) == pytest.approx(
        0.8, abs=0.085
    )


def test_a_drift_along_the_groups_difference_looks_like_other_prevalences() -> None:
    moments = drawn()
    along = 0.2 * (moments.means[1] - moments.means[0])
    moved = Moments(
        moments.mean + along, moments.means, moments.within, moments.sampling, moments.people
    )
    before, after = j_test(moments), j_test(moved)
    assert before is not None
    assert after is not None
    assert after.statistic == pytest.approx(before.statistic, abs=0.5)


def test_one_moment_or_few_people_tell_nothing() -> None:
    assert j_test(drawn(columns=1)) is None
    few = drawn()
    assert j_test(Moments(few.mean, few.means, few.within, few.sampling, 19.0)) is None


@pytest.mark.parametrize("groups", [2, 3])
def test_what_does_not_vary_within_a_group_is_no_obstacle(groups: int) -> None:
    moments = drawn(groups)
    moments.within[0] = moments.sampling[0] = 0.0
    found = j_test(moments)
    assert found is not None
    assert np.isfinite(found.statistic)


@pytest.mark.parametrize("degrees", [1, 8, 40])
def test_noncentrality_gives_the_power(degrees: int) -> None:
    critical = chi2.isf(0.05, degrees)
    assert ncx2.sf(critical, degrees, noncentrality(degrees)) == pytest.approx(0.8)


def test_holm_multiplies_the_smallest_by_their_number() -> None:
    assert holm(np.array([0.5, 0.01, 0.02])).tolist() == [0.5, 0.03, 0.04]
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
    assert holm(np.array([])).tolist() == []
