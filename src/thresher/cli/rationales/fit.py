"""thresher rationale fit: train a classifier and its rationales on labelled texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.cli.errors import Problems
from thresher.cli.models import load_encoder
from thresher.cli.option_groups import with_option_groups
from thresher.cli.option_parsers import word_list
from thresher.cli.options import EncoderName, JsonRunOptions, NewModelOptions
from thresher.cli.output import print_summary
from thresher.cli.progress import progress_bars
from thresher.cli.rationales.options import (
    ClassifierOptions,
    GateTrainingOptions,
    LabelField,
    LabelledTextOptions,
    LossOptions,
    rationale_settings,
)
from thresher.output_lock import lock_output

if TYPE_CHECKING:
    from thresher.rationales.finder import RationaleFinder


@with_option_groups
def fit(
    *,
    texts: LabelledTextOptions,
    label_field: LabelField = "label",
    model: NewModelOptions,
    encoder: EncoderName = None,
    classifier: ClassifierOptions,
    loss: LossOptions,
    gates: GateTrainingOptions,
    run: JsonRunOptions,
) -> None:
    """Train a classifier of texts, and gates that select the words it needs.

    thresher rationale fit reviews.jsonl -o model
    thresher rationale fit reviews.csv --label-field stars -o model
    thresher rationale fit reviews.jsonl -o other --classifier model --share 0.1

    A tenth of the texts is held out; the summary shows results on it. Records
    that cannot be used are reported and skipped; the exit status is then 1.
    """
    model.check()
    settings = rationale_settings(classifier, loss, gates)
    problems = Problems()
    labelled = list(texts.read(problems, label=label_field))
    likely, unlikely = word_list(loss.likely), word_list(loss.unlikely)
    from thresher.rationales.finder import RationaleFinder  # noqa: PLC0415 (torch)
    from thresher.rationales.model import RationaleModel  # noqa: PLC0415

    explained = (
        None if classifier.classifier is None else RationaleModel.read(classifier.classifier)
    )
    if explained is not None and encoder is None:
        encoder = explained.encoder
    loaded_encoder = load_encoder(encoder, device=run.device, quiet=run.quiet)
    with lock_output(model.output), progress_bars(quiet=run.quiet) as progress:
        finder = RationaleFinder.fit(
            [each.text for each in labelled],
            [each.label or "" for each in labelled],
            encoder=loaded_encoder,
            settings=settings,
            classifier=explained,
            likely=likely,
            unlikely=unlikely,
            progress=progress,
        )
        finder.save(model.output)
    print_summary(_summary(model.output, finder), _summary_line, run)
    problems.exit_if_any()


def _summary(folder: Path, finder: "RationaleFinder") -> dict[str, Any]:
    facts = finder.model.learned_from
    names = ("texts", "words", "held_out", "warnings")
    about = {"model": str(folder), "labels": list(finder.labels), "mode": finder.model.mode}
    return about | {name: facts[name] for name in names}


def _summary_line(summary: dict[str, Any]) -> str:
    held_out = summary["held_out"]
    return (
        f"{summary['model']}: trained on {summary['words']:,} words in {summary['texts']:,} "
        f"texts with {len(summary['labels'])} labels; on {held_out['texts']:,} held-out texts "
        f"accuracy {held_out['accuracy']:.3f}, from rationales alone "
        f"{held_out['accuracy_from_rationale']:.3f}, without them "
        f"{held_out['accuracy_without']:.3f}; selects {held_out['selected']:.1%} of words"
    )
