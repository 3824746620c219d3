"""The command line: what it prints, what it writes, and how it ends."""

import json
import os
import re
import shlex
import subprocess
import sysconfig
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main
from tests.people import audited, draw, tables

from quantifair import Audit, cli
from quantifair.datasets import simulate_lender
from quantifair.results import AuditResult
from quantifair.serialisation import SCHEMA_VERSION

RATES = [
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "positive_predictive_value",
    "negative_predictive_value",
]
FORCES_A_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process, with a quick training and few replicates."""
    monkeypatch.setattr("quantifair.audit.Audit", quick)
    for name in FORCES_A_TERMINAL:
        monkeypatch.delenv(name, raising=False)

    def call(*words: Any) -> Ended:
        monkeypatch.setattr("sys.argv", ["quantifair", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return Ended(int(stopped.value.code or 0), *capsys.readouterr())

    return call


def quick(**given: Any) -> Audit:
    training = {} if given.get("scores") else {"training": "split"}
    return Audit(**{**given, **training, "replicates": 20})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A deployment whose true group is known, and a survey."""
    folder = tmp_path_factory.mktemp("files")
    survey, deployment = folder / "survey.csv", folder / "deployment.parquet"
    lender = simulate_lender(auxiliary_rows=400, deployment_rows=300, seed=1)
    lender.auxiliary.to_pandas().to_csv(survey, index=False)
    lender.truth.to_pandas().to_parquet(deployment)
    return deployment, survey


@pytest.fixture
def basics(files: tuple[Path, Path]) -> list[Any]:
    deployment, survey = files
    return [deployment, "--auxiliary", survey, "--group", "gender"]


def from_python(files: tuple[Path, Path], **roles: Any) -> AuditResult:
    deployment, survey = files
    audit = quick(decision="approved", group="gender", **roles)
    return audit.fit(survey).measure(deployment)


def is_figure(shown: Any) -> bool:
    if set(shown) != {"estimate", "low", "high"}:
        return False
    return all(v is None for v in shown.values()) or (
        shown["low"] <= shown["estimate"] <= shown["high"]
    )


