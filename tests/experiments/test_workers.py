"""One worker, two, or the two of a Dask cluster: the same bytes."""

import os
import sys

import pytest
from tests.experiments import small
from tests.experiments.test_study import files

from quantifair import cli
from quantifair.errors import InputError
from quantifair.experiments.catalogue import Catalogue
from quantifair.experiments.commands import _workers
from quantifair.experiments.study import Study, run_study

# Of a user's file, which workers can't import, and must run all the same.
MINE = """
import os
from pathlib import Path

from quantifair.experiments.methods import Method
from quantifair.quantifiers import Quantifier

class Half(Quantifier):
    def learn(self, auxiliary):
        self.known = auxiliary

    def solve(self, deployment):
        {note}
        return deployment.scores.mean(axis=-2) / 2 + self.known.shares / 2

half = Method("half", Half())
"""
STUDY = Study(
    datasets=("small",),
    protocols=("sample-prev-D2", "flip-prev-D1"),
    learners=("LR", "SVM"),
    methods=("CC", "PACC", "SLD", "HDy", "half"),
    splits=2,
    repeats=1,
)


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    path = tmp_path_factory.mktemp("plug-in") / "mine.py"
    path.write_text(MINE.format(note=""))
    return Catalogue().extended(path)


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with LocalCluster(**options, dashboard_address=":0") as two:
        yield two


def run(folder, catalogue, **options):
    return run_study(
        STUDY, folder, catalogue=catalogue, load=lambda *_, **__: small.dataset(), **options
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory, catalogue):
    return files(run(tmp_path_factory.mktemp("alone"), catalogue))


def test_alone(alone):
    assert len(alone) == 8


@pytest.mark.parametrize("jobs", [2, -1])
def test_processes_give_the_same_results(tmp_path, catalogue, alone, jobs):
    assert files(run(tmp_path, catalogue, jobs=jobs)) == alone


def test_threads_give_the_same_results(tmp_path, catalogue, alone):
    with _workers("threading", None):
        assert files(run(tmp_path, catalogue, jobs=2)) == alone


@pytest.mark.parametrize("jobs", [1, -1])
def test_a_dask_cluster_gives_the_same_results(tmp_path, catalogue, alone, cluster, jobs):
    with _workers(None, cluster.scheduler_address):
        assert files(run(tmp_path, catalogue, jobs=jobs)) == alone


def test_the_command_line_runs_on_a_cluster(tmp_path, monkeypatch, cluster):
    words = ["experiment", "run", "--dataset=compas", "--protocol=sample-size-D2", "--splits=2"]
    words += ["--repeats=1", "--method=CC", "--method=SLD"]
    more = {"one": ["--jobs=1"], "dask": [f"--scheduler={cluster.scheduler_address}"]}
    for folder, how in more.items():
        monkeypatch.setattr(sys, "argv", ["quantifair", *words, str(tmp_path / folder), *how])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert not ended.value.code
    assert files(tmp_path / "one") == files(tmp_path / "dask")
    assert len(files(tmp_path / "one")) == 2


def test_it_is_the_clusters_processes_that_work(tmp_path, cluster):
    from distributed import Client

    note = f"Path({str(tmp_path)!r}, str(os.getpid()) + '.pid').touch()"
    (tmp_path / "mine.py").write_text(MINE.format(note=note))
    with Client(cluster.scheduler_address) as client:
        workers = set(client.run(os.getpid).values())
    with _workers(None, cluster.scheduler_address):
        run(tmp_path / "study", Catalogue().extended(tmp_path / "mine.py"))
    worked = {int(path.stem) for path in tmp_path.glob("*.pid")}
    assert len(workers) == 2
    assert worked
    assert worked <= workers
    assert os.getpid() not in worked


def test_an_unknown_backend_is_refused():
    with pytest.raises(InputError, match="no joblib backend 'sparkk'"), _workers("sparkk", None):
        pass


def test_without_dask_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(InputError, match="--scheduler takes Dask: pip install distributed"),
        _workers(None, "tcp://localhost:1"),
    ):
        pass
