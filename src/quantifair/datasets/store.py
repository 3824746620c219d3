"""The folder of data files: only what has the right checksum enters it, whole or not at all."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from quantifair.datasets.sources import Downloads, Source, SourceError
from quantifair.errors import DataUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

VARIABLE = "QUANTIFAIR_DATA"
"""Environment variable that names the folder."""

_STALE = 3600.0


@dataclass(frozen=True)
class DataFile:
    """A file of a data set.

    Attributes
    ----------
    name
        What it is called in the folder.
    sha256
        Its checksum.
    page
        Where a person finds the official file.
    sources
        Where a program does, the official ones first.
    restore
        Makes the file out of another form of it, or raises ValueError.
    also
        Names under which other forms of it are accepted in the folder.
    """

    name: str
    sha256: str
    page: str
    sources: tuple[Source, ...]
    restore: Callable[[bytes], bytes] | None = None
    also: tuple[str, ...] = ()

    def verified(self, raw: bytes, *, expected: str | None = None) -> bytes:
        """Return the file's exact bytes, made from another form of it if need be.

        Parameters
        ----------
        raw
            The file, or another form of it.
        expected
            Checksum of that other form.

        Raises
        ------
        SourceError
            Where it is not this file.
        """
        measured = sha256(raw).hexdigest()
        if measured == self.sha256:
            return raw
        right = expected or self.sha256
        wrong = f"has the sha256 {measured[:12]}..., not {right[:12]}... ({len(raw):,} bytes)"
        if self.restore is None or (expected is not None and measured != expected):
            raise SourceError(wrong)
        try:
            official = self.restore(raw)
        except (ValueError, LookupError) as error:
            raise SourceError(f"{wrong}, and is no known form of {self.name}") from error
        if sha256(official).hexdigest() != self.sha256:
            raise SourceError(f"{wrong}, and holds other values")
        return official


def silent(_: str) -> None:
    """Say nothing."""


def data_folder(folder: str | Path | None = None) -> Path:
    """Return the folder of data files: the argument's, the variable's or the user's cache.

    Examples
    --------
    >>> data_folder("/srv/data").as_posix()
    '/srv/data'
    """
    chosen = folder or os.environ.get(VARIABLE)
    try:
        return Path(chosen).expanduser() if chosen else _user_cache() / "quantifair"
    except RuntimeError as error:
        raise DataUnavailableError(
            f"there is no home directory for the data; set {VARIABLE} to a folder"
        ) from error


def find(file: DataFile, folder: Path) -> bytes | None:
    """Return a file's bytes if it is in the folder.

    Raises
    ------
    DataUnavailableError
        Where what is there is not the file.
    """
    for path in (folder / name for name in (file.name, *file.also)):
        try:
            return file.verified(path.read_bytes())
        except FileNotFoundError:
            continue
        except (OSError, SourceError) as error:
            reason = f"can't be read ({error.strerror})" if isinstance(error, OSError) else error
            raise DataUnavailableError(
                f"{path} {reason}; delete it, or replace it by `quantifair datasets fetch --force`"
            ) from error
    return None


def provide(
    files: Sequence[DataFile],
    *,
    folder: Path,
    download: bool = True,
    force: bool = False,
    say: Callable[[str], None] = silent,
) -> list[bytes]:
    """Return the bytes of files; what is not in the folder is fetched into it.

    Parameters
    ----------
    files
        The files.
    folder
        Where they are kept.
    download
        Whether to fetch what is missing.
    force
        Whether to fetch what is there, too.
    say
        Called with one line before each download.

    Raises
    ------
    DataUnavailableError
        Where a file is neither there nor to be had.
    """
    found = {file: None if force else find(file, folder) for file in files}
    missing = [file for file, content in found.items() if content is None]
    if missing and not download:
        raise _unavailable(missing, folder, ["it may not be downloaded"])
    if missing:
        with Downloads(say) as downloads:
            for done, file in enumerate(missing):
                found[file] = _fetch(file, downloads, folder, missing[done:])
    return [content for content in found.values() if content is not None]


def _fetch(
    file: DataFile, downloads: Downloads, folder: Path, missing: Sequence[DataFile]
) -> bytes:
    """Store the file from the first source that has it."""
    reasons = []
    for source in file.sources:
        try:
            raw = downloads.get(source)
        except SourceError as error:
            reasons.append(str(error))
            continue
        try:
            content = file.verified(raw, expected=source.sha256)
        except SourceError as error:
            reasons.append(f"{source}: what it gives {error}")
            continue
        save(content, folder / file.name)
        return content
    raise _unavailable([f for f in missing if f.page == file.page], folder, reasons)


def save(content: bytes, path: Path) -> None:
    """Write a file under another name, then rename it: it is there whole or not at all."""
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        try:
            with part.open("xb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise DataUnavailableError(
            f"{path} can't be written ({error.strerror}); set {VARIABLE} to a folder that can"
        ) from error


def _sweep(path: Path) -> None:
    """Delete what processes that were killed while writing the file have left."""
    for part in path.parent.glob(f".{path.name}.*.part"):
        with suppress(FileNotFoundError):
            if part.stat().st_mtime < time.time() - _STALE:
                part.unlink()


def _unavailable(
    missing: Sequence[DataFile], folder: Path, reasons: Iterable[str]
) -> DataUnavailableError:
    names = " and ".join(file.name for file in missing)
    why = "; ".join(dict.fromkeys(reasons))
    return DataUnavailableError(
        f"{names} {'is' if len(missing) == 1 else 'are'} not in {folder}, "
        f"and can't be fetched ({why}): "
        "run `quantifair datasets fetch` where there is a network and copy that folder, "
        f"or put the official file from {missing[0].page} into it, "
        f"or set {VARIABLE} to a folder that has it"
    )


def _user_cache() -> Path:
    """Return the folder of the user's caches on this platform."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
