"""Reports: self-contained, escaped, readable whatever the result."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from quantifair import Audit, Figure, InputError
from quantifair.report import to_html, to_markdown, write
from quantifair.report.summarize import summarize
from quantifair.verdicts import advice, of_difference

NAMES = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'single' &amp;",
    "|a|`b`*c*_d_[e](f)#g\\h~i~",
    "x" * 10_000,
    "עברית \u202e mixed",
    "👩‍👩‍👧 family",
    "two\nlines\tand a tab",
    "{{ 7 * 7 }}{% for %}",
]
VOID = {"meta", "br", "line", "rect"}


def people(rows, groups, seed=0):
    """People of several groups with nearly perfect scores, one column a group."""
    rng = np.random.default_rng(seed)
    codes = np.arange(rows) % len(groups)
    scores = pd.DataFrame(0.8 * np.eye(len(groups))[codes] + 0.2 / len(groups))
    scores.columns = [f"p{k}" for k in range(len(groups))]
    return scores.assign(
        hired=rng.integers(0, 2, rows),
        stayed=rng.integers(0, 2, rows),
        origin=np.array(groups, dtype=object)[codes],
    )


def audited(groups=("man", "woman"), rows=400, **options):
    given = {"decision": "hired", "group": "origin", "replicates": 10}
    given["scores"] = {g: f"p{k}" for k, g in enumerate(groups)}
    fitted = Audit(**given | options).fit(people(rows, groups))
    return fitted.measure(people(rows, groups, seed=1).drop(columns="origin"))


@pytest.fixture(scope="module")
def result():
    return audited(label="stayed")


@pytest.fixture(scope="module")
def three():
    return audited(("a", "b", "c"))


class Page(HTMLParser):
    """Reads a page: its tags, whether they close, and its text by table row."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], set(), []
        self.text, self.rows = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, *a) for a in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, *a) for a in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def squeezed(text):
    return " ".join(text.split())


def markdown_tables(text):
    """The tables of a Markdown page as lists of rows of unescaped cells."""
    tables = []
    for block in text.split("\n\n"):
        if block.startswith("|"):
            rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()]
            tables.append([[re.sub(r"\\(.)", r"\1", c).strip() for c in row] for row in rows])
    return tables


# Pages


def test_the_same_result_gives_the_same_bytes(result):
    assert to_html(result) == to_html(result)
    assert to_markdown(result) == to_markdown(result)
    assert to_html(audited(label="stayed")) == to_html(result)


def test_a_page_needs_nothing_else(result, three):
    for text in (to_html(result), to_html(three)):
        page = Page(text)
        assert not page.tags & {"script", "link", "img", "iframe", "object", "form", "a", "base"}
        assert not {a for _, a, _ in page.attributes} & {"src", "href", "style", "srcset"}
        assert not re.search(r"https?://|url\(|@import", text)


def test_a_page_can_be_read_aloud(result, three):
    for text in (to_html(result), to_html(three)):
        page = Page(text)
        headers = text.count("<th ")
        assert headers == len(re.findall(r'<th scope="(col|row)">', text))
        assert headers > 0
        assert "<th>" not in text
        assert text.count("<h1>") == 1
        assert text.count("<svg") == len(
            re.findall(r'<svg class="\w*" role="img" aria-label="', text)
        )
        assert ("html", "lang", "en") in page.attributes
        assert "title" in page.tags


def test_every_row_of_a_table_has_as_many_cells_as_its_head(result, three):
    for text in (to_html(result), to_html(three)):
        for table in re.findall(r"<table>.*?</table>", text, flags=re.DOTALL):
            assert len({len(row) for row in Page(table).rows}) == 1


@pytest.mark.parametrize("kind", ["result", "three"])
def test_a_report_shows_every_figure(kind, request):
    found = request.getfixturevalue(kind)
    cells = {squeezed(c) for row in Page(to_html(found)).rows for c in row}
    marked = {c for table in markdown_tables(to_markdown(found)) for row in table for c in row}
    figures = [f for m in found.measures.values() for f in (m.difference, m.ratio)]
    figures += [f for g in found.groups for f in (g.share, g.selection_rate)]
    figures += [g.true_positive_rate for g in found.groups if g.true_positive_rate]
    assert {str(f) for f in figures} <= cells
    assert {str(f) for f in figures} <= marked
    values = {f"{v:+.3f}" for v in found.estimators.values()}
    assert values <= cells & marked


def test_warnings_settings_and_versions_are_told():
    found = audited(rows=60)
    assert found.warnings
    for text in (squeezed("".join(Page(to_html(found)).text)), to_markdown(found)):
        plain = re.sub(r"\\(.)", r"\1", text)
        assert all(squeezed(w.message) in plain for w in found.warnings)
        assert "quantifier: PosteriorMedian()" in plain
        assert "Features: p0, p1." in plain
        assert f"scikit-learn {found.versions['scikit-learn']}" in plain
        assert "not legal advice" in plain