@pytest.fixture
def written(run: Run, basics: list[Any], tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "audit.json"
    options = ["--decision", "approved", "--label", "repaid", "--seed", 3, "--json", file]
    assert run("audit", *basics, *options).status == 0
    loaded = json.loads(file.read_text())
    assert isinstance(loaded, dict)
    return loaded


def test_covariate_shift_is_declared_and_contradicted(run: Run, basics: list[Any]) -> None:
    options = ["--decision", "approved", "--assume", "covariate_shift"]
    declared = run("audit", *basics, *options)
    assert declared.status == 0
    assert "The auditor declared covariate shift" in declared.out
    contradicted = run("audit", *basics, *options, "--quantifier", "sld")
    assert contradicted.status != 0
    assert "SLD corrects for prior shift, but covariate shift is declared" in contradicted.err


def test_the_json_tells_the_disparities_and_their_direction(written: dict[str, Any]) -> None:
    assert set(written["measures"]) == {
        "demographic_parity",
        "true_positive_rate",
        "true_negative_rate",
        "positive_predictive_value",
        "negative_predictive_value",
        "equal_opportunity",
        "equalized_odds",
    }
    for name, measure in written["measures"].items():
        assert measure["name"] == name
        assert is_figure(measure["difference"])
        assert is_figure(measure["ratio"])
        expected = "woman minus man" if measure["signed"] else "largest minus smallest"
        assert measure["direction"] == expected


def test_the_json_tells_the_groups_and_their_rates(written: dict[str, Any]) -> None:
    assert [group["name"] for group in written["groups"]] == ["man", "woman"]
    for group in written["groups"]:
        assert is_figure(group["share"])
        assert all(is_figure(group[rate]) for rate in RATES)
    low, high = (group["selection_rate"]["estimate"] for group in written["groups"])
    difference = written["measures"]["demographic_parity"]["difference"]["estimate"]
    assert difference == pytest.approx(high - low)


def test_the_json_tells_how_it_came_about(written: dict[str, Any]) -> None:
    assert written["schema_version"] == SCHEMA_VERSION
    assert written["settings"]["seed"] == 3
    assert written["settings"]["features"][0] == "income"
    assert written["versions"]["quantifair"] == version("quantifair")
    assert {"numpy", "scikit-learn", "duckdb"} < set(written["versions"])


def test_the_json_counts_the_rows_of_each_cell(written: dict[str, Any]) -> None:
    cells = {cell["name"]: cell for cell in written["cells"]}
    decisions = cells["approved=no"], cells["approved=yes"]
    assert written["rows"] == sum(cell["deployment_rows"] for cell in decisions) == 300
    assert sum(sum(cell["auxiliary_rows"].values()) for cell in decisions) == 400
    assert cells["repaid=True, approved=yes"]["deployment_rows"] < decisions[1]["deployment_rows"]


def test_the_json_lists_warnings_by_code(run: Run, tmp_path: Path) -> None:
    survey, deployment = tables()
    survey.assign(extra=1).to_csv(tmp_path / "survey.csv", index=False)
    deployment.assign(g="a").to_csv(tmp_path / "later.csv", index=False)
    words = [tmp_path / "later.csv", "-a", tmp_path / "survey.csv", "--group", "g"]
    run("audit", *words, "--decision", "ok", "--json", tmp_path / "audit.json")
    warnings = json.loads((tmp_path / "audit.json").read_text())["warnings"]
    assert [set(warning) for warning in warnings] == [{"code", "message", "where"}] * 2
    assert [w["code"] for w in warnings] == ["group_in_deployment", "not_shared"]
    assert warnings[1]["where"] == "the auxiliary table (survey.csv)"


def test_it_finds_what_python_finds_and_prints_that_alone(
    run: Run, basics: list[Any], files: tuple[Path, Path]
) -> None:
    ended = run("audit", *basics, "--decision", "approved", "--seed", 2)
    assert ended == (0, f"{from_python(files, seed=2)}\n", "")


def test_options_have_the_meaning_of_arguments(
    run: Run, basics: list[Any], files: tuple[Path, Path], tmp_path: Path
) -> None:
    roles: dict[str, Any] = {
        "label": "repaid",
        "features": ["amount", "part_time", "sector"],
        "favourable": "no",
        "favourable_label": "False",
        "reference": "woman",
        "learner": "svm",
        "quantifier": "pacc",
        "level": 0.5,
        "margin": 0.3,
        "ratio_margin": 0.6,
        "seed": 9,
    }
    options = [w for f in roles["features"] for w in ("--feature", f)]
    for name, value in roles.items():
        options += [] if name == "features" else [f"--{name.replace('_', '-')}", value]
    file = tmp_path / "audit.json"
    assert run("audit", *basics, "--decision", "approved", *options, "--json", file).status == 0
    assert file.read_text() == from_python(files, **roles).to_json() + "\n"


def test_weights_ids_and_scores_are_columns(run: Run, tmp_path: Path) -> None:
    survey, later = tables(who=lambda t, _: range(len(t)), w=2.0, p=0.25, q=0.75)
    survey.loc[::2, ["p", "q"]] = 0.5
    survey.to_parquet(tmp_path / "survey.parquet")
    later.to_parquet(tmp_path / "later.parquet")
    words = [tmp_path / "later.parquet", "-a", tmp_path / "survey.parquet", "--group", "g"]
    words += ["--decision", "ok", "--weight", "w", "--id", "who", "--score", "a=p"]
    file = tmp_path / "audit.json"
    assert run("audit", *words, "--score", "b=q", "--json", file).status == 0
    roles = {"weight": "w", "id": "who", "scores": {"a": "p", "b": "q"}}
    assert json.loads(file.read_text())["groups"] == [
        json.loads(json.dumps(g)) for g in audited(survey, later, **roles).to_dict()["groups"]
    ]


def test_prevalences_know_the_people_of_an_id_column(run: Run, tmp_path: Path) -> None:
    survey, later = tables(who=lambda t, _: range(len(t)))
    survey.to_parquet(tmp_path / "survey.parquet")
    later.to_parquet(tmp_path / "later.parquet")
    words = [tmp_path / "later.parquet", "-a", tmp_path / "survey.parquet", "--group", "g"]
    ended = run("quantify", *words, "--id", "who")
    assert ended.status == 0
    assert "- known_people: 150 deployment rows" in ended.out


def test_truth_is_set_beside_the_estimate(
    run: Run, basics: list[Any], files: tuple[Path, Path]
) -> None:
    ended = run("audit", *basics, "--decision", "approved", "--truth", "true_gender")
    result = from_python(files)
    comparison = result.compare(files[0], group="true_gender")
    assert ended == (0, f"{result}\n\nAgainst the truth\n\n{comparison}\n", "")


def test_intersections_are_set_beside_their_truth(run: Run, tmp_path: Path) -> None:
    people = draw(600, 1)
    people["h"] = (people["city"] == "Rome").map({True: "near", False: "far"})
    people = people.drop(columns="city").assign(y=people["h"] == "near")
    people.to_csv(tmp_path / "survey.csv", index=False)
    people.rename(columns={"g": "g1", "h": "h1"}).to_csv(tmp_path / "later.csv", index=False)
    words = [tmp_path / "later.csv", "-a", tmp_path / "survey.csv", "--decision", "ok"]
    ended = run("audit", *words, "--group", "g", "--group", "h", "--truth", "g1", "--truth", "h1")
    assert ended.status == 0
    assert re.search(r"share of a & far +0\.\d+ .* 0\.\d+", ended.out)


@pytest.mark.parametrize("column", ["income", "sector"])
def test_a_truth_that_holds_no_groups_is_found_before_the_deployment_is_audited(
    column: str, run: Run, basics: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quantifair.fitted.FittedAudit.measure", None)
    ended = run("audit", *basics, "--decision", "approved", "--truth", column)
    assert (ended.status, ended.out) == (cli.BAD_INPUT, "")
    assert ended.err.startswith("error: ")


@pytest.mark.parametrize(
    ("ending", "begins"), [(".html", "<!doctype html>"), (".md", "# Audit of approved")]
)
def test_reports_are_written_by_their_ending(
    ending: str, begins: str, run: Run, basics: list[Any], tmp_path: Path
) -> None:
    file = tmp_path / f"report{ending}"
    assert run("audit", *basics, "--decision", "approved", "--report", file).status == 0
    assert file.read_text().lower().startswith(begins.lower())


def test_prevalences_alone(
    run: Run, basics: list[Any], files: tuple[Path, Path], tmp_path: Path
) -> None:
    deployment, survey = files
    file = tmp_path / "shares.json"
    ended = run("quantify", *basics, "--json", file)
    expected = quick(group="gender").fit(survey).quantify(deployment)
    assert ended == (0, f"{expected}\n", "")
    (cell,) = json.loads(file.read_text())["cells"]
    assert cell["name"] == "any decision"
    assert all(is_figure(share) for share in cell["prevalence"].values())
    by_decision = run("quantify", *basics, "--decision", "approved").out
    assert "approved=no" in by_decision
    assert "approved=yes" in by_decision


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_shown_on_a_terminal_and_never_in_the_output(
    quiet: bool, run: Run, basics: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["audit", *basics, "--decision", "approved"]
    plain = run(*words)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    ended = run(*words, *(["--quiet"] if quiet else []))
    assert ended.out == plain.out
    assert ("\x1b[" in ended.err) == (not quiet)


def test_the_demonstration_shows_its_command_and_the_truth(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "a folder"
    ended = run("demo", "--out", out, "--rows", 400, "--seed", 6)
    assert ended.status == 0
    assert ended.err == ""
    assert {file.name for file in out.iterdir()} == {
        "survey.csv", "deployment.parquet", "audit.json", "audit.html",
    }  # fmt: skip
    naive = re.search(r"Classify and count \(naive threshold\) +(\S+) +(\S+) +(\S+)", ended.out)
    assert naive is not None
    estimate, truth, error = map(float, naive.groups())
    assert error == pytest.approx(estimate - truth, abs=0.0011)

    shown = (out / "audit.json").read_text()
    command = ended.out.partition("  quantifair ")[2].partition("\n\n")[0]
    monkeypatch.chdir(tmp_path)
    (out / "audit.json").unlink()
    assert run(*shlex.split(command.replace("\\\n", ""))).status == 0
    assert (out / "audit.json").read_text() == shown


def test_no_command_shows_help(run: Run) -> None:
    ended = run()
    assert all(name in ended.out + ended.err for name in ("audit", "quantify", "demo"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help(command: str, run: Run) -> None:
    assert COMMANDS[command].help
    for option in getattr(COMMANDS[command], "params", []):
        assert option.help, option.name
    ended = run(command, "--help")
    assert ended.status == 0
    assert ended.out.startswith(f"Usage: quantifair {command}")


# Bad options. Bad tables are in test_bad_input.py.


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--score", "man"], "error: --score takes GROUP=COLUMN, not 'man'"),
        (["--margin", "5"], "error: margin is a difference of rates such as 0.05, from 0 to below"),
        (["--ratio-margin", "1.2"], "error: ratio_margin is a ratio of rates such as 0.8, above 0"),
        (["--truth", "genre"], "no column 'genre' (the true group)"),
        (["--json", "nowhere/x.json"], "error: there is no folder"),
        (["--json", "."], "error: . is a directory; name a file to write"),
        (["--report", "nowhere/x.md"], "error: there is no folder"),
        (["--report", "x.pdf"], "error: x.pdf should end in .html or .md"),
        (["--report", "x"], "error: x should end in .html or .md"),
        (["--json", "x" * 5000], "File name too long"),
    ],
)
def test_bad_options_are_found_before_any_work(
    words: list[str], message: str, run: Run, basics: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Audit, "fit", None)
    ended = run("audit", *basics, "--decision", "approved", *words)
    assert (ended.status, ended.out) == (cli.BAD_INPUT, "")
    assert ended.err.startswith("error: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audit"], "Missing argument"),
        (["audit", "x.csv"], "Missing option"),
        (["audit", "x.csv", "--bogus"], "No such option"),
        (["audit", "x.csv", "--level", "high"], "Invalid value for '--level'"),
        (["adit"], "No such command"),
    ],
)
def test_misuse_ends_with_status_2_and_no_traceback(
    words: list[str], message: str, run: Run
) -> None:
    ended = run(*words)
    assert (ended.status, ended.out) == (cli.BAD_INPUT, "")
    assert message in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(("option", "write"), [("--json", "to_json"), ("--report", "write")])
def test_a_full_disk_is_no_defect(
    option: str,
    write: str,
    run: Run,
    basics: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    owner = "quantifair.results.AuditResult" if write == "to_json" else "quantifair.report"
    monkeypatch.setattr(f"{owner}.{write}", full)
    file = tmp_path / "x.html"
    ended = run("audit", *basics, "--decision", "approved", option, file)
    assert ended.status == cli.BAD_INPUT
    assert ended.err == f"error: can't write {file}: No space left on device\n"


def test_a_demonstration_needs_a_folder(run: Run, files: tuple[Path, Path]) -> None:
    ended = run("demo", "--out", files[1])
    assert ended.status == cli.BAD_INPUT
    assert ended.err == f"error: can't write to the folder {files[1]}: File exists\n"


def raising(error: type[BaseException]) -> Callable[..., None]:
    def fail(*_: Any, **__: Any) -> None:
        raise error("by chance")

    return fail


def test_an_interrupt_ends_with_status_130(
    run: Run, basics: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Audit, "fit", raising(KeyboardInterrupt))
    ended = run("audit", *basics, "--decision", "approved")
    assert (ended.status, ended.out) == (cli.INTERRUPTED, "")
    monkeypatch.setattr(cli, "app", raising(KeyboardInterrupt))
    assert run("audit") == (cli.INTERRUPTED, "", "interrupted\n")


def test_a_defect_ends_with_status_70_and_a_traceback(
    run: Run, basics: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Audit, "fit", raising(ZeroDivisionError))
    ended = run("audit", *basics, "--decision", "approved")
    assert (ended.status, ended.out) == (cli.DEFECT, "")
    assert "ZeroDivisionError: by chance" in ended.err
    assert ended.err.endswith("not of your data; please report it.\n")


def command(*words: Any) -> subprocess.CompletedProcess[str]:
    program = Path(sysconfig.get_path("scripts")) / "quantifair"
    given = [str(program), *map(str, words)]
    plain = {name: v for name, v in os.environ.items() if name not in FORCES_A_TERMINAL}
    return subprocess.run(  # noqa: S603
        given, capture_output=True, text=True, check=False, env=plain
    )


def test_the_installed_command_leaves_nothing_on_standard_error(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    deployment, survey = files
    words = [deployment, "-a", survey, "--group", "gender", "--decision", "approved"]
    ended = command("audit", *words, "--replicates", 20, "--truth", "true_gender")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("Audit of approved=yes by gender: 300 deployment rows")
    broken = tmp_path / "broken.csv"
    broken.write_text(survey.read_text() + "1,2\n")
    words[0] = broken
    ended = command("audit", *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: the deployment table (broken.csv) can't be read: ")
    assert ended.stderr.count("\n") == 1
