"""thresher distill: train a fast finder to agree with another one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from thresher.bulk.chunks import sentences_of
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.errors import Problems
from thresher.cli.models import load_entity_finder
from thresher.cli.option_groups import OptionGroup, argument, with_option_groups
from thresher.cli.options import Epochs, JsonRunOptions, NewModelOptions, Seed, TextOptions
from thresher.cli.output import print_summary
from thresher.cli.progress import progress_bars
from thresher.output_lock import lock_output

Teacher = Annotated[
    str,
    argument(
        "The teacher: a model trained by fit, or english for the built-in model.", metavar="MODEL"
    ),
]


@dataclass(frozen=True, kw_only=True)
class DistillationOptions(OptionGroup):
    """Hyper-parameters of training the student."""

    epochs: Epochs = None
    seed: Seed = None


@with_option_groups
def distill(
    model: Teacher,
    texts: TextOptions,
    new_model: NewModelOptions,
    training: DistillationOptions,
    run: JsonRunOptions,
) -> None:
    """Train a fast model without a transformer to find what another model finds.

    thresher distill my-model corpus/*.txt -o fast-model
    thresher distill english notes/ -o my-fast-model
    thresher find notes.txt --model fast-model

    The student is many times faster and a little less accurate. Train it on text
    like that on which it will be used; a million words take minutes. Up to 500
    sentences are held out to measure how well student and teacher agree.
    """
    new_model.check()
    problems = Problems()
    documents = texts.read(problems)
    teacher = load_entity_finder(FinderChoice(Path(model), run.device), quiet=run.quiet)
    from thresher.entities.training.distillation import DistillationSettings  # noqa: PLC0415 (torch)
    from thresher.entities.training.distillation_report import distill_with_report  # noqa: PLC0415

    settings = DistillationSettings(**training.given_options())
    with lock_output(new_model.output), progress_bars(quiet=run.quiet) as progress:
        sentences = list(sentences_of(progress.track(documents, "text")))
        report = distill_with_report(teacher, sentences, settings=settings, progress=progress)
        report.student.save(new_model.output)
    summary = {
        "model": str(new_model.output),
        "teacher": model,
        "words": report.words,
        "sentences": report.sentences,
        "held_out": report.held_out,
        "agreement": report.agreement,
        "threshold": report.student.threshold,
        "bytes": sum(file.stat().st_size for file in new_model.output.iterdir()),
        "warnings": progress.notes,
    }
    print_summary(summary, _summary_line, run)
    problems.exit_if_any()


def _summary_line(summary: dict[str, Any]) -> str:
    agreement = summary["agreement"]
    agreement_text = (
        "no entities in the held-out sentences"
        if agreement is None
        else f"agreement with the teacher on {summary['held_out']} held-out sentences: "
        f"span F1 {agreement:.3f}"
    )
    return (
        f"{summary['model']}: distilled from {summary['teacher']} on {summary['words']:,} words in "
        f"{summary['sentences']:,} sentences; {agreement_text}; {summary['bytes'] / 1e6:.1f} MB"
    )
