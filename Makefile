# Every target makes the environment first; it needs Python 3.11 or newer and this file.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.klapper-ready
BENCH_READY := $(VENV)/.klapper-bench-ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
HEADLINE := rotor-clatter
HEADLINE_FIGURE := turn.gif
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help env demo test test-all slowest bench lint docs gallery picture clean

help:
	@echo "make env       the environment in $(VENV), with $(BIN)/klapper"
	@echo "make demo      run the headline example and write its report page"
	@echo "make test      all tests but the long reproductions"
	@echo "make test-all  all tests"
	@echo "make slowest   the quick tests, and the twenty that take longest"
	@echo "make bench     timings beside other programs"
	@echo "make lint      style and types"
	@echo "make docs      the documentation as a site, in out/site"
	@echo "make gallery   run every example and draw the pictures of the gallery again"
	@echo "make picture   draw the pictures of the README and the docs again"
	@echo "make clean     remove the environment and what was written"

# An environment that was moved, or lost its parts, is made anew; one with older pins is brought up to date.
env:
	@test "$$(cat $(READY) 2>/dev/null)" = "$(CURDIR)" && $(BIN)/klapper --version >/dev/null 2>&1 \
		&& $(BIN)/python -m pip check --disable-pip-version-check >/dev/null 2>&1 || rm -f $(READY)
	@$(MAKE) -s $(READY)

$(READY): constraints.txt pyproject.toml
	@echo "Making the environment in $(VENV) …"
	@test -f $@ || $(PYTHON) -m venv --clear $(VENV)
	@rm -f $@ $(BENCH_READY)
	@$(PIP) pip setuptools
	@$(PIP) --no-build-isolation --editable '.[dev,docs,studio]'
	@echo "$(CURDIR)" > $@

$(BENCH_READY): $(READY)
	@$(PIP) --no-build-isolation --editable '.[dev,docs,studio,bench]'
	@touch $@

demo: env
	@$(BIN)/klapper run $(HEADLINE) --out out/$(HEADLINE)

test: export OPENBLAS_NUM_THREADS = 1
test: env
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-all: export OPENBLAS_NUM_THREADS = 1
test-all: env
	@$(PIP) --no-build-isolation --editable '.[dev,docs,studio,view]'
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

slowest: export OPENBLAS_NUM_THREADS = 1
slowest: env
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" --durations 20

bench: env
	@$(MAKE) -s $(BENCH_READY)
	$(BIN)/klapper bench

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Nothing is fetched: strict, so that a broken link is an error.
docs: env
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Documentation: $(CURDIR)/out/site/index.html"

gallery: export OPENBLAS_NUM_THREADS = 1
gallery: env
	$(BIN)/python -m tools.gallery

picture: env
	@$(BIN)/klapper run $(HEADLINE) --out out/$(HEADLINE)
	@mkdir -p docs/images
	cp out/$(HEADLINE)/$(HEADLINE_FIGURE) docs/images/$(HEADLINE).gif
	@$(BIN)/klapper run wedged-disc --out out/wedged-disc
	cp out/wedged-disc/forces.png docs/images/wedged-disc.png
	@$(BIN)/klapper run vielsack-map --out out/vielsack-map
	cp out/vielsack-map/types.png docs/images/vielsack-map.png
	@$(BIN)/klapper run wedge-stability --out out/wedge-stability
	cp out/wedge-stability/map.png docs/images/wedge-stability.png
	@$(BIN)/klapper run prox-start --out out/prox-start
	cp out/prox-start/selection.png docs/images/prox-start.png
	@$(BIN)/klapper run block-halves --out out/block-halves
	cp out/block-halves/shares.png docs/images/block-shares.png
	@$(BIN)/klapper run block-methods --out out/block-methods
	cp out/block-methods/friction.png docs/images/block-methods.png

clean:
	rm -rf $(VENV) out
