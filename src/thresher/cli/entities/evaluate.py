"""thresher eval: measure how well a model finds annotated entities."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from thresher.cli.entities.find_options import FinderOptions, Selector
from thresher.cli.entities.preparation import Adapt
from thresher.cli.errors import print_note
from thresher.cli.models import load_finder
from thresher.cli.option_groups import argument, option, with_option_groups
from thresher.cli.option_parsers import KindName, parse_kind_name
from thresher.cli.options import Encoding, JsonRunOptions
from thresher.cli.output import metrics_table, plural, print_results
from thresher.cli.progress import progress_bars
from thresher.errors import InputError
from thresher.text.choices import GoldFormat

if TYPE_CHECKING:
    from thresher.entities.evaluation import FinderEvaluation
    from thresher.entities.evaluation.kinds import KindEvaluation

GoldFiles = Annotated[
    list[str],
    argument(
        "CoNLL files with tags such as O, B-PER, I-PER, or the export of a labelling tool.",
        metavar="GOLD",
    ),
]
From = Annotated[
    GoldFormat, option("conll, prodigy, doccano or label-studio.", "--from", metavar="FORMAT")
]
KindMap = Annotated[
    list[Any] | None,
    option(
        "Rename a kind of the gold data or of the model, for example PER=person, so that both use "
        "the same name; KIND=none counts as no kind. May be repeated.",
        "--map",
        metavar="KIND=NAME",
        parser=parse_kind_name,
    ),
]

_CASINGS = {"as given": False, "lower-cased": True}


@with_option_groups
def evaluate(
    *,
    gold: GoldFiles,
    format_: From = GoldFormat.CONLL,
    encoding: Encoding = None,
    finder_options: FinderOptions,
    selector: Selector = None,
    adapt: Adapt = None,
    kind_map: KindMap = None,
    run: JsonRunOptions,
) -> None:
    """Evaluate a model on annotated text, as given and lower-cased.

    thresher eval gold.conll --model my-model
    thresher eval labelled.json --from label-studio --json
    thresher eval gold.conll --map PER=person --map LOC=place

    AP is the average precision of word scores. Precision, recall and F1 are
    computed for words with a score of at least 0.5, and for exact spans at the
    threshold. The calibration error is the mean distance between the scores of
    spans and the fraction of them that are correct.

    If the model and the gold data have kinds, precision, recall and F1 are also
    printed for each kind, and how often one kind was taken for another.
    """
    from thresher.entities.evaluation import GoldTexts, evaluate_finder  # noqa: PLC0415 (numpy)

    names = _names_of_kinds(kind_map or ())
    texts = GoldTexts.read(gold, format=format_, encoding=encoding, on_skipped=print_note)
    choice = finder_options.choice(run.device, selector)
    finder = load_finder(choice, quiet=run.quiet)
    adapt = choice.adapts_by_default() if adapt is None else adapt
    counts = texts.counts()
    with progress_bars(quiet=run.quiet) as progress:
        evaluations = {
            name: evaluate_finder(
                finder,
                texts,
                threshold=finder_options.threshold,
                lower_case=lower_case,
                adapt=adapt,
                kind_map=names,
                progress=progress.stage(name, counts["sentences"]),
            )
            for name, lower_case in _CASINGS.items()
        }
    _note_unknown_kinds(texts.labels, finder.kinds, names)
    model, threshold = finder_options.model, finder_options.threshold
    threshold = finder.threshold if threshold is None else threshold
    about = {
        "gold": gold,
        "model": str(model) if model else None,
        "selector": selector,
        "threshold": threshold,
        **({"adapted": True} if adapt else {}),
    }
    _print_evaluations(evaluations, {**about, **counts}, _amounts(counts, threshold), run)


def _names_of_kinds(kind_map: Iterable[KindName]) -> dict[str, str]:
    """Return the new name of each kind; raise InputError for a kind with two different names."""
    names: dict[str, str] = {}
    for kind, name in kind_map:
        if names.setdefault(kind, name) != name:
            raise InputError(
                f"`kind_map` gives {kind} two names, {names[kind]} and {name}; keep one of them"
            )
    return names


def _print_evaluations(
    evaluations: "Mapping[str, FinderEvaluation]",
    about: Mapping[str, object],
    amounts: str,
    run: JsonRunOptions,
) -> None:
    """Print the figures of each casing, as JSON or as tables below a line with the amounts."""
    figures = {name.replace(" ", "_"): each.as_json() for name, each in evaluations.items()}
    metrics = metrics_table({name: each.figures() for name, each in evaluations.items()})
    kinds = kind_tables({name: each.kinds for name, each in evaluations.items()})
    print_results({**about, **figures}, amounts, Group(metrics, *kinds), run)


def _note_unknown_kinds(
    labels: Sequence[str], kinds: Sequence[str], names: Mapping[str, str]
) -> None:
    """Print a note if kinds of the gold data are none of the model's, which is often a mistake."""
    known = {name.casefold() for name in (*kinds, *names)}
    unknown = [label for label in labels if label.casefold() not in known]
    if kinds and unknown:
        print_note(
            f"the gold data has the kinds {', '.join(unknown)}, which are none of the model's "
            f"({', '.join(kinds)}); rename a kind with `kind_map={unknown[0]}={kinds[0]}`"
        )


