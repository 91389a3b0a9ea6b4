# Thin on purpose: every line calls a command of the project. PYTHON=/path/to/python3.13 overrides the search for one.
# What each needs first: `ready` costs a twentieth of a second when requirements.lock has not changed.
.PHONY: ready bare help demo test torture bench lint check fix serve lock clean
.DEFAULT_GOAL := help
BIN := .venv/bin
ARGS ?=

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

ready:
	@PYTHON="$(PYTHON)" sh tools/install.sh

bare:
	@PYTHON="$(PYTHON)" sh tools/install.sh --bare

demo: ready ## take eight Chinese documents in and answer three questions about them
	@$(BIN)/fuzi demo $(ARGS)

test: ready ## run the tests; ARGS="-k name" picks some
	$(BIN)/pytest -n logical $(ARGS)

torture: ready ## pull plugs for 200 rounds, nothing may be lost; ARGS="--torture-rounds 20 --torture-seed 7"
	$(BIN)/pytest -s tests/torture --torture-rounds 200 $(ARGS)

bench: ready .bench-venv/installed ## measure Fuzi beside PostgreSQL, LangChain, LlamaIndex; ARGS=--quick, ARGS=--help
	@$(BIN)/python -m tests.benchmarks.bench $(ARGS)

# The others have a virtual environment of their own: their libraries and Fuzi's would not get along.
.bench-venv/installed: tests/benchmarks/bench/peers/requirements.txt | ready
	@$(BIN)/python -m venv --clear .bench-venv
	@.bench-venv/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

lint: ready ## style, format, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## lint and test

fix: ready ## mend style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

serve: ready ## start the REST service
	@$(BIN)/fuzi serve $(ARGS)

lock: bare ## resolve pyproject.toml anew into requirements.lock
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.12 --extra embedded --group dev pyproject.toml -o requirements.lock

clean: ## remove .venv and caches; documents taken in stay
	rm -rf .venv .bench-venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
