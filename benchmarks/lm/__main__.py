"""Benchmarks of language models: rows as JSON under benchmarks/results/lm.

    python -m benchmarks.lm shakespeare two-languages --jobs 6
    python -m benchmarks.lm speed                      # alone on the machine
    python -m benchmarks.lm prepare                    # only make the corpora

Rows that are there are skipped.
"""

import argparse
import math
from pathlib import Path

from benchmarks.lm import speed
from benchmarks.lm.corpora import MAKERS, corpus
from benchmarks.lm.experiments import EXPERIMENTS
from benchmarks.lm.machine import Machine
from benchmarks.lm.rows import RESULTS, SEEDS
from benchmarks.lm.running import Plan, run


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="+", choices=["prepare", "speed", *EXPERIMENTS])
    parser.add_argument("--only", nargs="*", default=[], help="rows by name")
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--jobs", type=int, default=1, help="rows side by side")
    parser.add_argument("--threads", type=int, default=1, help="of each row")
    parser.add_argument("--device", help="by default a GPU if there is one")
    parser.add_argument("--compile", action="store_true", help="train through torch.compile")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no row after these")
    parser.add_argument("--trial", action="store_true", help="tiny models: does all of it work?")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--version", help="of the code, where there is no git")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    machine = Machine.here(chosen.device, compiled=chosen.compile, version=chosen.version)
    if "prepare" in chosen.what:
        for name in MAKERS:
            print(name, len(corpus(name).train), flush=True)
    if "speed" in chosen.what:
        machine.prepare(threads=chosen.threads)
        speed.run(machine, quick=chosen.trial, folder=chosen.results, only=chosen.only)
    experiments = tuple(name for name in chosen.what if name in EXPERIMENTS)
    if experiments:
        plan = Plan(
            experiments, tuple(chosen.seeds), tuple(chosen.only), chosen.trial, chosen.results
        )
        run(plan, machine, jobs=chosen.jobs, seconds=chosen.seconds, threads=chosen.threads)


if __name__ == "__main__":
    main()
