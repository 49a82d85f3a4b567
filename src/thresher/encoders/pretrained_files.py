"""Read a tokenizer and a transformer from a folder.

Plain BERT is read by this package, anything else by `transformers`, which takes seconds to import
and is therefore optional.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from thresher.encoders.bert import Bert, is_plain_bert
from thresher.errors import InputError, requires_extra

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
        tokenizer, model = _read_plain_bert(folder) or _read_with_transformers(folder)
    except Exception as error:  # damaged files raise errors of many types
        raise InputError(f"cannot load the encoder {str(folder)!r}: {_reason(error)}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, model.to(device).eval().requires_grad_(False)


def _read_plain_bert(folder: Path) -> tuple[Tokenizer, Any] | None:
    """Return None if it is not a plain BERT, or not saved in the current file formats."""
    config = json.loads((folder / CONFIG).read_bytes())
    tokenizer, weights = folder / TOKENIZER, folder / WEIGHTS
    if not (is_plain_bert(config) and tokenizer.is_file() and weights.is_file()):
        return None
    return Tokenizer.from_file(str(tokenizer)), Bert(config, load_file(weights))


def _read_with_transformers(folder: Path) -> tuple[Tokenizer, Any]:
    with requires_extra("transformers", "models other than plain BERT need transformers"):
        from thresher.encoders import transformers_model  # noqa: PLC0415 (an extra)

    tokenizer, model = transformers_model.read_model(str(folder))
    config = model.config.to_dict()
    if is_plain_bert(config):
        return tokenizer, Bert(config, model.state_dict())
    return tokenizer, transformers_model.TransformersModel(model)


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return (str(error).strip() or type(error).__name__).splitlines()[0]
