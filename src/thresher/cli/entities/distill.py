"""thresher distill: a faster finder, taught by another on raw text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from thresher import EntityFinder

_EVERY, _MOST = 20, 500  # one sentence in twenty is held out, at most so many

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

    settings = DistillationSettings(**given(epochs=epochs, seed=seed))
    with shown(quiet=quiet) as progress:
        sentences = list(sentences_of(progress.counted(texts, "text")))
        held_out = sentences[_EVERY - 1 :: _EVERY][:_MOST]
        taught = [
            words
            for number, words in enumerate(sentences, 1)
            if number % _EVERY or number > _EVERY * _MOST
        ]
        student = teacher.distill_words(taught, settings=settings, progress=progress)
        student.save(output)
    summary = {
        "model": str(output),
        "teacher": model,
        "words": sum(map(len, taught)),
        "sentences": len(taught),
        "held_out": len(held_out),
        "agreement": _agreement(teacher, student, held_out),
        "threshold": student.threshold,
        "bytes": sum(file.stat().st_size for file in output.iterdir()),
        "warnings": progress.notes,
    }
    print_summary(summary, _in_words, as_json=as_json, quiet=quiet)
    problems.conclude()


def _agreement(
    teacher: "EntityFinder", student: "EntityFinder", sentences: list[list[str]]
) -> float | None:
    """The exact span F1 of the student, what the teacher finds being gold; None if nothing is."""
    from thresher.entities.evaluation import span_counts  # noqa: PLC0415 (numpy)

    gold = [[(each.start, each.end) for each in row] for row in teacher.find_words(sentences)]
    if not any(gold):
        return None
    return span_counts(gold, student.find_words(sentences), threshold=0.0).f1


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
