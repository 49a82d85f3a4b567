"""Complete the prior knowledge of `thresher fit` once the text has been read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import thresher
from thresher.cli.models import chosen_device
from thresher.errors import install_command
from thresher.text.segmentation.unspaced_scripts import has_word_dictionary

if TYPE_CHECKING:
    from thresher import PriorKnowledge
    from thresher.encoders.surprisal import CausalSurprisal
    from thresher.progress import ProgressReporter


def load_surprisal_model(folder: str | None, device: str | None) -> "CausalSurprisal | None":
    """Load the causal language model for the surprisal prior; None if there is no folder."""
    if folder is None:
        return None
    from thresher.encoders.surprisal import CausalSurprisal  # noqa: PLC0415 (torch)

    return CausalSurprisal.load(folder, device=chosen_device(device))


def prior_knowledge(
    sentences: Sequence[Sequence[str]],
    progress: "ProgressReporter",
    *,
    surprisal_model: "CausalSurprisal | None",
    **arguments: Any,
) -> "PriorKnowledge":
    """Return prior knowledge about the sentences; note what is unusual about their scripts."""
    from thresher.entities.priors.scripts import ScriptProfile  # noqa: PLC0415 (regex)

    if surprisal_model is not None:
        arguments["surprisal"] = surprisal_model.surprisal(sentences)
    knowledge = thresher.PriorKnowledge(**arguments)
    writing = ScriptProfile.from_sentences(sentences)
    if writing.is_mixed and not knowledge.priors:
        progress.note(
            f"{writing}: the casing prior is used for words with capitals, and the burstiness "
            "prior for the others"
        )
    if writing.is_unspaced and not has_word_dictionary():
        progress.note(
            "this script has no spaces between words, so every character is treated as a word; "
            "the extra unspaced adds dictionaries: " + install_command("unspaced")
        )
    return knowledge
