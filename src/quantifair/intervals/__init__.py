"""Uncertainty of the prevalences, and of all that follows from them."""

from quantifair.intervals.bootstrap import replicate_prevalences
from quantifair.intervals.moments import Moments
from quantifair.intervals.quantiles import quantile, quantile_of_pairs
from quantifair.intervals.region import Counted, extreme_counts
from quantifair.intervals.sample import Sample

__all__ = [
    "Counted",
    "Moments",
    "Sample",
    "extreme_counts",
    "quantile",
    "quantile_of_pairs",
    "replicate_prevalences",
]
