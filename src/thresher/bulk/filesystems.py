"""Files near and far through pyarrow: paths here, and addresses such as s3://bucket/folder.

Addresses that pyarrow does not know itself (hf://, memory:// …) go through fsspec. Credentials and
the like are where each system looks for them: S3's in AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL …
"""

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from thresher.atomic_files import write_file
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.text.sources import FORMAT_SUFFIXES, find_sources

_REMOTE = "://"


def is_remote(name: str) -> bool:
    """Whether it is an address, not a path on this machine."""
    return _REMOTE in name


def opened_for_reading(name: str) -> Any:
    """The file as pyarrow has it: it can be read, sought and closed."""
    system, path = _system(name)
    with os_errors_as_input_errors(f"cannot read {name}"):
        return system.open_input_file(path)


def size_of(name: str) -> int:
    """The bytes of a file."""
    about = _about(name)
    if not about.is_file:
        raise InputError(f"there is no file {name}")
    return int(about.size)


def read_whole(name: str) -> bytes | None:
    """The bytes of a file, None if it is not there."""
    from pyarrow.fs import FileType  # noqa: PLC0415 (an extra)

    if _about(name).type == FileType.NotFound:
        return None
    with os_errors_as_input_errors(f"cannot read {name}"), opened_for_reading(name) as file:
        return bytes(file.read())


def write_whole(name: str, content: bytes) -> None:
    """Write a file that appears when it is whole; far stores do that by themselves."""
    with os_errors_as_input_errors(f"cannot write {name}"):
        if not is_remote(name):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            write_file(Path(name), content)
            return
        system, path = _system(name)
        if not name.startswith("s3:"):  # where a folder is nothing but a part of a name
            system.create_dir(str(PurePosixPath(path).parent), recursive=True)
        with system.open_output_stream(path) as stream:
            stream.write(content)


def names_under(folder: str) -> list[str]:
    """The files below a folder, in order; none if there is no such folder."""
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415 (an extra)

    system, path = _system(folder)
    selector = FileSelector(path, recursive=True, allow_not_found=True)
    with os_errors_as_input_errors(f"cannot list {folder}"):
        found = system.get_file_info(selector)
    return sorted(
        folder + each.path.removeprefix(path) for each in found if each.type == FileType.File
    )


def find_places(sources: Iterable[str]) -> list[str]:
    """The files meant by paths, folders, patterns and addresses; paths are made whole."""
    names: list[str] = []
    for source in sources:
        if is_remote(source):
            names += _meant_by(source)
        else:
            names += (str(Path(each).resolve()) for each in find_sources(source))
    return list(dict.fromkeys(names))


def _meant_by(address: str) -> list[str]:
    if marks := [at for at, letter in enumerate(address) if letter in "*?["]:
        folder = address[: marks[0]].rpartition("/")[0]
        parts = address.split("/")
        found = [name for name in names_under(folder) if _matches(name.split("/"), parts)]
        if not found:
            raise InputError(f"no file matches {address}")
        return found
    if _about(address).is_file:
        return [address]
    known = tuple(suffix for each in FORMAT_SUFFIXES.values() for suffix in each)
    under = [name for name in names_under(address) if name.removesuffix(".gz").endswith(known)]
    if not under:
        raise InputError(f"no text at {address}: looked for {', '.join(sorted(known))}")
    return under


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a name fits a pattern as `Path.glob` has it: ** is any number of folders."""
    if not parts or not pattern:
        return not parts and not pattern
    if pattern[0] == "**":
        return any(_matches(parts[at:], pattern[1:]) for at in range(len(parts)))
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _about(name: str) -> Any:
    """What pyarrow knows of a name: whether it is there, a file or a folder, and its size."""
    system, path = _system(name)
    with os_errors_as_input_errors(f"cannot read {name}"):
        return system.get_file_info(path)


def _system(name: str) -> tuple[Any, str]:
    """The file system that knows a name, and what it calls it."""
    try:
        from pyarrow import ArrowException, fs  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise InputError("this needs Ray and pyarrow: pip install 'thresher[ray]'") from error
    if not is_remote(name):
        return fs.LocalFileSystem(), str(Path(name).resolve())
    scheme, _, path = name.partition(_REMOTE)
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if scheme == "s3" and endpoint:  # another server than Amazon's
        return fs.S3FileSystem(endpoint_override=endpoint), path
    try:
        system, path = fs.FileSystem.from_uri(name)
    except (ArrowException, ValueError):
        return _fsspec(name)
    return system, path


def _fsspec(name: str) -> tuple[Any, str]:
    import fsspec  # noqa: PLC0415 (few need it)
    from pyarrow.fs import FSSpecHandler, PyFileSystem  # noqa: PLC0415 (an extra)

    try:
        system, path = fsspec.core.url_to_fs(name)
    except (ValueError, ImportError) as error:
        raise InputError(f"cannot reach {name}: {error}") from error
    return PyFileSystem(FSSpecHandler(system)), path
