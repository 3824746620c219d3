"""Results on disk: whole or not there, of one study, read back as they were."""

import json

import numpy as np
import pandas as pd
import pytest

from quantifair.errors import InputError
from quantifair.experiments import store
from quantifair.experiments.study import Study, Unit

UNIT = Unit("compas", "LR", "sample-prev-D3", 3, "BCA")
SETTINGS = Study().settings


def table(rows=3, **columns):
    known = {
        "sub": np.array(["rejected"] * rows, dtype=object),
        "value": np.arange(rows) / 10,
        "repeat": np.arange(rows),
        "problem": np.array([""] * rows, dtype=object),
        "CC:0": np.linspace(0.1, 0.2, rows),
        "lost:CC:0": np.zeros(rows),
    }
    return {**known, **columns}


def test_a_table_is_read_back_as_it_was(tmp_path):
    written = table(**{"CC:0": np.array([0.1, np.nan, 1 / 3])})
    assert not store.done(tmp_path, UNIT)
    store.write(tmp_path, UNIT, written)
    assert store.done(tmp_path, UNIT)
    found = store.read(tmp_path)
    for name in ("value", "repeat", "CC:0"):
        np.testing.assert_array_equal(found[name], written[name])
    for name in ("sub", "problem"):
        assert found[name].tolist() == written[name].tolist()
    for name, value in UNIT._asdict().items():
        assert found[name].tolist() == [value] * 3


@pytest.mark.parametrize("name", ["my_protocol", "a_b_c", "100%", "../up", "a/b", "%5F", "ñ", "_"])
def test_names_of_plug_ins_may_hold_anything(tmp_path, name):
    unit = Unit("compas", f"{name}x", name, 0, "ABC")
    store.write(tmp_path, unit, table())
    assert store.done(tmp_path, unit)
    assert [path.parent.name for path in tmp_path.rglob("*.parquet")] == ["units"]
    found = store.read(tmp_path)
    assert found["learner"].unique().tolist() == [f"{name}x"]
    assert found["protocol"].unique().tolist() == [name]


def test_the_order_is_that_of_the_units_whoever_was_first(tmp_path):
    units = [UNIT._replace(partition=p, roles=r) for p in (1, 0) for r in ("CAB", "ABC")]
    for unit in units:
        store.write(tmp_path, unit, table(1))
    found = store.read(tmp_path)[["partition", "roles"]].to_numpy().tolist()
    assert found == [[0, "ABC"], [0, "CAB"], [1, "ABC"], [1, "CAB"]]


def test_what_was_never_lost_takes_no_column(tmp_path):
    store.write(tmp_path, UNIT, table(**{"lost:PACC:0": np.array([0.0, 1.0, np.nan])}))
    columns = pd.read_parquet(tmp_path / "units" / f"{UNIT.name}.parquet").columns
    assert [c for c in columns if c.startswith("lost")] == ["lost:PACC:0"]


def test_half_of_a_file_is_never_met(tmp_path, monkeypatch):
    """Where the disk is full, or the like, the unit is not done, and nothing is left behind."""

    def full(*_):
        raise OSError("no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.replace", full)
        with pytest.raises(OSError, match="no space"):
            store.write(tmp_path, UNIT, table())
    assert not store.done(tmp_path, UNIT)
    assert list((tmp_path / "units").iterdir()) == []


def test_parts_that_a_killed_run_left_are_not_results(tmp_path):
    store.write(tmp_path, UNIT, table())
    (tmp_path / "units" / "tmp1234.part").write_bytes(b"PAR1")
    assert len(store.read(tmp_path)) == 3


def test_a_folder_holds_one_studys_settings(tmp_path):
    folder = tmp_path / "deep" / "study"
    store.claim(folder, SETTINGS)
    store.claim(folder, SETTINGS)
    assert store.settings(folder) == json.loads(json.dumps(SETTINGS))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seed": 1}, r"holds a study with another seed \(0\); name another folder"),
        ({"repeats": 3}, r"holds a study with another repeats \(10\)"),
        ({"auditee": "fair-tree"}, r"another auditee \(LR\)"),
        ({"clean": True}, r"another clean \(False\)"),
        ({"methods": ("CC",)}, r"another methods \(\['CC', 'PCC', .*'MLPE'\]\)"),
        ({"seed": 1, "repeats": 3}, r"another repeats and seed \(10, 0\)"),
    ],
)
def test_another_studys_folder_is_refused_in_a_sentence(tmp_path, changed, sentence):
    store.claim(tmp_path, SETTINGS)
    with pytest.raises(InputError, match=sentence):
        store.claim(tmp_path, {**SETTINGS, **changed})
    assert store.settings(tmp_path)["seed"] == 0


def test_folders_without_a_study_say_so(tmp_path):
    with pytest.raises(InputError, match="holds no results; run `quantifair experiment run`"):
        store.read(tmp_path)
    with pytest.raises(InputError, match=r"is not the folder of a study: it has no study\.json"):
        store.settings(tmp_path)
