# Every target sets up what it needs: only Python (3.11 or newer), make and a package index are required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ALIBI := build/alibi/bin/python
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow faults life fuzz fuzz-guided coverage test-lowest versions mutants sbom test-deep test-sdist axe lint bench statistics seeds docs clean

# Audits a model on the embedded Adult data; the results are in falcon-report/.
demo: $(VENV)/.demo
	$(BIN)/falcon-discover demo --out falcon-report

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

# The tests that take seconds each, named in tests/slow.txt.
test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m slow

# Every call that touches the disk fails, or kills the process, in turn: results/reliability/faults.csv.
faults: $(VENV)/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m faults

# Memory of 1,000 batches in one process, and folders of 10,000 files: results/reliability/life.csv.
life: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/life.py

# One operator, comparison or number of the code is another: does a test notice?
mutants: export OMP_NUM_THREADS = 1
mutants: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m mutants

# Generated inputs, damaged files, and answers that must agree: results/reliability/inputs.csv,
# damaged.csv, agreement.csv. Half an hour on one core; goes on where it was stopped. A part of it:
# make fuzz FUZZ="--cases 2000 --files 10 --pairs 4".
FUZZ ?=
fuzz: $(VENV)/.dev
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m fuzz $(FUZZ)

# What reads files, fuzzed by coverage, with Atheris in an environment of its own:
# results/reliability/guided.csv.
GUIDED := build/guided
fuzz-guided: $(GUIDED)/.done
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(GUIDED)/bin/python -m fuzz.guided

$(GUIDED)/.done: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(GUIDED)
	$(GUIDED)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[dev]' atheris
	touch $@

# The same tests, with the share of lines and branches of each module that they run; without the
# one that measures processor time, which tracing adds to.
coverage: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report=term:skip-covered --cov-report=html:build/coverage \
		--deselect tests/report/test_report.py::test_a_million_rows_make_a_small_page_in_seconds

# The same tests with the lowest versions that pyproject.toml promises: one line of `make versions`.
test-lowest: $(VENV)/.dev
	$(BIN)/python scripts/versions.py --only 3.11-lowest

# The tests with other Pythons, and with the newest dependencies: results/reliability/versions.csv.
versions: $(VENV)/.dev
	$(BIN)/python scripts/versions.py

# What a full installation brings along (CycloneDX), its licences, and known vulnerabilities where
# the service that lists them can be reached.
SBOM := build/sbom
sbom: $(VENV)/bin/python
	$(PYTHON) -m venv $(SBOM)/environment
	$(SBOM)/environment/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt '.[all]'
	$(SBOM)/environment/bin/python -m pip uninstall --quiet --yes pip setuptools
	$(PYTHON) -m venv $(SBOM)/tools
	$(SBOM)/tools/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom pip-audit
	$(SBOM)/tools/bin/cyclonedx-py environment $(SBOM)/environment --of JSON -o build/sbom.cdx.json
	$(PYTHON) scripts/licences.py build/sbom.cdx.json
	-$(SBOM)/tools/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

# The tests of the deep models, with torch, in an environment of their own. The wheel of this torch that
# package indexes hold for a CPU is small; it comes first, since the newest brings gigabytes of CUDA.
DEEP := build/deep
test-deep: $(DEEP)/.done
	$(DEEP)/bin/python -m pytest tests/models/test_deep.py tests/models/test_deep_names.py \
		tests/bench/test_bench_frozen.py

$(DEEP)/.done: pyproject.toml constraints-deep.txt
	$(PYTHON) -m venv $(DEEP)
	$(DEEP)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-deep.txt torch
	$(DEEP)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-deep.txt --editable '.[deep]' pytest
	touch $@

# The tests as they run from a source distribution, without the repository around it.
test-sdist: $(VENV)/.dev
	rm -rf build/sdist
	$(BIN)/python -m hatchling build --target sdist --directory build/sdist
	tar --extract --gzip --strip-components 1 --directory build/sdist --file build/sdist/*.tar.gz
	cd build/sdist && PYTHONPATH=src $(CURDIR)/$(BIN)/python -m pytest -n 2 --dist loadgroup

# The accessibility checker that the browser tests use where it is there; it needs npm.
axe:
	npm install --prefix build/axe --no-save axe-core@4.14.0

# What no test runs: at least its names must be there.
TOOLS = $(basename $(notdir $(wildcard benchmarks/*.py scripts/*.py)))
lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/mypy --config-file scripts/mypy.ini $(TOOLS:%=-m %) -p figures -p benchmarks.claims -p fuzz -p faults -p mutants
	$(BIN)/lint-imports --no-cache

# Figures that take minutes rather than seconds.
bench: export OMP_WAIT_POLICY = passive
bench: $(VENV)/.peers $(ALIBI)
	$(BIN)/python benchmarks/adult.py
	$(BIN)/python benchmarks/state_floor.py
	$(BIN)/python benchmarks/peers.py --alibi-python $(ALIBI)
	$(BIN)/python benchmarks/fit_memory.py
	$(BIN)/python benchmarks/sizing.py
	$(BIN)/python benchmarks/auto_cost.py
	$(BIN)/python benchmarks/saved_reference.py
	$(BIN)/python benchmarks/in_sample.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/ratios.py

# Every statistical claim against simulations with known truth: about an hour on 2 free cores.
statistics: $(VENV)/.dev
	$(BIN)/python -m benchmarks.claims

# The statistical tests under many seeds: what holds must not hold for one draw alone.
SEEDS ?= 0-49
seeds: $(VENV)/.dev
	FALCON_DISCOVER_TESTS_SEED=$(SEEDS) $(BIN)/python -m pytest -n 2 -m seeds

# The documentation as a site in site/, built without network once its tools are installed.
docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) falcon-report site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[xgboost]'
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.peers: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev,peers]'
	touch $@ $(VENV)/.dev $(VENV)/.demo

# alibi needs numpy < 2, so it has an environment of its own; where that cannot be made, it is left out.
$(ALIBI):
	-$(PYTHON) -m venv build/alibi && $@ -m pip install --quiet --disable-pip-version-check alibi==0.9.6 click

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[docs]'
	touch $@
