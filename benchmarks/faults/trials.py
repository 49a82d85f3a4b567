"""The folder in which a command is tried: its inputs, its old output, and what must come out."""

import csv
import os
import re
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.cases import Case
from benchmarks.faults.processes import Ended, OnOperation, run

Content = dict[str, bytes]  # of all files below a folder, by their relative names
_SPEED = "tokens_per_second"
_MAX_WAIT = 120.0  # seconds until the helpers of a killed process must have ended; Ray is slow


class LossError(Exception):
    """An old output was damaged, or a run did not recover."""


def content_of(folder: Path) -> Content:
    """Return all files below a folder, hidden ones included; empty folders have a / at the end."""
    found: Content = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file():
            found[name] = path.read_bytes()
        elif path.is_dir() and not any(path.iterdir()):
            found[f"{name}/"] = b""
    return found


def comparable(name: str, content: bytes) -> bytes:
    """Return the content of a file without the speed of training, which differs in every run.

    The log of a language model has a column for it, and the config has the digest of the log.
    """
    if name.endswith("log.csv"):
        rows = list(csv.DictReader(content.decode().splitlines()))
        return repr([{key: row[key] for key in row if key != _SPEED} for row in rows]).encode()
    if name.endswith("config.json") and b'"log.csv"' in content:
        return re.sub(rb'"log.csv": "[0-9a-f]+"', b"", content)
    return content


@dataclass
class Trial:
    """A command in a folder of its own.

    folder: where it runs, always at the same path, which some outputs contain
    before: the content of the folder with the old output   after: with the new one
    seconds, operations: of a run that is not interrupted
    """

    case: Case
    folder: Path
    inputs: Path
    before: Content
    after: Content
    seconds: float
    operations: int

    @classmethod
    def prepare(cls, case: Case, folder: Path, inputs: Path) -> "Trial":
        """Make the old output and, without interruptions, the new one."""
        trial = cls(case, folder, inputs, {}, {}, 0.0, 0)
        trial._copy(inputs)
        if case.old:
            trial._require_success(trial.run((*case.arguments, *case.old)))
        trial.before = content_of(folder)
        ended = trial._require_success(trial.run(case.arguments))
        trial.after = content_of(folder)
        trial.seconds, trial.operations = ended.seconds, ended.operations
        if case.old and trial.changed(trial.before, trial.after) == []:
            raise LossError(f"{case.name}: the old and the new output are the same")
        return trial

    def reset(self) -> None:
        """Restore the folder as it was before the run."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for name, content in self.before.items():
            path = self.folder / name
            if name.endswith("/"):
                path.mkdir(parents=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def run(
        self,
        arguments: tuple[str, ...] | None = None,
        *,
        kill_after: float | None = None,
        on_operation: OnOperation | None = None,
    ) -> Ended:
        """Run the command, or one with other arguments."""
        return run(
            arguments or self.case.arguments,
            self.folder,
            kill_after=kill_after,
            wall_time=self.case.is_slow,
            on_operation=on_operation,
            log=self.inputs.with_name("trial.log"),
        )

    def resume(self) -> Ended:
        """Run the command again, so that it continues where it can."""
        return self.run((*self.case.arguments, *self.case.resume))

    def check_outputs(self) -> None:
        """Raise `LossError` unless each output is the old one or the new one, complete.

        A folder with one file for each block of input may have some of them.
        """
        now = content_of(self.folder)
        for output in self.case.outputs:
            old, new, found = (_below(output, each) for each in (self.before, self.after, now))
            parts = not old and all(new.get(name) == found[name] for name in found if name in new)
            if self.changed(found, old) and self.changed(found, new) and not parts:
                changed = ", ".join(self.changed(new, found))
                raise LossError(f"{self.case.name}: {output} is damaged: {changed}")

    def check_recovered(self, ended: Ended) -> None:
        """Raise `LossError` unless the run succeeded with the same result and nothing is left."""
        if ended.status != 0:
            raise LossError(f"{self.case.name}: status {ended.status}: {ended.errors[-500:]}")
        if changed := self.changed(self.after, content_of(self.folder)):
            raise LossError(f"{self.case.name}: other or surplus files: {', '.join(changed)}")

    def wait_for_helpers(self) -> None:
        """Wait until the worker processes of a killed run have ended by themselves."""
        end = time.monotonic() + _MAX_WAIT
        while helpers := _processes_in(self.folder):
            if time.monotonic() > end:
                for process in helpers:
                    os.kill(process, signal.SIGKILL)
                raise LossError(f"{self.case.name}: {len(helpers)} processes stayed after a kill")
            time.sleep(0.1)

    @staticmethod
    def changed(first: Content, second: Content) -> list[str]:
        """Return the names of files that are missing in one of two folders, or differ."""
        return [
            name
            for name in sorted(first | second)
            if (name in first) != (name in second)
            or comparable(name, first[name]) != comparable(name, second[name])
        ]

    def _copy(self, inputs: Path) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(inputs, self.folder)

    def _require_success(self, ended: Ended) -> Ended:
        if ended.status != 0:
            raise LossError(f"{self.case.name}: cannot prepare: {ended.errors[-800:]}")
        return ended


def _below(output: str, content: Content) -> Content:
    return {
        name: each
        for name, each in content.items()
        if name == output or name.startswith(f"{output}/")
    }


def _processes_in(folder: Path) -> list[int]:
    """Return the processes whose working folder is the one of a trial."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if int(each.name) != os.getpid() and (each / "cwd").readlink() == folder:
                found.append(int(each.name))
        except OSError:
            continue
    return found
