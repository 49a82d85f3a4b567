"""Files are split into blocks: every row is in exactly one, wherever a file is split."""

import gzip
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from thresher.bulk import blocks as block_planning
from thresher.bulk.block_rows import read_rows
from thresher.bulk.blocks import Block, plan_blocks
from thresher.errors import InputError

LINES = st.lists(st.text("aé\U0001f600 ", max_size=12), max_size=12)


def texts_of(blocks):
    return [text for block in blocks for text in read_rows(block, text_field="text").texts]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@given(LINES, st.integers(1, 40), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_line_is_in_one_block_wherever_the_file_is_split(folder, lines, size, end, ended):
    path = folder / "lines.txt"
    content = end.join(lines) + (end if ended else "")
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_planning, "MAX_BLOCK_BYTES", size)
        blocks = plan_blocks([str(path)])
    assert texts_of(blocks) == [line for line in lines if line.strip()]
    for block in blocks:
        rows = read_rows(block, text_field="text")
        for record in rows.columns:
            at = record["byte"]
            assert path.read_bytes()[at:].startswith(record["text"].encode())
            assert block.start <= at < block.end


@given(st.integers(0, 60), st.integers(1, 25), st.integers(1, 30))
def test_every_row_is_in_one_block_whatever_the_row_groups(folder, count, together, group):
    path = folder / "rows.parquet"
    table = pa.table({"text": [str(i) for i in range(count)], "id": list(range(count))})
    parquet.write_table(table, path, row_group_size=group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_planning, "MAX_BLOCK_ROWS", together)
        blocks = plan_blocks([str(path)])
    read = [read_rows(block, text_field="text") for block in blocks]
    assert [each for rows in read for each in rows.columns["id"].to_pylist()] == list(range(count))
    assert all(len(rows.texts) <= together for rows in read)
    assert [place for rows in read for place in rows.locations] == [
        f"{path} row {number}" for number in range(1, count + 1)
    ]


def test_long_rows_make_small_blocks(tmp_path):
    path = tmp_path / "long.parquet"
    table = pa.table({"text": [f"{i} " * 400_000 for i in range(8)]})
    parquet.write_table(table, path, compression=None, use_dictionary=False)
    assert [(each.start, each.end) for each in plan_blocks([str(path)])] == [
        (0, 2),
        (2, 4),
        (4, 6),
        (6, 8),
    ]


def test_a_compressed_file_is_one_block(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a"}\n\n{"text": "b"}\n'))
    [block] = plan_blocks([str(path)])
    assert block == Block(0, str(path), "jsonl", 0, None)
    assert texts_of([block]) == ["a", "b"]


@pytest.mark.parametrize(("name", "line"), [("a.txt", b"Oslo"), ("a.jsonl", b'{"text": "Oslo"}')])
def test_a_byte_order_mark_is_not_part_of_a_text(tmp_path, name, line):
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + line)
    assert texts_of(plan_blocks([str(tmp_path / name)])) == ["Oslo"]


def test_blocks_of_all_files_are_numbered_consecutively(tmp_path):
    names = [str(tmp_path / name) for name in ("a.txt", "b.jsonl", "empty.txt")]
    for name, content in zip(names, ["one\n", json.dumps({"text": "two"}), ""], strict=True):
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert [(each.number, each.format) for each in plan_blocks(names)] == [
        (0, "text"),
        (1, "jsonl"),
    ]


def test_formats_without_rows_are_rejected(tmp_path):
    with pytest.raises(
        InputError, match="has the format conll; only text, jsonl, parquet can be split"
    ):
        plan_blocks(["a.conll"])
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="is not a readable Parquet file"):
        plan_blocks([str(broken)])
    with pytest.raises(InputError, match="cannot read"):
        plan_blocks([str(tmp_path / "none.parquet")])
