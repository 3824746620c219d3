"""How often the tests of prior shift reject, where it holds and where it does not.

Each replicate draws the two tables of one cell afresh, trains the group classifier in five folds,
and tests. Four features are normal within groups; the first two tell the groups apart. Half of the
auxiliary people are of each group.
"""

from __future__ import annotations

import csv
import io
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtri

from quantifair.assumption.evidence import Evidence
from quantifair.experiments.store import write_whole
from quantifair.intervals import Sample
from quantifair.intervals.jtest import holm, j_test
from quantifair.profiles import Profile
from quantifair.training import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.intervals.jtest import JTest
    from quantifair.training import Trained

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

FEATURES = 4
DRIFT = 0.3
LEVEL = 0.05
SEED = 20_261_120

_SLOWER = 5
"""Boosting takes so much longer that it gets fewer replicates."""

SHIFTS = {"prior": 0.3, "prior, rare group": 0.02, "covariate": 0.5, "drift": 0.5}
"""Kinds of shift, with the second group's prevalence in the deployment before it."""


class Setting(NamedTuple):
    """What is drawn: a kind of shift, the group classifier, its AUC, people in both tables."""

    shift: str
    learner: str
    auc: float
    auxiliary: int
    deployment: int


class Row(NamedTuple):
    """What a setting gave for one test.

    Attributes
    ----------
    shift, learner, auc, auxiliary, deployment
        The setting.
    test
        ``score bins``, ``features``, ``either`` (by Holm's method), or ``averaged``: the bins of
        the classifiers' mean scores, for comparison.
    replicates, rejected
        How many were drawn, and the share of them that the test rejects at 5%.
    detectable
        Median of the least drift that the test says it detects.
    bias
        Mean error of the prevalence by PACC.
    """

    shift: str
    learner: str
    auc: float
    auxiliary: int
    deployment: int
    test: str
    replicates: int
    rejected: float
    detectable: float
    bias: float


def grid() -> list[Setting]:
    """Return the settings: logistic regression for each shift, boosting where prior shift holds."""
    sizes = product((0.65, 0.8), (500, 2_000), (1_000, 20_000))
    found = [Setting(shift, "logistic", *size) for size in sizes for shift in SHIFTS]
    return [*found, *(Setting("prior", "boosting", 0.8, 500, n) for n in (1_000, 20_000))]


def draw(codes: IntArray, auc: float, rng: np.random.Generator) -> FloatArray:
    """Draw features from which the best classifier has this AUC."""
    features = rng.normal(size=(len(codes), FEATURES))
    features[:, :2] += float(ndtri(auc)) * codes[:, None]
    return features


def draw_deployment(setting: Setting, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Draw the deployment's features and groups.

    Covariate shift keeps people with a chance that rises in the first feature, which tells the
    groups apart, and in the third, which does not. A drift moves the first feature of the second
    group's members.
    """
    size, prevalence = setting.deployment, SHIFTS[setting.shift]
    drawn = 4 * size if setting.shift == "covariate" else size
    codes = (rng.random(drawn) < prevalence).astype(np.int64)
    features = draw(codes, setting.auc, rng)
    if setting.shift == "drift":
        features[:, 0] += DRIFT * codes
    if setting.shift == "covariate":
        kept = np.flatnonzero(rng.random(drawn) < expit(features[:, 0] + features[:, 2]))[:size]
        features, codes = features[kept], codes[kept]
    return features, codes


def replicate(setting: Setting, rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
    """Return each test's p-value, the drift it detects, and the error of PACC."""
    codes = np.arange(setting.auxiliary) % 2
    frame = _frame(draw(codes, setting.auc, rng))
    unscored = Sample(np.zeros((len(codes), 2)), codes, np.ones(len(codes)))
    trained = Recipe(_learner(setting.learner)).train(frame, unscored, ["a", "b"])
    profile, sample, people = Profile.of(frame), trained.sample, float(setting.deployment)
    evidence = Evidence.of(sample, profile.read(frame)[1], in_sample=False)
    features, truth = draw_deployment(setting, rng)
    there = _frame(features)
    scores = list(trained.scorer.each(there))
    encoded, mean = profile.read(there)[1], trained.scorer.mean(scores)
    sums = evidence.sums(encoded, map(evidence.places, scores), None)
    averaged = evidence.sums(encoded, [evidence.places(mean)], None)
    tests = {
        "score bins": j_test(evidence.moments_of_bins(sample, sums, people)),
        "features": j_test(evidence.moments_of_features(sample, sums, people)),
        "averaged": j_test(evidence.moments_of_bins(sample, averaged, people)),
    }
    error = _pacc(trained, mean) - float(truth.mean())
    found = {name: (*_numbers(test), error) for name, test in tests.items()}
    both = holm(np.array([found["score bins"][0], found["features"][0]]))
    return found | {"either": (float(both.min()), found["features"][1], error)}


def _numbers(test: JTest | None) -> tuple[float, float]:
    return (1.0, np.inf) if test is None else (test.p_value, test.detectable)


def _pacc(trained: Trained, scores: FloatArray) -> float:
    second, codes = trained.sample.scores[:, 1], trained.sample.codes
    low, high = second[codes == 0].mean(), second[codes == 1].mean()
    return float(np.clip((scores[:, 1].mean() - low) / (high - low), 0, 1))


def _frame(features: FloatArray) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(features, columns=[f"x{k}" for k in range(FEATURES)])


def _learner(name: str) -> Any:
    from quantifair.learner import LEARNERS

    return LEARNERS[name]()


def measure(setting: Setting, replicates: int) -> list[Row]:
    """Run a setting; its random numbers depend on nothing else."""
    key = [list(SHIFTS).index(setting.shift), int(setting.learner == "boosting")]
    sizes = [int(100 * setting.auc), setting.auxiliary, setting.deployment]
    rng = np.random.default_rng([SEED, *key, *sizes])
    drawn = [replicate(setting, rng) for _ in range(replicates)]
    rows = []
    for name in drawn[0]:
        p_values, detectable, errors = np.array([d[name] for d in drawn]).T
        numbers = (np.mean(p_values <= LEVEL), np.median(detectable), np.mean(errors))
        rows.append(Row(*setting, name, replicates, *(round(float(n), 4) for n in numbers)))
    return rows


def run(
    settings: Iterable[Setting],
    path: Path,
    *,
    replicates: int = 500,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Row]:
    """Run the settings that the file does not hold yet; the file is whole at any time."""
    from joblib import Parallel, delayed

    rows, wanted = read(path), list(settings)
    left = [s for s in wanted if not any(r[:5] == s for r in rows)]
    done = len(wanted) - len(left)
    progress(done, len(wanted))
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    sizes = {"logistic": replicates, "boosting": -(-replicates // _SLOWER)}
    for found in parallel(delayed(measure)(setting, sizes[setting.learner]) for setting in left):
        rows = sorted([*rows, *found])
        _write(rows, path)
        done += 1
        progress(done, len(wanted))
    return rows


def read(path: Path) -> list[Row]:
    """Return the rows of a file; none where there is no file."""
    if not path.exists():
        return []
    kinds = dict.fromkeys(("auxiliary", "deployment", "replicates"), int)
    numbers = dict.fromkeys(("auc", "rejected", "detectable", "bias"), float)
    with path.open(newline="") as file:
        return [
            Row(**{n: {**kinds, **numbers}.get(n, str)(v) for n, v in line.items()})
            for line in csv.DictReader(file)
        ]


def _write(rows: list[Row], path: Path) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Row._fields, *rows])
    write_whole(path, text.getvalue().encode())
