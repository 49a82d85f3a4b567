"""The registry of output layers: one line for each, with its name and its class.

To add an output layer, write a subclass of `OutputModule` in a module of this package and add a
line to `OutputLayerName`; also to `TIED_LAYERS` if its constructor takes `weight` and `bias` like
`FullSoftmax`. Importing this module does not import torch.
"""

from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from thresher.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from thresher.lm.output_layers.module import OutputModule


class OutputLayerName(StrEnum):
    """The output layers by name; each is followed by its module and class in this package."""

    ADAPTIVE = "adaptive", "adaptive.AdaptiveSoftmax"
    ADJUSTED = "adjusted", "full.AdjustedSoftmax"
    CLASSES = "classes", "hierarchical.ClassSoftmax"
    DIFFERENTIATED = "differentiated", "differentiated.DifferentiatedSoftmax"
    FULL = "full", "full.FullSoftmax"
    GATED = "gated", "gated.GatedSoftmax"
    HIERARCHICAL = "hierarchical", "hierarchical.HierarchicalSoftmax"
    NEGATIVE_SAMPLING = "negative-sampling", "sampled.NegativeSampling"
    NOISE_CONTRASTIVE = "noise-contrastive", "sampled.NoiseContrastive"
    TARGET_SAMPLING = "target-sampling", "sampled.TargetSampling"
    TREE = "tree", "tree.TreeSoftmax"

    path: str

    def __new__(cls, name: str, path: str = "") -> "OutputLayerName":
        """Make a member that equals `name`; `path` is "module.Class" within this package."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.path = path
        return member

    def layer_class(self) -> "type[OutputModule]":
        """Import and return the class of the layer."""
        module, class_name = self.path.split(".")
        found: type[OutputModule] = getattr(
            import_module(f"thresher.lm.output_layers.{module}"), class_name
        )
        return found


# The output layers that can share the weights of the embedding; they also support a margin.
TIED_LAYERS = (OutputLayerName.ADJUSTED, OutputLayerName.FULL, OutputLayerName.GATED)


def output_layer(
    name: str, width: int, vocabulary: int, *, frequencies: "Tensor | None" = None, **options: Any
) -> "OutputModule":
    """Create the output layer of a name.

    name: a member of `OutputLayerName`, or its text
    width: of the hidden states
    frequencies: (vocabulary,), counts or relative frequencies of the tokens, for the layers that
    use them; by default all tokens count as equally frequent
    options: passed to the class of the layer
    """
    check_layer_name(name)
    layer_class = OutputLayerName(name).layer_class()
    known = layer_class.option_names()
    for option in options.keys() - known:
        choices = ", ".join(sorted(known - {"frequencies"}))
        raise InputError(f"the output layer {name!r} has no option `{option}`; it has: {choices}")
    if "frequencies" in known:
        options["frequencies"] = frequencies
    return layer_class(width, vocabulary, **options)


def check_layer_name(name: str) -> None:
    """Raise an InputError if there is no output layer of this name."""
    if name not in tuple(OutputLayerName):
        choices = ", ".join(OutputLayerName)
        raise InputError(f"unknown output layer {name!r}; choose from {choices}")
