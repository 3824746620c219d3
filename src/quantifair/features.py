"""Which columns the group classifier reads, and whether they can serve."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quantifair.cells import Decider
from quantifair.diagnostics import Caution
from quantifair.errors import InputError
from quantifair.roles import Features, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from quantifair.audit import Audit
    from quantifair.tables import Table

_WITH_COMMA = r"[-+]?\d+,\d+"
_MOSTLY = 0.9
_MANY_CATEGORIES = 100


def role_columns(audit: Audit) -> list[str]:
    """Return the columns that have a role."""
    decision = None if audit.classifier is not None else audit.decision
    named = [*audit.group_columns, decision, audit.label, audit.weight, audit.id]
    return [c for c in named if c is not None]


def choose_features(
    audit: Audit, table: Table, shared: Sequence[str] | None
) -> tuple[Features, Decider | None, list[Caution]]:
    """Return the features, who decides where no column does, and what is left out.

    ``shared`` are the columns of the deployment table, where they are known.
    """
    both, cautions = _shared_features(audit, table, shared)
    usable = both
    if audit.features is not None:
        usable, cautions = list(audit.features), []
    decider = None
    if audit.classifier is not None:
        # A function takes what it needs by name; an estimator without names, all it is given.
        default = usable if hasattr(audit.classifier, "predict") else both
        asked = getattr(audit.classifier, "feature_names_in_", default)
        here = [c for c in asked if c in table.columns and (shared is None or c in shared)]
        decider = Decider(audit.classifier, Features.of(table, here))
    if audit.scores is not None:
        return Features.of(table, audit.scores.values()), decider, cautions
    if not usable:
        known = ", ".join(repr(c) for c in table.columns)
        raise InputError(
            "the tables share no feature column besides those with a role; the auxiliary table "
            f"has {known}"
        )
    return Features.of(table, usable), decider, cautions


def _shared_features(
    audit: Audit, table: Table, shared: Sequence[str] | None
) -> tuple[list[str], list[Caution]]:
    """Return the columns of both tables that have no role, and what is left out."""
    cautions = []
    taken = {*role_columns(audit), audit.decision}
    candidates = [c for c in table.columns if c not in taken and (shared is None or c in shared)]
    unusable = [c for c in candidates if kind_of(table.schema.field(c).type) is None]
    if unusable:
        cautions.append(
            Caution(
                "unusable_columns",
                f"left out {', '.join(repr(c) for c in unusable)}: neither numbers, text nor dates",
                table.name,
            )
        )
    only_here = [c for c in table.columns if shared is not None and c not in {*shared, *taken}]
    if only_here:
        cautions.append(
            Caution(
                "not_shared",
                f"left out {', '.join(repr(c) for c in only_here)}: only in the auxiliary table",
                table.name,
            )
        )
    return [c for c in candidates if c not in unusable], cautions


def check_features(features: Features, frame: pd.DataFrame, where: str) -> list[Caution]:
    """Raise where features can't serve; return what is odd about them."""
    _check_variation(features, frame, where)
    _check_commas(features, frame, where)
    return _wide_text(features, frame)


def _check_variation(features: Features, frame: pd.DataFrame, where: str) -> None:
    if all(frame[c].nunique(dropna=False) <= 1 for c in features.names):
        raise InputError(
            f"every feature of {where} is constant ({', '.join(features.names)}); nothing in them "
            "tells people apart"
        )


def _check_commas(features: Features, frame: pd.DataFrame, where: str) -> None:
    """Refuse numbers with a comma, which would serve as categories."""
    for name in (n for n, kind in features.kinds.items() if kind == "text"):
        values = frame[name].dropna()
        numbers = [v for v in values if re.fullmatch(_WITH_COMMA, v)]
        if numbers and len(numbers) >= _MOSTLY * len(values):
            raise InputError(
                f"column {name!r} of {where} holds numbers with a comma, such as "
                f"{numbers[0]!r}, which would be read as text; write them with a point, in "
                "both tables"
            )


def _wide_text(features: Features, frame: pd.DataFrame) -> list[Caution]:
    found = []
    for name, kind in features.kinds.items():
        values = frame[name].nunique() if kind == "text" else 0
        if values > _MANY_CATEGORIES:
            found.append(
                Caution(
                    "many_categories",
                    f"column {name!r} has {values:,} different values; the default learner keeps "
                    f"the {_MANY_CATEGORIES} most frequent and groups the rest. An identifier "
                    "should be left out",
                    name,
                )
            )
    return found
