"""The house rules that no linter knows: sizes, annotations, and which way imports point.

Usage: python scripts/house_rules.py [folder of the package]
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MODULE = 400
MAX_FUNCTION = 40
PURE = {"scores", "sketch", "quantifiers", "calibration", "disparity", "intervals", "direct"}
PURE_MAY_IMPORT = {"numpy", "scipy", "sklearn", "joblib"} | sys.stdlib_module_names
PURE_TEXT = f"NumPy, SciPy, scikit-learn, joblib, errors and {', '.join(sorted(PURE))}"
OUTER = {"report", "cli", "demo", "experiments", "datasets"}
HEAVY = {"dask", "duckdb", "jinja2", "matplotlib", "pandas", "polars", "pyarrow", "pyspark", "rich"}
TYPES_ONLY = {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
MAY_LOAD_HEAVY = {"tables", "roles", "auxiliary", "engines", "cli", "demo", "report"}


class Import(NamedTuple):
    """One imported module, and whether it is imported only when a function runs."""

    line: int
    name: str
    lazy: bool


def imports(node: ast.AST, package: list[str], *, lazy: bool = False) -> Iterator[Import]:
    """Yield the absolute names that `node` imports, without those for type checkers."""
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) in TYPES_ONLY:
        children = iter(node.orelse)
    lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for child in children:
        if isinstance(child, ast.Import):
            yield from (Import(child.lineno, alias.name, lazy) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            parents = package[: len(package) - child.level + 1] if child.level else []
            source = ".".join([*parents, *([child.module] if child.module else [])])
            yield from (Import(child.lineno, f"{source}.{a.name}", lazy) for a in child.names)
        else:
            yield from imports(child, package, lazy=lazy)


def broken_imports(tree: ast.Module, path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the rule of each import that points the wrong way."""
    package = [root.name, *path.relative_to(root).parent.parts]
    part = path.relative_to(root).with_suffix("").parts[0]
    for line, name, lazy in imports(tree, package):
        top, _, rest = name.partition(".")
        ours = rest.partition(".")[0] if top == root.name else None
        allowed = top in PURE_MAY_IMPORT if ours is None else ours in PURE | {"errors"}
        if part in PURE and not allowed:
            yield line, f"{part} must not import {top if ours is None else name}, only {PURE_TEXT}"
        if ours in OUTER and part not in OUTER | {"__main__"}:
            yield line, f"the core must not import {ours}"
        if top in HEAVY and not lazy and part not in MAY_LOAD_HEAVY:
            yield line, f"import {top} inside the function that needs it"


def broken_code(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the rule of each function or statement that breaks one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if length > MAX_FUNCTION:
                yield node.lineno, f"{node.name} has {length} lines; at most {MAX_FUNCTION}"
            if node.returns is None:
                yield node.lineno, f"{node.name} lacks a return annotation"
        elif isinstance(node, ast.Assert):
            yield node.lineno, "no assert in the library; raise an error of quantifair.errors"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            yield node.lineno, "no print in the library"


def broken_rules(root: Path) -> Iterator[str]:
    """Yield `file:line: rule` for each broken rule in the package at `root`."""
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text, str(path))
        if (length := len(text.splitlines())) > MAX_MODULE:
            yield f"{path}:1: the module has {length} lines; at most {MAX_MODULE}"
        for line, rule in sorted({*broken_code(tree), *broken_imports(tree, path, root)}):
            yield f"{path}:{line}: {rule}"


if __name__ == "__main__":
    package_root = Path(*sys.argv[1:] or ["src/quantifair"])
    if not package_root.is_dir():
        sys.exit(f"{package_root} is not a folder")
    sys.exit("\n".join(broken_rules(package_root)) or None)
