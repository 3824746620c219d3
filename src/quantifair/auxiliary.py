"""The auxiliary table, read and checked: roles, groups, decisions, labels, features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from quantifair import diagnostics
from quantifair.diagnostics import Caution
from quantifair.errors import InputError, did_you_mean
from quantifair.features import check_features, choose_features, role_columns
from quantifair.profiles import Profile
from quantifair.roles import (
    MISSING,
    Binary,
    checked_weights,
    distinct,
    encode,
    group_codes,
    ids_of,
    name_of,
)
from quantifair.scores import MAX_GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quantifair.audit import Audit
    from quantifair.cells import Decider
    from quantifair.roles import Features
    from quantifair.tables import Table

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


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
        Of each row; weights with mean one, ids as text, or ``None``.
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

    @cached_property
    def profile(self) -> Profile:
        """What the features of another table are held against."""
        return Profile.of(self.frame)

    @property
    def clusters(self) -> IntArray | None:
        """The person of each row where people repeat, else ``None``."""
        if self.ids is None:
            return None
        names, numbers = np.unique(self.ids.astype(str), return_inverse=True)
        return numbers if len(names) < len(self.ids) else None

    def take(self, rows: IntArray) -> Auxiliary:
        """Return some of the rows, their weights again with mean one."""
        weights = self.weights[rows]
        return replace(
            self,
            frame=self.frame.iloc[rows],
            codes=self.codes[rows],
            decision=None if self.decision is None else self.decision[rows],
            label=None if self.label is None else self.label[rows],
            weights=weights / weights.mean() if len(rows) else weights,
            ids=None if self.ids is None else self.ids[rows],
        )

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
    features, decider, cautions = choose_features(audit, table, shared)
    columns = list(
        dict.fromkeys([*features.names, *role_columns(audit), *_decider_columns(decider)])
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
    cautions += check_features(features, frame, table.name)
    ids = None if audit.id is None else ids_of(data[audit.id], audit.id, table.name)
    if ids is not None:
        _check_one_group(audit, ids, [groups[c] for c in codes], table.name)
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
        _weights(audit, data, table.name),
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
    roles = role_columns(audit)
    twice = sorted({c for c in roles if roles.count(c) > 1})
    if twice:
        raise InputError(f"column {twice[0]!r} has two roles; give each role a column of its own")
    for feature in audit.features or ():
        if feature in roles:
            raise InputError(f"column {feature!r} can't be a feature: it already has a role")


def _decider_columns(decider: Decider | None) -> list[str]:
    return [] if decider is None else decider.features.names


def _of_weight(audit: Audit, data: pa.Table, where: str) -> pa.Table:
    """Leave out rows of weight zero, which stand for nobody."""
    if audit.weight is None:
        return data
    weights = checked_weights(data[audit.weight], audit.weight, where)
    if not weights.any():
        raise InputError(f"all weights in column {audit.weight!r} of {where} are zero")
    return data if weights.all() else data.filter(pa.array(weights > 0))


def _weights(audit: Audit, data: pa.Table, where: str) -> FloatArray:
    """Return weights with mean one: a learner's penalty weighs against their sum."""
    if audit.weight is None:
        return np.ones(data.num_rows)
    weights = checked_weights(data[audit.weight], audit.weight, where)
    return np.asarray(weights / weights.mean())


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
                f"{int(missing.sum()):,} of {len(codes):,} auxiliary rows have no group (an empty "
                "field, NA, None or the like) and are left out; if people of one group answer less "
                "often, the sample is no longer representative within groups",
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


def _check_one_group(audit: Audit, ids: NDArray[Any], names: list[str], where: str) -> None:
    of_person: dict[str, set[str]] = {}
    for person, name in zip(ids, names, strict=True):
        of_person.setdefault(person, set()).add(name)
    several = {person: sorted(found) for person, found in of_person.items() if len(found) > 1}
    if several:
        person, found = next(iter(several.items()))
        raise InputError(
            f"{len(several):,} of {len(of_person):,} people in column {audit.id!r} of {where} have "
            f"several groups, such as {person!r} with {' and '.join(map(repr, found))}; give each "
            "one group, leave them out, or check that the ids tell people apart"
        )


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
    reference = name_of(audit.reference)
    if reference not in groups:
        raise InputError(
            f"reference group {audit.reference!r} does not occur; {did_you_mean(reference, groups)}"
        )
    first = groups.index(reference)
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
