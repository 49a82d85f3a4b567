"""Every output layer by its name."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from thresher.errors import InputError
from thresher.lm.output_layers.adaptive import AdaptiveSoftmax
from thresher.lm.output_layers.adjusted import AdjustedSoftmax
from thresher.lm.output_layers.classes import ClassSoftmax
from thresher.lm.output_layers.differentiated import DifferentiatedSoftmax
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.output_layers.gated import GatedSoftmax
from thresher.lm.output_layers.hierarchical import HierarchicalSoftmax
from thresher.lm.output_layers.module import OutputModule
from thresher.lm.output_layers.negative_sampling import NegativeSampling
from thresher.lm.output_layers.noise_contrastive import NoiseContrastive
from thresher.lm.output_layers.target_sampling import TargetSampling
from thresher.lm.output_layers.tree import TreeSoftmax

Layers = dict[str, Callable[..., OutputModule]]

# Those that need to know how frequent each word is, and those that do not.
BY_FREQUENCY: Layers = {
    "adaptive": AdaptiveSoftmax,
    "adjusted": AdjustedSoftmax,
    "classes": ClassSoftmax,
    "differentiated": DifferentiatedSoftmax,
    "hierarchical": HierarchicalSoftmax,
    "negative-sampling": NegativeSampling,
    "noise-contrastive": NoiseContrastive,
    "target-sampling": TargetSampling,
    "tree": TreeSoftmax,
}
BY_WEIGHT_ALONE: Layers = {
    "full": FullSoftmax,
    "gated": GatedSoftmax,
}


def output_layer(
    name: str,
    width: int,
    vocabulary: int,
    *,
    frequencies: Tensor | None = None,
    **options: Any,
) -> OutputModule:
    """The output layer of that name, for hidden states of that width.

    frequencies: (vocabulary,), counts or shares of the words; without them all words count as
    equally frequent   options: those of the layer's own class
    """
    check_layer_name(name)
    if name in BY_WEIGHT_ALONE:
        return BY_WEIGHT_ALONE[name](width, vocabulary, **options)
    return BY_FREQUENCY[name](width, vocabulary, frequencies=frequencies, **options)


def check_layer_name(name: str) -> None:
    """Raise unless there is a layer of that name."""
    names = sorted([*BY_FREQUENCY, *BY_WEIGHT_ALONE])
    if name not in names:
        raise InputError(f"unknown output layer {name!r}; choose from {', '.join(names)}")
