"""Download encoders from the Hugging Face Hub."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # exported lazily
    are_progress_bars_disabled,
    disable_progress_bars,
    enable_progress_bars,
)

from thresher.errors import InputError

_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]  # no pickles, no other frameworks
_TIMEOUT = 10.0  # seconds


def download(name: str) -> Path:
    """Return the local folder of a model: its current version, or offline the one in the cache.

    One request with a timeout checks first whether the Hub can be reached, because
    `snapshot_download` would retry for every file.
    """
    problem = _hub_problem(name)
    try:
        with _no_progress_bars():
            return Path(
                snapshot_download(name, allow_patterns=_FILES, local_files_only=problem is not None)
            )
    except Exception as error:  # the type depends on the HTTP library of huggingface_hub
        raise InputError(
            f"cannot load the encoder {name!r}: there is no such folder, and "
            f"{problem or 'it could not be downloaded'}; give a folder, or a model of the Hub "
            "such as sentence-transformers/all-MiniLM-L6-v2"
        ) from error


def _hub_problem(name: str) -> str | None:
    """Return why the Hub does not provide the model; None if it does."""
    try:
        HfApi().model_info(name, timeout=_TIMEOUT)
    except HFValidationError:
        return "it is not a valid name on the Hub"
    except RepositoryNotFoundError:
        return "the Hub has no such model"
    except Exception:  # the type depends on the HTTP library of huggingface_hub
        return "the Hub cannot be reached"
    return None


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Disable the Hub's own progress bars; the caller shows progress."""
    if are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
