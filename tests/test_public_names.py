"""The public names, and what importing them costs."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources

import pytest

import quantifair


def test_every_public_name_can_be_imported():
    for name in quantifair.__all__:
        value = getattr(quantifair, name)
        assert value.__name__ == name
        assert value.__module__.startswith("quantifair.")
        assert value.__doc__


def test_a_star_import_brings_the_public_names():
    names: dict[str, object] = {}
    exec("from quantifair import *", names)  # noqa: S102
    assert set(names) - {"__builtins__"} == set(quantifair.__all__)


def test_the_public_names_are_listed():
    assert dir(quantifair) == sorted(quantifair.__all__)
    assert set(quantifair._HOME) == set(quantifair.__all__)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'quantifair' has no attribute 'Audits'"):
        quantifair.Audits  # noqa: B018
    assert not hasattr(quantifair, "audits")


def loaded_by(code):
    """Top-level modules that a fresh interpreter has after running some code."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)  # noqa: S603
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "duckdb", "jinja2", "rich", "typer"}
    assert not loaded_by("import quantifair") & heavy


def test_errors_and_results_load_nothing_heavy():
    heavy = {"sklearn", "pandas", "pyarrow", "duckdb", "jinja2", "rich", "typer"}
    assert not loaded_by("from quantifair import Figure, InputError") & heavy


def test_the_package_says_that_it_is_typed():
    assert resources.files("quantifair").joinpath("py.typed").is_file()


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert quantifair.__version__ == version("quantifair")