def _amounts(counts: Mapping[str, int], threshold: float) -> str:
    amounts = ", ".join(plural(amount, name.removesuffix("s")) for name, amount in counts.items())
    return f"{amounts}; threshold {threshold:.2f}"


def kind_tables(
    evaluations: Mapping[str, "KindEvaluation | None"], *, width: int | None = None
) -> list[RenderableType]:
    """Return a table of all kinds and a confusion matrix for each evaluated variant, with titles.

    width: in characters, by default that of the terminal; a wider matrix is divided
    """
    typed = {name: each for name, each in evaluations.items() if each is not None}
    if not typed:
        return []
    width = width or Console().width
    shown: list[RenderableType] = [_title("Exact spans with their kind"), _figures_table(typed)]
    for name, each in typed.items():
        title = f"Confusions, {name}: gold kinds in rows, predicted kinds in columns"
        shown += [_title(title), *_confusion_tables(each, width)]
    return shown


def _title(text: str) -> Text:
    """Return a title; as that of a table, it would be as narrow as the table."""
    return Text(text, "italic")


def _figures_table(evaluations: Mapping[str, "KindEvaluation"]) -> Table:
    columns = [column for name in evaluations for column in (f"{name}\nP", "\nR", "\nF1")]
    table = _table("\nkind", *columns, "\ngold")
    kinds = dict.fromkeys(kind for each in evaluations.values() for kind in each.counts)
    for kind in (*kinds, None):
        row = [Text("all kinds" if kind is None else kind)]
        gold = 0
        for each in evaluations.values():
            counts = each.all_kinds if kind is None else each.counts.get(kind)
            figures = (counts.precision, counts.recall, counts.f1) if counts else (0.0, 0.0, 0.0)
            row += (Text(f"{figure:.3f}") for figure in figures)
            gold = counts.gold if counts else gold
        if kind is None:
            table.add_section()
        table.add_row(*row, f"{gold:,}")
    return table


def _confusion_tables(evaluation: "KindEvaluation", width: int) -> Iterator[Table]:
    """Yield a confusion matrix; if it is wider than the terminal, some columns at a time."""
    gold, predicted, cells = evaluation.confusion_matrix()
    counts = [[f"{count:,}" if count else "·" for count in row] for row in cells]
    columns = [
        (kind.replace(" ", "\n"), *(row[number] for row in counts))
        for number, kind in enumerate(predicted)
    ]
    room = width - max(map(cell_len, gold)) - 2  # of the edges
    while columns:
        ends = accumulate(1 + max(map(_width, column)) for column in columns)
        fitting = max(sum(end <= room for end in ends), 1)
        shown, columns = columns[:fitting], columns[fitting:]
        table = _table("", *(heading for heading, *_ in shown))
        for kind, *row in zip(gold, *(values for _, *values in shown), strict=True):
            table.add_row(Text(kind), *row)
        yield table


def _width(cell: str) -> int:
    return max(map(cell_len, cell.split("\n")))


def _table(first: str, *others: str) -> Table:
    # One space between columns, so that a matrix of the built-in kinds fits 80 characters.
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(Text(name), justify="right", no_wrap=True, vertical="bottom")
    return table
