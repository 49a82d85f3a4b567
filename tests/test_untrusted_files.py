"""Files of unknown origin are read with bounded memory and time."""

import json
import os
import struct

import pytest

from thresher.errors import InputError
from thresher.untrusted_files import (
    MAX_JSON_DEPTH,
    check_weights,
    open_regular,
    parse_json,
    read_json,
    read_regular,
    split_lines,
)


def test_a_regular_file_and_a_link_to_one_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "file") == read_regular(tmp_path / "link") == b"content"


def test_a_fifo_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InputError, match="not a regular file"):
        read_regular(tmp_path / "fifo")


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/null", "/"])
def test_a_link_to_a_device_or_a_folder_is_refused(tmp_path, target):
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(InputError, match=r"not a regular file|Is a directory"):
        read_regular(tmp_path / "link")


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)  # sparse
    with pytest.raises(InputError, match="at most 1,000 are allowed"):
        open_regular(tmp_path / "large", max_bytes=1000)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        read_json(tmp_path / "missing")


@pytest.mark.parametrize("depth", [MAX_JSON_DEPTH + 1, 900, 100_000])
@pytest.mark.parametrize(("start", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_deeply_nested_json_is_refused(depth, start, end):
    with pytest.raises(InputError, match="config is nested too deeply"):
        parse_json(start * depth + b"1" + end * depth, "config")


def test_json_of_an_ordinary_depth_is_parsed():
    value = {"a": [[{"b": [1, "x", None]}]] * 3, "c": "text"}
    assert parse_json(json.dumps(value).encode(), "config") == value


def test_json_with_too_many_values_is_refused():
    with pytest.raises(InputError, match="more than 8,000,000 values"):
        parse_json(b"[" + b"0," * 8_000_001 + b"0]", "config")


@pytest.mark.parametrize("content", [b"{", b"\xff", b"", b"1" * 5000])
def test_invalid_json_is_an_input_error(content):
    with pytest.raises(InputError, match="config is not valid JSON"):
        parse_json(content, "config")


def weights(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


TENSOR = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def test_the_shapes_of_a_header_are_returned():
    content = weights({"a": TENSOR, "__metadata__": {"format": "pt"}}, bytes(8))
    assert check_weights(content, "file") == {"a": [2]}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "wrong length"),
        (b"\x01", "wrong length"),
        (weights({}, length=1 << 62), "wrong length"),
        (weights({}, length=0), "wrong length"),
        (weights(b"[" * 5000), "nested too deeply"),
        (weights([]), "header is damaged"),
        (weights({"a": 1}), "header is damaged"),
        (weights({"a": TENSOR | {"shape": ["x"]}}, bytes(8)), "header is damaged"),
        (weights({"": TENSOR}, bytes(8)), "without a name"),
        (weights({"a": TENSOR}, bytes(4)), "declares 8 bytes, not 4"),
        (weights({"a": TENSOR}, bytes(12)), "declares 8 bytes, not 12"),
    ],
)
def test_a_damaged_header_is_an_input_error(content, complaint):
    with pytest.raises(InputError, match=complaint):
        check_weights(content, "file")


def test_text_that_is_not_utf8_is_an_input_error():
    assert split_lines("ä\nb".encode(), "words") == ["ä", "b"]
    with pytest.raises(InputError, match="words is not UTF-8"):
        split_lines(b"\xff", "words")


@pytest.mark.parametrize("value", [7, True, None, "text", -1.5, [], {}])
def test_json_without_containers_is_read(value):
    assert parse_json(json.dumps(value).encode(), "it") == value
