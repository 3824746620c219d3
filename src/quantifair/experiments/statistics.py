"""From the errors of trials to the statistics of the paper's tables.

An *errors frame* has a row for each trial: what the trial is (``TRIAL``), and for each method a
column of its signed error in the demographic parity difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from quantifair.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

PROTOCOLS = (
    "sample-prev-D3",
    "sample-prev-D2",
    "sample-size-D2",
    "sample-prev-D1",
    "flip-prev-D1",
)
LEARNERS = ("LR", "SVM")
DATASETS = ("adult", "compas", "creditcard")
METHODS = ("CC", "PCC", "ACC", "PACC", "SLD", "HDy", "MLPE")

CELL = ["protocol", "learner", "dataset"]
"""What the trials of one block of a table share."""
KEYS = [*CELL, "method"]
"""What a row of a table is known by."""
TRIAL = [*CELL, "sub", "value", "partition", "roles", "repeat"]
"""What a trial is known by."""

_ORDER = {"protocol": PROTOCOLS, "learner": LEARNERS, "dataset": DATASETS}


class Measure(NamedTuple):
    """A column of the paper's tables: the mean of a score over trials.

    Attributes
    ----------
    score
        From signed errors to scores.
    error
        Whether it is an error, of which less is better, whose deviation is shown and which is
        tested; if not, it is a probability, of which more is better.
    """

    score: Callable[[FloatArray], FloatArray]
    error: bool


MEASURES = {
    "mae": Measure(np.abs, error=True),
    "mse": Measure(np.square, error=True),
    "p_ae_lt_0.1": Measure(lambda e: np.asarray(np.abs(e) < 0.1, np.float64), error=False),
    "p_ae_lt_0.2": Measure(lambda e: np.asarray(np.abs(e) < 0.2, np.float64), error=False),
}


def summarize(errors: pd.DataFrame, methods: Sequence[str], *, paired: bool = True) -> pd.DataFrame:
    """Return the statistics of each method, in the order of the paper and then of ``methods``.

    Parameters
    ----------
    errors
        An errors frame.
    methods
        The columns of signed errors.
    paired
        Whether the t-test is paired, as the paper says; if not, it is that of its reference
        implementation. See ``p_values`` and ``mark``.

    Returns
    -------
    DataFrame
        A row for each of ``KEYS``, the number of ``trials``, and for each of ``MEASURES``

        - its mean over the trials, under the measure's own name;
        - ``_std``, the population deviation of the score (errors only);
        - ``_mark``, ``"‡"``, ``"†"`` or nothing, as in the paper (errors only);
        - ``_best``, whether no method's mean is better. The paper's boldface is the same: of
          means that look alike at three decimals, the better one alone is bold;
        - ``_se``, the standard error of the mean, clustered by partition: the deviation of the
          partitions' means over the root of their number. The trials of a partition share its
          people, in all six roles, so that they are not independent. Five partitions leave it 4
          degrees of freedom: the true one may well be 0.6 or 2.9 times as large. With one
          partition alone it is NaN.

    Raises
    ------
    InputError
        Where a column lacks, there is no trial, or an error is not a number.

    Examples
    --------
    >>> import pandas as pd
    >>> trial = {"protocol": "sample-prev-D3", "learner": "LR", "dataset": "adult", "sub": ""}
    >>> trial |= {"value": 0.1, "roles": "ABC", "repeat": 0}
    >>> errors = pd.DataFrame({"partition": [0, 1], "CC": [0.3, -0.5], "SLD": [0.05, 0.15]})
    >>> found = summarize(errors.assign(**trial), ["CC", "SLD"]).set_index("method")
    >>> found[["mae", "mae_std", "mae_se", "mae_best"]]
            mae  mae_std  mae_se  mae_best
    method
    CC      0.4     0.10    0.10     False
    SLD     0.1     0.05    0.05      True
    """
    import pandas as pd

    _check(errors, methods)
    ordered = errors.sort_values(TRIAL, key=_as_in_the_paper, kind="stable")
    cells = [
        _cell(trials, list(methods), paired=paired)
        for _, trials in ordered.groupby(CELL, sort=False)
    ]
    return pd.concat(cells, ignore_index=True)[[*KEYS, "trials", *_columns()]]


def p_values(scores: ArrayLike, *, paired: bool = True) -> FloatArray:
    """Two-tailed t-test of each method's mean score against that of the best.

    Parameters
    ----------
    scores
        A row for each trial, a column for each method; less is better.
    paired
        Whether the test is paired by trial. If not, it is Student's from means, deviations and
        counts, with the population deviations that the reference implementation gives it.

    Returns
    -------
    array
        One p-value for each method; NaN for the best, and where there is one trial only. Trials
        count as independent, as in the paper, which they are not: see ``summarize``.

    Examples
    --------
    >>> p_values([[0.1, 0.3], [0.2, 0.3], [0.1, 0.5]]).round(3)
    array([  nan, 0.118])
    """
    scores = np.asarray(scores, dtype=np.float64)
    trials = len(scores)
    if trials < 2:
        return np.full(scores.shape[1], np.nan)
    means = scores.mean(axis=0)
    best = scores[:, [means.argmin()]]
    if paired:
        variance, freedom = (scores - best).var(axis=0, ddof=1), trials - 1
    else:
        variance, freedom = scores.var(axis=0) + best.var(axis=0), 2 * trials - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (scores - best).mean(axis=0) / np.sqrt(variance / trials)
    p: FloatArray = 2 * stdtr(freedom, -np.abs(t))
    return np.where(means == means.min(), np.nan, p)


def mark(p: float, *, paired: bool = True) -> str:
    """Return the paper's mark of a method that is not the best.

    Parameters
    ----------
    p
        The p-value of its difference from the best; NaN where there is none.
    paired
        Whether the paper's bound divides the last two, 0.001, or else the reference
        implementation's, 0.005.

    Examples
    --------
    >>> [mark(p) for p in (0.2, 0.03, 0.003, 0.0003)]
    ['‡', '†', '†', '']
    """
    if p <= (0.001 if paired else 0.005):
        return ""
    return "†" if p < 0.05 else "‡"


def _check(errors: pd.DataFrame, methods: Sequence[str]) -> None:
    lacking = [name for name in (*TRIAL, *methods) if name not in errors.columns]
    if lacking:
        raise InputError(f"the errors lack the columns {', '.join(lacking)}")
    if not len(errors) or not methods:
        raise InputError(f"{len(errors)} trials and {len(methods)} methods; give one at least")
    known = np.isfinite(errors[list(methods)].to_numpy(np.float64)).all(axis=1)
    if not known.all():
        raise InputError(
            f"{(~known).sum():,} of {len(known):,} trials have an error that is not a number; "
            "leave them out, and say how many they are"
        )


def _as_in_the_paper(column: pd.Series) -> pd.Series:
    """Sort the names of the paper as it does, and others behind them."""
    import pandas as pd

    if column.name not in _ORDER:
        return column
    known = _ORDER[str(column.name)]
    names = [*known, *sorted(set(column) - set(known))]
    return column.astype(pd.CategoricalDtype(names, ordered=True))


def _cell(trials: pd.DataFrame, methods: list[str], *, paired: bool) -> pd.DataFrame:
    """Return the statistics of the trials of one cell, a row for each method."""
    import pandas as pd

    errors = trials[methods].to_numpy(np.float64)
    partition = trials["partition"].to_numpy()
    columns: dict[str, Any] = {name: trials[name].iloc[0] for name in CELL}
    columns |= {"method": methods, "trials": len(trials)}
    for name, measure in MEASURES.items():
        scores = measure.score(errors)
        mean = scores.mean(axis=0)
        best = mean == (mean.min() if measure.error else mean.max())
        columns |= {name: mean, f"{name}_best": best, f"{name}_se": clustered(scores, partition)}
        if measure.error:
            p = np.where(best, 0, p_values(scores, paired=paired))
            columns[f"{name}_std"] = scores.std(axis=0)
            columns[f"{name}_mark"] = [mark(x, paired=paired) for x in p]
    return pd.DataFrame(columns)


def clustered(scores: FloatArray, partition: NDArray[np.int64]) -> FloatArray:
    """Return the standard errors of the columns' means, clustered by partition."""
    means = np.array([scores[partition == p].mean(axis=0) for p in np.unique(partition)])
    if len(means) < 2:
        return np.full(scores.shape[1], np.nan)
    return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(len(means)))


def _columns() -> list[str]:
    """Return the columns of the measures, as in the paper."""
    return [
        name + suffix
        for name, measure in MEASURES.items()
        for suffix in (["", "_std", "_mark"] if measure.error else [""]) + ["_best", "_se"]
    ]
