"""Reports: a result summarised as plain data, then rendered by templates."""

from quantifair.report.render import to_html, to_markdown, write

__all__ = ["to_html", "to_markdown", "write"]
