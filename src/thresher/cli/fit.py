"""thresher fit: a model from raw text."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thresher
from thresher.cli import fit_options as options
from thresher.cli import fit_switches
from thresher.cli.errors import Problems
from thresher.cli.models import load_encoder
from thresher.cli.options import Device, Field, Format, Json, Quiet, Sources
from thresher.cli.output import print_line
from thresher.cli.progress import shown
from thresher.cli.reading import word_list, words_of
from thresher.cli.work_folder import check_place, kept_work, stored_sentences

if TYPE_CHECKING:
    from thresher import EntityFinder
    from thresher.text.corpus import Document
    from thresher.text.sentence_store import SentenceStore

_SAMPLE = 500  # sentences that tell which share of words is selected


def fit(
    sources: Sources,
    output: options.Folder,
    from_: Format = None,
    field: Field = "text",
    encoder: options.EncoderName = None,
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

    After Ctrl-C the same command with --resume goes on, to the same model. What
    cannot be read is told on standard error with its line, and the rest is
    learned from; the exit status is then 1.
    """
    check_place(output, force=force)
    problems = Problems()
    texts = thresher.read_texts(sources, format=from_, field=field, on_problem=problems)
    settings = thresher.Settings(
        **_given(
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
    beliefs = thresher.Beliefs(
        **_given(
            priors=prior,
            names=None if names is None else word_list(names),
            not_names=_list_or_none(not_names),
            rates=dict(expect) if expect else None,
            selected=selected,
        )
    )
    from thresher.entities.fitting import SilentProgress  # noqa: PLC0415 (torch)
    from thresher.entities.processes import joined, these  # noqa: PLC0415 (torch)

    with joined(device) as own_device:
        processes = these()
        silent = quiet or not processes.first
        reader = load_encoder(encoder, device=own_device, quiet=silent)
        with (
            shown(quiet=silent) as progress,
            kept_work(output, resume=resume, processes=processes) as work,
            stored_sentences(_sentences(progress.counted(texts, "text")), work, processes) as read,
        ):
            finder = thresher.EntityFinder.fit_words(
                read,
                encoder=reader,
                settings=settings,
                beliefs=beliefs,
                progress=progress if processes.first else SilentProgress(),
                work=work,
                resume=resume,
            )
            if not processes.first:
                return
            finder.save(output)
            summary = _summary(output, finder, read, progress.notes)
    if as_json:
        print_line(json.dumps(summary, ensure_ascii=False))
    elif not quiet:
        print_line(_in_words(summary))
    problems.conclude()


def _sentences(texts: Iterable["Document"]) -> Iterator[list[str]]:
    return (words for text in texts for words in words_of(text))


def _given(**values: Any) -> dict[str, Any]:
    """The options that were given; the others are left to the library."""
    return {name: value for name, value in values.items() if value is not None}


def _list_or_none(name: str | None) -> frozenset[str] | None:
    """The words of a file; the name "none" stands for an empty list."""
    if name is None:
        return None
    return frozenset() if name == "none" else word_list(name)


def _summary(
    folder: Path, finder: "EntityFinder", sentences: "SentenceStore", warnings: list[str]
) -> dict[str, Any]:
    return {
        "model": str(folder),
        "words": sum(map(len, sentences)),
        "sentences": len(sentences),
        "selected": _selected_share(finder, sentences),
        "threshold": finder.threshold,
        "trust": asdict(finder.model.trust),
        "selectors": len(finder.model.heads),
        "selector": finder.model.entity + 1,
        "warnings": warnings,
    }


def _selected_share(finder: "EntityFinder", sentences: "SentenceStore") -> float:
    """Of the words of some sentences, spread over the text."""
    sample = sentences[:: -(-len(sentences) // _SAMPLE)]
    scores = [
        float(score) for row in (each.scores for each in finder.read(sample)) for score in row
    ]
    return sum(score >= finder.threshold for score in scores) / len(scores)


def _in_words(summary: dict[str, Any]) -> str:
    trust = ", ".join(f"{view} {value:+.2f}" for view, value in summary["trust"].items())
    several = f"; selector {summary['selector']} of {summary['selectors']} finds entities"
    return (
        f"{summary['model']}: learned from {summary['words']:,} words in "
        f"{summary['sentences']:,} sentences; selects {summary['selected']:.1%} of words; "
        f"threshold {summary['threshold']:.2f}; trust (log-odds) {trust}"
        + (several if summary["selectors"] > 1 else "")
    )
