"""Do intervals hold the truth as often as they promise? A simulation that tries to break them.

Each replicate draws an auxiliary and a deployment sample afresh, under prior shift, for two cells;
scores are drawn from the groups' own distributions. The grid has corners (a group that is rare, or
rare in one cell alone) and equality, good and bad group classifiers, small and large deployments.
The truth is that of the deployment's own rows. Intervals from resampling the deployment alone are
the negative control: they must fail.
"""

from __future__ import annotations

import csv
import io
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from quantifair import disparity
from quantifair.cells import DECISIONS, Cell
from quantifair.estimation import CellEstimate, Options
from quantifair.experiments.store import write_whole
from quantifair.figures import disparity_figure, figure
from quantifair.intervals import Moments, Sample
from quantifair.quantifiers import PACC
from quantifair.sketch import Points
from quantifair.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from quantifair.results import Figure
    from quantifair.spread import Spread

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

AUXILIARY = 500
"""Auxiliary people in each cell, evenly of all groups."""

ACCEPTED = (0.6, 0.4)
AUC = {2: (0.6, 0.65, 0.75, 0.85), 4: (0.65, 0.85)}
"""Of two groups' scores; for more, of any two of them by their own two scores."""

RATIOS = {2: (1, 4, 20), 4: (1, 20)}
"""Deployment people for each auxiliary one."""

LEVEL = 0.95
RESAMPLED = 400
SEED = 20_261_119


class Setting(NamedTuple):
    """One cell of the grid: prevalences among the rejected and the accepted, AUC, ratio."""

    rejected: tuple[float, ...]
    accepted: tuple[float, ...]
    auc: float
    ratio: int


class Row(NamedTuple):
    """What a setting gave for one figure.

    Attributes
    ----------
    groups, rejected, accepted, auc, ratio
        The setting.
    figure
        ``difference``, ``ratio``, ``selection_rate`` or ``share`` (of the last group), or
        ``control``: the difference by resampling the deployment alone.
    replicates
        How many had a truth to be covered.
    coverage, width
        Share of intervals that hold it, and their median width.
    oracle
        Median width of the interval of somebody who sees the groups of the deployment's rows, for
        the difference in the population behind them.
    """

    groups: int
    rejected: str
    accepted: str
    auc: float
    ratio: int
    figure: str
    replicates: int
    coverage: float
    width: float
    oracle: float


PREVALENCES: dict[int, tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]] = {
    2: (
        ((0.5, 0.5), (0.5, 0.5)),
        ((0.7, 0.3), (0.3, 0.7)),
        ((0.9, 0.1), (0.8, 0.2)),
        ((0.98, 0.02), (0.9, 0.1)),
        ((0.98, 0.02), (0.1, 0.9)),
        ((0.95, 0.05), (0.95, 0.05)),
    ),
    4: (
        ((0.25, 0.25, 0.25, 0.25), (0.25, 0.25, 0.25, 0.25)),
        ((0.4, 0.3, 0.2, 0.1), (0.4, 0.3, 0.2, 0.1)),
        ((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4)),
        ((0.85, 0.05, 0.05, 0.05), (0.05, 0.05, 0.05, 0.85)),
    ),
}


def grid(groups: Iterable[int] = (2, 4)) -> list[Setting]:
    """Return the settings, for two groups and for four."""
    return [
        Setting(*prevalences, auc, ratio)
        for k in groups
        for prevalences, auc, ratio in product(PREVALENCES[k], AUC[k], RATIOS[k])
    ]


