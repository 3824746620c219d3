"""Tables like the paper's, and beside it."""

import io

import numpy as np
import pandas as pd
import pytest

from quantifair.errors import InputError
from quantifair.experiments.paper import paper_tables
from quantifair.experiments.statistics import (
    DATASETS,
    KEYS,
    LEARNERS,
    MEASURES,
    METHODS,
    PROTOCOLS,
)
from quantifair.experiments.tables import render, render_side_by_side, side_by_side

PAPER = paper_tables()
EXACT = PAPER.assign(**{f"{measure}_se": 0.0 for measure in MEASURES})
"""What a study would be that finds the paper's very numbers."""

# Lines of the paper's source, with bold numbers, phantoms and daggers.
LINES = {
    ("sample-prev-D3", "LR"): (
        r"\multirow{7}{*}{Adult} &CC(LR) & 0.382$^{\phantom{\ddag}}\pm0.304$ & "
        r"0.239$^{\phantom{\ddag}}\pm0.305$ & 0.207 & 0.386 \\"
    ),
    ("sample-prev-D2", "LR"): (
        r" &SLD(LR) & \textbf{0.160}$^{\phantom{\ddag}}\pm0.123$ & "
        r"\textbf{0.041}$^{\phantom{\ddag}}\pm0.060$ & \textbf{0.386} & \textbf{0.678} \\"
    ),
    ("sample-size-D2", "LR"): (
        r" &MLPE & 0.013$^{\ddag}\pm0.012$ & 0.000$^{\dag}\pm0.001$ & "
        r"\textbf{1.000} & \textbf{1.000} \\"
    ),
    ("flip-prev-D1", "SVM"): (
        r" &PCC(SVM) & 0.012$^{\ddag}\pm0.009$ & 0.000$^{\ddag}\pm0.000$ & "
        r"\textbf{1.000} & \textbf{1.000} \\"
    ),
}


def study(**columns):
    """Return the paper's numbers as if ours, with something else in some columns."""
    return EXACT.assign(**columns)


def lines_of(markdown):
    return [line.strip("| ").split(" | ") for line in markdown.splitlines()]


def test_the_paper_has_ten_tables_of_three_data_sets_and_seven_methods():
    assert len(PAPER) == 210
    assert not PAPER.duplicated(KEYS).any()
    for key, known in {
        "protocol": PROTOCOLS,
        "learner": LEARNERS,
        "dataset": DATASETS,
        "method": METHODS,
    }.items():
        assert tuple(PAPER[key].unique()) == known


def test_the_papers_numbers_are_possible():
    # A mean square is the squared mean plus the variance, up to what three decimals hide.
    between = PAPER["mae"] ** 2 + PAPER["mae_std"] ** 2 - PAPER["mse"]
    assert between.abs().max() < 0.0005 * (1 + 2 * 0.541 + 2 * 0.37)
    assert (PAPER["p_ae_lt_0.1"] <= PAPER["p_ae_lt_0.2"]).all()
    for measure, known in MEASURES.items():
        value = PAPER[measure] if known.error else -PAPER[measure]
        lowest = value.groupby([PAPER[k] for k in KEYS[:3]]).transform("min")
        assert (value == lowest)[PAPER[f"{measure}_best"]].all()
        assert PAPER.groupby(KEYS[:3])[f"{measure}_best"].any().all()


def test_latex_of_the_papers_numbers_has_the_papers_lines():
    tables = render(PAPER, form="latex")
    assert set(tables) == {(p, learner) for p in PROTOCOLS for learner in LEARNERS}
    for key, line in LINES.items():
        assert line in tables[key].splitlines()


def test_latex_is_a_tabular_with_as_many_cells_in_every_row():
    table = render(PAPER, form="latex")["sample-prev-D2", "LR"]
    lines = table.splitlines()
    assert lines[0] == r"\begin{tabular}{llcccc} \toprule"
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    rows = [line for line in lines if "&" in line]
    assert len(rows) == 1 + 21
    assert {row.count("&") for row in rows} == {5}
    assert sum(row.startswith(r"\multirow{7}{*}") for row in rows) == 3
    assert table.count("{") == table.count("}")


