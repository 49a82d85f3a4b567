"""Save and load a static encoder: token vectors in int8, all other weights in float16."""

from collections.abc import Mapping

import torch
from safetensors.torch import load, save
from tokenizers import Tokenizer
from torch import Tensor

from thresher.encoders.static_encoder import StaticEncoder

WEIGHTS, TOKENIZER = "encoder.safetensors", "tokenizer.json"
FILES = (WEIGHTS, TOKENIZER)


def to_files(encoder: StaticEncoder) -> dict[str, bytes]:
    """Return the contents of the files, by name."""
    state = {name: value.detach().cpu() for name, value in encoder.state_dict().items()}
    vectors, scales = to_int8(state.pop("vectors"))
    weights = {name: value.half().contiguous() for name, value in state.items()}
    return {
        WEIGHTS: save({**weights, "vectors": vectors, "scales": scales}),
        TOKENIZER: encoder.tokenizer.to_str().encode(),
    }


def from_files(files: Mapping[str, bytes]) -> StaticEncoder:
    """Load an encoder; its number of layers and its reach follow from the weights."""
    weights = load(files[WEIGHTS])
    vectors = weights.pop("vectors").float() * weights.pop("scales")[:, None]
    tokenizer = _tokenizer(files[TOKENIZER])
    if len(vectors) < tokenizer.get_vocab_size():
        raise ValueError(f"{tokenizer.get_vocab_size()} tokens, but {len(vectors)} vectors")
    width, inputs = weights["mixing.0.weight"].shape
    layers = sum(name.startswith("mixing.") and name.endswith(".weight") for name in weights)
    encoder = StaticEncoder(tokenizer, vectors, layers=layers, reach=(inputs // width - 1) // 2)
    state = {name: value.float() for name, value in weights.items()}
    encoder.load_state_dict({**state, "vectors": vectors})
    return encoder.eval().requires_grad_(False)


def as_saved(encoder: StaticEncoder) -> StaticEncoder:
    """Return the encoder with its weights rounded as in its files, on the same device."""
    return from_files(to_files(encoder)).to(encoder.device)


def _tokenizer(content: bytes) -> Tokenizer:
    try:
        return Tokenizer.from_str(content.decode())
    except Exception as error:  # the library raises no specific type
        raise ValueError(f"{TOKENIZER} contains no tokenizer: {error}") from error


def to_int8(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize each row to integers from −127 to 127 and a scale, so that v ≈ integer · scale.

    vectors: (rows, width)   returns: (rows, width) in int8, (rows,) in float32
    """
    scales = (vectors.abs().amax(1) / 127).clamp(min=torch.finfo(torch.float32).tiny)
    return (vectors / scales[:, None]).round().to(torch.int8), scales
