"""thresher fit: train a finder on raw text."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import thresher
from thresher.bulk.chunks import sentences_of
from thresher.cli.entities.fit_encoder import EncoderChoice
from thresher.cli.entities.fit_options import (
    EncoderOptions,
    EncoderTrainingOptions,
    PriorOptions,
    SelectorOptions,
    TrainingOptions,
    VariantOptions,
    check_contrast,
    entity_settings,
)
from thresher.cli.entities.fit_prior_knowledge import load_surprisal_model, prior_knowledge
from thresher.cli.entities.fit_summary import summary_line, summary_of
from thresher.cli.errors import Problems
from thresher.cli.option_groups import with_option_groups
from thresher.cli.options import JsonRunOptions, ResumableModelOptions, TextOptions
from thresher.cli.output import print_summary
from thresher.cli.progress import progress_bars
from thresher.progress import SilentProgress
from thresher.work_folder import work_folder

if TYPE_CHECKING:
    from thresher import EntitySettings
    from thresher.text.corpus import Document


@with_option_groups
def fit(
    texts: TextOptions,
    model: ResumableModelOptions,
    encoder: EncoderOptions,
    prior: PriorOptions,
    training: TrainingOptions,
    variants: VariantOptions,
    selectors: SelectorOptions,
    encoder_training: EncoderTrainingOptions,
    run: JsonRunOptions,
) -> None:
    """Train a model that finds entities, on raw text without labels.

    thresher fit corpus/*.txt -o my-model
    thresher fit notes.jsonl --field body -o my-model
    thresher fit corpus/ -o my-model --names people.txt --expect capitalised=0.85
    thresher fit amharic.txt -o my-model --train-encoder

    After Ctrl-C, run the same command with --resume: it continues and gives the
    same model. Lines that cannot be read are reported and skipped; the exit
    status is then 1.
    """
    model.check()
    encoder_training.check(encoder.encoder)
    prior.check()
    check_contrast(training, variants)
    problems = Problems()
    documents = texts.read(problems)
    settings = entity_settings(training, variants, selectors)
    summary = _train(
        documents,
        model,
        EncoderChoice(encoder, encoder_training, model, settings.seed),
        settings,
        prior,
        device=run.device,
        quiet=run.quiet,
    )
    if summary is not None:
        print_summary(summary, summary_line, run)
        problems.exit_if_any()


def _train(
    texts: Iterable["Document"],
    model: ResumableModelOptions,
    encoder_choice: EncoderChoice,
    settings: "EntitySettings",
    prior: PriorOptions,
    *,
    device: str | None,
    quiet: bool,
) -> dict[str, Any] | None:
    """Train and save a model; return its summary, or None in all processes but the main one.

    Existing files and models are loaded first, so that a wrong name is reported at once.
    """
    from thresher.entities.training.stored_sentences import stored_sentences  # noqa: PLC0415 (torch)
    from thresher.gates.distributed import current_processes, join_processes  # noqa: PLC0415

    prior_arguments = prior.arguments()
    with join_processes(device) as own_device:
        processes = current_processes()
        silent = quiet or not processes.is_main
        encoder_choice.check(processes, own_device)
        encoder = encoder_choice.load(own_device, quiet=silent)
        surprisal_model = load_surprisal_model(prior.surprisal, own_device)
        with (
            progress_bars(quiet=silent) as bars,
            work_folder(model.output, resume=model.resume, processes=processes) as work_dir,
            stored_sentences(
                sentences_of(bars.track(texts, "text")), work_dir, processes
            ) as sentences,
        ):
            if encoder is None:
                encoder = encoder_choice.train(sentences, bars, own_device)
            progress = bars if processes.is_main else SilentProgress()
            finder = thresher.EntityFinder.fit_words(
                sentences,
                encoder=encoder,
                settings=settings,
                prior_knowledge=prior_knowledge(
                    sentences, progress, surprisal_model=surprisal_model, **prior_arguments
                ),
                progress=progress,
                work_dir=work_dir,
                resume=model.resume,
            )
            if not processes.is_main:
                return None
            finder.save(model.output)
            return summary_of(model.output, finder, sentences, bars.notes)
