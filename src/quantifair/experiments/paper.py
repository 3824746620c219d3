"""The numbers that the paper printed."""

from __future__ import annotations

import io
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def paper_tables() -> pd.DataFrame:
    """Return the ten tables of the paper as one frame, a row for each of their 210.

    Fabris, Esuli, Moreo and Sebastiani, Measuring Fairness Under Unawareness of Sensitive
    Attributes: A Quantification-Based Approach, JAIR 76 (2023), doi:10.1613/jair.1.14033: the
    tables of Section 5 (LR) and of the appendix on SVM.

    The columns are those of ``statistics.summarize``, except what the paper does not print: the
    number of trials and standard errors. ``_best`` is its boldface. Data sets have the names that
    ``datasets.load`` knows.

    Examples
    --------
    >>> paper_tables()[["protocol", "learner", "dataset", "method", "mae"]].head(2)
             protocol learner dataset method    mae
    0  sample-prev-D3      LR   adult     CC  0.382
    1  sample-prev-D3      LR   adult    PCC  0.299
    """
    import pandas as pd

    text = files("quantifair.experiments").joinpath("paper_tables.csv").read_text(encoding="utf-8")
    printed = pd.read_csv(io.StringIO(text), keep_default_na=False)
    return printed.assign(dataset=printed["dataset"].str.lower())
