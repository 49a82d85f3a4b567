"""thresher rationale fit: a classifier and its rationales from labelled texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.cli.entities import fit_options
from thresher.cli.errors import Problems
from thresher.cli.models import load_encoder
from thresher.cli.option_values import given
from thresher.cli.options import Device, Json, Quiet
from thresher.cli.output import print_summary
from thresher.cli.progress import shown
from thresher.cli.rationales import options
from thresher.cli.word_files import word_list
from thresher.cli.work_folder import check_place
from thresher.errors import InputError
from thresher.rationales.labelled_texts import Fields, read_labelled

if TYPE_CHECKING:
    from thresher.rationales.finder import RationaleFinder
    from thresher.rationales.settings import RationaleSettings


def fit(
    texts: options.Texts,
    output: fit_options.Folder,
    from_: options.DataFormat = None,
    text_field: options.TextField = "text",
    label_field: options.LabelField = "label",
    mode: options.Mode = None,
    from_scratch: options.FromScratch = False,
    classifier: options.Explained = None,
    encoder: fit_options.EncoderName = None,
    force: fit_options.Force = False,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
    share: options.Share = None,
    sparsity: options.Sparsity = None,
    continuity: options.Continuity = None,
    continuity_target: options.ContinuityTarget = None,
    selection: options.Selection = None,
    selection_target: options.SelectionTarget = None,
    likely: options.Likely = None,
    unlikely: options.Unlikely = None,
    steps: options.Steps = None,
    seed: fit_options.Seed = None,
    gates_at: fit_options.GatesAt = None,
    form: fit_options.Form = None,
    estimator: options.Estimator = None,
    baseline: options.Baseline = None,
    samples: options.Samples = None,
) -> None:
    """Learn to label texts, and which of their words carry the label.

    thresher rationale fit reviews.jsonl -o model
    thresher rationale fit reviews.csv --label-field stars -o model
    thresher rationale fit reviews.jsonl -o other --classifier model --share 0.1

    A tenth of the texts is held out: what they say is in the summary. A record
    that cannot be used is told on standard error with its line, and the rest is
    learned from; the exit status is then 1.
    """
    check_place(output, force=force)
    if from_scratch and (mode != "joint" or classifier is not None):
        raise InputError("--from-scratch is for --mode joint with a classifier of its own")
    if baseline is not None and estimator != "reinforce":
        raise InputError("--baseline is for --estimator reinforce, which has one")
    expected = share is not None or sparsity is None or likely is not None or unlikely is not None
    if not expected and (selection is not None or selection_target is not None):
        raise InputError("--selection needs something expected: --share, --likely or --unlikely")
    settings = _settings(
        share,
        sparsity,
        mode=mode,
        head_start=not from_scratch,
        continuity=continuity,
        continuity_target=continuity_target,
        selection=selection,
        selection_target=selection_target,
        steps=steps,
        seed=seed,
        gates_at=gates_at,
        form=form,
        estimator=estimator,
        baseline=baseline,
        samples=samples,
    )
    problems = Problems()
    fields = Fields(text=text_field, label=label_field)
    read = list(read_labelled(texts, fields=fields, format=from_, on_problem=problems))
    likely_words, unlikely_words = word_list(likely), word_list(unlikely)
    from thresher.rationales.finder import RationaleFinder  # noqa: PLC0415 (torch)
    from thresher.rationales.model import RationaleModel  # noqa: PLC0415

    explained = None if classifier is None else RationaleModel.read(classifier)
    if explained is not None and encoder is None:
        encoder = explained.encoder
    reader = load_encoder(encoder, device=device, quiet=quiet)
    with shown(quiet=quiet) as progress:
        finder = RationaleFinder.fit(
            [each.text for each in read],
            [each.label or "" for each in read],
            encoder=reader,
            settings=settings,
            classifier=explained,
            likely=likely_words,
            unlikely=unlikely_words,
            progress=progress,
        )
        finder.save(output)
    print_summary(_summary(output, finder), _in_words, as_json=as_json, quiet=quiet)
    problems.conclude()


def _settings(share: float | None, sparsity: float | None, **chosen: Any) -> "RationaleSettings":
    """Settings with the options that were given; a fixed weight takes the place of a share."""
    from thresher.gates.selector import require_rate  # noqa: PLC0415 (torch)
    from thresher.rationales.settings import RationaleSettings  # noqa: PLC0415

    values = given(**chosen)
    if share is not None:
        require_rate("share", share, values.get("form", RationaleSettings.form))
    if sparsity is not None:
        values |= {"sparsity": sparsity, "sparsity_target": None, "expected_rate": None}
    if share is not None:
        values["expected_rate"] = share
        if sparsity is None:
            values["sparsity_target"] = share
    return RationaleSettings(**values)


def _summary(folder: Path, finder: "RationaleFinder") -> dict[str, Any]:
    made = finder.model.learned_from
    names = ("texts", "words", "held_out", "warnings")
    about = {"model": str(folder), "labels": list(finder.labels), "mode": finder.model.mode}
    return about | {name: made[name] for name in names}


def _in_words(summary: dict[str, Any]) -> str:
    figures = summary["held_out"]
    return (
        f"{summary['model']}: learned from {summary['words']:,} words in {summary['texts']:,} "
        f"texts with {len(summary['labels'])} labels; on {figures['texts']:,} held out, accuracy "
        f"{figures['accuracy']:.3f}, from rationales alone "
        f"{figures['accuracy_from_rationale']:.3f}, without them "
        f"{figures['accuracy_without']:.3f}; selects {figures['selected']:.1%} of words"
    )
