"""From a folder of results to what tables and figures show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quantifair.experiments.outcomes import method_names, signed_errors
from quantifair.experiments.protocols import SUBS
from quantifair.experiments.statistics import summarize
from quantifair.experiments.store import read

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


def statistics_of(folder: Path, *, as_reference: bool = False) -> pd.DataFrame:
    """Return the statistics of a study.

    Parameters
    ----------
    folder
        What ``run_study`` wrote.
    as_reference
        Whether to smooth and to test as the reference implementation does: the accepted cell by
        its true prevalence, the truth as well, and an unpaired t-test.
    """
    trials = read(folder)
    methods = method_names(trials)
    errors = signed_errors(
        trials, methods, prior_of_truth=as_reference, smoothed_truth=as_reference
    )
    return summarize(errors, methods, paired=not as_reference)


def decoupling(
    trials: pd.DataFrame, methods: tuple[str, ...] = ("CC", "SLD", "PACC")
) -> pd.DataFrame:
    """Return how well methods quantify and how well they classify, in the cell that is shifted.

    Parameters
    ----------
    trials
        Trials of protocols with sub-protocols, as ``store.read`` returns them.
    methods
        Which.

    Returns
    -------
    DataFrame
        For each data set, learner, protocol, sub-protocol, value and method: the mean absolute
        error of the prevalence, and the mean F1 and accuracy where people are labelled.
    """
    import pandas as pd

    keys = ["dataset", "learner", "protocol", "sub", "value"]
    frames = []
    for cell, sub in enumerate(SUBS):
        some = trials[(trials["sub"] == sub) & (trials["problem"] == "")]
        for method in (m for m in methods if f"{m}:{cell}" in some):
            nothing = pd.Series(np.nan, some.index)
            judged = some[keys].assign(
                method=method,
                mae=(some[f"{method}:{cell}"] - some[f"true:{cell}"]).abs(),
                f1=some.get(f"f1:{method}:{cell}", nothing),
                accuracy=some.get(f"accuracy:{method}:{cell}", nothing),
            )
            frames.append(judged)
    if not frames:
        return pd.DataFrame(columns=[*keys, "method", "mae", "f1", "accuracy"])
    every = pd.concat(frames, ignore_index=True)
    return every.groupby([*keys, "method"], as_index=False).mean()
