"""Language models: tokens, hidden states, output layers, losses that serve rare tokens."""

from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.selfish import SelfishCrossEntropy, selfish_cross_entropy
from thresher.lm.losses.statistics import SelfishStatistics, selfish_statistics
from thresher.lm.output_layers import OutputLayer, output_layer

__all__ = [
    "OutputLayer",
    "SelfishCrossEntropy",
    "SelfishStatistics",
    "linear_selfish_cross_entropy",
    "output_layer",
    "selfish_cross_entropy",
    "selfish_statistics",
]
