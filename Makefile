# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN ?= # a Python that has the package's needs and pytest already, instead of the one in $(VENV)
LINT ?= lint # before tests; empty where NumPy's types are too old for them (Python 3.10)
WORKERS ?= 2 # processes that run tests; more need more memory, as each uses all cores
MINUTES ?= 3 # of `make soak`

.PHONY: demo test test-gpu fuzz soak lint bench docs package clean

demo: $(VENV)/.installed
	$(BIN)/dala demo examples/assets/astronaut.jpg

# In random order, whose seed is printed: `make test SEED=N` takes that order again.
# A few tests, whose end only the system's scheduler decides, have a second try, which the summary lists;
# `make test STRICT=1` allows none.
test: $(VENV)/.dev $(LINT)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(if $(SEED),--randomly-seed=$(SEED)) \
		$(if $(STRICT),-p no:rerunfailures)

# Random searches, free and far: other cases each time. What they find is kept as an @example.
# DALA_FUZZ_EXAMPLES=N sets how many cases each of them tries.
fuzz: $(VENV)/.dev
	DALA_FUZZ=1 $(BIN)/python -m pytest -m 'hypothesis or fuzz'
	DALA_FUZZ=1 $(BIN)/python -m pytest tests/gpu/test_fuzz.py

# Everything at once, with signals, forks and lost GPUs; nothing may fail, nothing may grow.
soak: $(VENV)/.dev
	$(BIN)/python -X faulthandler tests/soak/soak.py $(MINUTES)
	$(BIN)/python -X faulthandler tests/soak/live.py --minutes $(MINUTES)
	$(BIN)/python -X faulthandler tests/soak/renders.py

# The whole suite with a real GPU as the default device; without one it fails. Every skip is listed.
# Where nothing can be installed: make test-gpu RUN=python3
test-gpu: $(if $(RUN),,$(VENV)/.dev)
	DALA_DEVICE=webgpu DALA_REQUIRE_GPU=1 PYTHONPATH=src $(or $(RUN),$(BIN)/python) -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin # as macOS and Windows see it
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python bench/core.py
	$(BIN)/python bench/scaling.py
	$(BIN)/python bench/peers.py
	$(BIN)/python bench/gpu.py --if-real
	$(BIN)/python bench/surfaces.py
	$(BIN)/python bench/scenes.py
	$(BIN)/python bench/video.py
	$(BIN)/python bench/text.py
	$(BIN)/python bench/readme.py

# The site, into site/: generated pages, tutorials run, every link checked. Open site/index.html.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python docs/generate/check.py site

# sdist and wheel, built, checked, installed in an empty environment and tested there
package: $(VENV)/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6'
	$(BIN)/python tools/package.py

# Debian splits venv off Python; without it `python3 -m venv` leaves a folder without pip.
$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "venv is missing: apt-get install python3-venv"; exit 1; }

$(VENV)/.installed: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[all]'
	touch $@

$(VENV)/.dev: $(VENV)/.installed pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

$(VENV)/.docs: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) site demo_output .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
