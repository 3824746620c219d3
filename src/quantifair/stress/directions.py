"""The direction along which people are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from quantifair.errors import InputError, did_you_mean
from quantifair.pipelines import encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.auxiliary import Auxiliary

    FloatArray = NDArray[np.float64]


def direction(auxiliary: Auxiliary, held_out: Auxiliary, feature: str | None) -> FloatArray:
    """Return where held-out people stand along a feature, as normal scores.

    Parameters
    ----------
    auxiliary
        The people from whom the direction is learned.
    held_out
        The people who are placed on it.
    feature
        A column of numbers or dates, of which missing values count as the middle; ``None`` is the
        direction in which the encoded features vary most.
    """
    if feature is None:
        return _normal_scores(_leading(auxiliary, held_out))
    kinds = auxiliary.features.kinds
    if feature not in kinds:
        raise InputError(f"no feature {feature!r} to shift; {did_you_mean(feature, kinds)}")
    if kinds[feature] == "text":
        raise InputError(
            f"feature {feature!r} holds text, which has no order to shift along; name a column of "
            "numbers or dates"
        )
    values = held_out.frame[feature]
    if values.nunique() < 2:
        raise InputError(f"feature {feature!r} is constant, so nothing shifts along it")
    ordered = values.rank().to_numpy(dtype=np.float64)
    return _normal_scores(np.where(np.isnan(ordered), np.nanmedian(ordered), ordered))


def _leading(auxiliary: Auxiliary, held_out: Auxiliary) -> FloatArray:
    """Project onto the first principal direction; its largest part points upwards."""
    fitted = encoder(auxiliary.features).fit(auxiliary.frame)
    encoded = np.asarray(fitted.transform(auxiliary.frame), dtype=np.float64)
    centred = encoded - encoded.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    leading = vectors[:, -1]
    leading = leading * np.sign(leading[np.argmax(np.abs(leading))])
    return np.asarray(np.asarray(fitted.transform(held_out.frame), dtype=np.float64) @ leading)


def _normal_scores(values: FloatArray) -> FloatArray:
    """Replace values by the normal quantiles of their ranks, so that outliers do not lead."""
    rounded = np.round(values, 9)  # of equal rows a projection may differ in its last digits
    return np.asarray(ndtri((rankdata(rounded) - 0.5) / len(values)))
