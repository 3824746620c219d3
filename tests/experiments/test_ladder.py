"""The ladder: errors paired by split, standard errors clustered by partition."""

import numpy as np
import pandas as pd
import pytest
from tests.experiments.test_study import load

from quantifair.errors import InputError
from quantifair.experiments.ladder import UNIT, called, coverage, ladder, units_of
from quantifair.experiments.ladder_report import coverage_table, ladder_figure, ladder_tables
from quantifair.experiments.outcomes import disparities
from quantifair.experiments.store import read
from quantifair.experiments.study import Study, run_study

SMALL = Study(
    datasets=("small",),
    protocols=("sample-prev-D3",),
    methods=("PCC", "SLD", "MLPE", "PACC-x"),
    splits=6,
    repeats=1,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The paper's learner with all methods, and another learner with two."""
    both = (SMALL, Study(**{**vars(SMALL), "learners": ("SVM",), "methods": ("SLD", "PACC-x")}))
    return [
        run_study(study, tmp_path_factory.mktemp("ladder") / "study", load=load) for study in both
    ]


@pytest.fixture(scope="module")
def units(folders):
    return units_of(folders)


def given(errors, *, protocol="sample-prev-D3", **columns):
    """A units frame from errors by method and learner, for four splits of two partitions."""
    frames = [
        pd.DataFrame({"partition": [0, 0, 1, 1], "roles": ["ABC", "ACB"] * 2, "mae": mae}).assign(
            protocol=protocol, dataset="adult", method=m, learner=ln, trials=9, truth=0.1, lost=0.0
        )
        for (m, ln), mae in errors.items()
    ]
    return pd.concat(frames, ignore_index=True).assign(**columns)


def rung(found, method, learner="LR"):
    (row,) = found[(found["method"] == method) & (found["learner"] == learner)].to_dict("records")
    return row


def test_units_hold_the_mean_errors_of_their_trials(folders, units):
    trials = read(folders[1])
    one = trials[(trials["partition"] == 2) & (trials["roles"] == "ABC")]
    sizes = one[["size:0", "size:1"]].to_numpy()
    truth = disparities(one[["true:0", "true:1"]].to_numpy(), sizes)
    row = rung(units[(units["partition"] == 2)], "PACC-x", "SVM")
    assert row["trials"] == len(one) == 22
    assert row["truth"] == pytest.approx(truth.mean())
    assert row["mae"] == pytest.approx(
        np.abs(disparities(one[["PACC-x:0", "PACC-x:1"]].to_numpy(), sizes) - truth).mean(),
        abs=0.005,  # smoothing by one person of 500
    )
    low, high = one["low:PACC-x"], one["high:PACC-x"]
    assert row["covered"] == ((low <= truth) & (truth <= high)).mean()
    assert row["width"] == pytest.approx((high - low).median())
    assert units["covered"].notna().equals(units["method"] == "PACC-x")


def test_errors_and_differences_by_hand():
    found = ladder(
        given(
            {
                ("PCC", "LR"): [0.3, 0.3, 0.3, 0.3],
                ("SLD", "LR"): [0.2, 0.1, 0.2, 0.3],
                ("SLD-x", "best"): [0.1, 0.1, 0.1, 0.2],
            }
        )
    )
    row = rung(found, "SLD-x", "best")
    assert row["splits"] == 4
    assert row["best"] == "SLD(LR)"
    assert row["mae"] == pytest.approx(0.125)
    # Means by partition are 0.10 and 0.15; of the differences -0.05 and -0.10; -0.20 and -0.15.
    assert row["mae_se"] == pytest.approx(0.025)
    assert [row["over_best"], row["over_best_se"]] == pytest.approx([-0.075, 0.025])
    assert [row["over_pcc"], row["over_pcc_se"]] == pytest.approx([-0.175, 0.025])
    assert [rung(found, "SLD")[k] for k in ("over_best", "over_best_se")] == [0, 0]


def test_the_papers_best_has_one_of_the_papers_learners():
    found = ladder(given({("SLD", "LR"): [0.2] * 4, ("SLD", "best"): [0.1] * 4}))
    assert set(found["best"]) == {"SLD(LR)"}
    assert found["over_pcc"].isna().all()


def test_splits_count_that_every_rung_has():
    units = given({("PCC", "LR"): [0.4, 0.2, 0.2, 0.2], ("PACC-x", "best"): [0.1] * 4})
    lacking = units.drop(index=units[units["method"] == "PACC-x"].index[0])
    found = ladder(lacking)
    assert set(found["splits"]) == {3}
    assert rung(found, "PCC")["mae"] == pytest.approx(0.2)
    none = units[(units["method"] == "PCC") | (units["partition"] > 5)]
    assert set(ladder(none)["splits"]) == {4}
    apart = units[(units["method"] == "PCC") == (units["partition"] == 0)]
    with pytest.raises(InputError, match="no split of sample-prev-D3 adult was run for every"):
        ladder(apart)


def test_blocks_stand_in_the_papers_order():
    errors = {("PCC", "LR"): [0.3] * 4}
    frames = [given(errors, protocol=p) for p in ("mine", "flip-prev-D1", "sample-prev-D3")]
    found = ladder(pd.concat(frames))
    assert found["protocol"].tolist() == ["sample-prev-D3", "flip-prev-D1", "mine"]


def test_folders_of_other_trials_are_refused(tmp_path, folders):
    other = Study(**{**vars(SMALL), "learners": ("SVM",), "methods": ("CC",), "seed": 7})
    run_study(other, tmp_path, load=load)
    with pytest.raises(InputError, match="other trials of sample-prev-D3 small 0 ABC;"):
        units_of([folders[0], tmp_path])


def test_the_same_method_twice_is_refused(folders):
    with pytest.raises(InputError, match=r"hold PCC\(LR\) on small twice"):
        units_of([folders[0], folders[0]])


def test_coverage_by_hand():
    units = given({("PACC-x", "LR"): [0.1] * 4}, covered=[1.0, 0.8, 0.9, 0.9], width=[1, 2, 3, 5])
    (row,) = coverage(units).to_dict("records")
    assert row["covered"] == pytest.approx(0.9)
    assert row["covered_se"] == pytest.approx(0, abs=1e-12)
    assert [row["splits"], row["trials"], row["width"]] == [4, 36, 2.5]
    assert coverage(given({("PCC", "LR"): [0.1] * 4})).empty


def test_intervals_hold_the_truth_of_the_small_data(units):
    """264 trials of nominal 95%; their people repeat, so that far more is left to chance."""
    found = coverage(units)
    assert found["learner"].tolist() == ["LR", "SVM"]
    assert found["covered"].between(0.88, 1).all()
    assert found["width"].between(0.05, 0.6).all()


def test_tables_say_what_the_frames_say(units):
    found = ladder(units)
    (protocol, text), *others = ladder_tables(found).items()
    assert protocol == "sample-prev-D3"
    assert not others
    header, _, *lines = text.splitlines()
    best = found["best"].iloc[0]
    assert header == f"|  | small: MAE | minus {best} | minus PCC(LR) |"
    assert [line.split(" | ")[0] for line in lines] == [
        f"| {name}" for name in ("PCC(LR)", "SLD(LR)", "MLPE", "PACC-x(LR)", "SLD(SVM)",
                                 "PACC-x(SVM)")
    ]  # fmt: skip
    row = rung(found, "PACC-x", "SVM")
    assert f"| {row['mae']:.3f} ± {row['mae_se']:.3f} |" in lines[-1]
    assert (
        coverage_table(coverage(units))
        .splitlines()[2]
        .startswith("| sample-prev-D3 | small | LR | 6 | 132 | ")
    )


def test_the_picture_has_a_panel_for_each_protocol_and_the_tables_numbers():
    errors = {("PCC", "LR"): [0.3] * 4, ("SLD-x", "best"): [0.1, 0.1, 0.1, 0.2]}
    frames = [given(errors, protocol=p) for p in ("sample-prev-D3", "flip-prev-D1")]
    figure = ladder_figure(ladder(pd.concat(frames)))
    assert [axis.get_title() for axis in figure.axes] == ["sample-prev-D3", "flip-prev-D1"]
    (line,) = (drawn for drawn in figure.axes[0].lines if drawn.get_marker() == "o")
    assert line.get_xdata() == pytest.approx([0.3, 0.125])
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [labels[int(y)] for y in line.get_ydata()] == ["PCC(LR)", "SLD-x(best)"]


def test_rungs_have_names():
    assert [called("SLD", "best"), called("MLPE", "LR")] == ["SLD(best)", "MLPE"]
    assert UNIT == ["protocol", "dataset", "partition", "roles"]
