"""The page on the error ladder says what is stored, and how much stands behind it."""

import pandas as pd
import pytest
from benchmarks import ladder as bench
from tests.experiments.test_ladder import given

from quantifair.experiments.ladder import coverage, ladder
from quantifair.experiments.protocols import PROTOCOLS
from quantifair.experiments.study import run_study


@pytest.fixture
def units():
    one = given({("SLD", "LR"): [0.2] * 4, ("PCC", "LR"): [0.3] * 4})
    own = given({("PACC-x", "best"): [0.1] * 4}, covered=[1.0, 0.9, 0.9, 0.8], width=0.5, lost=0.25)
    return pd.concat([one, own], ignore_index=True)


def test_the_page_holds_the_tables_and_the_coverage(units):
    text = bench.page(units, coverage(units))
    assert "\n## sample-prev-D3\n" in text
    assert "| PACC-x(best) | 0.100 ± 0.000 | -0.100 ± 0.000 | -0.200 ± 0.000 |" in text
    assert "| sample-prev-D3 | Adult | best | 4 | 36 | 0.900 ± 0.050 | 0.500 |" in text


def test_it_says_how_much_was_run_and_how_often_there_was_no_answer(units):
    line = bench.size_table(units, ladder(units)).splitlines()[-1]
    assert line == "| sample-prev-D3 | 4 | 36 | PACC-x(best), adult: 25.0% |"


def test_the_stored_results_are_what_the_page_says():
    stored = pd.read_parquet(bench.UNITS), pd.read_csv(bench.COVERAGE)
    assert (bench.DOCS / "ladder.md").read_text() == bench.page(*stored)
    assert bench.UNITS.stat().st_size < 1_000_000


def test_every_protocol_has_a_size_of_several_partitions():
    assert list(bench.SIZES) == list(PROTOCOLS)
    assert min(size.splits for size in bench.SIZES.values()) >= 5


def test_a_run_asks_for_the_papers_methods_and_the_packages_own(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(bench, "run_study", lambda *a, **k: asked.append((a, k)))
    bench.run(tmp_path, ["sample-prev-D2"], jobs=2, splits=5)
    assert bench.run_study is not run_study
    (lr, at), (best, _) = (given for given, _ in asked)
    assert at == tmp_path / "sample-prev-D2-LR"
    assert (lr.learners, best.learners) == (("LR",), ("best",))
    assert set(best.methods) < set(lr.methods)
    assert lr.splits == best.splits == 5
    assert lr.repeats == best.repeats
