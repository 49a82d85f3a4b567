"""thresher fit: a model from raw text."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import thresher
from thresher.bulk.chunks import sentences_of
from thresher.cli.entities import fit_options as options
from thresher.cli.entities import fit_prior_knowledge as fit_beliefs
from thresher.cli.entities import fit_variants as fit_switches
from thresher.cli.entities.fit_encoder import EncoderSize, Place, Reader, TrainEncoder, check_choice
from thresher.cli.entities.fit_summary import in_words, summary_of
from thresher.cli.errors import Problems
from thresher.cli.option_values import given
from thresher.cli.options import Device, Field, Format, Json, Quiet, Sources
from thresher.cli.output import print_summary
from thresher.cli.progress import shown
from thresher.cli.work_folder import check_place, kept_work, stored_sentences

if TYPE_CHECKING:
    from thresher import EntitySettings
    from thresher.text.corpus import Document


def fit(
    sources: Sources,
    output: options.Folder,
    from_: Format = None,
    field: Field = "text",
    encoder: options.EncoderName = None,
    layer: options.Layer = None,
    force: options.Force = False,
    resume: options.Resume = False,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
    prior: options.Prior = None,
    names: options.Names = None,
    not_names: options.NotNames = None,
    expect: options.Expect = None,
    selected: options.Selected = None,
    cldr: fit_beliefs.Cldr = None,
    dates: fit_beliefs.Dates = False,
    surprisal: fit_beliefs.Surprisal = None,
    train_encoder: TrainEncoder = False,
    encoder_size: EncoderSize = None,
    epochs: options.Epochs = None,
    seed: options.Seed = None,
    contrast: options.Contrast = None,
    contrast_share: options.ContrastShare = None,
    sparsity: options.Sparsity = None,
    target_rate: options.TargetRate = None,
    gates_at: options.GatesAt = None,
    form: options.Form = None,
    unit: fit_switches.Unit = None,
    attention: fit_switches.Attention = None,
    filter_: fit_switches.Filter = None,
    selectors: fit_switches.Selectors = None,
    relation: fit_switches.Relation = None,
    divergence: fit_switches.Divergence = None,
    divergence_cap: fit_switches.DivergenceCap = None,
) -> None:
    """Learn to find entities from raw text, with no labels.

    thresher fit corpus/*.txt -o my-model
    thresher fit notes.jsonl --field body -o my-model
    thresher fit corpus/ -o my-model --names people.txt --expect capitalised=0.85
    thresher fit amharic.txt -o my-model --train-encoder

    After Ctrl-C the same command with --resume goes on, to the same model. What
    cannot be read is told on standard error with its line, and the rest is
    learned from; the exit status is then 1.
    """
    check_place(output, force=force)
    check_choice(encoder, encoder_size, train=train_encoder)
    fit_beliefs.check_surprisal(prior, surprisal)
    fit_switches.check_contrast(
        contrast, contrast_share=contrast_share, gates_at=gates_at, filter_=filter_
    )
    problems = Problems()
    texts = thresher.read_texts(sources, format=from_, field=field, on_problem=problems)
    settings = thresher.EntitySettings(
        **given(
            epochs=epochs,
            seed=seed,
            contrast=contrast,
            contrast_share=contrast_share,
            gates_at=gates_at,
            form=form,
        ),
        **fit_switches.switches(
            unit=unit,
            attention=attention,
            filter_=filter_,
            selectors=selectors,
            sparsity=sparsity,
            target_rate=target_rate,
            relation=relation,
            weight=divergence,
            cap=divergence_cap,
        ),
    )
    prior_knowledge = fit_beliefs.stated(
        names=names,
        not_names=not_names,
        cldr=cldr,
        dates=dates,
        priors=prior,
        rates=dict(expect) if expect else None,
        selected=selected,
    )
    reader = Reader(
        encoder,
        layer=layer,
        train=train_encoder,
        size=encoder_size,
        seed=seed,
        surprisal=surprisal,
    )
    place = Place(output, force=force, resume=resume)
    summary = _learned(texts, place, reader, settings, prior_knowledge, device=device, quiet=quiet)
    if summary is not None:
        print_summary(summary, in_words, as_json=as_json, quiet=quiet)
        problems.conclude()


def _learned(
    texts: Iterable["Document"],
    place: Place,
    reader: Reader,
    settings: "EntitySettings",
    prior_knowledge: dict[str, Any],
    *,
    device: str | None,
    quiet: bool,
) -> dict[str, Any] | None:
    """What there is to tell of the model, once it is in its place; of several processes, one does.

    Models that there are are loaded first, so that a wrong name is told before any reading.
    """
    from thresher.gates.distributed import current_processes, join_processes  # noqa: PLC0415 (torch)
    from thresher.progress import SilentProgress  # noqa: PLC0415 (torch)

    with join_processes(device) as own_device:
        processes = current_processes()
        silent = quiet or not processes.is_main
        reader.check(processes, own_device)
        encoder = reader.load(own_device, quiet=silent)
        causal = fit_beliefs.load_causal(reader.surprisal, own_device)
        with (
            shown(quiet=silent) as progress,
            kept_work(place.model, resume=place.resume, processes=processes) as work,
            stored_sentences(
                sentences_of(progress.counted(texts, "text")), work, processes
            ) as read,
        ):
            if encoder is None:
                encoder = reader.trained(read, place, progress, device=own_device)
            teller = progress if processes.is_main else SilentProgress()
            told = fit_beliefs.beliefs_about(read, teller, causal=causal, **prior_knowledge)
            finder = thresher.EntityFinder.fit_words(
                read,
                encoder=encoder,
                settings=settings,
                prior_knowledge=told,
                progress=teller,
                work_dir=work,
                resume=place.resume,
            )
            if not processes.is_main:
                return None
            finder.save(place.model)
            return summary_of(place.model, finder, read, progress.notes)
