"""The methods of the paper, as its setup has them."""

import pytest

from quantifair.errors import InputError
from quantifair.experiments.methods import ABLATION, CROSSED, LADDER, METHODS, Method
from quantifair.quantifiers import CC, PCC


def names(condition):
    return [name for name, method in METHODS.items() if condition(method)]


def test_seven_methods_in_the_papers_order():
    assert list(METHODS) == ["CC", "PCC", "ACC", "PACC", "SLD", "HDy", "MLPE"]
    for name, method in METHODS.items():
        assert type(method.quantifier).__name__ == method.name == name


def test_acc_pacc_and_hdy_hold_out_40_of_100_people():
    assert names(lambda m: m.training == "held_out") == ["ACC", "PACC", "HDy"]


def test_cc_and_acc_count_decisions():
    assert names(lambda m: m.hard) == ["CC", "ACC"]


def test_sld_stops_early():
    assert not METHODS["SLD"].quantifier.converged
    assert METHODS["SLD"].quantifier.tolerance == 1e-4


def test_no_method_of_the_tables_pools_the_cells():
    assert names(lambda m: m.pooled) == []


def test_cc_and_sld_label_people():
    assert {m.name: m.labels for m in METHODS.values() if m.labels} == {
        "CC": "decisions",
        "SLD": "posteriors",
    }


def test_the_ablation_has_three_methods_with_and_without_cells():
    assert list(ABLATION) == [
        *("PCC", "PCC-nosD2"),
        *("SLD", "SLD-nosD2"),
        *("PACC", "PACC-nosD2"),
    ]
    for name in ("PCC", "SLD", "PACC"):
        pooled = ABLATION[f"{name}-nosD2"]
        assert ABLATION[name] == METHODS[name]
        assert pooled.pooled
        assert pooled.quantifier is METHODS[name].quantifier
        assert pooled.training == METHODS[name].training


def test_the_ladder_is_the_papers_methods_and_cross_fitted_ones():
    assert list(LADDER) == [*METHODS, *CROSSED]
    assert {m.training for m in CROSSED.values()} == {"folds"}
    assert CROSSED["SLD-x"].quantifier.converged
    assert not any(m.hard or m.labels or m.pooled for m in CROSSED.values())


def test_another_training_is_refused():
    with pytest.raises(InputError, match="no training 'fold'; did you mean 'folds'"):
        Method("SLD", PCC(), training="fold")


@pytest.mark.parametrize("name", ["size", "true", "prior", "f1:mine", "lost:CC", ""])
def test_a_name_that_results_use_otherwise_is_refused(name):
    """Else its estimates would stand in for the truth, or no table would show them."""
    with pytest.raises(InputError, match="a method can't be called"):
        Method(name, PCC())


def test_any_other_name_will_do():
    assert Method("my method_2", CC()).name == "my method_2"
