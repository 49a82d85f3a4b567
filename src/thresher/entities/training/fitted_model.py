"""Build the model of a finder from fitted selectors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from torch import Tensor

from thresher.encoders.protocol import Encoder
from thresher.entities.model import FinderModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.selectors import FittedSelectors
from thresher.entities.training.settings import EntitySettings


def build_model(
    encoder: Encoder,
    fitted: FittedSelectors,
    settings: EntitySettings,
    prior_knowledge: PriorKnowledge,
    sentences: Sequence[Sequence[str]],
    *,
    ranges: Mapping[str, Tensor] | None = None,
) -> FinderModel:
    """Return a model with the fitted selectors and a record of what they were trained on.

    ranges: the input ranges of the encoder's layers, if it may run in int8
    """
    return FinderModel(
        encoder=encoder.name,
        layer=encoder.layer,
        **vars(fitted),
        features=settings.features,
        ranges=ranges or {},
        learned_from={
            "sentences": len(sentences),
            "words": sum(map(len, sentences)),
            "settings": asdict(settings),
            "priors": list(prior_knowledge.priors),
            "names": len(prior_knowledge.names),
            "dates": prior_knowledge.dates,
            "rates": dict(prior_knowledge.rates),
            "selected": prior_knowledge.selected,
        },
    )
