"""KDEy: the mixture of kernel densities under which the deployment is most likely."""

from typing import Any

import numpy as np
import pytest
from quapy.functional import ILRtransformation
from quapy.method.aggregative import KDEyML
from sklearn.linear_model import LogisticRegression
from tests.simulation import draw_scores

from quantifair.errors import InputError
from quantifair.quantifiers import KDEy


@pytest.mark.parametrize("truth", [0.0, 0.1, 0.5, 0.95])
@pytest.mark.parametrize("bandwidth", [0.1, 0.3, 1.0])
def test_two_groups_are_quapys_kdey_ml_on_log_ratios(truth: float, bandwidth: float) -> None:
    rng = np.random.default_rng(round(truth * 100))
    scores, codes = draw_scores(rng, [0.6, 0.4], 300)
    deployment, _ = draw_scores(rng, [1 - truth, truth], 250)
    # Log ratios of two scores are log odds over the square root of two.
    assert ILRtransformation()([[0.2, 0.8]]) == pytest.approx(-np.log(4) / np.sqrt(2), abs=1e-4)
    theirs = KDEyML(
        LogisticRegression().fit(scores, codes),
        fit_classifier=False,
        val_split=None,
        bandwidth=bandwidth / 2**0.5,
        kernel="ilr",
    )
    theirs.aggregation_fit(scores, codes)
    expected = theirs.aggregate(deployment)
    ours = KDEy(bandwidth=bandwidth, smooth_deployment=False)
    # Log odds are read to 0.011 here, and their optimiser stops early.
    assert ours.fit(scores, codes).predict(deployment) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("bandwidth", [0.05, 0.5, 2.0, None])
def test_a_smoothed_deployment_is_fitted_without_bias_at_any_bandwidth(
    bandwidth: float | None,
) -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, [0.5, 0.5], 40_000, separation=0.6)
    deployment, unknown = draw_scores(rng, [0.9, 0.1], 40_000, separation=0.6)
    smoothed = KDEy(bandwidth=bandwidth).fit(scores, codes).predict(deployment)[1]
    # Four standard errors of PACC here.
    assert smoothed == pytest.approx(unknown.mean(), abs=0.03)


def test_kernels_on_one_side_alone_are_biased_when_wide() -> None:
    rng = np.random.default_rng(0)
    scores, codes = draw_scores(rng, [0.5, 0.5], 40_000, separation=0.6)
    deployment, unknown = draw_scores(rng, [0.9, 0.1], 40_000, separation=0.6)
    one_sided = KDEy(bandwidth=1.0, smooth_deployment=False).fit(scores, codes)
    assert unknown.mean() - one_sided.predict(deployment)[1] > 0.05


def test_the_bandwidth_adapts_to_the_spread_of_the_log_odds() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for separation in (0.1, 1.0):
        scores, codes = draw_scores(rng, [0.5, 0.5], 20_000, separation=separation)
        odds = np.log(scores[:, 1] / scores[:, 0])
        within = np.mean([odds[codes == k].var() for k in (0, 1)]) ** 0.5
        width = KDEy().fit(scores, codes).bandwidth_
        # Cells of 0.011, and groups of nearly equal size.
        assert width == pytest.approx(0.6 * within, rel=0.01)
        widths.append(float(width[0]))
    assert widths[1] / widths[0] == pytest.approx(10, rel=0.03)


def test_people_like_nobody_in_the_auxiliary_sample_tell_nothing() -> None:
    fitted = KDEy(bandwidth=0.05, smooth_deployment=False).fit(
        [0.3, 0.3, 0.7, 0.7], ["a", "a", "b", "b"]
    )
    assert fitted.predict([0.3, 0.7, 0.7, 0.99]) == pytest.approx([1 / 3, 2 / 3], abs=1e-9)


@pytest.mark.parametrize("wrong", [0, -1, np.inf, np.nan, "wide"])
def test_a_bandwidth_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="bandwidth must be a positive number"):
        KDEy(bandwidth=wrong).fit([0.2, 0.8], ["a", "b"])
