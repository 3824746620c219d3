"""The learners that come with the package: encoders of features, and the classifiers behind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from quantifair.roles import Features

_CATEGORIES = {"max_categories": 100, "min_frequency": 5}
_QUANTILES = 10
_EPOCH = "1970-01-01"


def default_learner(features: Features, name: str = "logistic") -> Any:
    """Return a classifier with its encoder in front.

    Parameters
    ----------
    features
        The columns that it will read.
    name
        ``logistic`` regression, the same with ``splines`` of the numbers, linear ``svm`` (with
        Platt's probabilities), or gradient ``boosting``.
    """
    from sklearn.pipeline import make_pipeline

    return make_pipeline(*LEARNERS[name](features))


def encoder(features: Features, *, sparse: bool = False) -> Any:
    """Return the default encoder: imputed, scaled numbers and one-hot categories.

    Categories beyond the hundred most frequent, or met fewer than five times, share one column;
    so do categories that the auxiliary table lacks. Dates count as days.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    categories = OneHotEncoder(
        handle_unknown="infrequent_if_exist", sparse_output=sparse, **_CATEGORIES
    )
    scaled = (
        SimpleImputer(add_indicator=True, keep_empty_features=True),
        StandardScaler(),
    )
    return _by_kind(features, scaled, categories)


def _by_kind(features: Features, numbers: tuple[Any, ...], categories: Any) -> Any:
    """Return an encoder of numbers, of dates as days, and of categories."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    dates = make_pipeline(FunctionTransformer(days), *map(clone, numbers))
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(*numbers), _of_kind(features, "number")),
            ("dates", dates, _of_kind(features, "date")),
            ("categories", categories, _of_kind(features, "text")),
        ]
    )


def _of_kind(features: Features, kind: str) -> list[str]:
    return [column for column, of in features.kinds.items() if of == kind]


def _with_curves(features: Features) -> Any:
    """Return the default encoder with splines of the ranks of numbers and dates beside it."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, SplineTransformer

    def curves() -> tuple[Any, ...]:
        # Ranks, as knots at quantiles coincide where many people share a value.
        ranks = QuantileTransformer(n_quantiles=_QUANTILES, random_state=0)
        return SimpleImputer(), ranks, SplineTransformer(n_knots=5, include_bias=False)

    numbers, dates = (_of_kind(features, kind) for kind in ("number", "date"))
    dated = make_pipeline(FunctionTransformer(days), *curves())
    return ColumnTransformer(
        [
            ("plain", encoder(features, sparse=True), features.names),
            ("curves", make_pipeline(*curves()), partial(curved, names=numbers)),
            ("date curves", dated, partial(curved, names=dates)),
        ]
    )


def curved(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the columns with so many values that a curve can differ from steps and lines."""
    return [name for name in names if frame[name].nunique() > _QUANTILES]


def _for_trees(features: Features) -> Any:
    """Return an encoder for trees: numbered categories first, then numbers and their gaps."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OrdinalEncoder

    numbered = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, **_CATEGORIES
    )
    filled = SimpleImputer(add_indicator=True, keep_empty_features=True)
    by_kind = _by_kind(features, (filled,), numbered)
    by_kind.transformers.reverse()
    return by_kind


def _logistic(features: Features) -> tuple[Any, ...]:
    from sklearn.linear_model import LogisticRegression

    return encoder(features, sparse=True), LogisticRegression(max_iter=1000)


def _splines(features: Features) -> tuple[Any, ...]:
    from sklearn.linear_model import LogisticRegression

    return _with_curves(features), LogisticRegression(C=0.1, max_iter=1000)


def _svm(features: Features) -> tuple[Any, ...]:
    from sklearn.svm import LinearSVC

    return encoder(features, sparse=True), LinearSVC()


def _boosting(features: Features) -> tuple[Any, ...]:
    from quantifair.trees import SmallTrees

    text = list(range(len(_of_kind(features, "text"))))
    trees = SmallTrees(
        max_iter=100,
        learning_rate=0.05,
        max_leaf_nodes=8,
        l2_regularization=10.0,
        categorical_features=text or None,
        early_stopping=False,
        random_state=0,
    )
    return _for_trees(features), trees


LEARNERS: dict[str, Callable[[Features], tuple[Any, ...]]] = {
    "logistic": _logistic,
    "splines": _splines,
    "svm": _svm,
    "boosting": _boosting,
}


def days(dates: pd.DataFrame) -> pd.DataFrame:
    """Turn dates into days since 1970."""
    import pandas as pd

    since = {name: (dates[name] - pd.Timestamp(_EPOCH)) / pd.Timedelta(days=1) for name in dates}
    return pd.DataFrame(since)
