"""What `thresher fit` is told to believe, and what it finds out about the text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import thresher
from thresher.cli.progress import Progress
from thresher.cli.reading import word_list
from thresher.cli.values import given
from thresher.errors import InputError
from thresher.text.unspaced import knows_words

if TYPE_CHECKING:
    from thresher import Beliefs

_BELIEFS = "What to believe before reading"

Cldr = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        rich_help_panel=_BELIEFS,
        help="The territories and languages that Unicode CLDR knows in a language, such as am, "
        "are names; needs thresher[cldr].",
    ),
]
Dates = Annotated[
    bool,
    typer.Option(
        "--dates",
        metavar="",
        rich_help_panel=_BELIEFS,
        help="Dates are entities too, told by their years.",
    ),
]
Surprisal = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        rich_help_panel=_BELIEFS,
        help="A causal language model of word-pairs, for --prior surprisal.",
    ),
]


def stated(
    *, names: str | None, not_names: str | None, cldr: str | None, **others: Any
) -> dict[str, Any]:
    """Beliefs that were stated, without a look at the text; the others are left to the library."""
    known = frozenset() if names is None else word_list(names)
    if cldr is not None:
        from thresher.entities.cldr import cldr_names  # noqa: PLC0415 (babel)

        known |= cldr_names(cldr)
    if not_names is not None:
        others["not_names"] = frozenset() if not_names == "none" else word_list(not_names)
    return {"names": known} | given(**others)


def beliefs_about(
    sentences: Sequence[Sequence[str]],
    progress: Progress,
    *,
    surprisal: str | None,
    device: str | None,
    **given: Any,
) -> "Beliefs":
    """Stated beliefs with what a language model says of the text; a mixture of scripts is told."""
    from thresher.entities.writing import Writing  # noqa: PLC0415 (regex; help does without)

    if surprisal is not None:
        if "surprisal" not in given.get("priors", ()):
            raise InputError("--surprisal is for the prior of that name: add --prior surprisal")
        given["surprisal"] = _surprisal(sentences, surprisal, device)
    beliefs = thresher.Beliefs(**given)
    writing = Writing.of(sentences)
    if writing.is_mixed and not beliefs.priors:
        progress.note(
            f"{writing}: capitals tell of words that have them, burstiness tells of the others"
        )
    if writing.is_unspaced and not knows_words():
        progress.note(
            "words of this script have no spaces between them: every letter is read as a word; "
            "pip install 'thresher[unspaced]' brings dictionaries"
        )
    return beliefs


def _surprisal(sentences: Sequence[Sequence[str]], folder: str, device: str | None) -> Any:
    from thresher.cli.lm_reading import chosen_device  # noqa: PLC0415 (torch)
    from thresher.encoders.surprisal import CausalReader  # noqa: PLC0415

    return CausalReader.load(folder, device=chosen_device(device)).surprisal(sentences)
