"""Train and measure language models; write a JSON file per row and seed to benchmarks/results/lm.

    python -m benchmarks.lm shakespeare two-languages --jobs 6
    python -m benchmarks.lm speed                      # on an otherwise idle machine
    python -m benchmarks.lm prepare                    # only prepare the corpora

Existing files are not measured again.
"""

import argparse
import math
from pathlib import Path

from benchmarks.lm import speed
from benchmarks.lm.corpora import MAKERS, corpus
from benchmarks.lm.experiments import EXPERIMENTS
from benchmarks.lm.machine import Machine
from benchmarks.lm.rows import FIVE_SEEDS, RESULTS
from benchmarks.lm.running import Plan, run


def parsed_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="+", choices=["prepare", "speed", *EXPERIMENTS])
    parser.add_argument("--only", nargs="*", default=[], help="names of rows")
    parser.add_argument("--seeds", nargs="*", type=int, default=list(FIVE_SEEDS))
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--threads", type=int, default=1, help="threads per process")
    parser.add_argument("--device", help="by default the GPU, if there is one")
    parser.add_argument("--compile", action="store_true", help="train with torch.compile")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="start no further row after this time"
    )
    parser.add_argument(
        "--trial", action="store_true", help="tiny models, to check that everything runs"
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--version", help="code version to record, if git is not available")
    return parser.parse_args()


def main() -> None:
    options = parsed_options()
    machine = Machine.here(options.device, compiled=options.compile, version=options.version)
    if "prepare" in options.what:
        for name in MAKERS:
            print(name, len(corpus(name).train), flush=True)
    if "speed" in options.what:
        machine.prepare(threads=options.threads)
        speed.run(machine, quick=options.trial, folder=options.results, only=options.only)
    experiments = tuple(name for name in options.what if name in EXPERIMENTS)
    if experiments:
        plan = Plan(
            experiments, tuple(options.seeds), tuple(options.only), options.trial, options.results
        )
        run(plan, machine, jobs=options.jobs, seconds=options.seconds, threads=options.threads)


if __name__ == "__main__":
    main()
