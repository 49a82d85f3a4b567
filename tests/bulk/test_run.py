"""Runs over blocks: rows keep their columns, bad ones are told, and what is done stays done."""

import gzip
import json
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet

from thresher.bulk import blocks as plan
from thresher.bulk.blocks import planned
from thresher.bulk.filesystems import find_places, names_under, read_whole, write_whole
from thresher.bulk.finder_choice import ModelChoice
from thresher.bulk.run import BulkRun
from thresher.errors import InputError

TEXT = "The letter that Magda wrote was sent to Oslo."


@pytest.fixture(scope="module")
def finder(small):
    return ModelChoice(small, "cpu").load()


@pytest.fixture
def run(small, tmp_path):
    return BulkRun(str(tmp_path / "out"), ModelChoice(small, "cpu"))


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A JSONL file of thirty records in several blocks, some of them bad."""
    monkeypatch.setattr(plan, "BYTES", 500)
    lines = [json.dumps({"id": i, "text": f"{TEXT} {i}", "deep": {"a": [i]}}) for i in range(30)]
    lines[11:11] = ["{oops", "[1]", json.dumps({"id": -1}), json.dumps({"id": -2, "text": 5})]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def found_in(folder):
    parts = [name for name in names_under(folder) if "/part-" in name]
    return [json.loads(line) for name in parts for line in read_whole(name).splitlines()]


def test_rows_keep_their_columns_and_bad_ones_are_told_with_their_place(run, finder, records):
    blocks = planned([records])
    assert len(blocks) > 5
    done = [run.do(finder, block) for block in run.begin(blocks)]
    rows = found_in(run.folder)
    assert [each["id"] for each in rows if each["id"] >= 0] == list(range(30))
    assert [each["spans"] for each in rows if each["id"] < 0] == [None, None]
    for each in rows:
        if each["id"] >= 0:
            assert each["deep"] == {"a": [each["id"]]}
            assert [(s["start"], s["end"], s["text"], s["score"]) for s in each["spans"]] == [
                (s.start, s.end, s.text, pytest.approx(s.score)) for s in finder.find(each["text"])
            ]
    problems = [problem for each in done for problem in each.problems]
    assert len(problems) == sum(each.bad for each in done) == 4
    content = read_whole(records)
    for problem, start in zip(
        problems, [b"{oops", b"[1]", b'{"id": -1}', b'{"id": -2'], strict=True
    ):
        place, _, _ = problem.partition(": ")
        assert content[int(place.removeprefix(f"{records} byte ")) :].startswith(start)


def test_a_run_that_was_stopped_anywhere_goes_on_and_no_row_is_lost_or_twice(
    run, finder, records, monkeypatch
):
    """It is stopped after every file it writes, again and again."""
    blocks = planned([records])
    written = []

    def stopped(name, content):
        write_whole(name, content)
        written.append(name)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("thresher.bulk.run.write_whole", stopped)
        while True:
            try:
                if not (todo := run.begin(blocks)):
                    break
                run.do(finder, todo[len(written) % len(todo)])
            except KeyboardInterrupt:
                with monkeypatch.context() as whole:  # a part alone does not make a block done
                    whole.setattr("thresher.bulk.run.write_whole", write_whole)
                    if len(written) % 5 == 0:
                        run.do(finder, run.begin(blocks)[0])
    manifest = run.conclude()
    assert sorted(each["id"] for each in found_in(run.folder)) == [-2, -1, *range(30)]
    assert manifest["rows"] == 32
    assert manifest["bad"] == 4
    assert [part["block"] for part in manifest["parts"]] == list(range(len(blocks)))
    assert json.loads(read_whole(f"{run.folder}/manifest.json")) == manifest


def test_another_question_is_not_put_into_the_same_folder(run, records, small, tmp_path):
    blocks = planned([records])
    assert run.begin(blocks) == blocks
    assert run.begin(blocks) == blocks
    exact = replace(run, model=replace(run.model, exact=True))
    for other in (replace(run, threshold=0.2), replace(run, form="parquet"), exact):
        with pytest.raises(InputError, match="holds what another command, or other input, found"):
            other.begin(blocks)
    with (tmp_path / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n{}")
    with pytest.raises(InputError, match="choose another folder"):
        run.begin(blocks)
    with pytest.raises(InputError, match="is not empty; choose another folder"):
        replace(run, folder=str(tmp_path)).begin(blocks)
    gone = replace(run, folder=str(tmp_path / "new"), model=ModelChoice(tmp_path / "none"))
    with pytest.raises(InputError, match="none is not a model"):
        gone.begin(blocks)


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
    run = replace(run, text="body", form=form)
    [block] = run.begin(planned([str(path)]))
    done = run.do(finder, block)
    assert done.problems == (f"{path} row 2: column 'body' is not a string",)
    if form == "parquet":
        found = parquet.read_table(f"{run.folder}/part-00000.parquet")
        assert found.drop_columns(["spans"]).equals(table.drop_columns(["spans"]))
        spans = found["spans"].to_pylist()
    else:
        rows = found_in(run.folder)
        assert [each["when"] for each in rows] == [
            "1970-01-01 00:00:00.001000",
            None,
            "1970-01-01 00:00:00.003000",
        ]
        spans = [each["spans"] for each in rows]
    assert [each and [span["text"] for span in each] for each in spans] == [
        ["Magda", "Oslo"],
        None,
        [],
    ]


def test_lines_and_records_become_parquet_too(run, finder, tmp_path):
    (tmp_path / "a.txt").write_bytes(f"{TEXT}\n\nThe child.\n".encode() + b"bad \xff byte\n")
    (tmp_path / "b.jsonl").write_text(
        '{"text": "a", "n": 1}\n{"text": "b", "late": [2]}\n', encoding="utf-8"
    )
    run = replace(run, form="parquet")
    sources = find_places([str(tmp_path / "*.*")])
    done = [run.do(finder, block) for block in run.begin(planned(sources))]
    assert "byte 58: not valid UTF-8" in done[0].problems[0]
    lines, records = (parquet.read_table(f"{run.folder}/part-0000{i}.parquet") for i in (0, 1))
    assert lines["text"].to_pylist() == [TEXT, "The child.", "bad \ufffd byte"]
    assert lines["byte"].to_pylist() == [0, 47, 58]
    assert records.drop_columns(["spans"]).to_pylist() == [
        {"text": "a", "n": 1, "late": None},
        {"text": "b", "n": None, "late": [2]},
    ]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["1", '"one"'], "Could not convert 'one' with type str"),
        (["{}", "{}"], "Cannot write struct type 'n' with no child field"),
        ([str(2**70), "1"], "int too large"),
    ],
)
def test_records_that_parquet_cannot_hold_are_told_and_jsonl_takes_them(
    run, finder, tmp_path, values, told
):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"text": "a", "n": {each}}}\n' for each in values), encoding="utf-8")
    blocks = planned([str(path)])
    as_parquet = replace(run, form="parquet")
    [block] = as_parquet.begin(blocks)
    failed = as_parquet.do(finder, block).failed
    assert failed.startswith(f"{path} byte 0 and what follows cannot be Parquet: ")
    assert told in failed
    assert as_parquet.begin(blocks) == blocks
    assert replace(run, folder=f"{run.folder}-jsonl").do(finder, block).rows == 2


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_half_a_surrogate_pair_becomes_a_question_mark_in_its_place(run, finder, tmp_path, form):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "The letter \\uD83D was sent to Oslo.", "n": ["\\ud83d\\ude00"]}',
        encoding="utf-8",
    )
    run = replace(run, form=form)
    [block] = run.begin(planned([str(path)]))
    done = run.do(finder, block)
    assert (done.rows, done.entities, done.problems) == (1, 1, ())
    name = f"{run.folder}/{done.file}"
    [row] = parquet.read_table(name).to_pylist() if form == "parquet" else found_in(run.folder)
    assert (row["text"], row["n"]) == ("The letter ? was sent to Oslo.", ["😀"])
    assert [(span["start"], span["text"]) for span in row["spans"]] == [(25, "Oslo")]


def test_a_record_too_deep_to_read_is_told_and_the_rest_goes_on(run, finder, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": ' + "[" * 100_000 + '\n{"text": "a"}\n', encoding="utf-8")
    [block] = run.begin(planned([str(path)]))
    done = run.do(finder, block)
    assert (done.rows, done.bad) == (1, 1)
    assert done.problems[0].startswith(f"{path} byte 0: not JSON in UTF-8")


def test_what_a_killed_process_left_behind_is_not_taken_for_a_note(run, finder, records):
    blocks = planned([records])
    for block in run.begin(blocks):
        run.do(finder, block)
    write_whole(f"{run.folder}/done/.00003.json.x7f2", b'{"bloc')
    assert run.begin(blocks) == []
    assert run.conclude()["rows"] == 32


def test_a_block_that_cannot_be_read_is_told_and_not_done(run, finder, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    for content in (b"\x1f\x8b\x08 nothing", gzip.compress(b"{}\n" * 99)[:-9], b"not packed"):
        path.write_bytes(content)
        [block] = planned([str(path)])
        assert run.do(finder, block).failed.startswith(f"cannot read {path}: ")
    assert run.begin([block]) == [block]


def test_a_parquet_file_that_was_spoilt_is_told(run, finder, tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": [f"{TEXT} {i}" for i in range(99)]}), path)
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 200 + content[204:])
    [block] = planned([str(path)])
    assert run.do(finder, block).failed.startswith(f"{path} is not a readable Parquet file: ")
    path.write_bytes(content[:-60] + b"\xff" * 40 + content[-20:])
    with pytest.raises(InputError, match="is not a readable Parquet file"):
        planned([str(path)])


def test_a_row_that_stops_the_finder_is_told_and_the_rest_goes_on(run, records, finder):
    class Nervous:
        def find(self, text, *, threshold=None):
            if text.endswith(" 17"):
                raise ZeroDivisionError("why")
            return finder.find(text, threshold=threshold)

        def find_all(self, texts, *, threshold=None):
            return (self.find(text) for text in texts)

    blocks = planned([records])
    problems = [each for block in run.begin(blocks) for each in run.do(Nervous(), block).problems]
    assert sum(each.endswith(": ZeroDivisionError: why") for each in problems) == 1
    assert [each["id"] for each in found_in(run.folder) if each["spans"] is None] == [-1, -2, 17]
