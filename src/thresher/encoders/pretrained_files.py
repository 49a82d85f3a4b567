"""A tokenizer and a model from their files: plain BERT by this package, others by `transformers`.

`transformers` takes seconds to import, so that it is left alone where it is not needed.
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
from thresher.errors import InputError

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"


class Pretrained(Protocol):
    """A bidirectional transformer over the word embeddings of tokens."""

    @property
    def words(self) -> Tensor:
        """The word embeddings: (vocabulary, width); some models have theirs narrower."""
        ...

    @property
    def width(self) -> int:
        """The length of a vector."""
        ...

    @property
    def positions(self) -> int | None:
        """How many tokens it can tell the places of; None is any number."""
        ...

    @property
    def depth(self) -> int:
        """How many layers there are."""
        ...

    def __call__(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Tensor:
        """The vectors of a layer, differentiable in `embedded`; those above are not computed.

        embedded: (windows, tokens, width)   mask: (windows, tokens)   returns: as `embedded`
        """
        ...

    def attention(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Sequence[Tensor]:
        """What tokens attend to in each of the first layers: (windows, heads, tokens, tokens)."""
        ...


def read_pretrained(folder: Path, *, device: torch.device) -> tuple[Tokenizer, Pretrained]:
    """The tokenizer, which neither cuts nor pads, and the model, which is frozen."""
    if not (folder / CONFIG).is_file():
        raise InputError(f"cannot load the encoder {str(folder)!r}: the folder has no {CONFIG}")
    try:
        tokenizer, model = _plain_bert(folder) or _by_transformers(folder)
    except Exception as error:  # whatever the readers of damaged files raise
        raise InputError(f"cannot load the encoder {str(folder)!r}: {_reason(error)}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, model.to(device).eval().requires_grad_(False)


def _plain_bert(folder: Path) -> tuple[Tokenizer, Any] | None:
    """None if it is no plain BERT, or not in the files that are usual today."""
    config = json.loads((folder / CONFIG).read_bytes())
    tokenizer, weights = folder / TOKENIZER, folder / WEIGHTS
    if not (is_plain_bert(config) and tokenizer.is_file() and weights.is_file()):
        return None
    return Tokenizer.from_file(str(tokenizer)), Bert(config, load_file(weights))


def _by_transformers(folder: Path) -> tuple[Tokenizer, Any]:
    from thresher.encoders import transformers_model  # noqa: PLC0415 (slow)

    tokenizer, model = transformers_model.read(str(folder))
    config = model.config.to_dict()
    if is_plain_bert(config):
        return tokenizer, Bert(config, model.state_dict())
    return tokenizer, transformers_model.TransformersModel(model)


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return (str(error).strip() or type(error).__name__).splitlines()[0]