def test_markdown_says_the_same_as_latex():
    table = lines_of(render(PAPER)["sample-size-D2", "LR"])
    assert len(table) == 2 + 21
    assert ["Adult", "CC(LR)", "0.120 ± 0.022", "0.015 ± 0.005", "0.159", "**1.000**"] in table
    assert ["MLPE", "0.013‡ ± 0.012", "0.000† ± 0.001", "**1.000**", "**1.000**"] in table
    assert ["MLPE", "**0.029** ± 0.021", "0.001‡ ± 0.002", "**0.999**", "**1.000**"] in table


def test_csv_loses_nothing():
    tables = render(PAPER, form="csv")
    read = [pd.read_csv(io.StringIO(text), keep_default_na=False) for text in tables.values()]
    pd.testing.assert_frame_equal(pd.concat(read, ignore_index=True), PAPER)


def test_names_of_other_methods_can_not_break_a_table():
    few = PAPER[:2].assign(method=["my_method", "a|b"], dataset="bank_1")
    latex = render(few, form="latex")["sample-prev-D3", "LR"]
    assert r"\multirow{2}{*}{bank\_1} &my\_method(LR) & " in latex
    assert r"| bank\_1 | my\_method(LR) | " in render(few)["sample-prev-D3", "LR"]
    assert r"|  | a\|b(LR) | " in render(few)["sample-prev-D3", "LR"]


def test_an_unknown_form_or_measure_is_refused():
    with pytest.raises(InputError, match="no form 'html'"):
        render(PAPER, form="html")
    with pytest.raises(InputError, match="no form 'latex'"):
        render_side_by_side(side_by_side(EXACT), form="latex")
    with pytest.raises(InputError, match="no measure 'maee'; did you mean 'mae'"):
        side_by_side(EXACT, measure="maee")


@pytest.mark.parametrize("measure", MEASURES)
def test_the_paper_does_not_differ_from_itself(measure):
    found = side_by_side(EXACT, measure=measure)
    assert len(found) == 210
    assert not found["differs"].any()
    assert (found["difference"] == 0).all()
    assert found["ours"].tolist() == PAPER[measure].tolist()


@pytest.mark.parametrize(
    ("difference", "se", "differs"),
    [
        (0.031, 0.010, True),
        (-0.031, 0.010, True),
        (0.029, 0.010, False),  # within three standard errors
        (0.0004, 0.0001, False),  # no more than rounding
        (0.0006, 0.0001, True),
        (0.5, np.nan, False),  # one partition: there is no standard error
    ],
)
def test_a_difference_is_one_beyond_three_standard_errors_and_rounding(difference, se, differs):
    found = side_by_side(study(mae=PAPER["mae"] + difference, mae_se=se))
    assert found["difference"].to_numpy() == pytest.approx(difference)
    assert found["in_se"].to_numpy() == pytest.approx(difference / se, nan_ok=True)
    assert (found["differs"] == differs).all()


def test_the_rows_that_both_have_are_compared_whatever_their_order():
    shuffled = study(mae=PAPER["mae"] + 1).sample(frac=1, random_state=0)
    mine = shuffled[shuffled["dataset"] == "compas"]
    mine = pd.concat([mine, mine[:1].assign(method="KDEy")])
    found = side_by_side(mine)
    assert len(found) == 70
    assert found["difference"].to_numpy() == pytest.approx(1)
    assert found["protocol"].tolist() == mine["protocol"].tolist()[:70]


def test_side_by_side_in_markdown_and_csv():
    found = side_by_side(study(mae=PAPER["mae"] + 0.0124, mae_se=0.004))
    tables = render_side_by_side(found)
    assert len(tables) == 10
    lines = lines_of(tables["sample-prev-D3", "LR"])
    row = ["Adult", "SLD(LR)", "0.067", "0.055", "+0.012", "0.004", "+3.1", "differs"]
    assert row in lines
    alone = side_by_side(study(mae_se=np.nan))
    row = ["Adult", "MLPE", "0.397", "0.397", "+0.000", "n/a", "n/a", ""]
    assert row[:7] in lines_of(render_side_by_side(alone)["sample-prev-D3", "SVM"])
    text = render_side_by_side(found, form="csv")["sample-prev-D3", "LR"]
    read = pd.read_csv(io.StringIO(text))
    pd.testing.assert_frame_equal(read, found[:21])
