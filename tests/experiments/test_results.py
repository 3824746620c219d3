"""From a folder of results to statistics, and to how well methods quantify and classify."""

import numpy as np
import pandas as pd
import pytest
from tests.experiments import small

from quantifair.experiments import store
from quantifair.experiments.outcomes import signed_errors
from quantifair.experiments.results import decoupling, statistics_of
from quantifair.experiments.study import Study, run_study

METHODS = ("CC", "SLD", "PACC")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    study = Study(
        datasets=("small",), protocols=("sample-prev-D3",), methods=METHODS, splits=7, repeats=2
    )
    path = tmp_path_factory.mktemp("results")
    return run_study(study, path, load=lambda *_, **__: small.dataset())


def by_method(table, column):
    return table.set_index("method")[column].to_dict()


@pytest.mark.parametrize("as_reference", [False, True])
def test_statistics_are_those_of_the_signed_errors(folder, as_reference):
    options = dict.fromkeys(("prior_of_truth", "smoothed_truth"), as_reference)
    errors = signed_errors(store.read(folder), METHODS, **options)
    found = statistics_of(folder, as_reference=as_reference)
    assert by_method(found, "trials") == dict.fromkeys(METHODS, 7 * 2 * 22)
    for method in METHODS:
        assert by_method(found, "mae")[method] == pytest.approx(errors[method].abs().mean())
        assert by_method(found, "mse")[method] == pytest.approx((errors[method] ** 2).mean())


def test_the_references_deviations_change_the_numbers(folder):
    plain, deviating = (statistics_of(folder, as_reference=r) for r in (False, True))
    assert (plain["mae"] != deviating["mae"]).all()


def test_decoupling_looks_at_the_cell_that_is_shifted(folder):
    trials = store.read(folder)
    found = decoupling(trials).set_index(["sub", "value", "method"])
    assert len(found) == 2 * 11 * 3
    for cell, sub in enumerate(("rejected", "accepted")):
        for value in (0.0, 0.3, 1.0):
            some = trials[(trials["sub"] == sub) & (trials["value"] == value)]
            for method in METHODS:
                row = found.loc[(sub, value, method)]
                mae = (some[f"{method}:{cell}"] - value).abs().mean()
                assert row["mae"] == pytest.approx(mae)
                labels = f"f1:{method}:{cell}" in some
                assert labels == (method != "PACC")
                for name in ("f1", "accuracy"):
                    known = some[f"{name}:{method}:{cell}"].mean() if labels else np.nan
                    assert row[name] == pytest.approx(known, nan_ok=True)


def test_refused_trials_and_methods_that_are_not_there_are_left_out(folder):
    trials = store.read(folder)
    refused = trials.assign(problem="few", **{"CC:0": 9.0})
    found = decoupling(pd.concat([trials, refused]), methods=("CC", "KDEy"))
    pd.testing.assert_frame_equal(found, decoupling(trials, methods=("CC",)))
