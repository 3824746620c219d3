"""The auxiliary table, read and checked: roles, groups, decisions, labels, features."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from quantifair import diagnostics
from quantifair.cells import Decider
from quantifair.diagnostics import Caution
from quantifair.errors import InputError, did_you_mean
from quantifair.roles import (
    MISSING,
    Binary,
    Features,
    checked_weights,
    distinct,
    encode,
    group_codes,
    ids_of,
    kind_of,
)
from quantifair.sketch import MAX_GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.audit import Audit
    from quantifair.tables import Table

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_WITH_COMMA = r"[-+]?\d+,\d+"
_MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """The auxiliary table, read and checked.

    Attributes
    ----------
    frame
        Features, for learners.
    features
        How they are read.
    codes, groups, attributes
        The group of each row, the groups' names, and their value of each attribute.
    decision, label
        Decoded, or ``None``.
    favourable, positive
        How decision and label are read, or ``None``.
    decider
        The audited classifier where it decides here, or ``None``.
    weights, ids
        Of each row; ids as text, or ``None``.
    cautions
        What is to be said of the table.
    """

    frame: pd.DataFrame
    features: Features
    codes: IntArray
    groups: list[str]
    attributes: list[dict[str, str]]
    decision: IntArray | None
    label: IntArray | None
    favourable: Binary | None
    positive: Binary | None
    decider: Decider | None
    weights: FloatArray
    ids: NDArray[Any] | None
    cautions: tuple[Caution, ...]

    @property
    def labels_among_accepted(self) -> bool:
        """Whether nobody with an unfavourable decision has a label."""
        if self.label is None or self.decision is None:
            return False
        return bool((self.label[self.decision == 0] == MISSING).all())

    @property
    def clusters(self) -> IntArray | None:
        """The person of each row where people repeat, else ``None``."""
        if self.ids is None:
            return None
        names, numbers = np.unique(self.ids.astype(str), return_inverse=True)
        return numbers if len(names) < len(self.ids) else None

    def alone(self, column: str) -> Auxiliary:
        """Return the same people, grouped by one of several attributes."""
        values = [a[column] for a in self.attributes]
        levels = list(dict.fromkeys(values))
        codes = np.array([levels.index(v) for v in values])[self.codes]
        attributes = [{column: level} for level in levels]
        return replace(self, codes=codes, groups=levels, attributes=attributes)


def read_auxiliary(audit: Audit, table: Table, shared: Sequence[str] | None) -> Auxiliary:
    """Read the columns that the audit names, and check every one.

    Parameters
    ----------
    audit
        The roles.
    table
        The auxiliary table.
    shared
        Columns of the deployment table, where they are known.
    """
    _check_roles(audit, table)
    features, decider, cautions = _choose_features(audit, table, shared)
    columns = list(
        dict.fromkeys([*features.names, *_role_columns(audit), *_decider_columns(decider)])
    )
    data = table.read(columns)
    if not data.num_rows:
        raise InputError(f"{table.name} is empty: it has columns but no rows")
    data = _of_weight(audit, data, table.name)
    data, codes, groups, attributes, dropped = _grouped(audit, data, table.name)
    cautions += dropped
    favourable, decision = _decided(audit, decider, data, table.name)
    positive, label = _labelled(audit, data, table.name)
    _check_labels(audit, decision, label, table.name)
    frame = features.frame(data, table.name)
    _check_variation(features, frame, table.name)
    _check_commas(features, frame, table.name)
    cautions += _wide_text(features, frame)
    weights = np.ones(data.num_rows)
    if audit.weight is not None:
        weights = checked_weights(data[audit.weight], audit.weight, table.name)
    ids = None if audit.id is None else ids_of(data[audit.id], audit.id, table.name)
    return Auxiliary(
        frame,
        features,
        codes,
        groups,
        attributes,
        decision,
        label,
        favourable,
        positive,
        decider,
        weights,
        ids,
        tuple(cautions),
    )


def _check_roles(audit: Audit, table: Table) -> None:
    for name in audit.group_columns:
        table.require(name, "group")
    named = {
        "decision": audit.decision,
        "label": audit.label,
        "weight": audit.weight,
        "id": audit.id,
    }
    for role, column in named.items():
        if column is not None and not (role == "decision" and audit.classifier is not None):
            table.require(column, role)
    roles = _role_columns(audit)
    twice = sorted({c for c in roles if roles.count(c) > 1})
    if twice:
        raise InputError(f"column {twice[0]!r} has two roles; give each role a column of its own")
    for feature in audit.features or ():
        if feature in roles:
            raise InputError(f"column {feature!r} can't be a feature: it already has a role")


def _role_columns(audit: Audit) -> list[str]:
    decision = None if audit.classifier is not None else audit.decision
    named = [*audit.group_columns, decision, audit.label, audit.weight, audit.id]
    return [c for c in named if c is not None]


def _decider_columns(decider: Decider | None) -> list[str]:
    return [] if decider is None else decider.features.names


def _choose_features(
    audit: Audit, table: Table, shared: Sequence[str] | None
) -> tuple[Features, Decider | None, list[Caution]]:
    cautions: list[Caution] = []
    usable = _shared_features(audit, table, shared, cautions)
    decider = None
    if audit.classifier is not None:
        asked = getattr(audit.classifier, "feature_names_in_", usable)
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
    audit: Audit, table: Table, shared: Sequence[str] | None, cautions: list[Caution]
) -> list[str]:
    if audit.features is not None:
        return list(audit.features)
    taken = {*_role_columns(audit), audit.decision}
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
    return [c for c in candidates if c not in unusable]


def _of_weight(audit: Audit, data: pa.Table, where: str) -> pa.Table:
    """Leave out rows of weight zero, which stand for nobody."""
    if audit.weight is None:
        return data
    weights = checked_weights(data[audit.weight], audit.weight, where)
    if not weights.any():
        raise InputError(f"all weights in column {audit.weight!r} of {where} are zero")
    return data if weights.all() else data.filter(pa.array(weights > 0))


def _grouped(
    audit: Audit, data: pa.Table, where: str
) -> tuple[pa.Table, IntArray, list[str], list[dict[str, str]], list[Caution]]:
    codes, groups, parts = group_codes(data, audit.group_columns, where)
    cautions = []
    missing = codes == MISSING
    if missing.any():
        cautions.append(
            Caution(
                "group_missing",
                f"{int(missing.sum()):,} of {len(codes):,} auxiliary rows have no group and are "
                "left out; if people of one group answer less often, the sample is no longer "
                "representative within groups",
                where,
            )
        )
        data, codes = data.filter(pa.array(~missing)), codes[~missing]
    shown = " and ".join(repr(c) for c in audit.group_columns)
    if len(groups) < 2:
        raise InputError(
            f"group column {shown} of {where} holds {groups or 'no value'}; two groups are needed"
        )
    if len(groups) > MAX_GROUPS:
        raise InputError(
            f"group column {shown} of {where} holds {len(groups)} groups; the most is {MAX_GROUPS}"
        )
    if len(audit.group_columns) == 1:  # a small intersection leaves the attributes to be audited
        _check_members(codes, groups, where)
    groups, parts, codes = _reference_first(audit, groups, parts, codes)
    attributes = [dict(zip(audit.group_columns, p, strict=True)) for p in parts]
    return data, codes, groups, attributes, cautions


def _check_members(codes: IntArray, groups: list[str], where: str) -> None:
    for group, count in zip(groups, np.bincount(codes).tolist(), strict=True):
        if count < diagnostics.FEWEST:
            raise InputError(
                f"group {group!r} has {count} member{'s' * (count > 1)} in {where}; at least "
                f"{diagnostics.FEWEST} are needed for each decision. Merge it with another group, "
                "or survey more people"
            )


def _reference_first(
    audit: Audit, groups: list[str], parts: list[list[str]], codes: IntArray
) -> tuple[list[str], list[list[str]], IntArray]:
    if audit.reference is None:
        return groups, parts, codes
    if str(audit.reference) not in groups:
        raise InputError(
            f"reference group {audit.reference!r} does not occur; "
            f"{did_you_mean(str(audit.reference), groups)}"
        )
    first = groups.index(str(audit.reference))
    order = [first, *(k for k in range(len(groups)) if k != first)]
    place = np.argsort(order)
    return [groups[k] for k in order], [parts[k] for k in order], place[codes]


def _decided(
    audit: Audit, decider: Decider | None, data: pa.Table, where: str
) -> tuple[Binary | None, IntArray | None]:
    if decider is not None:
        values = decider(data.combine_chunks().to_batches()[0], where)
        column = audit.decision or "decision"
    elif audit.decision is not None:
        values, column = data[audit.decision], audit.decision
    else:
        return None, None
    levels = distinct(values, column, where)
    missing = int((encode(values, levels)[0] == MISSING).sum())
    if missing:
        raise InputError(
            f"{missing:,} of {len(values):,} rows of {where} have no decision in column "
            f"{column!r}; fill it in, or leave those rows out"
        )
    if len(levels) == 1:
        raise InputError(
            f"column {column!r} of {where} takes one value only ({levels[0]!r}); an audit compares "
            "favourable with unfavourable decisions"
        )
    binary = Binary.learn(levels, column, audit.favourable, "--favourable (favourable=)")
    return binary, binary.decode(values, where)


def _labelled(audit: Audit, data: pa.Table, where: str) -> tuple[Binary | None, IntArray | None]:
    if audit.label is None:
        return None, None
    levels = distinct(data[audit.label], audit.label, where)
    if len(levels) < 2:
        raise InputError(
            f"label column {audit.label!r} of {where} holds {levels or 'no value'}; measures that "
            "need labels compare two"
        )
    option = "--favourable-label (favourable_label=)"
    binary = Binary.learn(levels, audit.label, audit.favourable_label, option)
    return binary, binary.decode(data[audit.label], where)


def _check_labels(
    audit: Audit, decision: IntArray | None, label: IntArray | None, where: str
) -> None:
    """Labels may be missing wherever the decision was unfavourable, and nowhere else."""
    if label is None or decision is None:
        return
    missing = label == MISSING
    accepted, whose = decision == 1, ""
    if missing[~accepted].all():
        missing, whose = missing[accepted], " with a favourable decision"
    if missing.any():
        raise InputError(
            f"{int(missing.sum()):,} of {len(missing):,} rows{whose} of {where} have no label in "
            f"column {audit.label!r}; fill it in, leave those rows out, or leave out label="
        )


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
        if values > 100:
            found.append(
                Caution(
                    "many_categories",
                    f"column {name!r} has {values:,} different values; the default learner keeps "
                    "the 100 most frequent and groups the rest. An identifier should be left out",
                    name,
                )
            )
    return found
