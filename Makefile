# Every target needs only python3 and make: the environment is made in .venv on first use.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types unit bench docs mutants coverage fuzz clean

demo: .venv/.installed
	$(BIN)/passerby demo --out passerby-demo

test: lint types unit

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy

unit: .venv/.test
	@$(BIN)/python -c "import passerby; passerby.measure"  # compile the kernels once, before two processes want them
	$(BIN)/pytest -n 2 --dist worksteal

bench: .venv/.bench
	$(BIN)/python -m benchmarks

mutants: .venv/.test .venv/.trust
	PYTHONPATH=. $(BIN)/python -m trust.mutants

coverage: .venv/.test .venv/.trust
	PYTHONPATH=. $(BIN)/python -m trust.coverage

fuzz: .venv/.test
	PYTHONPATH=. $(BIN)/python -m trust.fuzz

docs: .venv/.docs
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.installed: pyproject.toml .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -c "import passerby; passerby.measure"  # compiles the kernels, once
	@touch $@

.venv/.test .venv/.docs .venv/.bench .venv/.trust: .venv/.%: pyproject.toml .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

clean:
	rm -rf .venv build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
