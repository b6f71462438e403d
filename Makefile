# Each target sets up what it needs; a second run installs nothing. Any Python 3.11+ will do: make PYTHON=python3.12
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-newest test-oldest notebooks bench headline real learn combine unseen paper mnist \
	lint clean

help:
	@echo "make demo       estimate one classifier's error with every estimator; prints a table, writes demo.png"
	@echo "make test       lint, types, tests, doctests, notebooks in quick mode"
	@echo "make test-long  the checks that take longer"
	@echo "make test-newest  the tests with the newest versions that pip finds, in .venv-newest: about 7 GB, most of it torch's"
	@echo "                  accelerator libraries; make test-newest PYTHON=python3.13"
	@echo "make test-oldest  the tests with the lowest versions that pyproject.toml states, in .venv-oldest: Python 3.11, 5 GB"
	@echo "make notebooks  the notebooks in full, about a quarter of an hour; keeps their outputs"
	@echo "make bench      benchmarks, as ratios against scikit-learn; writes benchmarks/results/"
	@echo "make headline   the figure on top of README, about half an hour"
	@echo "make real       every estimator on real data, days; make real FOLDER=... with CSV files in it; OPTIONS=--pilot prints"
	@echo "                the expected hours only; interrupt it and run it again to go on"
	@echo "make learn      the combination behind assess, from new cases, hours; make learn FOLDER=... with CSV files in it,"
	@echo "                HOURS=2 of simulation in each of two processes"
	@echo "make combine    the combination behind assess, from the stored cases, a quarter of an hour"
	@echo "make unseen     estimates and intervals on populations that nothing was tuned on, hours; interrupt it and run it again"
	@echo "                to go on; COMBINATION=... names the file behind assess"
	@echo "make mnist      the paper's MNIST experiment, over an hour; make mnist FOLDER=... with the MNIST files in it"
	@echo "make paper      the paper's experiment and that on large samples, about an hour; writes benchmarks/results/"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/bayes-gresub demo --plot demo.png --force

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive bayes_gresub

test: lint
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not long"

test-long: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m long

# Environments of their own, made anew: what pip finds today is what is tested.
test-newest:
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(call test_in,.venv-newest,)

# Old packages use what newer ones that they depend on deprecate: their warnings are no errors here.
test-oldest:
	$(PYTHON) -m venv --clear .venv-oldest
	$(PYTHON) tests/oldest_versions.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-oldest/constraints.txt --editable '.[dev]'
	$(call test_in,.venv-oldest,-W ignore::DeprecationWarning)

define test_in
	$(1)/bin/python --version && $(1)/bin/python -m pip list --disable-pip-version-check | grep -Ei '^($(SHOWN)) '
	$(1)/bin/python -m pytest -q $(2) -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not long"
endef
SHOWN := numpy|scipy|scikit-learn|pandas|xarray|pymc|pytensor|arviz|torch|gpytorch|nutpie|matplotlib

notebooks: $(READY)
	$(BIN)/python notebooks/run.py

headline: $(READY)
	$(BIN)/python -m benchmarks.headline 1000 $(WORKERS)

bench: $(READY)
	$(BIN)/python -m benchmarks.run

paper: $(READY)
	$(BIN)/python -m benchmarks.paper $(WORKERS)
	$(BIN)/python -m benchmarks.large_sample $(WORKERS)

# What is done of a run that is not finished; it goes on from there.
REAL_RUN := benchmarks/results/real_run.tar.xz
real: $(READY)
	@test -n "$(FOLDER)" || { echo "name the folder with the CSV files: make real FOLDER=..."; exit 1; }
	@test -d runs/real || test ! -f $(REAL_RUN) || { mkdir -p runs && tar -xJf $(REAL_RUN) -C runs; }
	$(BIN)/python -m benchmarks.real "$(FOLDER)" --workers $(WORKERS) $(OPTIONS)

# Cases are made by two processes. Files that exist are not made again: remove runs/learn to start anew.
HOURS ?= 2
CASES := benchmarks/results/learn/cases.npz
learn: $(READY)
	@test -n "$(FOLDER)" || { echo "name the folder with the CSV files: make learn FOLDER=..."; exit 1; }
	$(BIN)/python -m benchmarks.learn.cases runs/learn/simulated 0 1 $(HOURS) & \
	$(BIN)/python -m benchmarks.learn.cases runs/learn/derived 0 1 $(HOURS) "$(FOLDER)"; wait
	$(BIN)/python -m benchmarks.learn.real_cases "$(FOLDER)" runs/learn/real 0 2 & \
	$(BIN)/python -m benchmarks.learn.real_cases "$(FOLDER)" runs/learn/real 1 2; wait
	$(BIN)/python -m benchmarks.learn.collect $(CASES) runs/learn/simulated runs/learn/derived runs/learn/real
	$(MAKE) combine

combine: $(READY)
	rm -rf runs/learn/combinations
	$(BIN)/python -m benchmarks.learn.combine $(CASES) runs/learn/combinations
	cp runs/learn/combinations/all.npz bayes_gresub/assessing/combination.npz

COMBINATION ?= runs/learn/combinations/without-unseen.npz
unseen: $(READY)
	$(BIN)/python -m benchmarks.unseen_kinds "$(COMBINATION)" 100 $(WORKERS)

mnist: $(READY)
	@test -n "$(FOLDER)" || { echo "name the folder with the MNIST files: make mnist FOLDER=..."; exit 1; }
	$(BIN)/python -m benchmarks.mnist "$(FOLDER)" 30 $(WORKERS)

clean:
	rm -rf $(VENV) .venv-newest .venv-oldest build dist demo.png .pytest_cache .mypy_cache .ruff_cache .hypothesis
