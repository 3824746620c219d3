"""The house rules hold in this repository, and each of them fires."""

from collections.abc import Callable
from pathlib import Path

import pytest

import house_rules

REPOSITORY = Path(__file__).parents[1]

Check = Callable[[str, str], list[str]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Write one module of a package `quantifair`; return the rules it breaks, as `line: rule`."""
    root = tmp_path / "quantifair"

    def broken_rules(module: str, code: str) -> list[str]:
        path = root / module
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
        return [rule.removeprefix(f"{path}:") for rule in house_rules.broken_rules(root)]

    return broken_rules


def test_the_repository_keeps_them() -> None:
    assert not list(house_rules.broken_rules(REPOSITORY / "src" / "quantifair"))


def test_module_length(check: Check) -> None:
    assert check("audit.py", "x = 1\n" * 400) == []
    assert check("audit.py", "x = 1\n" * 401) == ["1: the module has 401 lines; at most 400"]


def test_function_length_without_its_docstring(check: Check) -> None:
    docstring = '    """One.\n' + "\n" * 30 + '    """\n'
    head = f"def f() -> None:\n{docstring}"
    assert check("audit.py", head + "    x = 1\n" * 40) == []
    assert check("audit.py", head + "    x = 1\n" * 41) == ["1: f has 41 lines; at most 40"]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("def f(x: int): ...\n", "1: f lacks a return annotation"),
        ("class A:\n    async def g(self): ...\n", "2: g lacks a return annotation"),
        ("\nassert True\n", "2: no assert in the library; raise an error of quantifair.errors"),
        ("print(1)\n", "1: no print in the library"),
    ],
)
def test_code(check: Check, code: str, rule: str) -> None:
    assert check("audit.py", code) == [rule]


@pytest.mark.parametrize("module", ["sketch.py", "quantifiers/em.py", "intervals.py", "direct.py"])
@pytest.mark.parametrize(
    "code",
    [
        "import narwhals",
        "from quantifair import audit",
        "from quantifair.tables import read",
        "def f() -> None:\n    import narwhals",
    ],
)
def test_pure_modules_import_no_more_than_they_may(check: Check, module: str, code: str) -> None:
    (rule,) = check(module, code)
    assert "must not import" in rule
    assert "only NumPy, SciPy, scikit-learn" in rule


def test_pure_modules_import_each_other(check: Check) -> None:
    code = "import math\nimport numpy as np\nfrom scipy.optimize import nnls\nimport sklearn.base\n"
    assert check("quantifiers/em.py", f"{code}from .base import Q\nfrom ..errors import E") == []
    assert check("intervals.py", "from quantifair import sketch\nfrom .disparity import f") == []


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("audit.py", "from quantifair.report import render"),
        ("audit.py", "import quantifair.report.render"),
        ("__init__.py", "from . import report"),
        ("engines/arrow.py", "from ..report import render"),
        ("results.py", "def f() -> None:\n    from quantifair import report"),
    ],
)
def test_the_core_imports_nothing_outer(check: Check, module: str, code: str) -> None:
    (rule,) = check(module, code)
    assert rule.endswith("the core must not import report")


def test_the_outer_modules_import_the_core_and_each_other(check: Check) -> None:
    assert check("cli.py", "from quantifair import Audit, report, datasets") == []
    assert check("report/render.py", "from ..audit import Audit") == []
    assert check("__main__.py", "from quantifair.cli import main") == []


@pytest.mark.parametrize("library", sorted(house_rules.HEAVY))
def test_heavy_libraries_are_imported_where_they_are_used(check: Check, library: str) -> None:
    code = f"try:\n    import {library}.x\nexcept ImportError:\n    pass"
    assert check("audit.py", code) == [f"2: import {library} inside the function that needs it"]
    assert check("audit.py", f"def f() -> None:\n    from {library} import x") == []


@pytest.mark.parametrize("module", ["tables.py", "engines/arrow.py", "cli.py", "report/render.py"])
def test_modules_made_for_a_heavy_library_may_load_it(check: Check, module: str) -> None:
    assert check(module, "import pyarrow as pa") == []


def test_imports_for_type_checkers_are_free(check: Check) -> None:
    code = "if TYPE_CHECKING:\n    import pandas as pd\n    from quantifair.report import Page\n"
    assert check("sketch.py", code) == []
    assert check("audit.py", f"{code}else:\n    import pandas") != []
