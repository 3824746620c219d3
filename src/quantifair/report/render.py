"""From a summary to a page, by the templates in this folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from quantifair.errors import InputError
from quantifair.report.summarize import summarize

if TYPE_CHECKING:
    from quantifair.results import AuditResult


def to_html(result: AuditResult) -> str:
    """Return one self-contained page: no script, no network, the same bytes for the same result."""
    return _render("report.html", result)


def to_markdown(result: AuditResult) -> str:
    """Return the report as Markdown."""
    return _render("report.md", result)


def write(result: AuditResult, path: str | Path) -> None:
    """Write a report; the file's ending, .html or .md, decides the form."""
    renderers = {".html": to_html, ".md": to_markdown}
    ending = Path(path).suffix.lower()
    if ending not in renderers:
        raise InputError(
            f"a report is written to .html or .md, not {ending or 'a file without ending'}"
        )
    Path(path).write_text(renderers[ending](result), encoding="utf-8")


def _render(template: str, result: AuditResult) -> str:
    environment = Environment(
        loader=PackageLoader("quantifair.report"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = _markdown_cell
    return environment.get_template(template).render(summarize(result))


def _markdown_cell(text: str) -> str:
    """Keep names from breaking out of a table or becoming markup."""
    escaped = "".join("\\" + c if c in r"\`*_{}[]<>()#+!|&~" else c for c in text)
    return " ".join(escaped.split())
