"""Read files of model folders, which may come from anyone, with bounded memory and time.

Only regular files are opened: a FIFO would block the reader, and a device never ends. Sizes are
checked before anything is read.
"""

import json
import os
import stat
import sys
from collections import Counter
from pathlib import Path
from typing import IO, Any

from thresher.errors import InputError, os_errors_as_input_errors

MAX_CONFIG_BYTES = 16 << 20
MAX_TEXT_BYTES = 256 << 20  # word lists, tokenizers and logs
MAX_JSON_DEPTH = 64
MAX_JSON_VALUES = 8_000_000  # Python objects need many times the memory of their JSON
MAX_LINES = 16_000_000
_MAX_HEADER_BYTES = 8 << 20  # of a safetensors file; a model of 1,000 tensors needs 0.1 MB
_LENGTH_BYTES = 8


def open_regular(path: Path, *, max_bytes: int) -> IO[bytes]:
    """Open a regular file; raise InputError for anything else and for a file that is too large.

    A link to a regular file is followed, because the cache of the Hugging Face Hub has such links.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os_errors_as_input_errors(f"cannot read {path}"):
        file = os.fdopen(os.open(path, flags), "rb")
    status = os.fstat(file.fileno())
    problem = None
    if not stat.S_ISREG(status.st_mode):
        problem = f"{path} is not a regular file"
    elif status.st_size > max_bytes:
        problem = f"{path} has {status.st_size:,} bytes; at most {max_bytes:,} are allowed"
    if problem:
        file.close()
        raise InputError(problem)
    return file


def read_regular(path: Path, *, max_bytes: int = MAX_TEXT_BYTES) -> bytes:
    """Return the content of a regular file of limited size."""
    action = f"cannot read {path}"
    with open_regular(path, max_bytes=max_bytes) as file, os_errors_as_input_errors(action):
        # With a size, because `read` would allocate `max_bytes` and a growing file might not end.
        return file.read(os.fstat(file.fileno()).st_size)


def read_json(path: Path) -> Any:
    """Read a JSON file of limited size and depth."""
    return parse_json(read_regular(path, max_bytes=MAX_CONFIG_BYTES), str(path))


def parse_json(content: bytes, name: str, *, unique_keys: bool = False) -> Any:
    """Parse JSON of limited depth and number of values.

    name: the name of the file, for error messages
    unique_keys: refuse objects that have a key twice, of which the first would be lost
    """
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_JSON_VALUES:
        raise InputError(f"{name} has more than {MAX_JSON_VALUES:,} values")
    try:
        value = json.loads(content, object_pairs_hook=_unique if unique_keys else None)
    except RecursionError as error:
        raise InputError(f"{name} is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"{name} is not valid JSON: {error}") from error
    _check_depth(value, name)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice!r} appears twice")
    return values


def _check_depth(value: Any, name: str) -> None:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_JSON_DEPTH):
        level = [child for each in level for child in _children(each)]
        if not level:
            return
    raise InputError(f"{name} is nested too deeply")


def _children(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the containers directly inside a JSON value."""
    if isinstance(value, dict):
        return [each for each in value.values() if isinstance(each, dict | list)]
    return [each for each in value if isinstance(each, dict | list)]


def split_lines(content: bytes, name: str) -> list[str]:
    """Return the lines of a UTF-8 text, at most `MAX_LINES`; `name` is for error messages."""
    if content.count(b"\n") > MAX_LINES:
        raise InputError(f"{name} has more than {MAX_LINES:,} lines")
    try:
        return content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8: {error}") from error


def check_weights_file(path: Path) -> dict[str, list[int]]:
    """Return the shapes declared in the header of a safetensors file, without reading tensors.

    The file must be regular, not larger than the memory of this machine, and exactly as long as
    its header declares.
    """
    with open_regular(path, max_bytes=memory_bytes()) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        _check_header_length(length, size, str(path))
        return _declared_shapes(file.read(length), size - _LENGTH_BYTES - length, str(path))


def check_weights(content: bytes, name: str) -> dict[str, list[int]]:
    """Return what `check_weights_file` returns, for the content of a file."""
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    _check_header_length(length, len(content), name)
    end = _LENGTH_BYTES + length
    return _declared_shapes(content[_LENGTH_BYTES:end], len(content) - end, name)


def _check_header_length(length: int, size: int, name: str) -> None:
    if not 0 < length <= min(size - _LENGTH_BYTES, _MAX_HEADER_BYTES):
        raise InputError(f"{name} is not a safetensors file: its header has a wrong length")


def _declared_shapes(header: bytes, data_bytes: int, name: str) -> dict[str, list[int]]:
    tensors = parse_json(header, f"the header of {name}")
    try:
        tensors.pop("__metadata__", None)
        shapes = {key: list(map(int, each["shape"])) for key, each in tensors.items()}
        end = max((int(each["data_offsets"][1]) for each in tensors.values()), default=0)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{name} is not a safetensors file: its header is damaged") from error
    if "" in shapes:
        raise InputError(f"{name} has a tensor without a name")
    if end != data_bytes:
        raise InputError(f"{name} is damaged: its header declares {end} bytes, not {data_bytes}")
    return shapes


def memory_bytes() -> int:
    """Return the size of the main memory, `sys.maxsize` if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize
