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
DEPLOYMENTS = (1_000, 20_000)
DRIFT = 0.3
LEVEL = 0.05
SEED = 20_261_120

_SLOWER = 5
"""Boosting takes so much longer that it gets fewer replicates."""

SHIFTS = {"prior": 0.3, "prior, rare group": 0.02, "covariate": 0.5, "drift": 0.5}
"""Kinds of shift, with the second group's prevalence in the deployment before it."""


class Setting(NamedTuple):
    """What is trained: the group classifier, its AUC, and the people it learns from."""

    learner: str
    auc: float
    auxiliary: int


class Found(NamedTuple):
    """What a test finds once, and the error of the prevalence by PACC."""

    p_value: float
    detectable: float
    bias: float


class Row(NamedTuple):
    """What a setting gave for one test.

    Attributes
    ----------
    learner, auc, auxiliary
        The setting.
    shift, deployment
        What is drawn for it, and how many.
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

    learner: str
    auc: float
    auxiliary: int
    shift: str
    deployment: int
    test: str
    replicates: int
    rejected: float
    detectable: float
    bias: float


def grid() -> list[Setting]:
    """Return the settings."""
    return [
        *(Setting("logistic", *sizes) for sizes in product((0.65, 0.8), (500, 2_000))),
        Setting("boosting", 0.8, 500),
    ]


def draw(codes: IntArray, auc: float, rng: np.random.Generator) -> FloatArray:
    """Draw features from which the best classifier has this AUC."""
    features = rng.normal(size=(len(codes), FEATURES))
    features[:, :2] += float(ndtri(auc)) * codes[:, None]
    return features


def draw_deployment(
    shift: str, size: int, auc: float, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Draw the deployment's features and groups.

    Covariate shift keeps people with a chance that rises in the first feature, which tells the
    groups apart, and in the third, which does not. A drift moves the first feature of the second
    group's members.
    """
    drawn = 4 * size if shift == "covariate" else size
    codes = (rng.random(drawn) < SHIFTS[shift]).astype(np.int64)
    features = draw(codes, auc, rng)
    if shift == "drift":
        features[:, 0] += DRIFT * codes
    if shift == "covariate":
        kept = np.flatnonzero(rng.random(drawn) < expit(features[:, 0] + features[:, 2]))[:size]
        features, codes = features[kept], codes[kept]
    return features, codes


def replicate(setting: Setting, rng: np.random.Generator) -> dict[tuple[str, int, str], Found]:
    """Train once; return what each test finds, by shift, people and test."""
    codes = np.arange(setting.auxiliary) % 2
    frame = _frame(draw(codes, setting.auc, rng))
    unscored = Sample(np.zeros((len(codes), 2)), codes, np.ones(len(codes)))
    trained = Recipe(_learner(setting.learner)).train(frame, unscored, ["a", "b"])
    profile = Profile.of(frame)
    evidence = Evidence.of(trained.sample, profile.read(frame)[1], in_sample=False)
    found: dict[tuple[str, int, str], Found] = {}
    for shift in SHIFTS:
        features, truth = draw_deployment(shift, max(DEPLOYMENTS), setting.auc, rng)
        there = _frame(features)
        scores = np.stack(list(trained.scorer.each(there)))
        encoded = profile.read(there)[1]
        for size in DEPLOYMENTS:
            some = tested(trained, evidence, encoded[:, :size], scores[:, :size])
            bias = _pacc(trained, scores[:, :size]) - float(truth[:size].mean())
            found |= {(shift, size, name): Found(*test, bias) for name, test in some.items()}
    return found


def tested(
    trained: Trained, evidence: Evidence, encoded: NDArray[np.int8], scores: FloatArray
) -> dict[str, tuple[float, float]]:
    """Return each test's p-value and the drift that it detects.

    Parameters
    ----------
    trained, evidence
        The auxiliary people.
    encoded, scores
        The deployment's: ``(columns, rows)`` and ``(classifiers, rows, groups)``.
    """
    sample, people = trained.sample, float(scores.shape[1])
    sums = evidence.sums(encoded, map(evidence.places, scores), None)
    averaged = evidence.sums(encoded, [evidence.places(scores.mean(axis=0))], None)
    found = {
        "score bins": _numbers(j_test(evidence.moments_of_bins(sample, sums, people))),
        "features": _numbers(j_test(evidence.moments_of_features(sample, sums, people))),
        "averaged": _numbers(j_test(evidence.moments_of_bins(sample, averaged, people))),
    }
    both = holm(np.array([found["score bins"][0], found["features"][0]]))
    return found | {"either": (float(both.min()), found["features"][1])}


def _numbers(test: JTest | None) -> tuple[float, float]:
    return (1.0, np.inf) if test is None else (test.p_value, test.detectable)


def _pacc(trained: Trained, scores: FloatArray) -> float:
    second, codes = trained.sample.scores[:, 1], trained.sample.codes
    low, high = second[codes == 0].mean(), second[codes == 1].mean()
    return float(np.clip((scores[..., 1].mean() - low) / (high - low), 0, 1))


def _frame(features: FloatArray) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(features, columns=[f"x{k}" for k in range(FEATURES)])


def _learner(name: str) -> Any:
    """Return a classifier without its encoder."""
    from quantifair.pipelines import LEARNERS
    from quantifair.roles import Features

    return LEARNERS[name](Features({}))[-1]


def measure(setting: Setting, replicates: int) -> list[Row]:
    """Run a setting; its random numbers depend on nothing else."""
    boosted = int(setting.learner == "boosting")
    rng = np.random.default_rng([SEED, boosted, int(100 * setting.auc), setting.auxiliary])
    drawn = [replicate(setting, rng) for _ in range(replicates)]
    rows = []
    for shift, size, test in drawn[0]:
        p_values, detectable, bias = np.array([d[shift, size, test] for d in drawn]).T
        numbers = (np.mean(p_values <= LEVEL), np.median(detectable), np.mean(bias))
        rounded = [round(float(n), 4) for n in numbers]
        rows.append(Row(*setting, shift, size, test, replicates, *rounded))
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
    left = [s for s in wanted if not any(r[:3] == s for r in rows)]
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