def test_the_label_that_counts_as_positive_is_told(result, three):
    told = "deployment rows, 95% intervals; label: stayed=1 counts as +."
    assert told in squeezed(to_html(result))
    assert told in to_markdown(result).replace("\\", "")
    for text in (to_html(three), to_markdown(three)):
        assert "95% intervals." in text
        assert "counts as" not in text


def test_three_groups_are_shown_in_pairs(three):
    pairs = three.demographic_parity.pairs
    (table,) = (t for t in markdown_tables(to_markdown(three)) if t[0][0] == "demographic parity")
    shown = {row[0]: row[1:] for row in table[2:]}
    expected = {f"{p.group} minus {p.reference}": p for p in pairs}
    assert shown == {
        k: [str(p.difference), p.verdict.value, str(p.ratio), p.ratio_verdict.value]
        for k, p in expected.items()
    }
    cells = {squeezed(c) for row in Page(to_html(three)).rows for c in row}
    assert {str(p.difference) for p in pairs} <= cells


def test_attributes_are_shown_alone():
    def both(seed):
        frame = people(600, ["man", "woman"], seed).assign(age=np.tile(["old", "old", "new"], 200))
        return frame.assign(z=np.random.default_rng(seed).normal(3.0 * (frame["age"] == "old")))

    spec = Audit(decision="hired", group=["origin", "age"], features=["p1", "z"], replicates=5)
    found = spec.fit(both(0)).measure(both(1).drop(columns=["origin", "age"]))
    text = to_html(found)
    assert text.index("<h2>origin alone</h2>") < text.index("<h2>age alone</h2>")
    markdown = to_markdown(found)
    for name, alone in found.attributes.items():
        section = markdown.split(f"## {name} alone")[1].split("\n## ")[0]
        assert str(alone.measures["demographic_parity"].difference) in section
        assert all(f"| {g.name} | {g.share} |" in section for g in alone.groups)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_are_shown_and_never_obeyed(name):
    found = audited((name, "other"))
    page = Page(to_html(found))
    assert "script" not in page.tags
    assert squeezed(name) in {squeezed(row[0]) for row in page.rows}
    named = [row[0] for table in markdown_tables(to_markdown(found)) for row in table]
    assert squeezed(name) in named


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_markdown_tables_stay_whole(name):
    text = to_markdown(audited((name, "other")))
    tables = markdown_tables(text)
    assert len(tables) == 5
    for head, rule, *rows in tables:
        assert rows
        assert set("".join(rule)) <= {"-"}
        assert {len(row) for row in rows} == {len(head)} == {len(rule)}
    lines = [line for line in text.splitlines() if not line.startswith("|")]
    assert not any(re.search(r"(?<!\\)[<>`]", line) for line in lines)


def test_a_column_name_is_escaped_as_well():
    scores = {"man": "p0", "woman": "p1"}
    columns = {"hired": "<b>hired</b>", "origin": "<i>sex</i>"}
    auxiliary, deployment = (
        people(400, ["man", "woman"], s).rename(columns=columns) for s in (0, 1)
    )
    spec = Audit(decision="<b>hired</b>", group="<i>sex</i>", scores=scores, replicates=5)
    text = to_html(spec.fit(auxiliary).measure(deployment))
    assert not Page(text).tags & {"b", "i"}


def test_many_groups_fit_on_a_page():
    groups = [f"group {k:02}" for k in range(20)]
    found = audited(groups, rows=1600, replicates=2)
    page = Page(to_html(found))
    assert {row[0] for row in page.rows} >= set(groups)
    assert sum(" minus group" in row[0] for row in page.rows) == 190


# Sentences


def of_two(difference, **settings):
    found = audited(replicates=0, **settings)
    parity = dataclasses.replace(
        found.demographic_parity,
        difference=difference,
        verdict=of_difference(difference, 0.04, rates="selection rates"),
    )
    return dataclasses.replace(found, measures={"demographic_parity": parity})


