"""What `thresher fit` is told to believe, and what it finds out about the text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import thresher
from thresher.cli.option_values import given
from thresher.cli.word_files import word_list
from thresher.errors import InputError
from thresher.text.segmentation.unspaced_scripts import has_word_dictionary

if TYPE_CHECKING:
    from thresher import PriorKnowledge
    from thresher.encoders.surprisal import SurprisalModel
    from thresher.progress import ProgressReporter

_BELIEFS = "What to believe before reading"

Cldr = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        rich_help_panel=_BELIEFS,
        help="The territories and languages that Unicode CLDR knows in a language, such as am, "
        r"are names; needs thresher\[cldr].",
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


def check_surprisal(priors: Sequence[str] | None, folder: str | None) -> None:
    """Refuse the prior without a model that tells it, and the model without the prior."""
    wanted = "surprisal" in (priors or ())
    if folder is not None and not wanted:
        raise InputError("--surprisal is for the prior of that name: add --prior surprisal")
    if wanted and folder is None:
        raise InputError(
            "the prior surprisal needs a causal language model: add --surprisal FOLDER"
        )


def load_causal(folder: str | None, device: str | None) -> "SurprisalModel | None":
    """The language model that tells surprisal, if there is to be one."""
    if folder is None:
        return None
    from thresher.cli.lm.inputs import chosen_device  # noqa: PLC0415 (torch)
    from thresher.encoders.surprisal import CausalSurprisal  # noqa: PLC0415

    return CausalSurprisal.load(folder, device=chosen_device(device))


def stated(
    *, names: str | None, not_names: str | None, cldr: str | None, **others: Any
) -> dict[str, Any]:
    """Return the options that state prior knowledge, as arguments of `PriorKnowledge`."""
    known = word_list(names)
    if cldr is not None:
        from thresher.entities.priors.cldr import cldr_names  # noqa: PLC0415 (babel)

        known |= cldr_names(cldr)
    if not_names is not None:
        others["not_names"] = frozenset() if not_names == "none" else word_list(not_names)
    return {"names": known} | given(**others)


def beliefs_about(
    sentences: Sequence[Sequence[str]],
    progress: "ProgressReporter",
    *,
    causal: "SurprisalModel | None",
    **given: Any,
) -> "PriorKnowledge":
    """Return the prior knowledge; note a mixture of scripts."""
    from thresher.entities.priors.scripts import Writing  # noqa: PLC0415 (regex; help does without)

    if causal is not None:
        given["surprisal"] = causal.surprisal(sentences)
    prior_knowledge = thresher.PriorKnowledge(**given)
    writing = Writing.of(sentences)
    if writing.is_mixed and not prior_knowledge.priors:
        progress.note(
            f"{writing}: capitals tell of words that have them, burstiness tells of the others"
        )
    if writing.is_unspaced and not has_word_dictionary():
        progress.note(
            "words of this script have no spaces between them: every letter is read as a word; "
            "pip install 'thresher[unspaced]' brings dictionaries"
        )
    return prior_knowledge
