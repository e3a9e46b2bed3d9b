# Every target needs only python3 and make: the environment is made in .venv on first use (for benchmarks, .venv-bench).
PYTHON ?= python3
BIN := .venv/bin
BENCH_BIN := .venv-bench/bin
# Benchmarks to run and their options, all by default: make bench BENCH="decode audit"
BENCH ?=
# The version to close: make changes VERSION=0.2.0
VERSION ?=
# Options of the sample of mutants: make mutants MUTANTS="--sample 100 --seed 1"
MUTANTS ?=

# Python keeps what it compiles of each file that it loads: nothing is compiled when it is installed (see INSTALL).
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types kernels unit thorough bench docs changes mutants coverage fuzz deep lowest newest clean

demo: .venv/.installed
	$(BIN)/passerby demo --out passerby-demo --overwrite

# What does not wait for anything else goes side by side; the tests come last, with both cores and the last word.
test: .venv/.test
	@$(MAKE) --no-print-directory -j3 --output-sync=line lint types kernels
	@$(MAKE) --no-print-directory unit

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy

kernels: .venv/.test
	@$(BIN)/python -m passerby.cli.warm_up  # compiled once, before two processes want them

unit: kernels
	$(BIN)/pytest -n 2 --dist worksteal

thorough: kernels
	$(BIN)/pytest -n 2 --dist worksteal -m thorough

bench: .venv-bench/.installed
	$(BENCH_BIN)/python -m benchmarks $(BENCH)

mutants: .venv/.test .venv/.trust
	PYTHONPATH=. $(BIN)/python -m trust.mutants $(MUTANTS)

coverage: .venv/.test .venv/.trust
	PYTHONPATH=. $(BIN)/python -m trust.coverage

fuzz: .venv/.test
	PYTHONPATH=. $(BIN)/python -m trust.fuzz

deep: .venv/.test
	PYTHONPATH=. $(BIN)/python -m trust.deep

# The lowest versions that are allowed, in an environment of their own.
lowest:
	$(PYTHON) -m trust.lowest

# The newest versions of everything, in another.
newest:
	$(PYTHON) -m trust.newest

docs: .venv/.docs
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

# Of all that is installed few files are ever loaded, so Python compiles a file when it is, and not before.
INSTALL := pip install --quiet --disable-pip-version-check --no-compile

# Lines of changes/ go into the section of the next version in CHANGELOG.md.
changes:
	$(PYTHON) docs/make_changelog.py $(if $(VERSION),--version $(VERSION))

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml .venv/bin/python
	$(BIN)/python -m $(INSTALL) --editable .
	$(BIN)/python -m passerby.cli.warm_up  # compiles the kernels, once
	@touch $@

.venv/.test .venv/.docs .venv/.trust: .venv/.%: pyproject.toml .venv/bin/python
	$(BIN)/python -m $(INSTALL) --editable '.[$*]'
	@touch $@

# Peers come one by one: where one cannot be had, the others are, and the benchmarks say so.
.venv-bench/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	$(BENCH_BIN)/python -m $(INSTALL) --editable .
	$(BENCH_BIN)/python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
		print(*project['optional-dependencies']['bench'], sep='\n')" \
		| xargs -n 1 $(BENCH_BIN)/python -m $(INSTALL) || echo "some peers could not be installed"
	$(BENCH_BIN)/python -m passerby.cli.warm_up  # compiles the kernels, once
	@touch $@

clean:
	rm -rf .venv .venv-bench .venv-lowest .venv-newest build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
