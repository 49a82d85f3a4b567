"""Read a tokenizer and a transformer from a folder.

Plain BERT is read by this package, anything else by `transformers`, which takes seconds to import
and is therefore optional.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from tokenizers import Tokenizer
from torch import Tensor

from thresher.encoders.bert import Bert
from thresher.encoders.bert_weights import is_plain_bert
from thresher.encoders.folder_checks import (
    check_declared_size,
    check_encoder_folder,
    weight_shapes,
)
from thresher.errors import InputError, requires_extra
from thresher.lm.tokens.library_tokenizers import require_ids_below
from thresher.tensor_files import load_tensors_file, require_finite
from thresher.untrusted_files import read_regular

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"


class PretrainedTransformer(Protocol):
    """A bidirectional transformer whose input are word embeddings."""

    @property
    def word_embeddings(self) -> Tensor:
        """The word embeddings: (vocabulary, width of embeddings)."""
        ...

    @property
    def width(self) -> int:
        """The length of a hidden state."""
        ...

    @property
    def max_positions(self) -> int | None:
        """The maximum number of tokens in a window; None if there is no maximum."""
        ...

    @property
    def depth(self) -> int:
        """The number of layers."""
        ...

    def __call__(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Tensor:
        """Return the hidden states after the first `layers` layers; the others are not computed.

        embedded: (windows, tokens, width), differentiable   mask: (windows, tokens)
        """
        ...

    def state_dict(self) -> Mapping[str, Tensor]:
        """Return all weights by name."""
        ...

    def attention(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Sequence[Tensor]:
        """Return the attention weights of the first layers: (windows, heads, tokens, tokens)."""
        ...


def read_pretrained(
    folder: Path, *, device: torch.device
) -> tuple[Tokenizer, PretrainedTransformer]:
    """Read a tokenizer without truncation or padding, and a frozen model."""
    if not (folder / CONFIG).is_file():
        raise InputError(f"cannot load the encoder {str(folder)!r}: the folder has no {CONFIG}")
    try:
        config = check_encoder_folder(folder)
        tokenizer, model = _read_plain_bert(folder, config) or _read_with_transformers(
            folder, config
        )
        require_ids_below(len(model.word_embeddings), tokenizer)
    except Exception as error:  # damaged files raise errors of many types
        raise InputError(f"cannot load the encoder {str(folder)!r}: {_reason(error)}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, model.to(device).eval().requires_grad_(False)


def _read_plain_bert(folder: Path, config: dict[str, Any]) -> tuple[Tokenizer, Any] | None:
    """Return None if it is not a plain BERT, or not saved in the current file formats."""
    tokenizer, weights = folder / TOKENIZER, folder / WEIGHTS
    if not (is_plain_bert(config) and tokenizer.is_file() and weights.is_file()):
        return None
    content = read_regular(tokenizer).decode()
    return Tokenizer.from_str(content), Bert(config, load_tensors_file(weights))


def _read_with_transformers(folder: Path, config: dict[str, Any]) -> tuple[Tokenizer, Any]:
    shapes = weight_shapes(folder)
    check_declared_size(config, len(shapes))
    with requires_extra("transformers", "models other than plain BERT need transformers"):
        from thresher.encoders import transformers_model  # noqa: PLC0415 (an extra)

    if (folder / TOKENIZER).exists():  # very large ids make the library use very much memory
        rows = max((shape[0] for shape in shapes.values() if shape), default=0)
        content = read_regular(folder / TOKENIZER).decode()
        require_ids_below(rows, Tokenizer.from_str(content))
    elements = sum(map(math.prod, shapes.values()))
    tokenizer, model = transformers_model.read_model(str(folder), saved_elements=elements)
    config = model.config.to_dict()
    if is_plain_bert(config):
        return tokenizer, Bert(config, model.state_dict())
    require_finite(model.state_dict(), str(folder))
    return tokenizer, transformers_model.TransformersModel(model)


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return (str(error).strip() or type(error).__name__).splitlines()[0]
