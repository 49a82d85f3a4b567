"""Read, write and list files on this machine and at URLs such as s3://bucket/folder, with fsspec.

S3, Google Cloud Storage and HDFS are accessed through pyarrow, which needs no further package; all
other URLs (hf://, memory:// …) through the package that fsspec names. Each of them reads its usual
credentials: S3 those in AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL …
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from thresher import atomic_files
from thresher.errors import InputError, WarningHandler, os_errors_as_input_errors, requires_extra
from thresher.text.sources import FORMAT_SUFFIXES, find_sources, select_known_formats

_SCHEME_END = "://"
_PYARROW_SCHEMES = ("s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")
_WILDCARDS = "*?["
# Under which file systems tell the version of a file.
_VERSION_KEYS = ("ETag", "md5Hash", "blob_id", "mtime", "LastModified", "last_modified", "created")


def is_remote(name: str) -> bool:
    """Return True for a URL, False for a path on this machine."""
    return _SCHEME_END in name


def open_file(name: str) -> IO[bytes]:
    """Open a file for reading; the stream is seekable."""
    system, path = _filesystem(name)
    with os_errors_as_input_errors(f"cannot read {name}"):
        stream: IO[bytes] = system.open(path, "rb")
        return stream


def file_size(name: str) -> int:
    """Return the size of a file in bytes."""
    info = _info(name)
    if info.get("type") != "file":
        raise InputError(f"there is no file {name}")
    return int(info["size"])


def file_version(name: str) -> str:
    """Return a string that changes when the content of a file changes.

    For a file on this machine, this is a digest of its content. For a remote file, it is the digest
    or the time of modification that the store reports.
    """
    if is_remote(name):
        info = _info(name)
        return ", ".join(f"{key} {info[key]}" for key in _VERSION_KEYS if key in info)
    with open_file(name) as stream, os_errors_as_input_errors(f"cannot read {name}"):
        return hashlib.file_digest(stream, "blake2b").hexdigest()  # type: ignore[arg-type]


def read_file(name: str) -> bytes | None:
    """Return the content of a file, None if it does not exist."""
    if not _info(name):
        return None
    with os_errors_as_input_errors(f"cannot read {name}"), open_file(name) as stream:
        return bytes(stream.read())


def write_file(name: str, content: bytes) -> None:
    """Write a file atomically; object stores do this by themselves."""
    with os_errors_as_input_errors(f"cannot write {name}"):
        if not is_remote(name):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            atomic_files.write_file(Path(name), content)
            return
        system, path = _filesystem(name)
        if not name.startswith("s3:"):  # S3 has no folders
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
        with system.open(path, "wb") as stream:
            stream.write(content)


def list_files(folder: str) -> list[str]:
    """Return all files below a folder, sorted; none if the folder does not exist."""
    system, path = _filesystem(folder)
    with os_errors_as_input_errors(f"cannot list {folder}"):
        return sorted(folder + each.removeprefix(path) for each in system.find(path))


def find_files(sources: Iterable[str], *, on_skipped: WarningHandler | None = None) -> list[str]:
    """Return the files of paths, folders, glob patterns and URLs; paths become absolute.

    on_skipped: called with one line for each folder that has files of no known format
    """
    names: list[str] = []
    for source in sources:
        if is_remote(source):
            names += _find_remote_files(source, on_skipped)
        else:
            local = find_sources(source, on_skipped=on_skipped)
            names += (str(Path(each).resolve()) for each in local)
    return list(dict.fromkeys(names))


def _find_remote_files(url: str, on_skipped: WarningHandler | None) -> list[str]:
    url = url.rstrip("/")
    if any(wildcard in url for wildcard in _WILDCARDS):
        return _glob(url)
    if _info(url).get("type") == "file":
        return [url]
    files = select_known_formats(list_files(url), folder=url, on_skipped=on_skipped)
    if not files:
        suffixes = [suffix for each in FORMAT_SUFFIXES.values() for suffix in each]
        raise InputError(f"no text at {url}: looked for {', '.join(sorted(suffixes))}")
    return files


def _glob(url: str) -> list[str]:
    first_wildcard = min(url.find(each) for each in _WILDCARDS if each in url)
    folder = url[:first_wildcard].rpartition("/")[0]
    system, path = _filesystem(folder)
    with os_errors_as_input_errors(f"cannot list {folder}"):
        found = system.glob(path + url.removeprefix(folder), detail=True)
    files = [name for name, info in found.items() if info["type"] == "file"]
    if not files:
        raise InputError(f"no file matches {url}")
    return sorted(folder + name.removeprefix(path) for name in files)


def _info(name: str) -> dict[str, Any]:
    """Return fsspec's description of a file or folder, with type and size; {} if missing."""
    system, path = _filesystem(name)
    with os_errors_as_input_errors(f"cannot read {name}"):
        try:
            return dict(system.info(path))
        except FileNotFoundError:
            return {}


def _filesystem(name: str) -> tuple[Any, str]:
    """Return the fsspec file system of a path or URL, and the path within it."""
    with requires_extra("ray", "bulk processing needs Ray, pyarrow and fsspec"):
        import fsspec  # noqa: PLC0415 (an extra)
        from fsspec.implementations.arrow import ArrowFSWrapper  # noqa: PLC0415
        from pyarrow import fs  # noqa: PLC0415
    scheme, _, path = name.partition(_SCHEME_END)
    try:
        if not is_remote(name):
            return fsspec.filesystem("file"), str(Path(name).resolve())
        if scheme not in _PYARROW_SCHEMES:
            return fsspec.core.url_to_fs(name)  # type: ignore[no-any-return]
        endpoint = os.environ.get("AWS_ENDPOINT_URL")
        if scheme == "s3" and endpoint:  # a server other than Amazon's
            system = fs.S3FileSystem(endpoint_override=endpoint)
        else:
            system, path = fs.FileSystem.from_uri(name)
    except (ValueError, ImportError) as error:  # pyarrow's ArrowInvalid is a ValueError
        raise InputError(f"cannot access {name}: {error}") from error
    return ArrowFSWrapper(system, skip_instance_cache=True), path
