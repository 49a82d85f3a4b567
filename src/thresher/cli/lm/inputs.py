"""Text, devices and models for the commands of `thresher lm`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.errors import InputError

if TYPE_CHECKING:
    import torch

    from thresher.lm.trained_model import TrainedLanguageModel
    from thresher.text.corpus import Document


def joined(documents: Iterable["Document"]) -> str:
    """One text: the blocks of a file as they stood in it, a line end between documents.

    JSON can hold half a surrogate pair, which is no character: a question mark stands for it.
    """
    parts: list[str] = []
    for document in documents:
        if parts and not document.offset and not parts[-1].endswith("\n"):
            parts.append("\n")
        parts.append(document.text)
    return "".join(parts).encode(errors="replace").decode()


def chosen_device(name: str | None) -> "torch.device":
    """The device of that name, a GPU if there is one, or else the CPU."""
    import torch  # noqa: PLC0415 (slow to import; help does without)

    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # what torch raises for an unknown one
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot use the device {name!r}: {reason}") from error
    return device


def load_model(folder: Path, *, device: str | None = None) -> "TrainedLanguageModel":
    """The language model of a folder."""
    from thresher.lm.trained_model import TrainedLanguageModel  # noqa: PLC0415 (torch)

    return TrainedLanguageModel.read(folder, device=chosen_device(device))
