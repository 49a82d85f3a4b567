"""Output layers: from hidden states to a distribution over the vocabulary, with one interface."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.lm.output_layers.choices import output_layer
    from thresher.lm.output_layers.module import OutputModule
    from thresher.lm.output_layers.protocol import OutputLayer

__all__ = ["OutputLayer", "OutputModule", "output_layer"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.lm.output_layers.choices": ["output_layer"],
        "thresher.lm.output_layers.module": ["OutputModule"],
        "thresher.lm.output_layers.protocol": ["OutputLayer"],
    },
)
