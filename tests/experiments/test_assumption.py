"""The study of the tests of prior shift: what is drawn, and that tests tell one from the other."""

from pathlib import Path

import numpy as np
import pytest

from quantifair.experiments import assumption
from quantifair.experiments.assumption import Row, Setting
from quantifair.experiments.assumption_report import table


def test_covariate_shift_keeps_the_group_given_the_features() -> None:
    """Members of the second group are as common among people of like first features."""
    rng = np.random.default_rng(0)
    codes = np.arange(40_000) % 2
    before = assumption.draw(codes, 0.8, rng)
    features, later = assumption.draw_deployment("covariate", 40_000, 0.8, rng)
    assert features[:, 2].mean() > 0.2
    sums = [f[:, 0] + f[:, 1] for f in (before, features)]
    for low in (0.0, 0.5, 1.0):
        shares = [
            float(c[(s > low) & (s < low + 0.5)].mean())
            for c, s in zip((codes, later), sums, strict=True)
        ]
        # Within half a unit the sum rises a little where people with more of it are kept.
        assert shares[1] == pytest.approx(shares[0], abs=0.05)


def test_a_drift_moves_the_second_group_alone() -> None:
    rng = np.random.default_rng(0)
    plain, codes = assumption.draw_deployment("prior", 40_000, 0.8, rng)
    moved, later = assumption.draw_deployment("drift", 40_000, 0.8, rng)
    for group, distance in ((0, 0.0), (1, assumption.DRIFT)):
        apart = moved[later == group, 0].mean() - plain[codes == group, 0].mean()
        assert apart == pytest.approx(distance, abs=0.04)


def test_features_tell_covariate_shift_from_prior_shift() -> None:
    rows = assumption.measure(Setting("logistic", 0.8, 500), 10)
    of = {r.shift: r for r in rows if (r.test, r.deployment) == ("features", 20_000)}
    assert of["covariate"].rejected == 1
    assert of["prior"].rejected <= 0.3
    assert abs(of["prior"].bias) < 0.1 < abs(of["covariate"].bias) + 0.1


def test_a_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Setting] = []

    def measured(setting: Setting, replicates: int) -> list[Row]:
        asked.append(setting)
        return [Row(*setting, "prior", 1_000, t, replicates, 0.05, 0.2, 0.0)
                for t in ("averaged", "either", "features", "score bins")]  # fmt: skip

    monkeypatch.setattr(assumption, "measure", measured)
    path = tmp_path / "out.csv"
    first = assumption.run(assumption.grid()[:2], path, replicates=10)
    assert assumption.read(path) == first
    monkeypatch.setattr(
        assumption, "measure", lambda _s, r: measured(Setting("boosting", 0.8, 500), r)
    )
    both = assumption.run([*assumption.grid()[:2], assumption.grid()[-1]], path, replicates=10)
    assert [r for r in both if r.learner == "logistic"] == first
    assert list(asked) == [*assumption.grid()[:2], assumption.grid()[-1]]
    assert {r.replicates for r in both if r.learner == "boosting"} == {2}
    assert table(both).count("\n") == 4
