"""Encoders other than plain BERT, run by `transformers`."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from thresher.errors import InputError

# A model may have weights that were not saved, such as a pooler; they are initialized at random.
_MAX_UNSAVED_ELEMENTS = 1 << 24


def read_model(folder: str, *, saved_elements: int) -> tuple[Tokenizer, Any]:
    """Read the tokenizer and the model of a folder; code in the folder is never run.

    saved_elements: the number of elements of all saved tensors; a config that declares a much
        larger model raises InputError, before memory is allocated for it
    """
    with _no_progress_bar():
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        _check_declared_elements(config, saved_elements)
        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, trust_remote_code=False)
        model = AutoModel.from_pretrained(
            folder, use_safetensors=True, trust_remote_code=False
        ).float()
    if not tokenizer.is_fast:
        raise InputError("it has no fast tokenizer, which is needed to tokenize single words")
    return Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()), model


def _check_declared_elements(config: Any, saved: int) -> None:
    with torch.device("meta"):
        build: Any = AutoModel.from_config
        model = build(config, trust_remote_code=False)
    tensors = [*model.parameters(), *model.buffers()]
    declared = sum(each.numel() for each in tensors)
    if declared > 2 * saved + _MAX_UNSAVED_ELEMENTS:
        raise InputError(f"the config declares {declared:,} weights, but {saved:,} are saved")


class TransformersModel(nn.Module):
    """A BERT-like model of `transformers` as a `PretrainedTransformer`."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        if not isinstance(_layers_of(model), nn.ModuleList):
            raise InputError(
                f"{type(model).__name__} has no encoder.layer; choose a BERT-like encoder"
            )
        self.model = model
        self._eager_models: dict[int, Any] = {}  # by number of layers, for `attention`

    @property
    def word_embeddings(self) -> Tensor:
        """The word embeddings: (vocabulary, width of embeddings)."""
        return self.model.get_input_embeddings().weight  # type: ignore[no-any-return]

    @property
    def width(self) -> int:
        """The length of a hidden state."""
        return int(self.model.config.hidden_size)

    @property
    def max_positions(self) -> int | None:
        """The maximum number of tokens in a window; RoBERTa reserves two positions for padding."""
        embeddings = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        if not isinstance(embeddings, nn.Embedding):  # for example relative positions
            return None
        padding = embeddings.padding_idx
        return embeddings.num_embeddings - (0 if padding is None else padding + 1)

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(_layers_of(self.model))

    def forward(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Tensor:
        """Return the hidden states after the first `layers` layers; the others are not computed."""
        output = first_layers(self.model, layers)(inputs_embeds=embedded, attention_mask=mask)
        return output.last_hidden_state  # type: ignore[no-any-return]

    def attention(self, embedded: Tensor, mask: Tensor, *, layers: int) -> list[Tensor]:
        """Return the attention weights of the first layers: (windows, heads, tokens, tokens)."""
        if layers not in self._eager_models:
            self._eager_models[layers] = with_eager_attention(self.model, layers)
        model = self._eager_models[layers]
        output = model(inputs_embeds=embedded, attention_mask=mask, output_attentions=True)
        return list(output.attentions)


def first_layers(model: Any, layers: int) -> Any:
    """Return a model that stops after some layers and shares all parameters with `model`."""
    shallow = _shallow_copy(model)
    shallow.encoder = _shallow_copy(model.encoder)
    shallow.encoder.layer = model.encoder.layer[:layers]
    return shallow


def with_eager_attention(model: Any, layers: int) -> Any:
    """Return a model of the first layers that computes attention weights and shares parameters.

    Fast attention never computes the whole matrix of weights; eager attention does, and has to be
    chosen when a model is built.
    """
    config = copy.deepcopy(model.config)
    config.num_hidden_layers = layers
    with torch.random.fork_rng(devices=[]):  # the random initial weights are not used
        build: Any = AutoModel.from_config
        eager = build(config, attn_implementation="eager", trust_remote_code=False)
    missing, _ = eager.load_state_dict(model.state_dict(), strict=False, assign=True)
    if missing:
        raise InputError(
            f"{type(model).__name__} cannot be reduced to {layers} layers for attention"
        )
    return eager.to(model.device).eval().requires_grad_(False)


def _layers_of(model: Any) -> Any:
    return getattr(getattr(model, "encoder", None), "layer", None)


def _shallow_copy(module: Any) -> Any:
    """Copy a module; its children and parameters are those of the original."""
    shared = copy.copy(module)
    shared._modules = dict(module._modules)
    return shared


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Disable the progress bar of `transformers`; loading takes about a second."""
    enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if enabled:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
