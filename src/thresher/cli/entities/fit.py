"""thresher fit: train a finder on raw text."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thresher
from thresher.bulk.chunks import sentences_of
from thresher.cli.entities.fit_encoder import EncoderChoice
from thresher.cli.entities.fit_options import (
    EncoderOptions,
    EncoderTrainingOptions,
    TrainingOptions,
    check_contrast,
    entity_settings,
)
from thresher.cli.entities.fit_prior_options import (
    PriorOptions,
    load_surprisal_model,
    prior_knowledge,
)
from thresher.cli.entities.fit_variant_options import SelectorOptions, VariantOptions
from thresher.cli.errors import Problems
from thresher.cli.models import chosen_device
from thresher.cli.option_groups import with_option_groups
from thresher.cli.options import JsonRunOptions, ResumableModelOptions, TextOptions
from thresher.cli.output import print_summary
from thresher.cli.progress import progress_bars
from thresher.progress import SilentProgress
from thresher.work_folder import work_folder

if TYPE_CHECKING:
    from thresher import EntityFinder, EntitySettings
    from thresher.text.document import Document

Sentences = Sequence[Sequence[str]]

_SAMPLE = 500  # sentences on which the fraction of selected words is measured


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
    thresher fit abstracts.txt -o my-model --kinds drugs-and-diseases.toml
    thresher fit amharic.txt -o my-model --train-encoder

    After Ctrl-C, run the same command with --resume: it continues and gives the
    same model. Lines that cannot be read are reported and skipped; the exit
    status is then 1.
    """
    model.check()
    encoder_training.check()
    prior.check()
    training.check()
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
        print_summary(summary, _summary_line, run)
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
    from thresher.entities.training.raw_text import stored_sentences  # noqa: PLC0415 (torch)
    from thresher.training_processes import join_processes  # noqa: PLC0415 (torch)

    prior_arguments = prior.arguments()
    kinds = prior.read_kinds()
    with join_processes(chosen_device(device)) as (processes, joined_device):
        own_device = device if processes.is_single else str(joined_device)
        silent = quiet or not processes.is_main
        encoder_choice.check(processes, own_device)
        encoders = encoder_choice.load(own_device, quiet=silent)
        surprisal_model = load_surprisal_model(prior.surprisal, own_device)
        with (
            progress_bars(quiet=silent) as bars,
            work_folder(model.output, resume=model.resume, processes=processes) as work_dir,
            stored_sentences(
                sentences_of(bars.track(texts, "text")), work_dir, processes
            ) as sentences,
        ):
            encoders = encoder_choice.with_trained(encoders, sentences, bars, own_device)
            progress = bars if processes.is_main else SilentProgress()
            finder = thresher.EntityFinder.fit_words(
                sentences,
                encoder=encoders,
                settings=settings,
                prior_knowledge=prior_knowledge(
                    sentences, progress, surprisal_model=surprisal_model, **prior_arguments
                ),
                progress=progress,
                kinds=kinds,
                work_dir=work_dir,
                resume=model.resume,
            )
            if not processes.is_main:
                return None
            finder.save(model.output)
            return _summary(model.output, finder, sentences, bars.notes)


def _summary(
    folder: Path, finder: "EntityFinder", sentences: Sentences, warnings: list[str]
) -> dict[str, Any]:
    """Return the facts about a trained model, for JSON."""
    from thresher.entities.priors.scripts import ScriptProfile  # noqa: PLC0415 (regex)

    return {
        "model": str(folder),
        "words": sum(map(len, sentences)),
        "sentences": len(sentences),
        "writing": str(ScriptProfile.from_sentences(sentences)),
        "priors": finder.model.learned_from["priors"],
        "encoder": finder.model.encoder,
        "encoders": finder.model.learned_from.get("encoders", {}),
        "selected": _selected_fraction(finder, sentences),
        "threshold": finder.threshold,
        "trust": asdict(finder.model.signal_weights),
        "selectors": len(finder.model.selectors),
        "selector": finder.model.entity + 1,
        "kinds": list(finder.kinds),
        "warnings": warnings,
    }


def _summary_line(summary: dict[str, Any]) -> str:
    """Return the summary as one line of text."""
    weights = ", ".join(
        f"{signal} {value:+.2f}"
        for signal, value in summary["trust"].items()
        if signal != "rate" and (value or signal != "caseless")
    )
    losses = [f"{name} {loss:.3f}" for name, loss in summary["encoders"].items()]
    several = f"; selector {summary['selector']} of {summary['selectors']} finds entities"
    return (
        f"{summary['model']}: trained on {summary['words']:,} words in "
        f"{summary['sentences']:,} sentences ({summary['writing']}; priors: "
        f"{', '.join(summary['priors'])}); selects {summary['selected']:.1%} of words; "
        f"threshold {summary['threshold']:.2f}; signal weights (log-odds): {weights}"
        + (several if summary["selectors"] > 1 else "")
        + (f"; kinds: {', '.join(summary['kinds'])}" if summary["kinds"] else "")
        + (f"; chosen encoder: {summary['encoder']} ({', '.join(losses)})" if losses else "")
    )


def _selected_fraction(finder: "EntityFinder", sentences: Sentences) -> float:
    """Return the fraction of words above the threshold in a sample spread over the text."""
    sample = sentences[:: -(-len(sentences) // _SAMPLE)]
    scored = finder.score_sentences(sample)
    selected = sum(int((each.scores.astype(float) >= finder.threshold).sum()) for each in scored)
    return selected / sum(len(each.scores) for each in scored)
