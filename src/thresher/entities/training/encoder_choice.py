"""Choose one of several encoders for a text, without labels.

With every encoder gates are trained on four fifths of the text. They read case-folded words, so
they cannot see what is a capital; the better an encoder knows the language, the better its gates
predict the prior of the remaining fifth: the capitals, or in a script without capitals the bursty
words. The encoder with the smallest cross-entropy is chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from thresher.encoders.protocol import Encoder
from thresher.entities.finder import EntityFinder
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.fit import prior_cross_entropy
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.gates.batching import sentence_starts
from thresher.progress import ProgressReporter

_BLOCK = 50  # neighbouring sentences, which are held out together
_HELD_OUT = 5  # every fifth block
_MAX_SENTENCES = 10_000

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class ChosenEncoder:
    """The encoder with the smallest loss, and the loss of each one by its name."""

    encoder: Encoder
    losses: dict[str, float]


def choose_encoder(
    encoders: Sequence[Encoder],
    sentences: Sentences,
    *,
    settings: EntitySettings,
    prior_knowledge: PriorKnowledge,
    progress: ProgressReporter,
) -> ChosenEncoder:
    """Return the encoder whose gates predict the prior of held-out text best."""
    if len(encoders) == 1:
        return ChosenEncoder(encoders[0], {})
    sentences = [list(words) for words in sentences[:_MAX_SENTENCES]]
    settings = replace(settings, contrast=0.0, dual=None)
    # An encoder may know which words are common, which changes the prior; here all share one.
    prior = RawText.analyse(sentences, prior_knowledge, settings).reference_prior()
    is_held_out = np.arange(len(sentences)) // _BLOCK % _HELD_OUT == _HELD_OUT - 1
    of_words = np.repeat(is_held_out, np.diff(sentence_starts(sentences)))
    training = [words for words, held in zip(sentences, is_held_out, strict=True) if not held]
    held_out = [words for words, held in zip(sentences, is_held_out, strict=True) if held]
    advance = progress.stage("choosing an encoder", len(encoders))
    losses = []
    for encoder in encoders:
        finder = EntityFinder.fit_words(
            training, encoder=encoder, settings=settings, prior_knowledge=prior_knowledge
        )
        gates = finder.gate_scores(held_out)
        losses.append(prior_cross_entropy(gates, prior[of_words]))
        advance(1)
    names = [each.name for each in encoders]
    return ChosenEncoder(encoders[int(np.argmin(losses))], dict(zip(names, losses, strict=True)))
