"""Prepare a finder for the texts at hand: discover their kinds, and adapt to their language."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated

from thresher.bulk.chunks import sentences_of
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.kinds import discover
from thresher.cli.errors import Problems
from thresher.cli.models import load_model
from thresher.cli.option_groups import flag
from thresher.cli.options import TextOptions
from thresher.cli.progress import print_remark
from thresher.entities.choices import KindsWord
from thresher.errors import InputError
from thresher.text.document import Document

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
    if not wants_adaptation(choice, adapt):
        return choice, documents
    return adapted(choice, documents, quiet=quiet)


def wants_adaptation(choice: FinderChoice, adapt: bool | None) -> bool:
    """Return whether to adapt; raise `InputError` if this is asked of several models."""
    if adapt and choice.is_auto:
        raise InputError("`adapt` needs one model; `model` auto uses several")
    return choice.adapts_by_default() if adapt is None else adapt


def adapted(
    choice: FinderChoice, documents: Iterator[Document], *, quiet: bool
) -> tuple[FinderChoice, Iterator[Document]]:
    """Return the choice with what was estimated from the first documents, and all documents."""
    from thresher.entities.finding.adaptation import MAX_WORDS  # noqa: PLC0415 (numpy)

    first, texts, words = [], [], 0
    for document in documents:
        first.append(document)
        texts.append(list(sentences_of([document])))
        words += sum(map(len, texts[-1]))
        if words >= MAX_WORDS:
            break
    finder = load_model(replace(choice, kinds=KindsWord.NONE), quiet=quiet)
    adaptation = finder.estimate_adaptation(texts)
    if adaptation is not None:
        print_remark(f"adapted to {adaptation.words:,} words", quiet=quiet)
        choice = replace(choice, adaptation=adaptation)
    return choice, chain(first, documents)


def _with_discovered_kinds(
    choice: FinderChoice, documents: Sequence[Document], *, quiet: bool
) -> FinderChoice:
    finder = load_model(replace(choice, kinds=KindsWord.NONE), quiet=quiet)
    examples = discover(finder, documents).examples()
    print_remark(f"discovered kinds: {', '.join(examples.kinds)}", quiet=quiet)
    return replace(choice, kinds=examples)
