"""The errors that quantifair raises: each says what is wrong, where, and what to do."""

from __future__ import annotations

from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class QuantifairError(Exception):
    """Base of every error that quantifair raises on purpose."""


class InputError(QuantifairError, ValueError):
    """A table, a column or an option can't be used as it is."""


class NotIdentifiedError(QuantifairError, ValueError):
    """The data can't tell the answer, so there is no number."""


class SketchMismatchError(QuantifairError, ValueError):
    """Two sketches, or a sketch and a quantifier, do not belong together."""


class DataUnavailableError(QuantifairError, OSError):
    """A file of a data set is neither here nor to be had."""


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn an error of code that is not ours into one sentence: what failed, and why."""
    try:
        yield
    except QuantifairError:
        raise
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), "")
        name = type(error).__name__
        raise InputError(f"{what}: {name}: {reason}" if reason else f"{what}: {name}") from error


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint naming the nearest known names, or all of them when few."""
    names = [str(k) for k in known]
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(n) for n in near) + "?"
    shown = ", ".join(repr(n) for n in names[:12])
    return f"known are {shown}{', ...' if len(names) > 12 else ''}"
