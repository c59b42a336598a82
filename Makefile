# Two commands: `make demo` shows the main job on built-in data, `make test` runs the tests.
# Both set up everything in .venv first; only Python (3.11 or later) and make are needed.
PYTHON ?= python3
BIN := .venv/bin
MINUTES ?= 5
SEED ?= 0

.PHONY: demo test compiled uncompiled docs package fuzz lint types clean

demo: .venv/installed
	$(BIN)/mixedbag demo --out mixedbag-demo

# Whoever wants no bytecode would have every process that tests start compile the package anew.
test: export PYTHONDONTWRITEBYTECODE =
test: .venv/tests-installed
	+$(MAKE) --no-print-directory --jobs=2 compiled uncompiled

compiled:
	$(BIN)/python -m pytest -n auto --dist worksteal

# Kernels as plain Python, so that their indices are checked.
uncompiled:
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m kernel -p no:cacheprovider $$(grep -rl mark.kernel tests)

# The site, into docs/_build/html: warnings are errors, and nothing is fetched.
docs: .venv/docs-installed
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/_tools/check.py docs/_build/html

# Wheel and sdist, each tried in an environment of its own.
package: .venv/docs-installed
	PYTHON=$(BIN)/python .ci/package

# Damages files, arrays, models and trials for MINUTES and counts what becomes of them.
fuzz: .venv/tests-installed
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) --keep fuzz-failures

lint: .venv/dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev-installed
	$(BIN)/mypy

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/tests-installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[tests]'
	touch $@

.venv/dev-installed: .venv/tests-installed requirements-dev.txt
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	touch $@

.venv/docs-installed: .venv/tests-installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

clean:
	rm -rf .venv mixedbag-demo dist docs/_build docs/gallery docs/reference docs/_static/demo-report.html
	find docs -name '*.generated.md' -delete