def draw(codes: IntArray, groups: int, auc: float, rng: np.random.Generator) -> FloatArray:
    """Draw the posteriors that normal features give, one for each person."""
    apart = float(ndtri(auc))
    logits = apart * (rng.normal(size=(len(codes), groups)) + apart * np.eye(groups)[codes])
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def replicate(setting: Setting, rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
    """Return ``(low, truth, high)`` of each figure, and of the oracle's difference, once."""
    groups = len(setting.rejected)
    estimates: dict[Cell, CellEstimate] = {}
    truth, control = [], []
    people = [round(setting.ratio * AUXILIARY * 2 * share) for share in ACCEPTED]
    both = zip(DECISIONS, people, (setting.rejected, setting.accepted), strict=True)
    for cell, size, prevalence in both:
        codes = rng.integers(groups, size=AUXILIARY)
        sample = Sample(draw(codes, groups, setting.auc, rng), codes, np.ones(AUXILIARY))
        theirs = rng.choice(groups, size, p=prevalence)
        points = Points(draw(theirs, groups, setting.auc, rng), np.ones(size))
        moments = Moments.of(sample, points, size)
        found = PACC().fit_labelled(sample.labelled)
        share = found.project(found.solve(points))
        nobody = np.zeros(groups)
        none = np.empty((0, groups))
        estimates[cell] = CellEstimate(share, float(size), nobody, none, moments, float(size))
        truth.append(np.bincount(theirs, minlength=groups).astype(float))
        control.append(_resampled(moments, points, rng) * size if groups == 2 else none)
    rates = disparity.group_rates(np.array(truth))
    spread = spread_of(estimates, Options(level=LEVEL))
    shown = {}
    for name, (rate, function, interval) in _figures(spread, groups).items():
        low, high = interval.low, interval.high
        if interval.estimate is None or low is None or high is None:
            # What is not estimable rules nothing out.
            low, high = (-1.0 if groups == 2 and name == "difference" else 0.0), 1.0
        shown[name] = (low, float(function(rates[rate])), high)
    shown["oracle"] = _oracle(rates)
    if groups == 2:
        shown["control"] = _interval(np.stack(control, axis=1), shown["difference"][1])
    return shown


def _figures(spread: Spread, groups: int) -> dict[str, tuple[str, Any, Figure]]:
    """Rate, function of it, and its interval."""
    kinds = disparity.kinds(signed=True, groups=groups)
    names = ("selection_rate",)
    compared = {
        name: (*names, kinds[name].of, disparity_figure(spread, names, kinds[name], groups))
        for name in ("difference", "ratio")
    }
    alone = {name: (name, _last, figure(spread, (name,), _last)) for name in (*names, "share")}
    return compared | alone


def _last(rates: FloatArray) -> FloatArray:
    return np.asarray(rates[..., -1])


def _resampled(moments: Moments, points: Points, rng: np.random.Generator) -> FloatArray:
    """Draw a cell's prevalences as if the auxiliary sample were the truth: the negative control."""
    error = float(points.scores[:, 1].std()) / np.sqrt(len(points.scores))
    mean = moments.mean[0] + error * rng.normal(size=RESAMPLED)
    slope = moments.means[1, 0] - moments.means[0, 0]
    second = np.clip((mean - moments.means[0, 0]) / slope, 0, 1)
    return np.stack([1 - second, second], axis=-1)


def _interval(counts: FloatArray, truth: float) -> tuple[float, float, float]:
    rates = disparity.group_rates(counts)["selection_rate"]
    found = np.nan_to_num(disparity.difference(rates, signed=True))
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), truth, float(high)


def _oracle(rates: dict[str, FloatArray]) -> tuple[float, float, float]:
    """Wald's interval of the difference between the groups that differ most."""
    chosen, count = rates["selection_rate"], rates["count"]
    ends = [0, 1] if len(chosen) == 2 else [int(np.nanargmin(chosen)), int(np.nanargmax(chosen))]
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = float(ndtri((1 + LEVEL) / 2)) * float(
            np.sqrt((chosen * (1 - chosen) / count)[ends].sum())
        )
    gap = float(chosen[ends[1]] - chosen[ends[0]])
    return gap - reach, gap, gap + reach


def measure(setting: Setting, replicates: int) -> list[Row]:
    """Run a setting; its random numbers depend on nothing else."""
    names = [*map(str, setting.rejected), *map(str, setting.accepted)]
    key = [int(1000 * float(n)) for n in names]
    rng = np.random.default_rng([SEED, *key, int(100 * setting.auc), setting.ratio])
    drawn = [replicate(setting, rng) for _ in range(replicates)]
    half = len(setting.rejected)
    head = (half, "/".join(names[:half]), "/".join(names[half:]), setting.auc, setting.ratio)
    oracle = np.array([d["oracle"] for d in drawn])
    wide = float(np.nanmedian(oracle[:, 2] - oracle[:, 0]))
    rows = []
    for name in (n for n in drawn[0] if n != "oracle"):
        low, truth, high = np.array([d[name] for d in drawn]).T
        known = np.isfinite(truth)
        held = (low <= truth + 1e-12) & (truth <= high + 1e-12)
        width = float(np.median(high - low))
        covered = round(float(held[known].mean()), 4)
        sizes = (round(width, 4), round(wide, 4))
        rows.append(Row(*head, name, int(known.sum()), covered, *sizes))
    return rows


def run(
    settings: Iterable[Setting],
    path: Path,
    *,
    replicates: int = 2_000,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Row]:
    """Run the settings that the file does not hold yet; the file is whole at any time."""
    from joblib import Parallel, delayed

    rows, wanted = read(path), list(settings)
    left = [s for s in wanted if not any(_is_of(r, s) for r in rows)]
    done = len(wanted) - len(left)
    progress(done, len(wanted))
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for found in parallel(delayed(measure)(setting, replicates) for setting in left):
        rows = sorted([*rows, *found])
        _write(rows, path)
        done += 1
        progress(done, len(wanted))
    return rows


def _is_of(row: Row, setting: Setting) -> bool:
    shown = ("/".join(map(str, setting.rejected)), "/".join(map(str, setting.accepted)))
    return (row.rejected, row.accepted, row.auc, row.ratio) == (*shown, setting.auc, setting.ratio)


def read(path: Path) -> list[Row]:
    """Return the rows of a file; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_row(line) for line in csv.DictReader(file)]


def _row(line: dict[str, Any]) -> Row:
    kinds = {"groups": int, "auc": float, "ratio": int, "replicates": int}
    kinds |= dict.fromkeys(("coverage", "width", "oracle"), float)
    return Row(**{name: kinds.get(name, str)(value) for name, value in line.items()})


def _write(rows: list[Row], path: Path) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Row._fields, *rows])
    write_whole(path, text.getvalue().encode())
