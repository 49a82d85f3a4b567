# Every target makes .venv when it is missing, so `make demo` and `make test` are all a new machine needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
INSTALLED := .venv/.installed
BENCH := .venv/.installed-bench
MODELS := benchmarks/models

.PHONY: help demo test lint types pictures models english bench-entities bench-variants bench-switches bench-rationales bench-lm bench-languages bench-kernel bench-speed bench-serve mistakes results clean

help:
	@echo "make demo              find the entities of a text that ships with the project"
	@echo "make test              run the tests"
	@echo "make lint              ruff"
	@echo "make types             mypy --strict on src/ and benchmarks/"
	@echo "make pictures          redraw the pictures of docs/"
	@echo "make models            train every finder the benchmarks report on"
	@echo "make bench-entities    entity quality beside spaCy, noun chunks and capitals"
	@echo "make bench-variants    what each option of fit is worth (a GPU, or patience)"
	@echo "make bench-rationales  rationales for labelled tasks beside REINFORCE and gradients"
	@echo "make bench-lm          language models and their rare tokens (a GPU, or patience)"
	@echo "make bench-languages   entities in five languages, encoders from raw text (a GPU)"
	@echo "make bench-kernel      the margin loss from hidden states (a GPU)"
	@echo "make bench-speed       speed and memory of find and fit"
	@echo "make bench-serve       the server alone, under load and overfilled"
	@echo "make results           write docs/results.md from what the benchmarks measured"
	@echo "make english           rebuild the built-in English model"

$(INSTALLED): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing into .venv (a few minutes, once)"
	@$(INSTALL) '.[dev]'
	@touch $@

$(BENCH): $(INSTALLED)
	@$(INSTALL) '.[bench]'
	@touch $@

demo: $(INSTALLED)
	@$(BIN)/thresher find examples/harbour.txt --to terminal

test: $(INSTALLED)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

lint: $(INSTALLED)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(INSTALLED)
	@$(BIN)/mypy

pictures: $(INSTALLED)
	@for each in docs/pictures/draw_*.py; do $(BIN)/python $$each || exit 1; done

models: $(BENCH)
	@$(BIN)/python -m benchmarks.entities.train --out $(MODELS)

english: $(BENCH)
	@$(BIN)/python -m benchmarks.entities.train --out $(MODELS) --only 'built in' --seeds 0
	@$(BIN)/python -m benchmarks.entities.build_english

bench-entities: $(BENCH)
	@$(BIN)/python -m benchmarks.entities --split tune
	@$(BIN)/python -m benchmarks.entities --split report

bench-variants: $(BENCH)
	@$(BIN)/python -m benchmarks.variants
	@$(BIN)/python -m benchmarks.variants --split report
	@$(BIN)/python -m benchmarks.variants.peers
	@$(BIN)/python -m benchmarks.variants.parts_of_speech
	@$(BIN)/python -m benchmarks.variants.plots

bench-switches: bench-variants  # the former name

bench-rationales: $(BENCH)
	@$(BIN)/python -m benchmarks.rationales

bench-lm: $(BENCH)
	@$(BIN)/python -m benchmarks.lm speed
	@$(BIN)/python -m benchmarks.lm shakespeare-cpu --device cpu --threads 2
	@$(BIN)/python -m benchmarks.lm shakespeare two-languages five-languages output-layers vocabularies
	@$(BIN)/python -m benchmarks.lm.section > /dev/null

bench-languages: $(BENCH)
	@$(BIN)/python -m benchmarks.languages --processes 6

bench-kernel: $(BENCH)
	@$(BIN)/python -m benchmarks.kernel
	@$(BIN)/python -m benchmarks.kernel.grid
	@$(BIN)/python -m benchmarks.kernel.plot

bench-speed: $(BENCH)
	@$(BIN)/python -m benchmarks.speed
	@$(BIN)/python -m benchmarks.speed.bulk
	@$(BIN)/python -m benchmarks.speed.growth

bench-serve: $(BENCH)
	@$(BIN)/python -m benchmarks.serve

mistakes: $(BENCH)
	@$(BIN)/python -m benchmarks.entities.mistakes

results: $(BENCH)
	@$(BIN)/python -m benchmarks.write_results

clean:
	rm -rf .venv build dist
