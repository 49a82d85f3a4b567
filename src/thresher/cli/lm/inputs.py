"""Load texts, devices and models for the commands of `thresher lm`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.errors import InputError

if TYPE_CHECKING:
    import torch

    from thresher.lm.trained_model import TrainedLanguageModel
    from thresher.text.document import Document


def join_documents(documents: Iterable["Document"]) -> str:
    """Return one text: the blocks of each file unchanged, with a line end between documents.

    Half a surrogate pair, which JSON can contain, is replaced by a question mark.
    """
    parts: list[str] = []
    for document in documents:
        if parts and not document.offset and not parts[-1].endswith("\n"):
            parts.append("\n")
        parts.append(document.text.encode(errors="replace").decode())
    return "".join(parts)


def chosen_device(name: str | None) -> "torch.device":
    """Return the device with this name; by default a GPU if there is one, else the CPU."""
    import torch  # noqa: PLC0415 (slow to import)

    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch raises these for an unknown device
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot use the device {name!r}: {reason}") from error
    return device


def load_model(folder: Path, *, device: str | None = None) -> "TrainedLanguageModel":
    """Load the language model of a folder."""
    from thresher.lm.trained_model import TrainedLanguageModel  # noqa: PLC0415 (torch)

    return TrainedLanguageModel.read(folder, device=chosen_device(device))
