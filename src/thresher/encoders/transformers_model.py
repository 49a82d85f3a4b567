"""Encoders that are not plain BERT, by `transformers`: it knows them all and is slow to import."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from thresher.errors import InputError


def read(folder: str) -> tuple[Tokenizer, Any]:
    """The tokenizer and the model in a folder."""
    with _no_progress_bar():
        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
        model = AutoModel.from_pretrained(folder, use_safetensors=True).float()
    if not tokenizer.is_fast:
        raise InputError("it has no fast tokenizer, which tells words apart")
    return Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()), model


class TransformersModel(nn.Module):
    """A BERT-like model of `transformers` that can stop early and tell its attention."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        if not isinstance(_layers_of(model), nn.ModuleList):
            raise InputError(
                f"{type(model).__name__} has no encoder.layer; choose a BERT-like encoder"
            )
        self.model = model
        self._attending: dict[int, Any] = {}  # by layers; built when attention is first asked for

    @property
    def words(self) -> Tensor:
        """The word embeddings: (vocabulary, width)."""
        return self.model.get_input_embeddings().weight  # type: ignore[no-any-return]

    @property
    def width(self) -> int:
        """The length of a vector."""
        return int(self.model.config.hidden_size)

    @property
    def positions(self) -> int | None:
        """How many tokens it can tell the places of; RoBERTa keeps two for padding."""
        places = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        if not isinstance(places, nn.Embedding):  # told apart in some other way
            return None
        return places.num_embeddings - (0 if places.padding_idx is None else places.padding_idx + 1)

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return len(_layers_of(self.model))

    def forward(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Tensor:
        """The vectors of a layer; those above it are not computed."""
        output = first_layers(self.model, layers)(inputs_embeds=embedded, attention_mask=mask)
        return output.last_hidden_state  # type: ignore[no-any-return]

    def attention(self, embedded: Tensor, mask: Tensor, *, layers: int) -> list[Tensor]:
        """What tokens attend to in each of the first layers: (windows, heads, tokens, tokens)."""
        if layers not in self._attending:
            self._attending[layers] = attending_twin(self.model, layers)
        twin = self._attending[layers]
        output = twin(inputs_embeds=embedded, attention_mask=mask, output_attentions=True)
        return list(output.attentions)


def first_layers(model: Any, layers: int) -> Any:
    """A view of the model that stops after some layers and shares every parameter with it."""
    shallow = _shallow_copy(model)
    shallow.encoder = _shallow_copy(model.encoder)
    shallow.encoder.layer = model.encoder.layer[:layers]
    return shallow


def attending_twin(model: Any, layers: int) -> Any:
    """A model of the first layers that shares every parameter with `model` and keeps attention.

    Fast attention never has the whole matrix; the plain one, which does, is chosen when a model
    is built.
    """
    config = copy.deepcopy(model.config)
    config.num_hidden_layers = layers
    with torch.random.fork_rng(devices=[]):  # building a model draws weights that are not used
        build: Any = AutoModel.from_config
        twin = build(config, attn_implementation="eager")
    missing, _ = twin.load_state_dict(model.state_dict(), strict=False, assign=True)
    if missing:
        raise InputError(f"{type(model).__name__} cannot be cut to {layers} layers for attention")
    return twin.to(model.device).eval().requires_grad_(False)


def _layers_of(model: Any) -> Any:
    return getattr(getattr(model, "encoder", None), "layer", None)


def _shallow_copy(module: Any) -> Any:
    """A module of its own whose children and parameters are those of the original."""
    twin = copy.copy(module)
    twin._modules = dict(module._modules)
    return twin


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Weights load in a second: a bar for that is noise."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
