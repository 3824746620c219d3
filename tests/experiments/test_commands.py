"""`quantifair experiment`: a quick study of COMPAS, and methods of one's own."""

import csv
import re
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from quantifair.errors import InputError
from quantifair.experiments import store
from quantifair.experiments.commands import experiment_app
from quantifair.experiments.methods import ABLATION, CROSSED, METHODS

NAMES = ["sample-prev-D3", "sample-prev-D2", "sample-size-D2", "sample-prev-D1", "flip-prev-D1"]
DOCUMENTED = Path(__file__).parents[2] / "docs" / "experiments.md"

PROTOCOL = """
from quantifair.experiments.protocols import Protocol, Trial, sample

class Smaller(Protocol):
    \"\"\"A deployment of fewer and fewer people.\"\"\"

    name = "small_D3"

    def trials(self, training, cells, *, repeats, rng):
        for size in (50, 100, 200):
            for repeat in range(repeats):
                rows = tuple(sample(rows, size, rng) for rows in cells.deployment_rows)
                yield Trial("", size, repeat, cells.auxiliary_rows, rows)

smaller = Smaller()
"""


def call(*words):
    return CliRunner().invoke(experiment_app, [str(word) for word in words])


def said(*words):
    found = call(*words)
    assert found.exit_code == 0, found.output or found.exception
    return found.stdout


def refusal(*words):
    found = call(*words)
    assert found.exit_code
    assert isinstance(found.exception, InputError), found.exception
    return str(found.exception)


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def quick(tmp_path_factory, compas):
    """All five protocols on COMPAS, one split, two samplings: seconds."""
    assert len(compas.group) == 5_278
    out = tmp_path_factory.mktemp("quick") / "study"
    words = ["--dataset", "compas", "--splits", 1, "--repeats", 2, "--jobs", 1]
    assert f"in {out}" in said("run", out, *words)
    return out


class TestQuickStudy:
    def test_it_has_every_protocol_at_every_value(self, quick):
        trials = store.read(quick)
        counted = trials.groupby("protocol").size().to_dict()
        expected = dict(zip(NAMES, (44, 36, 10, 22, 22), strict=True))
        assert counted == expected
        assert trials["dataset"].unique().tolist() == ["compas"]

    def test_tables_stand_beside_the_papers_in_every_form(self, quick, tmp_path):
        printed = said("tables", quick, "--out", tmp_path)
        for name in NAMES:
            assert f"{name}, LR" in printed
            latex = (tmp_path / f"{name}-LR.tex").read_text()
            assert latex.startswith(r"\begin{tabular}")
            markdown = (tmp_path / f"{name}-LR.md").read_text()
            assert markdown.strip() in printed
            assert len(re.findall(r"SLD\(LR\)|MLPE", markdown)) == 2
            rows = rows_of((tmp_path / f"{name}-LR.csv").read_text())
            assert [row["method"] for row in rows] == [
                *("CC", "PCC", "ACC", "PACC", "SLD", "HDy", "MLPE")
            ]
            beside = pd.read_csv(tmp_path / f"{name}-LR-beside-the-paper.csv")
            assert len(beside) == 7
            assert (tmp_path / f"{name}-LR-beside-the-paper.md").exists()
        assert len(list(tmp_path.iterdir())) == 5 * 5

    @pytest.mark.parametrize(
        ("form", "sign"), [("markdown", "|---|"), ("latex", r"\toprule"), ("csv", "mae,")]
    )
    def test_tables_are_printed_in_the_form_asked_for(self, quick, form, sign):
        printed = said("tables", quick, "--form", form)
        assert printed.count("sample-prev-D3, LR") == 1
        assert sign in printed

    def test_the_references_deviations_are_an_option(self, quick):
        assert said("tables", quick) != said("tables", quick, "--as-reference")

    def test_a_ladder_is_made_of_several_studies(self, quick, tmp_path):
        words = ["--crossed", "--dataset", "compas", "--splits", 1, "--repeats", 2, "--jobs", 1]
        said("run", tmp_path / "own", "--protocol", NAMES[0], *words)
        out, figure = tmp_path / "units.parquet", tmp_path / "ladder.svg"
        printed = said("ladder", quick, tmp_path / "own", "--out", out, "--figure", figure)
        assert re.findall("^(.*-D.)$", printed, flags=re.MULTILINE) == NAMES
        shifted = printed.split(NAMES[1])[0]
        for name in ("SLD(LR)", "MLPE", "PACC-x(LR)", "SLD-x(LR)"):
            assert f"| {name} | 0." in shifted
        assert "95% intervals" in printed
        assert f"| {NAMES[0]} | COMPAS | LR | 1 | 44 | " in printed
        assert len(pd.read_parquet(out)) == 5 * len(METHODS) + len(CROSSED)
        assert figure.read_text().startswith("<?xml")

    def test_the_papers_order_of_methods_shows_in_seconds(self, quick):
        """Under shift, SLD and PACC beat CC and PCC."""
        rows = rows_of(said("tables", quick, "--form", "csv").split("\n\n")[1])
        mae = {row["method"]: float(row["mae"]) for row in rows}
        assert max(mae["SLD"], mae["PACC"], mae["HDy"]) < min(mae["CC"], mae["PCC"], mae["MLPE"])

    def test_figures(self, quick, tmp_path):
        printed = said("figures", quick, "--out", tmp_path)
        drawn = sorted(path.name for path in tmp_path.iterdir())
        assert printed == f"{len(drawn)} figures in {tmp_path}\n"
        assert len(drawn) >= len(NAMES)
        assert all(path.read_text().startswith("<?xml") for path in tmp_path.iterdir())
        for name in NAMES:
            assert any(name in file for file in drawn), drawn

    def test_an_unknown_form_is_refused(self, quick, tmp_path):
        assert "html" in refusal("tables", quick, "--form", "html")
        assert "gif" in refusal("figures", quick, "--out", tmp_path, "--form", "gif")

    def test_another_study_in_its_folder_is_refused(self, quick):
        sentence = refusal("run", quick, "--dataset", "compas", "--seed", 3)
        assert "another repeats and seed (2, 0); name another folder" in sentence


