"""The pages on benchmarks say what was measured, and what was not."""

from typing import Any

from benchmarks import coverage, pages, planner


def row(setting: tuple[Any, ...], quantifier: str, **changes: Any) -> dict[str, Any]:
    auxiliary, deployment, auc, (rejected, accepted) = setting
    values = (auxiliary, deployment, auc, rejected, accepted, "score", quantifier)
    found = dict(zip(coverage.FIELDS, (*values, 400, 400, 0.95, 0.01, 0.5, 0.1), strict=True))
    return {name: str(value) for name, value in (found | changes).items()}


def test_settings_of_the_planned_grid_that_were_not_run_are_listed() -> None:
    planned = coverage.missing([])
    rows = [row(setting, "sld") for setting in planned]
    assert coverage.missing(rows) == []
    assert pages.coverage_missing(rows) == "All settings of the planned grid are measured."
    assert coverage.missing(rows[:-1]) == planned[-1:]
    (line,) = (x for x in pages.coverage_missing(rows[:-1]).splitlines() if x.startswith("- "))
    assert line == (
        "- 2,000 auxiliary and 100,000 deployment rows, AUC 0.85, prevalences 0.02 and 0.1"
    )


def test_the_share_of_trials_that_were_answered_is_told() -> None:
    one, other = coverage.missing([])[:2]
    rows = [row(one, "sld", answered=300), row(other, "sld")]
    assert "Of the trials, 87.50% were answered." in pages.coverage_summary(rows)
    first, second = pages.coverage_table(rows).splitlines()[2:]
    assert first.split(" | ")[4] == "0.75"
    assert second.split(" | ")[4] == "1"


def test_the_page_on_plans_says_what_is_stored() -> None:
    rows = planner.stored()
    page = planner.page(rows)
    assert page == (pages.DOCS / "planning.md").read_text()
    ratios = [r.realised / r.planned for r in rows if r.study == "width"]
    assert f"{min(ratios):.2f} to {max(ratios):.2f} times the planned one" in page
    halved = [r._replace(realised=r.realised / 2) if r.study == "power" else r for r in rows]
    assert "They are found in 38% to 42% of the audits" in planner.page(halved)
