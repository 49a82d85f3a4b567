"""thresher eval: measure how well a model finds annotated entities."""

from collections.abc import Mapping
from typing import Annotated

from thresher.cli.errors import print_note
from thresher.cli.models import load_finder
from thresher.cli.option_groups import argument, option, with_option_groups
from thresher.cli.options import FinderOptions, JsonRunOptions
from thresher.cli.output import metrics_table, plural, print_results
from thresher.cli.progress import progress_bars
from thresher.text.choices import GoldFormat

GoldFiles = Annotated[
    list[str],
    argument(
        "CoNLL files with tags such as O, B-PER, I-PER, or the export of a labelling tool; kinds "
        "of entities are ignored.",
        metavar="GOLD",
    ),
]
From = Annotated[
    GoldFormat, option("conll, prodigy, doccano or label-studio.", "--from", metavar="FORMAT")
]

_CASINGS = {"as given": False, "lower-cased": True}


@with_option_groups
def evaluate(
    gold: GoldFiles,
    finder_options: FinderOptions,
    run: JsonRunOptions,
    format_: From = GoldFormat.CONLL,
) -> None:
    """Evaluate a model on annotated text, as given and lower-cased.

    thresher eval gold.conll --model my-model
    thresher eval labelled.json --from label-studio --json

    AP is the average precision of word scores. Precision, recall and F1 are
    computed for words with a score of at least 0.5, and for exact spans at the
    threshold. The calibration error is the mean distance between the scores of
    spans and the fraction of them that are correct.
    """
    from thresher.entities.evaluation import GoldTexts, evaluate_finder  # noqa: PLC0415 (numpy)

    texts = GoldTexts.read(gold, format=format_, on_skipped=print_note)
    finder = load_finder(finder_options.choice(run.device), quiet=run.quiet)
    threshold = finder_options.threshold
    threshold = finder.threshold if threshold is None else threshold
    counts = texts.counts()
    with progress_bars(quiet=run.quiet) as progress:
        evaluations = {
            name: evaluate_finder(
                finder,
                texts,
                threshold=threshold,
                lower_case=lower_case,
                progress=progress.stage(name, counts["sentences"]),
            )
            for name, lower_case in _CASINGS.items()
        }
    model = finder_options.model
    about = {"gold": gold, "model": str(model) if model else None, "threshold": threshold}
    figures = {name.replace(" ", "_"): each.as_json() for name, each in evaluations.items()}
    print_results(
        about | counts | figures,
        _amounts(counts, threshold),
        metrics_table({name: each.figures() for name, each in evaluations.items()}),
        run,
    )


def _amounts(counts: Mapping[str, int], threshold: float) -> str:
    amounts = ", ".join(plural(amount, name.removesuffix("s")) for name, amount in counts.items())
    return f"{amounts}; threshold {threshold:.2f}"
