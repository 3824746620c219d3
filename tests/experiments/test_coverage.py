"""The coverage study: what is drawn, what is judged, and that the judge can tell bad from good."""

import numpy as np
import pytest

from quantifair.experiments import coverage, coverage_report
from quantifair.experiments.coverage import Row, Setting

EVEN = Setting((0.5, 0.5), (0.5, 0.5), 0.75, 4)


def row(covered: float, figure: str = "difference", **changes: object) -> Row:
    found = Row(2, "0.5/0.5", "0.5/0.5", 0.75, 4, figure, 100, covered, 0.4, 0.1)
    return found._replace(**changes)


def test_the_grid_has_corners_and_equality_and_every_prevalence_is_one() -> None:
    grid = coverage.grid()
    assert [sum(len(s.rejected) == k for s in grid) for k in (2, 4)] == [72, 16]
    assert len(set(grid)) == len(grid)
    for setting in grid:
        for prevalence in (setting.rejected, setting.accepted):
            assert sum(prevalence) == pytest.approx(1)
    for groups in (2, 4):
        some = [s for s in grid if len(s.rejected) == groups]
        assert any(s.rejected == s.accepted for s in some)
        assert any(min(s.rejected) <= 0.05 for s in some)


@pytest.mark.parametrize("auc", [0.6, 0.85])
def test_scores_have_the_auc_and_are_posteriors(auc: float) -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(20_000) % 2
    scores = coverage.draw(codes, 2, auc, rng)
    second, first = scores[codes == 1, 1], scores[codes == 0, 1]
    found = (second[:2_000, None] > first[None, :2_000]).mean()
    # Hanley and McNeil's standard error at 2,000 a group is below 0.009.
    assert found == pytest.approx(auc, abs=0.027)
    near = np.abs(scores[:, 1] - 0.5) < 0.1
    assert codes[near].mean() == pytest.approx(scores[near, 1].mean(), abs=4 / np.sqrt(near.sum()))


def test_a_smoke_of_the_grid_passes_and_its_control_fails() -> None:
    """Six settings of 150 replicates; three standard errors of their mean is 0.022."""
    grid = coverage.grid((2,))[5::12]
    rows = [row for setting in grid for row in coverage.measure(setting, 150)]
    of = {
        name: np.mean([r.coverage for r in rows if r.figure == name])
        for name in coverage_report.NAMES
    }
    assert min(of[n] for n in ("difference", "ratio", "selection_rate", "share")) > 0.95 - 0.022
    assert of["control"] < 0.8


def test_four_groups_are_covered_at_equality() -> None:
    """Where largest minus smallest is hardest; three standard errors of 60 replicates are 0.084."""
    even = Setting((0.25,) * 4, (0.25,) * 4, 0.85, 4)
    (found,) = (r for r in coverage.measure(even, 60) if r.figure == "difference")
    assert found.coverage > 0.95 - 0.084
    assert found.width < 0.9


def test_a_setting_gives_the_same_numbers_whatever_else_runs() -> None:
    assert coverage.measure(EVEN, 5) == coverage.measure(EVEN, 5)
    other = EVEN._replace(ratio=1)
    assert coverage.measure(other, 5)[0].width != coverage.measure(EVEN, 5)[0].width


def test_a_run_resumes_and_leaves_nothing_half_written(tmp_path) -> None:
    path = tmp_path / "deep" / "rows.csv"
    grid = [EVEN, EVEN._replace(ratio=1)]
    first = coverage.run(grid[:1], path, replicates=5)
    seen = []
    both = coverage.run(grid, path, replicates=5, jobs=2, progress=lambda *d: seen.append(d))
    assert seen == [(1, 2), (2, 2)]
    assert coverage.read(path) == both
    assert set(first) < set(both)
    assert [p.name for p in path.parent.iterdir()] == ["rows.csv"]
    assert coverage.read(tmp_path / "none.csv") == []


@pytest.mark.parametrize(
    ("covered", "verdict"),
    [
        ((0.95, 0.95), "yes"),
        ((0.95, 0.92), "no: too little"),
        ((0.93, 0.94), "no: too little"),
        ((0.99, 0.99), "no: too much"),
    ],
)
def test_mean_and_worst_coverage_are_judged(covered, verdict) -> None:
    rows = [row(c) for c in covered]
    assert coverage_report.verdict(rows) == verdict
    assert coverage_report.summary(rows).splitlines()[2].endswith(f"| {verdict} |")


def test_the_table_sets_the_control_and_the_oracle_beside_each_setting() -> None:
    (line,) = coverage_report.table([row(0.95), row(0.5, "control")]).splitlines()[2:]
    assert line == "| 0.5/0.5 | 0.5/0.5 | 0.75 | 4 | 0.950 | 0.400 | 0.100 | 0.500 |"


def test_the_figure_shows_every_kind_of_figure() -> None:
    drawn = coverage_report.coverage_figure([row(0.95), row(0.5, "control"), row(0.96, groups=4)])
    axis, widths = drawn.axes
    assert [t.get_text() for t in axis.get_xticklabels()] == [
        "difference\n2 groups",
        "control\n2 groups",
        "difference\n4 groups",
    ]
    of_two, of_four, one = widths.get_lines()
    expected = row(0.95).width / row(0.95).oracle
    assert [list(line.get_ydata()) for line in (of_two, of_four)] == [[expected], [expected]]
    assert set(one.get_ydata()) == {1.0}
