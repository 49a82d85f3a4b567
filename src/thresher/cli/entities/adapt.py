"""The option --adapt: estimate weights and the threshold from the texts before finding."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Annotated

from thresher.bulk.chunks import sentences_of
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.models import load_model
from thresher.cli.option_groups import flag
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


def adapted_choice(
    choice: FinderChoice, documents: Iterable[Document], *, adapt: bool | None, quiet: bool
) -> tuple[FinderChoice, Iterator[Document]]:
    """Return the choice with what was estimated from the first documents, and all documents.

    adapt: None for the default of the model
    """
    documents = iter(documents)
    if adapt and choice.is_auto:
        raise InputError("`adapt` needs one model; `model` auto uses several")
    if not (choice.adapts_by_default() if adapt is None else adapt):
        return choice, documents
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
