"""Language models: tokenizers, Transformer, output layers, losses and training."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
    from thresher.lm.losses.margin import Margin
    from thresher.lm.losses.selfish import SelfishCrossEntropy, selfish_cross_entropy
    from thresher.lm.losses.statistics import SelfishStatistics, selfish_statistics
    from thresher.lm.output_layers.choices import output_layer
    from thresher.lm.output_layers.protocol import OutputLayer
    from thresher.lm.sampling import sample_text
    from thresher.lm.shape import Shape
    from thresher.lm.trained_model import TrainedLanguageModel
    from thresher.lm.training.fit import fit_language_model
    from thresher.lm.training.settings import LanguageModelSettings

__all__ = [
    "LanguageModelSettings",
    "Margin",
    "OutputLayer",
    "SelfishCrossEntropy",
    "SelfishStatistics",
    "Shape",
    "TrainedLanguageModel",
    "fit_language_model",
    "linear_selfish_cross_entropy",
    "output_layer",
    "sample_text",
    "selfish_cross_entropy",
    "selfish_statistics",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.lm.losses.linear_selfish": ["linear_selfish_cross_entropy"],
        "thresher.lm.losses.margin": ["Margin"],
        "thresher.lm.losses.selfish": ["SelfishCrossEntropy", "selfish_cross_entropy"],
        "thresher.lm.losses.statistics": ["SelfishStatistics", "selfish_statistics"],
        "thresher.lm.output_layers.choices": ["output_layer"],
        "thresher.lm.output_layers.protocol": ["OutputLayer"],
        "thresher.lm.sampling": ["sample_text"],
        "thresher.lm.trained_model": ["TrainedLanguageModel"],
        "thresher.lm.training.fit": ["fit_language_model"],
        "thresher.lm.training.settings": ["LanguageModelSettings"],
        "thresher.lm.shape": ["Shape"],
    },
)
