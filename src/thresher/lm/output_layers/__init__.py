"""From hidden states to the next token: one interface for every large-vocabulary strategy."""

from thresher.lm.output_layers.choices import output_layer
from thresher.lm.output_layers.module import OutputModule
from thresher.lm.output_layers.protocol import OutputLayer

__all__ = ["OutputLayer", "OutputModule", "output_layer"]
