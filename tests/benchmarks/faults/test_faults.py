"""The fault tests in small: nothing is lost, and what would be a loss is noticed."""

import json
import os
import subprocess
import sys

import pytest
from benchmarks.data import ROOT
from benchmarks.faults.cases import Case
from benchmarks.faults.processes import Ended
from benchmarks.faults.section import section
from benchmarks.faults.texts import spans_are_right
from benchmarks.faults.trials import LossError, Trial, content_of

from thresher.text.annotations import Span


def test_nothing_is_lost(tmp_path):
    """In a process of its own, because a process that has trained a model cannot be forked."""
    command = "kills disk texts folders --kills 8 --stages 3 --texts 2000 --folders 12 --only"
    results = ["--results", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", *command.split(), "lm train", "find", *results],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = {path.stem: json.loads(path.read_text())["rows"] for path in tmp_path.iterdir()}
    assert [row["kills"] for row in found["kills"]] == [4, 4]
    assert all(row["read-only"] and row["full"] for row in found["disk"])
    assert sum(row["texts"] for row in found["texts"]) >= 2000
    assert sum(row["refused"] for row in found["folders"]) >= 3


@pytest.fixture
def trial(tmp_path):
    folder = tmp_path / "trial"
    (folder / "out").mkdir(parents=True)
    before = {"out/config.json": b"old", "out/weights": b"1"}
    after = {"out/config.json": b"new", "out/weights": b"2"}
    trial = Trial(Case("fit", ()), folder, tmp_path, before, after, 1.0, 10)
    trial.reset()
    return trial


DONE = Ended(0, 1.0, 10, "")


def test_an_old_and_a_new_output_are_accepted_and_a_mixture_is_not(trial):
    trial.check_outputs()
    (trial.folder / "out" / "config.json").write_bytes(b"new")
    with pytest.raises(LossError, match="out is damaged: out/weights"):
        trial.check_outputs()
    (trial.folder / "out" / "weights").write_bytes(b"2")
    trial.check_outputs()
    trial.check_recovered(DONE)


def test_a_surplus_file_another_result_and_a_failed_run_are_losses(trial):
    with pytest.raises(LossError, match="other or surplus files"):
        trial.check_recovered(DONE)
    trial.before = trial.after
    trial.reset()
    (trial.folder / ".out.tmp-1").touch()
    with pytest.raises(LossError, match=r"surplus files: \.out\.tmp-1"):
        trial.check_recovered(DONE)
    with pytest.raises(LossError, match="status 1: why"):
        trial.check_recovered(Ended(1, 1.0, 10, "why"))


def test_only_the_speed_in_a_log_may_differ():
    log = b"step,validation_loss,tokens_per_second\n1,2.5,%d\n"
    slow, fast = {"out/log.csv": log % 10}, {"out/log.csv": log % 99}
    assert Trial.changed(slow, fast) == []
    assert Trial.changed(slow, {"out/log.csv": (log % 10).replace(b"2.5", b"2.6")})
    assert Trial.changed({"a": b"1"}, {}) == ["a"]


def test_empty_folders_are_noticed(tmp_path):
    (tmp_path / "left").mkdir()
    assert content_of(tmp_path) == {"left/": b""}


@pytest.mark.parametrize(
    "spans",
    [
        [Span(0, 5, "Marie", 0.5), Span(4, 7, "e l", 0.5)],
        [Span(0, 5, "MARIE", 0.5)],
    ],
)
def test_wrong_spans_are_noticed(spans):
    text = "Marie left Paris."
    assert spans_are_right(text, [Span(0, 5, "Marie", 0.5), Span(11, 16, "Paris", 0.9)])
    assert not spans_are_right(text, spans)


def test_the_section_has_a_table_for_each_result():
    assert section().startswith("## Faults\n")
