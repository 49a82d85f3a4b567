"""Prepare a finder for the texts at hand: discover their kinds, and adapt to their language."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from thresher.bulk.chunks import sentences_of
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.kinds import discover
from thresher.cli.errors import Problems
from thresher.cli.models import load_entity_finder
from thresher.cli.option_groups import flag
from thresher.cli.options import TextOptions
from thresher.cli.progress import print_remark
from thresher.entities.choices import KindsWord
from thresher.text.document import Document

if TYPE_CHECKING:
    from thresher.entities.finding.text_finder import SplitText

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


def documents_of(texts: TextOptions, problems: Problems) -> Iterator[Document]:
    """Return the documents; raise `InputError` at once if there is no text."""
    documents = texts.read(problems)
    return chain([next(documents)], documents)


def prepare(
    choice: FinderChoice, documents: Iterator[Document], *, adapt: bool | None, quiet: bool
) -> tuple[FinderChoice, Iterator[Document]]:
    """Return the choice with what is learned from the documents, and all documents.

    adapt: whether to adapt to the texts; None for the default of the model
    """
    if choice.kinds == KindsWord.AUTO:
        all_documents = list(documents)
        choice = _with_discovered_kinds(choice, all_documents, quiet=quiet)
        documents = iter(all_documents)
    return adapted(choice, documents, adapt=adapt, quiet=quiet)


def adapted(
    choice: FinderChoice, documents: Iterator[Document], *, adapt: bool | None, quiet: bool
) -> tuple[FinderChoice, Iterator[Document]]:
    """Return the choice with what was estimated from the first documents, and all documents.

    adapt: None for the default of the model; with `auto`, of each model
    """
    if adapt is False or not (adapt or choice.is_auto or choice.adapts_by_default()):
        return choice, documents
    first, texts = _first_documents(documents)
    adaptations = {}
    for name, own in _texts_by_model(choice, texts).items():
        model = choice.with_model(name) if choice.is_auto else choice.parts[0]
        if (adapt or model.adapts_by_default()) and _has_enough_words(own):
            finder = load_entity_finder(replace(model, kinds=KindsWord.NONE), quiet=quiet)
            adaptation = finder.estimate_adaptation(own)
            if adaptation is not None:
                print_remark(f"adapted to {adaptation.words:,} words", quiet=quiet)
                adaptations[name] = adaptation
    return replace(choice, adaptations=adaptations), chain(first, documents)


def _first_documents(
    documents: Iterator[Document],
) -> tuple[list[Document], list[list[list[str]]]]:
    """Return the first documents, as many as adaptation uses, and the words of their sentences."""
    from thresher.entities.finding.adaptation import MAX_WORDS  # noqa: PLC0415 (numpy)

    first, texts, words = [], [], 0
    for document in documents:
        first.append(document)
        texts.append(list(sentences_of([document])))
        words += sum(map(len, texts[-1]))
        if words >= MAX_WORDS:
            break
    return first, texts


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
