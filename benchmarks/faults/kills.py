"""Kill commands with SIGKILL at random moments, and resume them.

Half of the moments are drawn from the CPU time of an uninterrupted run, the others from its file
operations, where a crash would do most harm. Every third run that is killed is killed once more
when it is resumed.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import CASES, Case
from benchmarks.faults.processes import Ended, kill_at
from benchmarks.faults.trials import LossError, Trial

RAY = "find --engine ray"
# The shares of kills of commands that take longer than the others.
SHARES = {RAY: 0.22, "find --workers": 0.22, "rationale fit": 0.45, "distill": 0.55}


def kill_commands(
    kills: int, *, inputs: Path, folder: Path, seed: int = 0, only: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return a row of results for each command; `kills` are divided among them."""
    cases = [case for case in CASES if not only or case.name in only]
    shares = [SHARES.get(case.name, 1.0) for case in cases]
    rows = []
    for case, share in zip(cases, shares, strict=True):
        count = max(1, round(kills * share / sum(shares)))
        rows.append(kill_command(case, count, inputs=inputs, folder=folder, seed=seed))
        print(rows[-1], flush=True)
    return rows


def kill_command(
    case: Case, kills: int, *, inputs: Path, folder: Path, seed: int = 0
) -> dict[str, Any]:
    """Kill a command that many times; return the counts of kills and losses."""
    draw = random.Random(f"{seed} {case.name}")
    trial = Trial.prepare(case, folder, inputs)
    done = at_operations = intact = recovered = attempts = 0
    losses: list[str] = []
    while done < kills and attempts < 4 * kills:
        attempts += 1
        trial.reset()
        by_operation = attempts % 2 == 0
        ended = _interrupted(trial, draw, case.arguments, by_operation=by_operation)
        if not ended.killed:  # it was faster than before
            continue
        done += 1
        at_operations += by_operation
        try:
            trial.wait_for_helpers()
            trial.check_outputs()
            intact += 1
            if done < kills and draw.random() < 1 / 3:
                again = (*case.arguments, *case.resume)
                if _interrupted(trial, draw, again, by_operation=draw.random() < 0.5).killed:
                    done += 1
                    trial.wait_for_helpers()
                    trial.check_outputs()
                    intact += 1
            trial.check_recovered(trial.resume())
            recovered += 1
        except LossError as error:
            losses.append(str(error))
            print(error, flush=True)
    return {
        "command": case.name,
        "kills": done,
        "at_file_operations": at_operations,
        "intact": intact,
        "recovered": recovered,
        "seconds": round(trial.seconds, 2),
        "operations": trial.operations,
        "losses": losses,
    }


def _interrupted(
    trial: Trial, draw: random.Random, arguments: tuple[str, ...], *, by_operation: bool
) -> Ended:
    """Run a command and kill it at a random moment."""
    if by_operation:
        moment = draw.randint(1, max(1, trial.operations))
        return trial.run(arguments, on_operation=kill_at(moment))
    return trial.run(arguments, kill_after=draw.uniform(0, trial.seconds))
