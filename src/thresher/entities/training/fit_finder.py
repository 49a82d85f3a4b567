"""Train a finder on raw sentences: encoder, selectors, kinds and model."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from thresher.encoders import Encoder
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.training import learn_kinds
from thresher.entities.loading import in_int8, input_ranges, loaded_encoders
from thresher.entities.model import FinderModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.encoder_choice import choose_encoder
from thresher.entities.training.fit import build_model, fit_selectors
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError
from thresher.gates.distributed import current_processes
from thresher.progress import ProgressReporter, SilentProgress
from thresher.text.indexed_sentences import IndexedSentences


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
    chosen = choose_encoder(
        loaded_encoders(encoder),
        sentences,
        settings=settings,
        prior_knowledge=prior_knowledge or PriorKnowledge(),
        progress=progress or SilentProgress(),
    )
    ranges = input_ranges(chosen.encoder, sentences)
    encoder = in_int8(chosen.encoder, ranges)
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
    model = build_model(encoder, fitted, settings, prior_knowledge, sentences, ranges=ranges)
    if chosen.losses:
        model = replace(model, learned_from=model.learned_from | {"encoders": chosen.losses})
    if kinds is not None and model.kinds is not None:
        classifier = learn_kinds(kinds, model.kinds.sample, encoder)
        model = replace(model, kinds=replace(model.kinds, classifier=classifier))
    return encoder, model
