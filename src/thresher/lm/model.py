"""A language model: embedding, transformer, output layer."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.losses.margin import MarginRule
from thresher.lm.output_layers import output_layer
from thresher.lm.output_layers.choices import check_layer_name
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.output_layers.module import initial_weight
from thresher.lm.transformer import Shape, Transformer

TIED_LAYERS = ("adjusted", "full", "gated")  # those that can share the embedding, or have a margin


@dataclass(frozen=True)
class Architecture:
    """What a language model is made of.

    tied: the output layer's vectors are the input embedding; only the layers of `TIED_LAYERS`
    """

    vocabulary: int
    shape: Shape = field(default_factory=Shape)
    output: str = "full"
    tied: bool = True

    def __post_init__(self) -> None:
        if self.vocabulary < 1:
            raise InputError(f"a vocabulary has at least 1 token, got {self.vocabulary}")
        check_layer_name(self.output)
        if self.tied and self.output not in TIED_LAYERS:
            raise InputError(
                f"the output layer {self.output!r} has vectors of its own: it cannot be tied; "
                "choose untied vectors (--untied)"
            )


class LanguageModel(nn.Module):
    """p(token | context) = output layer(transformer(embedding of the context)).

    A causal model predicts the next token from those before it; one that looks both ways predicts
    the tokens behind masks. The mask has an embedding but is no token, so it is never predicted;
    its id is the vocabulary's size.
    """

    def __init__(self, architecture: Architecture, *, frequencies: Tensor | None = None) -> None:
        super().__init__()
        self.architecture = architecture
        width, vocabulary = architecture.shape.width, architecture.vocabulary
        self.embedding = initial_weight(vocabulary, width)
        self.mask = None if architecture.shape.causal else nn.Parameter(torch.zeros(width))
        self.transformer = Transformer(architecture.shape)
        options: dict[str, Any] = {"bias": False} if architecture.output in TIED_LAYERS else {}
        if architecture.tied:
            options["weight"] = self.embedding
        self.output = output_layer(
            architecture.output, width, vocabulary, frequencies=frequencies, **options
        )

    @property
    def mask_id(self) -> int:
        """What stands for a hidden token in the ids of a model that looks both ways."""
        return self.architecture.vocabulary

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.embedding.device

    def embed(self, ids: Tensor, *, read: Tensor | None = None) -> Tensor:
        """The input vectors of tokens and masks: (batch, length) to (batch, length, width).

        read: (vocabulary, width), where to look tokens up, by default the embedding
        """
        read = self.embedding if read is None else read
        if self.mask is None:
            return functional.embedding(ids, read)
        masked = ids == self.mask_id
        vectors = functional.embedding(ids.masked_fill(masked, 0), read)
        return torch.where(masked[..., None], self.mask.to(vectors.dtype), vectors)

    def forward(self, ids: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Hidden states: (batch, length) to (batch, length, width)."""
        return self.transformer(self.embed(ids), mask=mask)  # type: ignore[no-any-return]

    def set_margin(self, margin: float | MarginRule) -> None:
        """Train on the margin loss from now on: a number or a rule of `FullSoftmax`."""
        if isinstance(self.output, FullSoftmax):
            self.output.margin = margin
        elif margin != math.inf:
            raise InputError(
                f"the output layer {self.architecture.output!r} has no margin; "
                f"those that do are {', '.join(TIED_LAYERS)}"
            )

    def weights(self) -> dict[str, Tensor]:
        """The state on the CPU, each tensor once: tied vectors under the embedding's name."""
        state = self.state_dict()
        if self.architecture.tied:
            del state["output.weight"]
        return {name: value.detach().cpu().clone() for name, value in state.items()}

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        """Take over what `weights` gave, checked against this model's own shapes."""
        if self.architecture.tied:
            weights = weights | {"output.weight": weights.get("embedding", torch.empty(0))}
        own = self.state_dict()
        for name in sorted(own.keys() | weights.keys()):
            has, needs = (
                tuple(state[name].shape) if name in state else None for state in (weights, own)
            )
            if has != needs:
                raise ValueError(
                    f"weights of another configuration: {name} has the shape {has}, "
                    f"the model's own {needs}"
                )
        self.load_state_dict(weights)


def seeded_model(
    architecture: Architecture, *, seed: int, frequencies: Tensor | None = None
) -> LanguageModel:
    """A new model on the CPU, the same for the same seed; torch's own generator is left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LanguageModel(architecture, frequencies=frequencies)
