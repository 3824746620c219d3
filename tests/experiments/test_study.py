"""A study: its units, and that it may be killed, resumed, and extended."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.experiments import small

from quantifair.errors import InputError
from quantifair.experiments import store
from quantifair.experiments.study import SPLITS, Study, Unit, run_study

QUICK = Study(
    datasets=("small",),
    protocols=("sample-prev-D3", "sample-size-D2"),
    methods=("CC", "SLD", "HDy"),
    splits=3,
    repeats=1,
)

# Runs the study above in a process of its own, which ends as the last line says.
PROGRAM = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.experiments.test_study import QUICK, quick

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

{how}
quick(Path({folder!r}), progress=progress)
"""
BETWEEN_UNITS = "progress = lambda done, total: done == 2 and kill()"
IN_A_FILE = """
progress, replace, times = lambda done, total: None, Path.replace, []
def once_too_often(*paths):
    times.append(paths)
    return kill() if len(times) == 4 else replace(*paths)
Path.replace = once_too_often
"""


def quick(folder, study=QUICK, **options):
    return run_study(study, folder, load=load, **options)


def load(name, *, standardise):
    assert name == "small"
    assert isinstance(standardise, bool)
    return small.dataset()


def files(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "units").glob("*.parquet"))}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return quick(tmp_path_factory.mktemp("unbroken"))


@pytest.mark.parametrize(
    ("how", "left"), [(BETWEEN_UNITS, 2), (IN_A_FILE, 2)], ids=["between", "in"]
)
def test_a_killed_run_goes_on_where_it_was(tmp_path, unbroken, how, left):
    """Killed between two units; or in a file, when all but its last step is done."""
    root = str(Path(__file__).parents[2])
    program = PROGRAM.format(root=root, how=how, folder=str(tmp_path))
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    before = files(tmp_path)
    assert len(before) == left
    assert len(list((tmp_path / "units").glob("*.part"))) == (how is IN_A_FILE)
    steps = []
    quick(tmp_path, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(done, 6) for done in range(left, 7)]
    assert files(tmp_path) == files(unbroken)
    pd.testing.assert_frame_equal(store.read(tmp_path), store.read(unbroken))


def test_units_that_are_there_are_not_run_again(unbroken):
    before = {path: path.stat().st_mtime_ns for path in (unbroken / "units").iterdir()}
    steps = []

    def nothing_to_load(*_args, **_options):
        raise AssertionError

    run_study(
        QUICK,
        unbroken,
        load=nothing_to_load,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(6, 6)]
    assert {path: path.stat().st_mtime_ns for path in (unbroken / "units").iterdir()} == before


def test_a_folder_takes_more_of_the_same_study(tmp_path, unbroken):
    """Units do not depend on which others were asked for."""
    first = Study(**{**vars(QUICK), "splits": 1, "protocols": ("sample-size-D2",)})
    quick(tmp_path, first)
    assert len(files(tmp_path)) == 1
    quick(tmp_path)
    assert files(tmp_path) == files(unbroken)


def test_a_folder_of_another_study_is_refused_before_anything_runs(unbroken):
    before = files(unbroken)
    with pytest.raises(InputError, match="holds a study with another seed"):
        quick(unbroken, Study(**{**vars(QUICK), "seed": 7}))
    assert files(unbroken) == before


def test_another_seed_draws_other_samples(tmp_path, unbroken):
    one = Study(**{**vars(QUICK), "seed": 7, "splits": 1})
    found, known = store.read(quick(tmp_path, one)), store.read(unbroken)
    known = known[(known["partition"] == 0) & (known["roles"] == "ABC")].reset_index(drop=True)
    assert (found["value"] == known["value"]).all()
    assert (found["CC:0"] != known["CC:0"]).any()


def test_learners_see_the_same_trials(tmp_path):
    both = Study(**{**vars(QUICK), "learners": ("LR", "SVM"), "splits": 1})
    found = store.read(quick(tmp_path, both))
    trials = ["protocol", "sub", "value", "repeat", "size:0", "true:0", "true:1", "prior:0"]
    one, other = (found[found["learner"] == name][trials] for name in ("LR", "SVM"))
    pd.testing.assert_frame_equal(one.reset_index(drop=True), other.reset_index(drop=True))


def test_results_are_those_of_the_splits(unbroken):
    found = store.read(unbroken)
    splits = found[["partition", "roles"]].drop_duplicates().to_numpy().tolist()
    assert splits == [[0, "ABC"], [1, "ABC"], [2, "ABC"]]
    assert found.groupby("protocol").size().to_dict() == {
        "sample-prev-D3": 3 * 22,
        "sample-size-D2": 3 * 5,
    }
    assert found.notna()[["CC:0", "SLD:1", "HDy:0", "true:0"]].all().all()
    assert np.abs(found["SLD:0"] - found["true:0"]).mean() < 0.2


def test_clean_features_are_asked_for_as_they_are(tmp_path):
    asked = []

    def noting(name, *, standardise):
        asked.append(standardise)
        return load(name, standardise=standardise)

    for clean in (False, True):
        study = Study(**{**vars(QUICK), "clean": clean, "splits": 1})
        run_study(study, tmp_path / str(clean), load=noting)
    assert asked == [True, False]


def test_thirty_splits_of_five_partitions_in_six_roles():
    assert SPLITS == 30
    units = list(Study(protocols=("sample-prev-D3",)).units("compas"))
    assert len({(unit.partition, unit.roles) for unit in units}) == len(units) == 30
    assert units[0] == Unit("compas", "LR", "sample-prev-D3", 0, "ABC")


def test_few_splits_are_of_many_partitions():
    """The partitions are what is independent."""
    seven = list(Study(splits=7, protocols=("sample-prev-D3",)).units("compas"))
    assert [unit.partition for unit in seven] == [0, 1, 2, 3, 4, 0, 1]
    assert [unit.roles for unit in seven] == ["ABC"] * 5 + ["ACB"] * 2


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"splits": 0}, "splits is 0; there are 1 to 30"),
        ({"splits": 31}, "splits is 31; there are 1 to 30"),
        ({"repeats": 0}, "repeats is 0; at least one is needed"),
    ],
)
def test_a_study_that_can_not_be_is_refused(wrong, sentence):
    with pytest.raises(InputError, match=sentence):
        Study(**wrong)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"methods": ("SLDD",)}, "no method 'SLDD'; did you mean 'SLD'"),
        ({"protocols": ("sample-prev",)}, "no protocol 'sample-prev'"),
        ({"learners": ("lr",)}, "no learner 'lr'"),
        ({"auditee": "tree"}, "no audited classifier 'tree'"),
    ],
)
def test_unknown_names_are_refused_before_a_folder_is_made(tmp_path, wrong, sentence):
    folder = tmp_path / "study"
    with pytest.raises(InputError, match=sentence):
        quick(folder, Study(**{**vars(QUICK), **wrong}))
    assert not folder.exists()
