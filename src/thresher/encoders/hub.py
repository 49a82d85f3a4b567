"""Encoders on the Hugging Face Hub, as folders of this machine."""

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
_PATIENCE = 10.0  # seconds, for an answer


def download(name: str) -> Path:
    """The folder of a model: as the Hub has it now or, out of its reach, as it was downloaded last.

    The Hub is asked once and by a deadline: reading file by file would try again and again.
    """
    refusal = _refusal(name)
    try:
        with _no_progress_bars():
            return Path(
                snapshot_download(name, allow_patterns=_FILES, local_files_only=refusal is not None)
            )
    except Exception as error:  # of whichever HTTP library its version uses
        raise InputError(
            f"cannot load the encoder {name!r}: there is no such folder, and "
            f"{refusal or 'it could not be downloaded'}; give a folder, or a model of the Hub "
            "such as sentence-transformers/all-MiniLM-L6-v2"
        ) from error


def _refusal(name: str) -> str | None:
    """Why the Hub does not give that model; None if it does."""
    try:
        HfApi().model_info(name, timeout=_PATIENCE)
    except HFValidationError:
        return "the Hub has no such names"
    except RepositoryNotFoundError:
        return "the Hub has no such model"
    except Exception:  # of whichever HTTP library its version uses
        return "the Hub cannot be reached"
    return None


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Whoever loads an encoder shows that something goes on."""
    if are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
