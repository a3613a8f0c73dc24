# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench clean

demo: $(VENV)/.installed
	$(BIN)/dala demo examples/assets/astronaut.jpg

test: $(VENV)/.dev lint
	$(BIN)/python -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python bench/core.py
	$(BIN)/python bench/scaling.py
	$(BIN)/python bench/peers.py
	$(BIN)/python bench/gpu.py --if-real
	$(BIN)/python bench/surfaces.py
	$(BIN)/python bench/video.py
	$(BIN)/python bench/readme.py

# Debian splits venv off Python; without it `python3 -m venv` leaves a folder without pip.
$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "venv is missing: apt-get install python3-venv"; exit 1; }

$(VENV)/.installed: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[all]'
	touch $@

$(VENV)/.dev: $(VENV)/.installed pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) demo_output .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
