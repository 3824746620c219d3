"""From prevalences to errors of the disparity: smoothing, and the paper's signed error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quantifair import disparity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_KEYS = ("dataset", "learner", "protocol", "sub", "value", "partition", "roles", "repeat")


def disparities(by_decision: FloatArray, sizes: FloatArray) -> FloatArray:
    """Demographic disparity, from the prevalence of the group 1 by decision.

    Parameters
    ----------
    by_decision
        Shape ``(trials, 2)``.
    sizes
        People by decision, shape ``(trials, 2)``.

    Examples
    --------
    >>> disparities(np.array([[0.25, 0.75]]), np.array([[40, 40]])).tolist()
    [0.5]
    """
    counts = np.stack([1 - by_decision, by_decision], axis=-1) * sizes[..., None]
    return disparity.difference(disparity.group_rates(counts)["selection_rate"], signed=True)


def signed_errors(
    trials: pd.DataFrame,
    methods: Sequence[str],
    *,
    prior_of_truth: bool = False,
    smoothed_truth: bool = False,
) -> pd.DataFrame:
    """Return a row for each trial that was run: what was swept, the truth, each method's error.

    The error is the estimated minus the true demographic disparity, where estimated prevalences
    are smoothed by one person in each cell, spread as its auxiliary shares.

    Parameters
    ----------
    trials
        As ``store.read`` returns them.
    methods
        Their columns.
    prior_of_truth
        Whether the accepted cell's person is spread as its *true* shares in the deployment: what
        the reference implementation does.
    smoothed_truth
        Whether the true prevalences are smoothed, too: what the reference implementation does.
    """
    run = trials[trials["problem"] == ""].reset_index(drop=True)
    sizes, true, prior = (_by_decision(run, name) for name in ("size", "true", "prior"))
    if prior_of_truth:
        prior = np.column_stack([prior[:, 0], true[:, 1]])

    def smoothed(prevalence: FloatArray) -> FloatArray:
        both = (np.stack([1 - p, p], axis=-1) for p in (prevalence, prior))
        estimated, known = both
        return disparity.smooth(estimated, sizes, known)[..., 1]

    truth = disparities(smoothed(true) if smoothed_truth else true, sizes)
    errors = {m: disparities(smoothed(_by_decision(run, m)), sizes) - truth for m in methods}
    return run[[*_KEYS, "natural"]].assign(truth=truth, **errors)


def refused(trials: pd.DataFrame) -> pd.DataFrame:
    """Count the trials that could not be run, by reason, beside all."""
    keys = ["protocol", "learner", "dataset"]
    every = trials.groupby(keys).size().rename("trials")
    problems = trials[trials["problem"] != ""].groupby([*keys, "problem"]).size()
    return problems.rename("refused").reset_index().join(every, on=keys)


def method_names(trials: pd.DataFrame) -> list[str]:
    """Return the methods whose estimates a table of trials holds."""
    given = {"size", "true", "prior"}
    names: list[Any] = [c.removesuffix(":0") for c in trials.columns if c.endswith(":0")]
    return [n for n in names if ":" not in n and n not in given]


def _by_decision(trials: pd.DataFrame, name: str) -> FloatArray:
    return trials[[f"{name}:0", f"{name}:1"]].to_numpy(dtype=np.float64)
