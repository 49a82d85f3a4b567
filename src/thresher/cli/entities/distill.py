"""thresher distill: a faster finder, taught by another on raw text."""

from pathlib import Path
from typing import Annotated, Any

import typer

import thresher
from thresher.bulk.chunks import sentences_of
from thresher.bulk.finder_choice import ModelChoice
from thresher.cli.entities.fit_options import Epochs, Folder, Force, Seed
from thresher.cli.errors import Problems
from thresher.cli.models import load_finder
from thresher.cli.option_values import given
from thresher.cli.options import Device, Field, Format, Json, Quiet, Sources
from thresher.cli.output import print_summary
from thresher.cli.progress import shown
from thresher.cli.work_folder import check_place

Teacher = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        show_default=False,
        help="The teacher: a model made by fit, or the word english for the built-in one.",
    ),
]


def distill(
    model: Teacher,
    sources: Sources,
    output: Folder,
    from_: Format = None,
    field: Field = "text",
    force: Force = False,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
    epochs: Epochs = None,
    seed: Seed = None,
) -> None:
    """Teach a finder with no transformer what another finds, with no labels.

    thresher distill my-model corpus/*.txt -o fast-model
    thresher distill english notes/ -o my-fast-model
    thresher find notes.txt --model fast-model

    The student is many times faster and a little worse. Text like that it will
    read teaches it best, a million words in minutes. Up to 500 sentences are
    held out; the summary says how far student and teacher agree on them.
    """
    check_place(output, force=force)
    problems = Problems()
    texts = thresher.read_texts(sources, format=from_, field=field, on_problem=problems)
    teacher = load_finder(ModelChoice(Path(model), device), quiet=quiet)
    from thresher.entities.training.distillation import DistillationSettings  # noqa: PLC0415 (torch)
    from thresher.entities.training.distillation_report import distill_with_report  # noqa: PLC0415

    settings = DistillationSettings(**given(epochs=epochs, seed=seed))
    with shown(quiet=quiet) as progress:
        sentences = list(sentences_of(progress.counted(texts, "text")))
        report = distill_with_report(teacher, sentences, settings=settings, progress=progress)
        report.student.save(output)
    summary = {
        "model": str(output),
        "teacher": model,
        "words": report.words,
        "sentences": report.sentences,
        "held_out": report.held_out,
        "agreement": report.agreement,
        "threshold": report.student.threshold,
        "bytes": sum(file.stat().st_size for file in output.iterdir()),
        "warnings": progress.notes,
    }
    print_summary(summary, _in_words, as_json=as_json, quiet=quiet)
    problems.conclude()


def _in_words(summary: dict[str, Any]) -> str:
    agreement = summary["agreement"]
    agrees = (
        "no entities in the sentences held out"
        if agreement is None
        else f"agrees with its teacher on {summary['held_out']} sentences held out: "
        f"span F1 {agreement:.3f}"
    )
    return (
        f"{summary['model']}: taught by {summary['teacher']} on {summary['words']:,} words in "
        f"{summary['sentences']:,} sentences; {agrees}; {summary['bytes'] / 1e6:.1f} MB"
    )
