"""``quantifair stress``: options, files, and exit status 2 on bad input."""

import json
import sys

import pytest
from tests.stress.surveys import survey

from quantifair.cli import BAD_INPUT, main

ROLES = ["--decision", "ok", "--group", "g", "--partitions", "2", "--draws", "1", "--quiet"]


@pytest.fixture
def stress(tmp_path, monkeypatch):
    survey(300).to_csv(tmp_path / "survey.csv", index=False)

    def call(*options):
        arguments = ["quantifair", "stress", str(tmp_path / "survey.csv"), *ROLES, *options]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code

    return call


def test_it_prints_tables_and_writes_a_document_and_a_figure(stress, tmp_path, capsys):
    document, figure = tmp_path / "stress.json", tmp_path / "stress.svg"
    shifts = ["--shift", "prior", "--shift", "covariate=x"]
    assert not stress(*shifts, "--json", str(document), "--figure", str(figure))
    printed = capsys.readouterr().out
    assert "b among ok=yes" in printed
    assert "The 95% intervals hold the truth in" in printed
    families = json.loads(document.read_text(encoding="utf-8"))["families"]
    assert [(f["name"], f["settings"][0]["what"]) for f in families] == [
        ("prior", "b among ok=no"),
        ("covariate", "x"),
    ]
    assert figure.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shift", "priors"], "did you mean 'prior'"),
        (["--shift", "prior=x"], "only covariate and drift take a column"),
        (["--shift", "drift=y"], "no feature 'y' to shift"),
        (["--partitions", "1"], "partitions is a whole number of at least 2"),
        (["--figure", "stress.png"], "should end in .svg or .pdf"),
        (["--group", "nobody"], "nobody"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_status_2(stress, capsys, options, message):
    assert stress(*options) == BAD_INPUT
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told
