"""The options of `thresher fit` for prior knowledge about entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import thresher
from thresher.cli.models import chosen_device
from thresher.cli.option_groups import OptionGroup, flag, option, rate_option
from thresher.cli.option_parsers import ExpectedRate, parse_expected_rate, word_list
from thresher.entities.choices import KindsWord, PriorName
from thresher.entities.kinds.examples import KindExamples
from thresher.errors import InputError, install_command
from thresher.text.segmentation.unspaced_scripts import has_word_dictionary

if TYPE_CHECKING:
    from thresher import PriorKnowledge
    from thresher.encoders.surprisal import CausalSurprisal
    from thresher.progress import ProgressReporter


@dataclass(frozen=True, kw_only=True)
class PriorOptions(OptionGroup):
    """Prior knowledge about entities."""

    panel = "Prior knowledge"

    prior: Annotated[
        list[PriorName] | None,
        option(
            f"{', '.join(PriorName)}. Repeat it to combine priors: each word gets its probability "
            "from the first that has one. --dates, --names and --not-names come before them; "
            "--expect and --selected replace them. By default the priors that suit the script of "
            "the text.",
            metavar="NAME",
        ),
    ] = None
    names: Annotated[str | None, option("File of words that are names.", metavar="FILE")] = None
    not_names: Annotated[
        str | None,
        option(
            "File of words that are not names; by default English days, months, titles and "
            "pronouns. The word none stands for an empty list.",
            metavar="FILE",
        ),
    ] = None
    expect: Annotated[
        list[ExpectedRate] | None,
        option(
            "Expected fraction of entities among words that are capitalised, lower, rare or "
            "repeated, for example capitalised=0.85; may be repeated.",
            parser=parse_expected_rate,
            metavar="FEATURE=RATE",
        ),
    ] = None
    selected: Annotated[
        float | None,
        rate_option("Expected fraction of entities among all words, for example 0.12."),
    ] = None
    cldr: Annotated[
        str | None,
        option(
            "Code of a language, for example am for Amharic: the names of territories and "
            "languages in it, from Unicode CLDR, are used as names; needs the extra cldr.",
            metavar="CODE",
        ),
    ] = None
    dates: Annotated[
        bool,
        flag("Also train it to find dates with a year.", "--dates"),
    ] = False
    kinds: Annotated[
        str | None,
        option(
            "TOML or JSON file with example names of each kind. Each kind gets a gate of its own, "
            "which can find entities of this kind that the general gate misses.",
            metavar="FILE",
        ),
    ] = None
    surprisal: Annotated[
        str | None,
        option(
            "Folder of a causal language model that was trained with --tokens word-pairs, for "
            "--prior surprisal.",
            metavar="FOLDER",
        ),
    ] = None

    def check(self) -> None:
        """Raise `InputError` unless the surprisal prior and its language model come together."""
        has_prior = PriorName.SURPRISAL in (self.prior or ())
        if self.surprisal is not None and not has_prior:
            raise InputError("`surprisal` is used by the surprisal prior; add --prior surprisal")
        if has_prior and self.surprisal is None:
            raise InputError(
                "the surprisal prior needs a causal language model; add `surprisal` FOLDER"
            )

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `PriorKnowledge`, without the surprisal of the text."""
        names = word_list(self.names)
        if self.cldr is not None:
            from thresher.entities.priors.word_lists import cldr_names  # noqa: PLC0415 (babel)

            names |= cldr_names(self.cldr)
        arguments: dict[str, Any] = {"names": names, "dates": self.dates}
        if self.not_names is not None:
            none = self.not_names == "none"
            arguments["not_names"] = frozenset() if none else word_list(self.not_names)
        if self.prior is not None:
            arguments["priors"] = self.prior
        if self.expect:
            arguments["rates"] = dict(self.expect)
        if self.selected is not None:
            arguments["selected"] = self.selected
        return arguments

    def read_kinds(self) -> KindExamples | None:
        """Return the example names of kinds, if a file of them is given."""
        if self.kinds is not None and not Path(self.kinds).exists():
            raise InputError(_no_file_of_kinds(self.kinds))
        return None if self.kinds is None else KindExamples.read(self.kinds)


def _no_file_of_kinds(kinds: str) -> str:
    """Return the message for a file of kinds that does not exist, or a word that `find` knows."""
    if kinds == KindsWord.AUTO:
        hint = "thresher kinds discovers kinds and writes such a file"
    elif kinds == KindsWord.NONE:
        hint = "leave out `kinds` for a model without kinds"
    else:
        return f"there is no file of kinds {kinds}; give a file of example names"
    return f"`kinds={kinds}` is only for finding; fit learns kinds from a file of names: {hint}"


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
