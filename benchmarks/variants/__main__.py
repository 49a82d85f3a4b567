"""Measure every variant of the objective and every baseline, with three seeds each.

    python -m benchmarks.variants --jobs 8 [--only default "align 2"] [--seeds 0 1 2]
    python -m benchmarks.variants --split report
    python -m benchmarks.variants --rows written --sentences 8000

The default run trains on a third of the raw English text and evaluates on the tune splits;
`--split report` trains nothing and evaluates the models in --models on the report splits. Every row
and seed is written to a JSON file in benchmarks/results/variants, named by row, seed, split, code
version and machine; existing files are not measured again.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.data import REPORT, TUNE, raw_english, read_gold
from benchmarks.variants.jobs import ALL_ROWS, MODELS, Bench, Job, code_version, is_finished, run
from benchmarks.variants.results import RESULTS
from benchmarks.variants.rows import BASELINES, ROWS
from benchmarks.variants.written_design import WRITTEN_RESULTS, WRITTEN_ROWS


def one_block_in(count: int, sentences: list[list[str]], *, block: int = 100) -> list[list[str]]:
    """Return one of every `count` blocks of sentences, so that neighbours stay together."""
    return [words for i, words in enumerate(sentences) if i // block % count == 0]


def parsed_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*ALL_ROWS, *BASELINES]
    parser.add_argument("--rows", choices=["variants", "written"], default="variants")
    parser.add_argument("--only", nargs="*", default=None, choices=names, metavar="ROW")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--split", choices=["tune", "report"], default="tune")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--encoder", default=None, help="a folder with the encoder's weights")
    parser.add_argument("--results", type=Path, default=None)
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--work", type=Path, default=None, help="folder to keep word vectors in")
    parser.add_argument(
        "--sentences", type=int, default=None, help="train on about this many, evenly spaced"
    )
    parser.add_argument("--gold", type=int, default=None, help="sentences per set, for a trial")
    options = parser.parse_args()
    written = options.rows == "written"
    options.only = options.only or ([*WRITTEN_ROWS] if written else [*ROWS, *BASELINES])
    options.results = options.results or (WRITTEN_RESULTS if written else RESULTS)
    return options


def main() -> None:
    options = parsed_options()
    for folder in (options.results, options.models):
        folder.mkdir(parents=True, exist_ok=True)
    sets = read_gold(REPORT if options.split == "report" else TUNE)
    sentences = one_block_in(3, raw_english())
    if options.sentences:
        sentences = one_block_in(-(-len(sentences) // options.sentences), sentences)
    if options.gold:
        sets = [each.first(options.gold) for each in sets]
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            split=options.split,
            encoder=options.encoder,
            results=options.results,
            models=options.models,
            work=work,
            sentences=sentences,
            sets=sets,
            raw={},
            code=code_version(),
        )
        jobs = [
            Job(row, seed, options.split)
            for seed in options.seeds
            for row in options.only
            if row in ALL_ROWS or seed == options.seeds[0]  # baselines do not depend on the seed
        ]
        pending = [job for job in jobs if not is_finished(bench, job)]
        print(f"{len(jobs)} rows and seeds, {len(pending)} to do; code {bench.code}", flush=True)
        run(bench, pending, options.jobs)


if __name__ == "__main__":
    main()
