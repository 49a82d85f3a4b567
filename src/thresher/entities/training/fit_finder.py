"""Train a finder on raw sentences: encoder, selectors, kinds and model."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from thresher.encoders import Encoder
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.training import learn_kinds
from thresher.entities.loading import in_int8, input_ranges, loaded_encoders
from thresher.entities.model import FinderModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.fit import build_model, fit_selectors, prior_cross_entropy
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError
from thresher.gates.batching import sentence_starts
from thresher.progress import ProgressReporter, SilentProgress
from thresher.text.indexed_sentences import IndexedSentences
from thresher.training_processes import current_processes

_BLOCK = 50  # neighbouring sentences, which are held out together
_HELD_OUT = 5  # every fifth block
_MAX_SENTENCES = 10_000


def fit_finder(
    sentences: SplitText,
    *,
    encoder: Encoder | str | Sequence[Encoder | str] | None,
    settings: EntitySettings | None,
    prior_knowledge: PriorKnowledge | None,
    progress: ProgressReporter | None,
    kinds: KindExamples | None,
    work_dir: Path | None,
    resume: bool,
) -> tuple[Encoder, FinderModel]:
    """Train a model on raw sentences; return it with its encoder.

    The arguments are those of `EntityFinder.fit_words`.
    """
    if work_dir is None and not current_processes().is_single:
        raise InputError("processes that train together need a common `work_dir`")
    sentences = IndexedSentences.from_sentences(sentences)
    settings = settings or EntitySettings()
    chosen, losses = choose_encoder(
        loaded_encoders(encoder),
        sentences,
        settings=settings,
        prior_knowledge=prior_knowledge or PriorKnowledge(),
        progress=progress or SilentProgress(),
    )
    ranges = input_ranges(chosen, sentences)
    encoder = in_int8(chosen, ranges)
    prior_knowledge = (prior_knowledge or PriorKnowledge()).with_default_priors(
        sentences, common_words=encoder.common_words
    )
    with tempfile.TemporaryDirectory() as temporary:
        fitted = fit_selectors(
            sentences,
            encoder,
            settings=settings,
            prior_knowledge=prior_knowledge,
            kinds=kinds,
            work_dir=work_dir or Path(temporary),
            resume=resume,
            progress=progress or SilentProgress(),
        )
    model = build_model(fitted, settings, prior_knowledge, sentences, ranges=ranges)
    if losses:
        model = replace(model, learned_from=model.learned_from | {"encoders": losses})
    if kinds is not None and model.kinds is not None:
        classifier = learn_kinds(kinds, model.kinds.sample, encoder)
        model = replace(model, kinds=replace(model.kinds, classifier=classifier))
    return encoder, model


def choose_encoder(
    encoders: Sequence[Encoder],
    sentences: SplitText,
    *,
    settings: EntitySettings,
    prior_knowledge: PriorKnowledge,
    progress: ProgressReporter,
) -> tuple[Encoder, dict[str, float]]:
    """Return the encoder whose gates predict the prior of held-out text best, without labels.

    With every encoder gates are trained on four fifths of the text. They read case-folded words, so
    they cannot see what is a capital; the better an encoder knows the language, the better its
    gates predict the prior of the remaining fifth: the capitals, or in a script without capitals
    the bursty words. The encoder with the smallest cross-entropy is chosen.

    returns: the encoder, and the cross-entropy of each by its name; empty for a single encoder
    """
    if len(encoders) == 1:
        return encoders[0], {}
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
    return encoders[int(np.argmin(losses))], dict(zip(names, losses, strict=True))
