"""Save and load a static encoder: token vectors in int8, all other weights in float16."""

from collections.abc import Mapping

import torch
from safetensors.torch import save
from tokenizers import Tokenizer
from torch import Tensor

from thresher.encoders.static_encoder import StaticEncoder
from thresher.lm.tokens.tokenizer_checks import require_ids_below
from thresher.tensor_files import build_module, load_tensors

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
    weights = load_tensors(files[WEIGHTS], WEIGHTS)
    integers, scales = weights.pop("vectors"), weights.pop("scales")
    if integers.dim() != 2 or scales.shape != integers.shape[:1]:
        raise ValueError(f"vectors of shape {list(integers.shape)} need one scale per row")
    vectors = integers.float() * scales[:, None]
    tokenizer = _tokenizer(files[TOKENIZER])
    require_ids_below(len(vectors), tokenizer)
    width, inputs = weights["mixing.0.weight"].shape
    layers = sum(name.startswith("mixing.") and name.endswith(".weight") for name in weights)
    reach = (inputs // width - 1) // 2

    def build() -> StaticEncoder:
        return StaticEncoder(tokenizer, torch.empty(vectors.shape), layers=layers, reach=reach)

    encoder = build_module(build, {**weights, "vectors": vectors})
    return encoder.eval().requires_grad_(False)


def as_saved(encoder: StaticEncoder) -> StaticEncoder:
    """Return the encoder with its weights rounded as in its files, on the same device."""
    return from_files(to_files(encoder)).to(encoder.device)


def _tokenizer(content: bytes) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_str(content.decode())
    except Exception as error:  # the library raises no specific type
        raise ValueError(f"{TOKENIZER} contains no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()  # a saved length of padding could be arbitrarily large
    return tokenizer


def to_int8(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize each row to integers from −127 to 127 and a scale, so that v ≈ integer · scale.

    vectors: (rows, width)   returns: (rows, width) in int8, (rows,) in float32
    """
    scales = (vectors.abs().amax(1) / 127).clamp(min=torch.finfo(torch.float32).tiny)
    return (vectors / scales[:, None]).round().to(torch.int8), scales
