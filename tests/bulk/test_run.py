"""Bulk runs: rows keep their columns, problems are reported, and runs can be resumed."""

import gzip
import json
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet

from thresher.bulk import blocks as block_planning
from thresher.bulk.blocks import plan_blocks
from thresher.bulk.filesystems import find_files, list_files, read_file, write_file
from thresher.bulk.finder_choice import FinderChoice
from thresher.bulk.run import BulkRun
from thresher.errors import InputError

TEXT = "The letter that Magda wrote was sent to Oslo."


@pytest.fixture(scope="module")
def finder(small):
    return FinderChoice(small, "cpu").load()


@pytest.fixture
def run(small, tmp_path):
    return BulkRun(str(tmp_path / "out"), FinderChoice(small, "cpu"))


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A JSONL file of thirty records in several blocks, some of them bad."""
    monkeypatch.setattr(block_planning, "MAX_BLOCK_BYTES", 500)
    lines = [json.dumps({"id": i, "text": f"{TEXT} {i}", "deep": {"a": [i]}}) for i in range(30)]
    lines[11:11] = ["{oops", "[1]", json.dumps({"id": -1}), json.dumps({"id": -2, "text": 5})]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def found_in(folder):
    parts = [name for name in list_files(folder) if "/part-" in name]
    return [json.loads(line) for name in parts for line in read_file(name).splitlines()]


def test_rows_keep_their_columns_and_bad_ones_are_reported_with_their_location(
    run, finder, records
):
    blocks = plan_blocks([records])
    assert len(blocks) > 5
    done = [run.process(finder, block) for block in run.start(blocks)]
    rows = found_in(run.folder)
    assert [each["id"] for each in rows if each["id"] >= 0] == list(range(30))
    assert [each["spans"] for each in rows if each["id"] < 0] == [None, None]
    for each in rows:
        if each["id"] >= 0:
            assert each["deep"] == {"a": [each["id"]]}
            assert [(s["start"], s["end"], s["text"], s["score"]) for s in each["spans"]] == [
                (s.start, s.end, s.text, pytest.approx(s.score, abs=1e-6))
                for s in finder.find(each["text"])
            ]
    problems = [problem for each in done for problem in each.problems]
    assert len(problems) == sum(each.bad for each in done) == 4
    content = read_file(records)
    for problem, start in zip(
        problems, [b"{oops", b"[1]", b'{"id": -1}', b'{"id": -2'], strict=True
    ):
        place, _, _ = problem.partition(": ")
        assert content[int(place.removeprefix(f"{records} byte ")) :].startswith(start)


def test_a_stopped_run_resumes_without_losing_or_duplicating_rows(
    run, finder, records, monkeypatch
):
    """It is stopped after every file it writes, again and again."""
    blocks = plan_blocks([records])
    written = []

    def stopped(name, content):
        write_file(name, content)
        written.append(name)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("thresher.bulk.run.write_file", stopped)
        while True:
            try:
                if not (todo := run.start(blocks)):
                    break
                run.process(finder, todo[len(written) % len(todo)])
            except KeyboardInterrupt:
                with (
                    monkeypatch.context() as whole
                ):  # a block is not done if only its part was written
                    whole.setattr("thresher.bulk.run.write_file", write_file)
                    if len(written) % 5 == 0:
                        run.process(finder, run.start(blocks)[0])
    manifest = run.write_manifest()
    assert sorted(each["id"] for each in found_in(run.folder)) == [-2, -1, *range(30)]
    assert manifest["rows"] == 32
    assert manifest["bad"] == 4
    assert [part["block"] for part in manifest["parts"]] == list(range(len(blocks)))
    assert json.loads(read_file(f"{run.folder}/manifest.json")) == manifest


def test_a_run_that_was_killed_while_it_wrote_its_plan_can_be_started_again(run, records, tmp_path):
    blocks = plan_blocks([records])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".plan.json.tmp-a1b2c3_d").write_bytes(b"{")
    assert run.start(blocks) == blocks
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["plan.json"]


def test_a_run_with_other_content_under_the_same_names_is_rejected(run, records, small, tmp_path):
    """Input of the same size, and an encoder whose weights have changed."""
    encoder, model = tmp_path / "encoder", tmp_path / "model"
    encoder.mkdir()
    (encoder / "model.safetensors").write_bytes(b"1")
    shutil.copytree(small, model)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"encoder": str(encoder)}))
    run = replace(run, finder_choice=FinderChoice(model, "cpu"))
    blocks = plan_blocks([records])
    assert run.start(blocks) == blocks
    content = (tmp_path / "records.jsonl").read_bytes()
    for file, changed in (
        (encoder / "model.safetensors", b"2"),
        (tmp_path / "records.jsonl", content.replace(b"Magda", b"Mazda", 1)),
    ):
        original = file.read_bytes()
        file.write_bytes(changed)
        with pytest.raises(InputError, match="other input, or another model; choose another"):
            run.start(blocks)
        file.write_bytes(original)
    assert run.start(blocks) == blocks


def test_a_run_with_other_settings_is_rejected(run, records, small, tmp_path):
    blocks = plan_blocks([records])
    assert run.start(blocks) == blocks
    assert run.start(blocks) == blocks
    exact = replace(run, finder_choice=replace(run.finder_choice, exact=True))
    for other in (replace(run, threshold=0.2), replace(run, format="parquet"), exact):
        with pytest.raises(InputError, match="contains a run with other settings or other input"):
            other.start(blocks)
    with (tmp_path / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n{}")
    with pytest.raises(InputError, match="choose another folder"):
        run.start(blocks)
    with pytest.raises(InputError, match="is not empty; choose another folder"):
        replace(run, folder=str(tmp_path)).start(blocks)
    gone = replace(run, folder=str(tmp_path / "new"), finder_choice=FinderChoice(tmp_path / "none"))
    with pytest.raises(InputError, match="none is not a model"):
        gone.start(blocks)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_parquet_keeps_its_own_columns(run, finder, tmp_path, form):
    path = tmp_path / "in.parquet"
    table = pa.table(
        {
            "body": [TEXT, None, "the child ."],
            "when": pa.array([1, None, 3], pa.timestamp("ms")),
            "spans": ["old", "old", "old"],
        }
    )
    parquet.write_table(table, path)
    run = replace(run, text_field="body", format=form)
    [block] = run.start(plan_blocks([str(path)]))
    done = run.process(finder, block)
    assert done.problems == (f"{path} row 2: column 'body' is not a string",)
    if form == "parquet":
        found = parquet.read_table(f"{run.folder}/part-00000.parquet")
        renamed = table.rename_columns(["body", "when", "input_spans"])
        assert found.drop_columns(["spans"]).equals(renamed)
        spans = found["spans"].to_pylist()
    else:
        rows = found_in(run.folder)
        assert [each["when"] for each in rows] == [
            "1970-01-01 00:00:00.001000",
            None,
            "1970-01-01 00:00:00.003000",
        ]
        assert [each["input_spans"] for each in rows] == ["old"] * 3
        spans = [each["spans"] for each in rows]
    assert [each and [span["text"] for span in each] for each in spans] == [
        ["Magda", "Oslo"],
        None,
        [],
    ]


def test_lines_and_records_can_be_written_as_parquet(run, finder, tmp_path):
    (tmp_path / "a.txt").write_bytes(f"{TEXT}\n\nThe child.\n".encode() + b"bad \xff byte\n")
    (tmp_path / "b.jsonl").write_text(
        '{"text": "a", "n": 1}\n{"text": "b", "late": [2]}\n', encoding="utf-8"
    )
    run = replace(run, format="parquet")
    sources = find_files([str(tmp_path / "*.*")])
    done = [run.process(finder, block) for block in run.start(plan_blocks(sources))]
    assert "byte 58: not valid UTF-8" in done[0].problems[0]
    lines, records = (parquet.read_table(f"{run.folder}/part-0000{i}.parquet") for i in (0, 1))
    assert lines["text"].to_pylist() == [TEXT, "The child.", "bad \ufffd byte"]
    assert lines["byte"].to_pylist() == [0, 47, 58]
    assert records.drop_columns(["spans"]).to_pylist() == [
        {"text": "a", "n": 1, "late": None},
        {"text": "b", "n": None, "late": [2]},
    ]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["1", '"one"'], "Could not convert 'one' with type str"),
        (["{}", "{}"], "Cannot write struct type 'n' with no child field"),
        ([str(2**70), "1"], "int too large"),
    ],
)
def test_records_that_parquet_cannot_store_are_reported_and_work_as_jsonl(
    run, finder, tmp_path, values, reason
):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"text": "a", "n": {each}}}\n' for each in values), encoding="utf-8")
    blocks = plan_blocks([str(path)])
    as_parquet = replace(run, format="parquet")
    [block] = as_parquet.start(blocks)
    failed = as_parquet.process(finder, block).failed
    assert failed.startswith(f"the rows from {path} byte 0 on cannot be written as Parquet: ")
    assert reason in failed
    assert as_parquet.start(blocks) == blocks
    assert replace(run, folder=f"{run.folder}-jsonl").process(finder, block).rows == 2


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_lone_surrogate_becomes_a_question_mark(run, finder, tmp_path, form):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "The letter \\uD83D was sent to Oslo.", "n": ["\\ud83d\\ude00"]}',
        encoding="utf-8",
    )
    run = replace(run, format=form)
    [block] = run.start(plan_blocks([str(path)]))
    done = run.process(finder, block)
    assert (done.rows, done.entities, done.problems) == (1, 1, ())
    name = f"{run.folder}/{done.file}"
    [row] = parquet.read_table(name).to_pylist() if form == "parquet" else found_in(run.folder)
    assert (row["text"], row["n"]) == ("The letter ? was sent to Oslo.", ["😀"])
    assert [(span["start"], span["text"]) for span in row["spans"]] == [(25, "Oslo")]


def test_a_record_nested_too_deeply_is_reported_and_skipped(run, finder, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": ' + "[" * 100_000 + '\n{"text": "a"}\n', encoding="utf-8")
    [block] = run.start(plan_blocks([str(path)]))
    done = run.process(finder, block)
    assert (done.rows, done.bad) == (1, 1)
    assert done.problems[0].startswith(f"{path} byte 0: not JSON in UTF-8")


def test_temporary_files_of_a_killed_process_are_ignored(run, finder, records):
    blocks = plan_blocks([records])
    for block in run.start(blocks):
        run.process(finder, block)
    write_file(f"{run.folder}/done/.00003.json.x7f2", b'{"bloc')
    assert run.start(blocks) == []
    assert run.write_manifest()["rows"] == 32


def test_an_unreadable_block_is_reported_and_not_done(run, finder, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    for content in (b"\x1f\x8b\x08 nothing", gzip.compress(b"{}\n" * 99)[:-9], b"not packed"):
        path.write_bytes(content)
        [block] = plan_blocks([str(path)])
        assert run.process(finder, block).failed.startswith(f"cannot read {path}: ")
    assert run.start([block]) == [block]


def test_a_damaged_parquet_file_is_reported(run, finder, tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": [f"{TEXT} {i}" for i in range(99)]}), path)
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 200 + content[204:])
    [block] = plan_blocks([str(path)])
    assert run.process(finder, block).failed.startswith(f"{path} is not a readable Parquet file: ")
    path.write_bytes(content[:-60] + b"\xff" * 40 + content[-20:])
    with pytest.raises(InputError, match="is not a readable Parquet file"):
        plan_blocks([str(path)])


def test_a_row_on_which_the_finder_fails_is_reported_and_skipped(run, records, finder):
    class FailingFinder:
        kinds = ()

        def find(self, text, *, threshold=None, only=None):
            if text.endswith(" 17"):
                raise ZeroDivisionError("why")
            return finder.find(text, threshold=threshold)

        def find_all(self, texts, *, threshold=None, only=None):
            return (self.find(text) for text in texts)

    blocks = plan_blocks([records])
    problems = [
        each for block in run.start(blocks) for each in run.process(FailingFinder(), block).problems
    ]
    assert sum(each.endswith(": ZeroDivisionError: why") for each in problems) == 1
    assert [each["id"] for each in found_in(run.folder) if each["spans"] is None] == [-1, -2, 17]


def test_a_page_is_one_block_whose_fields_are_columns(run, finder, tmp_path):
    (tmp_path / "a.html").write_text(f"<title>T</title><nav>Menu</nav><p>{TEXT}")
    (tmp_path / "b.eml").write_text(f"Subject: Letter\n\n{TEXT}\n")
    blocks = run.start(plan_blocks(find_files([str(tmp_path / "*.*")])))
    assert [run.process(finder, block).failed for block in blocks] == [None, None]
    page, message = found_in(run.folder)
    assert (page["title"], message["subject"]) == ("T", "Letter")
    assert page["text"] == message["text"] == TEXT
    assert len(page["spans"]) == len(finder.find(TEXT))
