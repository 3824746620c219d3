"""Results as plain dicts and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 1


class Shown:
    """Serialisation that all results share."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dicts, lists, numbers and text."""
        shown = {f.name for f in fields(self) if not f.name.startswith("_")}  # type: ignore[arg-type]
        head = {"schema_version": SCHEMA_VERSION}
        if "settings" in shown:
            head["seed"] = self.settings["seed"]  # type: ignore[attr-defined]
        return head | {k: _plain(getattr(self, k)) for k in sorted(shown)}

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the result as JSON, and write it to a file if one is named."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text


def _plain(value: Any) -> Any:
    """Turn results into what JSON knows; numbers that are not finite become null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if hasattr(value, "_asdict"):
        return {k: _plain(v) for k, v in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | float | int) else str(value)
