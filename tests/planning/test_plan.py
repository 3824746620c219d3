"""Plans from a pilot and from assumptions, in Python and on the command line."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.people import draw

from quantifair import Audit, InputError, NotIdentifiedError, cli
from quantifair.planning import Aim, PlanResult, plan_from_assumptions
from quantifair.serialisation import SCHEMA_VERSION

PILOT, DEPLOYMENT = draw(1_000, 1), draw(4_000, 2).drop(columns="g")
ASSUMED = {"auc": 0.8, "share": 0.3, "rate": 0.4, "deployment_rows": 100_000}


def spec(**options: Any) -> Audit:
    return Audit(**{"decision": "ok", "group": "g", "features": "x"} | options)


def plan(pilot: pd.DataFrame = PILOT, *, aim: dict[str, Any] | None = None, **o: Any) -> PlanResult:
    return spec(**o).fit(pilot).plan(DEPLOYMENT, **(aim or {"width": 0.1}))


@pytest.fixture(scope="module")
def from_pilot() -> PlanResult:
    return plan()


def test_the_table_adds_up_and_the_curve_passes_through_the_aim(from_pilot: PlanResult) -> None:
    found = from_pilot
    assert found.now is not None
    assert found.needed is not None
    assert found.now.people == len(PILOT)
    for allocation in (found.now, found.needed, found.by_decision, found.by_decision_and_group):
        assert allocation is not None
        assert sum(n for cell in allocation.cells.values() for n in cell.values()) == (
            allocation.people
        )
    sizes, widths = zip(*((p.people, p.width) for p in found.curve), strict=True)
    assert sizes == tuple(sorted(sizes))
    assert widths == tuple(sorted(widths, reverse=True))
    assert np.interp(found.needed.people, sizes, widths) == pytest.approx(0.1, rel=0.02)
    assert found.floor < min(widths)


def test_people_are_needed_in_the_pilot_s_proportions(from_pilot: PlanResult) -> None:
    assert from_pilot.needed is not None
    asked = PILOT.groupby(["ok", "g"]).size()
    factor = from_pilot.needed.people / len(PILOT)
    for (ok, group), people in asked.items():
        planned = from_pilot.needed.cells[f"ok={ok}"][group]
        assert planned == pytest.approx(people * factor, abs=2)


@pytest.fixture(scope="module")
def from_many() -> PlanResult:
    return plan(draw(20_000, 5))


def test_surveys_of_the_planned_size_have_about_the_wished_width(from_many: PlanResult) -> None:
    """Single widths vary by about 10%, the median of eight by half of that."""
    assert from_many.needed is not None
    surveys = [draw(from_many.needed.people, seed) for seed in range(10, 18)]
    found = [spec().fit(s).measure(DEPLOYMENT).demographic_parity.difference for s in surveys]
    assert np.median([f.high - f.low for f in found]) == pytest.approx(0.1, rel=0.1)


def test_a_plan_from_a_pilot_is_that_of_its_assumptions(from_many: PlanResult) -> None:
    """A large pilot, whose AUC for two normals two deviations apart is Phi(sqrt 2)."""
    found = from_many
    assumed = plan_from_assumptions(
        Aim(width=0.1), auc=0.92135, share=0.5, rate=0.5, disparity=-0.2, deployment_rows=4_000
    )
    assert found.needed is not None
    assert assumed.needed is not None
    assert found.needed.people == pytest.approx(assumed.needed.people, rel=0.1)
    assert found.floor == pytest.approx(assumed.floor, rel=0.05)
    assert found.auc == {cell: pytest.approx(0.921, abs=0.01) for cell in ("ok=no", "ok=yes")}


def test_which_group_is_subtracted_makes_no_difference(from_pilot: PlanResult) -> None:
    other = plan(reference="b")
    assert other.direction == "a minus b"
    assert other.difference == pytest.approx(-from_pilot.difference, abs=1e-6)
    assert from_pilot.needed is not None
    assert other.needed is not None
    assert other.needed.people == pytest.approx(from_pilot.needed.people, rel=0.01)


def test_score_intervals_are_planned_whatever_the_audit_s_are(from_pilot: PlanResult) -> None:
    assert plan(interval="none") == from_pilot
    assert plan(interval="bootstrap") == from_pilot


def test_a_difference_that_is_to_be_found_is_planned_with_and_so_is_the_power() -> None:
    found = plan(aim={"detect": 0.1, "power": 0.9})
    assert found.difference == pytest.approx(-0.1)
    assert found.needed is not None
    sizes, powers = zip(*((p.people, p.power) for p in found.curve), strict=True)
    assert np.interp(found.needed.people, sizes, powers) == pytest.approx(0.9, abs=0.01)
    assert "to find a difference of 0.1 in 90% of audits" in str(found)


def test_three_groups_have_a_plan_for_each_pair() -> None:
    rng = np.random.default_rng(0)
    third = PILOT.assign(g=np.where(rng.random(1_000) < 0.3, "c", PILOT["g"]))
    third["x"] += 4 * (third["g"] == "c")
    found = (
        spec()
        .fit(third)
        .plan(DEPLOYMENT.assign(x=rng.permutation(third["x"].repeat(4))), width=0.25)
    )
    assert found.direction == "largest minus smallest"
    assert list(found.pairs) == ["b and a", "c and a", "c and b"]
    assert found.needed is not None
    assert all(n is not None and n > 0 for n in found.pairs.values())
    assert "for this width between" in str(found)


def test_one_classifier_for_all_cells_leaves_no_choice_of_cells() -> None:
    found = plan(per_cell=False)
    assert found.needed is not None
    assert found.by_decision is None
    assert found.by_decision_and_group is None


def test_where_no_number_is_enough_the_floor_is_told() -> None:
    found = plan(aim={"width": 0.02})
    assert found.needed is None
    assert found.floor > 0.02
    assert str(found).splitlines()[2].startswith("No number is enough; there are 1,000 now.")
    assert f"{found.floor:.3f}" in str(found)
    assert repr(found) == f"PlanResult(needed=no number, floor={found.floor:.3f})"


def test_few_people_of_a_group_are_warned_of() -> None:
    aim = Aim(width=1.5)
    found = plan_from_assumptions(aim, auc=0.9, share=0.02, rate=0.5, deployment_rows=10**6)
    assert {w.code for w in found.warnings} == {"few_planned"}
    assert "second group" in found.warnings[0].message


def test_a_useless_proxy_has_no_plan() -> None:
    noise = PILOT.assign(x=np.random.default_rng(0).normal(size=1_000))
    with pytest.raises(NotIdentifiedError, match=r"nothing can be planned from this pilot: .*ok="):
        plan(noise)


@pytest.mark.parametrize(
    ("options", "aim", "wrong"),
    [
        ({"quantifier": "pcc"}, {"width": 0.1}, "assumes that nothing shifted"),
        ({"decision": None}, {"width": 0.1}, "a plan needs decision="),
        ({}, {}, "give one of them"),
    ],
)
def test_what_can_t_be_planned_is_refused(
    options: dict[str, Any], aim: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(InputError, match=wrong):
        spec(**options).fit(PILOT).plan(DEPLOYMENT, **aim)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"auc": 1.2}, "auc lies between 0.5 and 1"),
        ({"share": 0.0}, "share lies between 0 and 1, not 0.0"),
        ({"rate": 40}, "rate lies between 0 and 1, not 40"),
        ({"deployment_rows": 0}, "deployment_rows is a number of people, not 0"),
        ({"disparity": float("nan")}, "disparity lies between -1 and 1, such as 0.1, not nan"),
        ({"target": "everybody"}, "no target 'everybody'"),
    ],
)
def test_assumptions_that_are_none_are_refused(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        plan_from_assumptions(Aim(width=0.1), **ASSUMED | given)


def test_a_curve_is_of_somebody_in_each_cell_and_group() -> None:
    tiny = plan_from_assumptions(Aim(width=1.9), **ASSUMED | {"deployment_rows": 1})
    assert min(point.people for point in tiny.curve) >= 4


def test_the_population_behind_the_rows_takes_more_people() -> None:
    rows, population = (
        plan_from_assumptions(Aim(width=0.1), **ASSUMED, target=target)
        for target in ("rows", "population")
    )
    assert rows.floor < population.floor
    assert rows.needed is not None
    assert population.needed is not None
    assert rows.needed.people < population.needed.people


def test_the_curve_is_drawn_into_axes_and_tabled(from_pilot: PlanResult) -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert from_pilot.plot(ax=axes) is axes
    drawn = axes.get_lines()[0]
    frame = from_pilot.to_frame()
    assert drawn.get_xdata().tolist() == frame["people"].tolist()
    assert drawn.get_ydata().tolist() == frame["width"].tolist()
    powered = plan(aim={"detect": 0.1})
    axes = powered.plot()
    assert axes.get_lines()[0].get_ydata().tolist() == powered.to_frame()["power"].tolist()


def test_without_matplotlib_the_error_says_how_to_get_it(
    from_pilot: PlanResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="pip install quantifair"):
        from_pilot.plot()


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path: Path) -> list[Any]:
        PILOT.to_csv(tmp_path / "pilot.csv", index=False)
        DEPLOYMENT.to_csv(tmp_path / "later.csv", index=False)
        tables = ["--auxiliary", tmp_path / "pilot.csv", "--deployment", tmp_path / "later.csv"]
        return [*tables, "--decision", "ok", "--group", "g", "--feature", "x", "--quiet"]

    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
        def call(*words: Any) -> tuple[int, str, str]:
            monkeypatch.setattr("sys.argv", ["quantifair", "plan", *map(str, words)])
            with pytest.raises(SystemExit) as stopped:
                cli.main()
            return int(stopped.value.code or 0), *capsys.readouterr()

        return call

    def test_it_prints_and_writes_the_plan(
        self, run: Any, files: list[Any], from_pilot: PlanResult, tmp_path: Path
    ) -> None:
        out, picture = tmp_path / "plan.json", tmp_path / "plan.svg"
        status, shown, _ = run(*files, "--width", 0.1, "--json", out, "--figure", picture)
        assert status == 0
        assert shown.strip() == str(from_pilot)
        written = json.loads(out.read_text())
        assert written == from_pilot.to_dict()
        assert written["schema_version"] == SCHEMA_VERSION
        assert "<svg" in picture.read_text()

    def test_it_plans_from_assumptions(self, run: Any) -> None:
        assumed = ["--auc", 0.8, "--share", 0.3, "--rate", 0.4, "--deployment-rows", 100_000]
        status, shown, _ = run(*assumed, "--detect", 0.1)
        assert status == 0
        assert shown.strip() == str(plan_from_assumptions(Aim(detect=0.1), **ASSUMED))

    @pytest.mark.parametrize(
        ("words", "wrong"),
        [
            (["--width", 0.1], "a plan starts from a pilot"),
            (["--width", 0.1, "--auc", 0.7], "this plan needs --share and --rate, too"),
            (["--width", 0.1, "--auc", 0.7, "--group", "g"], "drop one of them"),
            (["--width", 0.1, "--group", "g"], "--auxiliary and --deployment and --decision"),
            (["--auc", 0.7, "--share", 0.3, "--rate", 0.4], "give one of them"),
            (["--width", 0.1, "--figure", "plan.png"], "should end in .svg or .pdf"),
        ],
    )
    def test_bad_options_are_one_sentence(self, run: Any, words: list[Any], wrong: str) -> None:
        status, _, said = run(*words)
        assert status == 2
        assert wrong in said
        assert said.count("\n") == 1