@pytest.mark.parametrize(
    ("difference", "answer", "verdict"),
    [
        (
            Figure(0.123, 0.05, 0.2),
            (
                "The decision hired=1 falls on woman 12.3 percentage points more often than on man "
                "(95% interval 5.0 to 20.0)."
            ),
            "unfair.",
        ),
        (
            Figure(-0.123, -0.2, 0.01),
            (
                "The decision hired=1 falls on woman 12.3 percentage points less often than on man "
                "(95% interval -1.0 to 20.0)."
            ),
            "on both sides of the margin of 4.",
        ),
        (Figure(-0.1, -0.2, -0.05), "(95% interval 5.0 to 20.0).", "5.0 to 20.0 points"),
        (
            Figure(0.1),
            "The decision hired=1 falls on woman 10.0 percentage points more often than on man.",
            "an estimate without an interval may be chance.",
        ),
        (
            Figure(None),
            "How the rates of hired=1 differ between groups can't be told from these tables.",
            "there is no estimate.",
        ),
    ],
)
def test_the_answer_is_a_sentence(difference, answer, verdict):
    found = of_two(difference)
    shown = summarize(found)
    assert shown["answer"].endswith(answer)
    assert verdict in shown["verdicts"][0]
    page = squeezed("".join(Page(to_html(found)).text))
    assert shown["answer"] in page
    assert shown["verdicts"][0] in page


def test_the_answer_for_more_groups_has_no_direction(three):
    found = three.demographic_parity.difference
    shown = summarize(three)
    assert shown["answer"] == (
        f"The rates of hired=1 differ by {100 * found.estimate:.1f} percentage points between the "
        f"groups with the highest and the lowest (95% interval {100 * found.low:.1f} to "
        f"{100 * found.high:.1f})."
    )
    assert shown["verdicts"] == [
        str(three.demographic_parity.verdict),
        str(three.demographic_parity.ratio_verdict),
    ]


def test_a_report_says_each_verdict_and_why(result):
    for text in (squeezed("".join(Page(to_html(result)).text)), to_markdown(result)):
        plain = re.sub(r"\\(.)", r"\1", text)
        for name, measure in result.measures.items():
            assert squeezed(str(measure.verdict)) in plain
            assert measure.verdict.value in plain.split(name.replace("_", " "), 1)[1]
        assert str(result.demographic_parity.ratio_verdict) in plain
        assert "margin: 0.05; ratio_margin: 0.8" in plain


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_cell_is_escaped_where_a_verdict_names_it(name):
    unclear = of_difference(Figure(0.0, -0.1, 0.1), 0.05)
    told = dataclasses.replace(unclear, advice=advice({name: 0.6, "other": 0.7}, 400, None))
    found = audited()
    parity = dataclasses.replace(found.demographic_parity, verdict=told, ratio_verdict=told)
    found = dataclasses.replace(found, measures={"demographic_parity": parity})
    page = Page(to_html(found))
    assert "script" not in page.tags
    assert squeezed(str(told)) in squeezed("".join(page.text))
    lines = [line for line in to_markdown(found).splitlines() if not line.startswith("|")]
    assert not any(re.search(r"(?<!\\)[<>`]", line) for line in lines)
    assert sum(squeezed(str(told)) in re.sub(r"\\(.)", r"\1", line) for line in lines) == 3


def test_the_level_is_shown_to_the_digit():
    assert "97.5% intervals" in to_html(audited(level=0.975))


def test_intervals_are_drawn_to_scale():
    """A difference of two groups lies on a scale from -1 to 1, a rate on one from 0 to 1."""
    shown = summarize(of_two(Figure(-0.5, -0.75, 0.25)))["headline"]["difference"]["bar"]
    assert shown == {"low": 12.5, "width": 50.0, "at": 25.0, "zero": 50.0}
    found = dataclasses.replace(audited().groups[0], share=Figure(0.5, 0.25, np.inf))
    (group, _) = summarize(dataclasses.replace(audited(), groups=(found, found)))["groups"]
    assert group["share"]["bar"] == {"low": 25.0, "width": 75.0, "at": 50.0, "zero": 0.0}


def test_what_is_not_estimated_is_said_and_not_drawn():
    auxiliary = people(400, ["man", "woman"])
    auxiliary = auxiliary[(auxiliary["hired"] == 0) | (auxiliary["origin"] == "man")]
    spec = Audit(decision="hired", group="origin", scores={"man": "p0", "woman": "p1"})
    found = spec.fit(auxiliary).measure(people(400, ["man", "woman"], 1))
    text = to_html(found)
    assert "<svg" not in text
    assert "not estimable" in text
    assert "can&#39;t be told from these tables" in text
    assert to_markdown(found).count("not estimable") >= 2 + 2 * 2 + 7


# Files


def test_the_ending_of_a_file_decides_the_form(result, tmp_path):
    write(result, tmp_path / "audit.html")
    write(result, str(tmp_path / "audit.MD"))
    assert (tmp_path / "audit.html").read_text(encoding="utf-8") == to_html(result)
    assert (tmp_path / "audit.MD").read_text(encoding="utf-8") == to_markdown(result)


@pytest.mark.parametrize(("name", "ending"), [("audit.pdf", ".pdf"), ("audit", "a file without")])
def test_other_endings_are_an_error(result, tmp_path, name, ending):
    with pytest.raises(InputError, match=rf"written to \.html or \.md, not {ending}"):
        write(result, tmp_path / name)
