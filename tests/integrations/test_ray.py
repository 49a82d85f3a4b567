"""Processing with Ray: the same rows as one finder, each once, even if a worker is killed."""

import gc
import json
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest
import torch

from thresher.bulk import blocks as block_planning
from thresher.bulk.blocks import plan_blocks
from thresher.bulk.filesystems import list_files, read_file
from thresher.bulk.finder_choice import FinderChoice
from thresher.bulk.memory import MemoryTrimmer
from thresher.bulk.run import BulkRun
from thresher.cli import main
from thresher.integrations import ray as engine

pytest.importorskip("ray")

ROWS = 3000


@pytest.fixture(scope="module", autouse=True)
def ray_started():
    """Start Ray once for all tests, because that is slow."""
    with engine._ray(2):
        yield


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.setattr(block_planning, "MAX_BLOCK_BYTES", 8000)
    path = tmp_path / "in" / "records.jsonl"
    path.parent.mkdir()
    lines = [json.dumps({"id": i, "text": f"Letter {i} was sent to Oslo."}) for i in range(ROWS)]
    lines[1234] = "{oops"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def rows_in(folder: Path) -> list[dict]:
    parts = [name for name in list_files(str(folder)) if "/part-" in name]
    return [json.loads(line) for name in parts for line in read_file(name).splitlines()]


def actors() -> list[psutil.Process]:
    """The actors started by this process, not by another run on the same machine."""
    started_here = psutil.Process().children(recursive=True)
    return [each for each in started_here if "MapWorker" in "".join(each.cmdline())]


def test_the_command_finds_the_same_and_reports_the_bad_row(records, small, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["find", str(records), "--engine", "ray", "-o", str(out), "--model", str(small)]
    assert main([*command, "--workers", "2", "--device", "cpu"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"thresher: {records} byte ")
    found = rows_in(out)
    assert [each["id"] for each in found] == [i for i in range(ROWS) if i != 1234]
    finder = FinderChoice(small, "cpu").load()
    for each in found[::97]:
        assert [s["text"] for s in each["spans"]] == [s.text for s in finder.find(each["text"])]
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert (manifest["rows"], manifest["bad"]) == (ROWS - 1, 1)
    assert len(manifest["parts"]) == len(plan_blocks([str(records)])) >= 20
    assert main([*command, "--device", "cpu", "--quiet"]) == 0  # there is nothing left to do


def test_one_process_several_workers_and_ray_print_the_same_scores(records, small, tmp_path):
    """Each of them makes other batches of texts, whose lengths vary."""
    names = ("Magda", "Rosa", "Oslo", "the", "letter", "from", "child", "unknown")
    texts = [" ".join(names[(i * j) % 8] for j in range(i % 29)) + "." for i in range(1500)]
    lines = [json.dumps({"id": i, "text": text}) for i, text in enumerate(texts)]
    records.write_text("\n".join(lines), encoding="utf-8")
    command = ["find", str(records), "--model", str(small), "--device", "cpu", "--threshold", "0"]
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert main([*command, "-o", str(one)]) == 0
    assert main([*command, "-o", str(two), "--workers", "2"]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert main([*command, "-o", str(tmp_path / "ray"), "--engine", "ray", "--workers", "2"]) == 0
    printed = [json.loads(line)["spans"] for line in one.read_text(encoding="utf-8").splitlines()]
    assert sum(map(len, printed)) > 1500
    assert [json.dumps(row["spans"]) for row in rows_in(tmp_path / "ray")] == [
        json.dumps(spans) for spans in printed
    ]


def test_output_inside_the_source_folder_is_not_read_again(records, small, tmp_path, monkeypatch):
    records.write_text('{"text": "A letter to Oslo."}', encoding="utf-8")
    monkeypatch.setattr(engine, "find_in_blocks", process_in_order)
    command = ["find", str(records.parent), "--engine", "ray", "--model", str(small)]
    command += ["-o", str(records.parent / "out")]
    assert [main(command), main(command)] == [0, 0]
    assert len(rows_in(records.parent / "out")) == 1


def process_in_order(run, blocks, *, workers):
    finder = run.finder_choice.load()
    return [run.process(finder, block) for block in blocks]


def test_a_relative_model_folder_is_made_absolute_for_other_processes(records, small, monkeypatch):
    folders = []

    def note(run, blocks, *, workers):
        folders.append(run.finder_choice.folder)
        return process_in_order(run, blocks, workers=workers)

    monkeypatch.setattr(engine, "find_in_blocks", note)
    monkeypatch.chdir(small.parent)
    command = ["find", str(records), "--engine", "ray", "-o", str(records.parent / "out")]
    main([*command, "--model", small.name])
    assert folders == [small.resolve()]


@pytest.fixture
def actor(small, tmp_path):
    """An actor in this process; afterwards the settings it changes are restored."""
    threads, objects = torch.get_num_threads(), gc.get_threshold()
    yield engine.BlockFinder(BulkRun(str(tmp_path / "out"), FinderChoice(small, "cpu")))
    torch.set_num_threads(threads)
    gc.set_threshold(*objects)


def test_an_actor_trims_memory_after_every_block(actor, records, monkeypatch):
    times = []
    monkeypatch.setattr(MemoryTrimmer, "trim", lambda _: times.append(1))
    batch = {"block": [json.dumps(asdict(each)) for each in plan_blocks([str(records)])[:3]]}
    done = [json.loads(each) for each in actor(batch)["result"]]
    assert [each["block"] for each in done] == [0, 1, 2]
    assert len(times) == 3
    assert gc.get_threshold()[0] == 100_000


def test_a_model_that_an_actor_cannot_load_is_reported_in_one_line(records, small, tmp_path, capfd):
    command = ["find", str(records), "--engine", "ray", "-o", str(tmp_path / "out")]
    assert main([*command, "--model", str(small), "--device", "gpu"]) == 1
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("thresher: a worker failed: RuntimeError: Expected one of cpu, cuda")


def test_every_row_is_written_once_although_workers_are_killed(records, small, tmp_path):
    long = tmp_path / "long.jsonl"
    long.write_text(json.dumps({"id": -1, "text": "A letter to Oslo. " * 30_000}), encoding="utf-8")
    blocks = [replace(each, end=long.stat().st_size) for each in plan_blocks([str(long)])[:1]]
    blocks += [replace(each, number=each.number + 1) for each in plan_blocks([str(records)])]
    run = BulkRun(str(tmp_path / "out"), FinderChoice(small, "cpu"))
    done = []
    for each in engine.find_in_blocks(run, run.start(blocks), workers=2):
        if not done:
            assert run.start(blocks)  # in progress, on a free machine also the long block
            for actor in actors():
                actor.kill()
        done.append(each.block)
    assert sorted(done) == list(range(len(blocks)))
    assert sorted(each["id"] for each in rows_in(run.folder)) == [
        i for i in range(-1, ROWS) if i != 1234
    ]
    assert run.start(blocks) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a folder for them as --output"),
        (["-o", "out", "--to", "html"], "--engine writes jsonl or parquet, got --to html"),
        (["-o", "out", "-"], "--engine reads files, not standard input"),
    ],
)
def test_options_that_an_engine_does_not_support_are_reported(records, capsys, arguments, message):
    assert main(["find", str(records), "--engine", "ray", *arguments]) == 1
    assert message in capsys.readouterr().err
