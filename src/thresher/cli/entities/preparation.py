"""Prepare a finder for the texts at hand: discover their kinds, and adapt to their language."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import thresher
from thresher.bulk.chunks import sentences_of
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.kinds import discover
from thresher.cli.errors import Problems
from thresher.cli.models import load_entity_finder
from thresher.cli.option_groups import flag, option
from thresher.cli.options import TextOptions
from thresher.cli.progress import print_remark
from thresher.entities.choices import KindsWord
from thresher.errors import InputError
from thresher.text.document import Document

if TYPE_CHECKING:
    from thresher.entities.finding.text_finder import SplitText

_UNUSED_BACKGROUND = "`background` is only read to adapt a model; add `adapt`"

Adapt = Annotated[
    bool | None,
    flag(
        "Estimate the weight of capitals, the threshold and ordinary words from the first 50,000 "
        "words of the texts, without labels; the default of the multilingual model. The entities "
        "of a text then also depend on the other texts.",
        "--adapt/--no-adapt",
        show_default=False,
    ),
]
Background = Annotated[
    list[str] | None,
    option(
        "A file or folder with more text in the language of the texts, from which --adapt learns, "
        "too; useful if the texts are short or in lower case. Can be given several times.",
        metavar="SOURCE",
        show_default=False,
    ),
]


def documents_of(texts: TextOptions, problems: Problems) -> Iterator[Document]:
    """Return the documents; raise `InputError` at once if there is no text."""
    documents = texts.read(problems)
    return chain([next(documents)], documents)


def prepare(
    choice: FinderChoice,
    documents: Iterator[Document],
    *,
    adapt: bool | None,
    background: Sequence[str] | None = None,
    quiet: bool,
) -> tuple[FinderChoice, Iterator[Document]]:
    """Return the choice with what is learned from the documents, and all documents.

    adapt: whether to adapt to the texts; None for the default of the model
    background: files with further text to adapt to
    """
    if choice.kinds == KindsWord.AUTO:
        all_documents = list(documents)
        choice = _with_discovered_kinds(choice, all_documents, quiet=quiet)
        documents = iter(all_documents)
    return adapted(choice, documents, adapt=adapt, background=background, quiet=quiet)


def adapted(
    choice: FinderChoice,
    documents: Iterator[Document],
    *,
    adapt: bool | None,
    background: Sequence[str] | None = None,
    quiet: bool,
) -> tuple[FinderChoice, Iterator[Document]]:
    """Return the choice with what was estimated from the first documents, and all documents.

    adapt: None for the default of the model; with `auto`, of each model
    background: files with further text to adapt to
    """
    if adapt is False or not (adapt or choice.is_auto or choice.adapts_by_default()):
        if background:
            raise InputError(_UNUSED_BACKGROUND)
        return choice, documents
    from thresher.entities.finding.adaptation import MAX_WORDS  # noqa: PLC0415 (numpy)

    first, texts = _first_documents(documents, MAX_WORDS)
    further = _background_by_model(choice, background or ())
    adaptations = {}
    for name, own in _texts_by_model(choice, texts).items():
        model = choice.with_model(name) if choice.is_auto else choice.parts[0]
        more = further.get(name, [])
        if (adapt or model.adapts_by_default()) and _has_enough_words([*own, *more]):
            finder = load_entity_finder(replace(model, kinds=KindsWord.NONE), quiet=quiet)
            adaptation = finder.estimate_adaptation(own, background=more)
            if adaptation is not None:
                print_remark(f"adapted to {adaptation.words:,} words", quiet=quiet)
                adaptations[name] = adaptation
    return replace(choice, adaptations=adaptations), chain(first, documents)


def _first_documents(
    documents: Iterator[Document], count: int
) -> tuple[list[Document], list[list[list[str]]]]:
    """Return the first documents, with at least `count` words, and the words of their sentences."""
    first, texts, words = [], [], 0
    for document in documents:
        first.append(document)
        texts.append(list(sentences_of([document])))
        words += sum(map(len, texts[-1]))
        if words >= count:
            break
    return first, texts


def _background_by_model(
    choice: FinderChoice, files: Sequence[str]
) -> "dict[str, list[SplitText]]":
    """Return the first words of further text that each model reads, by its name."""
    if not files:
        return {}
    from thresher.entities.finding.adaptation import MAX_CASE_WORDS  # noqa: PLC0415 (numpy)

    problems = Problems()
    documents = thresher.read_texts(list(files), on_problem=problems)
    _, texts = _first_documents(documents, MAX_CASE_WORDS)
    problems.exit_if_any()
    return _texts_by_model(choice, texts)


def _has_enough_words(texts: "Sequence[SplitText]") -> bool:
    from thresher.entities.finding.adaptation import MIN_WORDS  # noqa: PLC0415 (numpy)

    return sum(len(words) for text in texts for words in text) >= MIN_WORDS


def _texts_by_model(
    choice: FinderChoice, texts: list[list[list[str]]]
) -> "dict[str, list[SplitText]]":
    if not choice.is_auto:
        return {choice.parts[0].name: [*texts]}
    from thresher.entities.auto_finder import texts_by_model  # noqa: PLC0415 (torch)

    return texts_by_model(texts)


def _with_discovered_kinds(
    choice: FinderChoice, documents: Sequence[Document], *, quiet: bool
) -> FinderChoice:
    finder = load_entity_finder(replace(choice, kinds=KindsWord.NONE), quiet=quiet)
    examples = discover(finder, documents).examples()
    print_remark(f"discovered kinds: {', '.join(examples.kinds)}", quiet=quiet)
    return replace(choice, kinds=examples)