def test_list_names_everything_and_what_a_file_adds(tmp_path):
    (tmp_path / "mine.py").write_text(PROTOCOL)
    for words, more in (([], ""), (["--with", tmp_path / "mine.py"], ", small_D3")):
        lines = said("list", *words).splitlines()
        assert lines[0] == f"protocols            {', '.join(NAMES)}{more}"
        assert lines[1] == f"methods              {', '.join(METHODS | ABLATION | CROSSED)}"
        assert lines[2] == "learners             LR, SVM, LR-100, best"
        assert lines[3] == "audited classifiers  LR, fair-tree, LR-100"


@pytest.mark.skipif(not DOCUMENTED.exists(), reason="the documentation is not here")
def test_the_documented_quantifier_gets_all_of_it(tmp_path):
    """docs/experiments.md, typed off."""
    text = DOCUMENTED.read_text()
    (tmp_path / "median.py").write_text(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    (command,) = re.findall(r"\$ quantifair experiment (run mine .*)", text)
    words = [w.replace("mine", str(tmp_path / "mine")) for w in command.split()]
    words = [w.replace("median.py", str(tmp_path / "median.py")) for w in words]
    said(*words, "--splits", 1, "--repeats", 2, "--jobs", 1)
    trials = store.read(tmp_path / "mine")
    assert set(trials["protocol"]) == set(NAMES)
    ran = trials[trials["problem"] == ""]
    assert ran["MS:0"].between(0, 1).all()
    printed = said("tables", tmp_path / "mine", "--out", tmp_path / "tables")
    assert printed.count("MS(LR)") == 5
    assert "MS(LR)" in (tmp_path / "tables" / "sample-prev-D3-LR.tex").read_text()
    said("figures", tmp_path / "mine", "--out", tmp_path / "figures")


def test_a_protocol_in_one_small_file(tmp_path):
    (tmp_path / "mine.py").write_text(PROTOCOL)
    out = tmp_path / "study"
    words = ["--with", tmp_path / "mine.py", "--protocol", "small_D3", "--dataset", "compas"]
    said("run", out, *words, "--splits", 2, "--repeats", 3, "--jobs", 1)
    trials = store.read(out)
    assert trials.groupby("value").size().to_dict() == {50: 6, 100: 6, 200: 6}
    assert (trials["size:0"] == trials["value"]).all()
    printed = said("tables", out, "--out", tmp_path / "tables")
    assert "small_D3, LR" in printed
    assert printed.count("SLD(LR)") == 1
    assert (tmp_path / "tables" / "small_D3-LR.tex").exists()
    said("figures", out, "--out", tmp_path / "figures")
    assert any("small_D3" in path.name for path in (tmp_path / "figures").iterdir())


@pytest.mark.parametrize("protocol", ["sample-prev-D3", "sample-size-D2"])
def test_figures_of_methods_that_label_nobody_or_of_nothing_shifted(tmp_path, protocol):
    out = tmp_path / "study"
    said("run", out, "--dataset", "compas", "--protocol", protocol, "--method", "HDy",
         "--splits", 1, "--repeats", 1, "--jobs", 1)  # fmt: skip
    said("figures", out, "--out", tmp_path / "figures")
    drawn = [path.name for path in (tmp_path / "figures").iterdir()]
    assert drawn == [f"{protocol}-compas-LR.svg"]


def test_the_ablation_has_its_figure(tmp_path):
    out = tmp_path / "study"
    said("run", out, "--ablation", "--dataset", "compas", "--protocol", "sample-prev-D3",
         "--splits", 1, "--repeats", 1, "--jobs", 1)  # fmt: skip
    assert {"SLD:0", "SLD-nosD2:0"} <= set(store.read(out).columns)
    said("figures", out, "--out", tmp_path / "figures")
    assert any("ablation" in path.name for path in (tmp_path / "figures").iterdir())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--method", "SLDD"], "no method 'SLDD'; did you mean 'SLD'"),
        (["--splits", "31"], "splits is 31; there are 1 to 30"),
        (["--with", "absent.py"], "there is no Python file absent.py"),
        (["--dataset", "compass"], "compass"),
        (["--backend", "none"], "no joblib backend 'none'"),
    ],
)
def test_what_can_not_be_run_is_refused_in_a_sentence(tmp_path, words, sentence):
    assert sentence in refusal("run", tmp_path / "study", *words)


def test_tables_of_nothing_are_refused(tmp_path):
    assert "holds no results" in refusal("tables", tmp_path)


def test_coverage_is_measured_printed_and_drawn(tmp_path):
    out, figure = tmp_path / "coverage.csv", tmp_path / "coverage.svg"
    words = ["--groups", 2, "--settings", 2, "--replicates", 3, "--jobs", 1, "--figure", figure]
    text = said("coverage", out, *words)
    assert "difference of selection rates" in text
    assert "resampling the deployment alone" in text
    assert len(out.read_text().splitlines()) == 1 + 2 * 5
    assert figure.read_text().startswith("<?xml")


def test_coverage_is_for_two_groups_or_four(tmp_path):
    refused = call("coverage", tmp_path / "c.csv", "--groups", 3)
    assert isinstance(refused.exception, InputError)
    assert "2 or 4, not 3" in str(refused.exception)
