# Every target works on a fresh machine with Python >= 3.11 (with venv), make and a network.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Neighbouring tests in one process, until the other has nothing to do: what a file prepares is made once.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
KERNEL_TESTS := tests/neighbors/test_search.py tests/judging/test_knn_judge.py tests/rankers/test_laplace.py \
	tests/rankers/test_relief.py tests/trees

.PHONY: demo test test-full test-all fuzz faults coverage mutants lint format docs bench clean clean-cache

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing semirank and its tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e ".[dev]"
	@-$(BIN)/python -m compileall -q -j 0 $(VENV) > $(VENV)/compileall.log 2>&1  # as pip does, on all cores
	@touch $(STAMP)

demo: $(STAMP)  ## rank scikit-learn's digits with 100 of 1797 labels kept
	@$(BIN)/semirank demo

test: $(STAMP)  ## lint, types, documentation, tests
	@$(MAKE) --no-print-directory -j 2 lint docs
	@$(PYTEST)

test-full: $(STAMP)  ## also the slow tests
	@$(MAKE) --no-print-directory -j 2 lint docs
	@$(PYTEST) --runslow

fuzz: $(STAMP)  ## a hundred thousand damaged files through the readers; takes about a quarter of an hour
	@$(BIN)/python -m tools.fuzz

faults: $(STAMP)  ## kill, interrupt and fill the disk at random moments; takes some minutes
	@$(BIN)/python -m tools.faults

coverage: $(STAMP)  ## branches that the tests take; then the kernels, as plain Python
	@$(PYTEST) --cov --cov-report=term
	@NUMBA_DISABLE_JIT=1 $(PYTEST) --cov --cov-config=tools/kernels.coveragerc \
		--cov-report=term $(KERNEL_TESTS) -k "twin or dense or everything_equal or first_guess or float32" \
		-W "ignore:overflow encountered:RuntimeWarning"

mutants: $(STAMP)  ## change the code and see whether a test notices; takes hours, --sample N less
	@$(BIN)/python -m tools.mutants

test-all: $(STAMP)  ## every Python that is here, the oldest libraries, and none that are optional
	@$(BIN)/python -m tools.matrix

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(STAMP)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(STAMP)  ## the documentation as a site; a broken link or reference is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(STAMP)  ## speed and memory against the peers
	@$(BIN)/python -m benchmarks

clean-cache:  ## forget compiled kernels
	find src -name '*.nb[ic]' -delete

clean: clean-cache
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache
