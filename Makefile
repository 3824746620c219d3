# `make` lists the targets. It needs Python 3.11 or later; it installs the rest into .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
WHEEL := dist/quantifair-*.whl
SOURCES := pyproject.toml README.md LICENSE $(shell find src -not -path '*__pycache__*')
CLI := $(wildcard src/quantifair/cli/__init__.py)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_SYSTEM_CERTS := 1
export NO_MKDOCS_2_WARNING := 1
# The tests share the cores between them; a library that takes them all makes everybody wait.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# Nothing outside .venv takes part: the tests see the installed wheel, never src/.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

# uv is fast, but does not read pip.conf. Where it fails, pip tries.
install = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) \
	|| $(BIN)/pip install --quiet $(1)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo check lint types test coverage docs format bench lowest clean

help: ## List the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/.package .venv/.dev ## Create .venv with the package and all that developers need

demo: .venv/.package ## Audit the demonstration data, into demo/ (installs the package only)
	$(BIN)/quantifair demo --out demo

check: lint types docs test ## All that CI checks

lint: .venv/.package .venv/.dev ## Style, house rules, generated pages
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python scripts/house_rules.py
	$(if $(CLI),$(BIN)/python scripts/cli_reference.py --check)

types: .venv/.package .venv/.dev ## Types
	$(BIN)/mypy

test: .venv/.package .venv/.dev ## Tests and documented examples, on the built wheel
	$(BIN)/pytest -n 2 --doctest-modules --doctest-glob='*.md' --pyargs quantifair tests docs README.md

coverage: .venv/.package .venv/.dev ## Which lines the tests miss
	$(BIN)/pytest -n 2 --cov

docs: .venv/.package .venv/.dev ## Build the documentation into site/
	$(if $(CLI),$(BIN)/python scripts/cli_reference.py)
	$(BIN)/mkdocs build --strict

format: .venv/.dev ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

bench: .venv/.package .venv/.dev ## Measure speed and memory (benchmarks/)
	$(BIN)/python -m benchmarks

lowest: .venv/.package ## Tests on the oldest versions that pyproject.toml allows, in .venv-lowest
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct \
		--requirements pyproject.toml --group test $(WHEEL)
	.venv-lowest/bin/pytest -n 2

clean: ## Remove all that make made
	rm -rf .venv .venv-lowest .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage dist site demo
	find src tests scripts -name __pycache__ -prune -exec rm -rf {} +

.venv/.base:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip uv
	@touch $@

.venv/.package: .venv/.base $(SOURCES)
	rm -rf dist
	$(BIN)/uv build --quiet --python $(BIN)/python || $(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	@$(BIN)/pip uninstall --yes -qq quantifair
	$(call install,$(WHEEL))
	@touch $@

.venv/.dev: pyproject.toml | .venv/.package
	$(call install,--group dev)
	@touch $@
