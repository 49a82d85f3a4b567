# Every target makes .venv when it is missing, so `make demo` and `make test` are all a new machine needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: help demo test lint types pictures clean

help:
	@echo "make demo      find entities in the text that ships with the project"
	@echo "make test      run the tests"
	@echo "make lint      ruff"
	@echo "make types     mypy --strict on src/"
	@echo "make pictures  redraw the pictures of docs/"

$(INSTALLED): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing into .venv (a few minutes, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(INSTALLED)
	@$(BIN)/python -m examples.demo

test: $(INSTALLED)
	@$(BIN)/python -m pytest

lint: $(INSTALLED)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(INSTALLED)
	@$(BIN)/mypy

pictures: $(INSTALLED)
	@$(BIN)/python docs/pictures/draw_gates.py && $(BIN)/python docs/pictures/draw_maths.py

clean:
	rm -rf .venv build dist
