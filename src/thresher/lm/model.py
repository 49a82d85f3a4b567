"""A language model: input embedding, Transformer, output layer."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.losses.margin import MarginRule
from thresher.lm.output_layers import output_layer
from thresher.lm.output_layers.choices import TIED_LAYERS, OutputLayerName, check_layer_name
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.output_layers.module import initial_weight
from thresher.lm.shape import Shape
from thresher.lm.transformer import Transformer
from thresher.tensor_files import require_shapes
from thresher.validation import require_number

# Names of modules in saved models, where they differ from the attributes of today.
_SAVED_NAMES = {
    ".attention.qkv.": ".attention.read.",
    ".attention.output.": ".attention.write.",
    "transformer.position_embedding": "transformer.places",
}


@dataclass(frozen=True)
class Architecture:
    """The components of a language model.

    output: an `OutputLayerName`
    tied: whether the output layer shares the weights of the input embedding (`TIED_LAYERS`)
    """

    vocabulary: int
    shape: Shape = field(default_factory=Shape)
    output: str = OutputLayerName.FULL.value
    tied: bool = True

    def __post_init__(self) -> None:
        require_number("vocabulary", self.vocabulary, at_least=1)
        check_layer_name(self.output)
        if self.tied and self.output not in TIED_LAYERS:
            raise InputError(
                f"the output layer {self.output!r} cannot share the weights of the embedding; "
                "choose untied weights (`tied=False`)"
            )


class LanguageModel(nn.Module):
    """p(token | context) = output layer(transformer(embedding of the context)).

    A causal model predicts each token from those before it, a masked model predicts masked tokens
    from both sides. The mask has an embedding of its own, but is not part of the vocabulary and
    therefore never predicted; its id is the size of the vocabulary.
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
        """The id of the mask in the input of a masked model."""
        return self.architecture.vocabulary

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return self.embedding.device

    def embed(self, ids: Tensor, *, embedding: Tensor | None = None) -> Tensor:
        """Return the input vectors of tokens and masks: (batch, length) to (batch, length, width).

        embedding: (vocabulary, width), used instead of the model's own embedding
        """
        embedding = self.embedding if embedding is None else embedding
        if self.mask is None:
            return functional.embedding(ids, embedding)
        masked = ids == self.mask_id
        vectors = functional.embedding(ids.masked_fill(masked, 0), embedding)
        return torch.where(masked[..., None], self.mask.to(vectors.dtype), vectors)

    def forward(self, ids: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Return the hidden states: (batch, length) to (batch, length, width).

        mask: (batch, length), False for padding
        """
        return self.transformer(self.embed(ids), mask=mask)  # type: ignore[no-any-return]

    def set_margin(self, margin: float | MarginRule) -> None:
        """Set the margin of the training loss: a number, or a rule of `FullSoftmax`."""
        if isinstance(self.output, FullSoftmax):
            self.output.margin = margin
        elif margin != math.inf:
            raise InputError(
                f"the output layer {self.architecture.output!r} does not support `margin`; "
                f"choose from {', '.join(TIED_LAYERS)}"
            )

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of all tensors on the CPU, under the names that saved models use.

        Tied weights appear once, as the embedding.
        """
        state = self.state_dict()
        if self.architecture.tied:
            del state["output.weight"]
        return {saved_name(name): value.detach().cpu().clone() for name, value in state.items()}

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        """Load what `weights` returned; names or shapes that do not match are a ValueError."""
        if self.architecture.tied:
            weights = weights | {"output.weight": weights.get("embedding", torch.empty(0))}
        own = {saved_name(name): name for name in self.state_dict()}
        state = self.state_dict()
        require_shapes(weights, {saved: state[name] for saved, name in own.items()})
        self.load_state_dict({own[name]: value for name, value in weights.items()})


def seeded_model(
    architecture: Architecture, *, seed: int, frequencies: Tensor | None = None
) -> LanguageModel:
    """Return a new model on the CPU that depends only on the seed.

    Torch's global random state does not change.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LanguageModel(architecture, frequencies=frequencies)


def saved_name(name: str) -> str:
    """Return the name of a tensor in saved models."""
    for new, saved in _SAVED_NAMES.items():
        name = name.replace(new, saved)
    return name
