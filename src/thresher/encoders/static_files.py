"""Save and load a static encoder: token vectors in int8, all other weights in float16."""

from collections.abc import Mapping

import torch
from safetensors.torch import save
from torch import Tensor

from thresher.encoders.static_arrays import FILES, TOKENIZER, WEIGHTS, reach_of, read_arrays
from thresher.encoders.static_encoder import StaticEncoder
from thresher.tensor_files import build_module

__all__ = ["FILES", "TOKENIZER", "WEIGHTS", "as_saved", "from_files", "to_files", "to_int8"]


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
    arrays, tokenizer = read_arrays(files)
    weights = {name: torch.from_numpy(value) for name, value in arrays.items()}
    layers = sum(name.startswith("norms.") for name in weights) // 2
    vectors = torch.empty(weights["vectors"].shape)

    def build() -> StaticEncoder:
        return StaticEncoder(tokenizer, vectors, layers=layers, reach=reach_of(arrays))

    return build_module(build, weights).eval().requires_grad_(False)


def as_saved(encoder: StaticEncoder) -> StaticEncoder:
    """Return the encoder with its weights rounded as in its files, on the same device."""
    return from_files(to_files(encoder)).to(encoder.device)


def to_int8(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize each row to integers from −127 to 127 and a scale, so that v ≈ integer · scale.

    vectors: (rows, width)   returns: (rows, width) in int8, (rows,) in float32
    """
    scales = (vectors.abs().amax(1) / 127).clamp(min=torch.finfo(torch.float32).tiny)
    return (vectors / scales[:, None]).round().to(torch.int8), scales
