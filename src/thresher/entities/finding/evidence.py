"""What the span model reads of each word: log-odds, links, and which words can be at an edge.

Gates were trained on words with letters, and prepositions ("of") are never capitals, so their
gates say nothing about names that contain them. Such words get constants instead:

    "of" and the like                      JOINING_LOG_ODDS, or AFTER_NOUN_LOG_ODDS
    hyphens, and numbers after capitals    NUMBER_LOG_ODDS, as in "COVID-19", "iPhone 17"

They cannot be at the edge of a name, except numbers at its end. CASE_LINK is the evidence of case
for or against a boundary. Titles ("President") cannot start a
name, but can be inside: "Martin Luther King".
"""

from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signals import Flags, WordSignals
from thresher.entities.finding.span_model import ChainInputs
from thresher.entities.priors.casing import Casing, has_letters, is_capitalised
from thresher.entities.priors.word_lists import ARTICLES, JOINERS, TITLES
from thresher.text.indexed_sentences import IndexedSentences

JOINING_LOG_ODDS, AFTER_NOUN_LOG_ODDS = -5.5, 0.0
MAX_NOUN_LOG_ODDS = 2.5  # of a capital that is no name by itself: "Treaty of Rome"
CASE_LINK = 2.0
NEUTRAL_LINK = -2.0  # the log-odds at which the link gate says nothing
NUMBER_LOG_ODDS = 0.0
_MAX_DIGITS = 3  # of a number that belongs to the capital before it; years have four
_HYPHENS = frozenset("-–")
_INNER = JOINERS | ARTICLES
_PREPOSITIONS = frozenset(word for word in JOINERS if word.isalpha())


def chain_inputs(
    sentences: IndexedSentences,
    log_odds: NDArray[np.float64],
    links: NDArray[np.float32] | None,
    signals: WordSignals,
    not_names: Set[str],
) -> ChainInputs:
    """Return the inputs of the span model for all words.

    log_odds: (words,), from all signals   links: (words,), of the link gate, if there is one
    """
    folded = sentences.replace_words(str.casefold)
    inner = _contains(folded, _INNER)
    title = _contains(folded, TITLES & not_names)
    last = np.zeros(len(inner), dtype=np.bool_)
    last[sentences.starts[1:] - 1] = True
    hyphen = _hyphens_in_names(sentences)
    number = _numbers_in_names(sentences, hyphen, last)
    log_odds = np.where(signals.possible | title | inner, log_odds, -np.inf)
    joining = _contains(folded, _PREPOSITIONS)
    capital = signals.casing == Casing.CAPITAL
    needs_more = _previous(capital & (log_odds < MAX_NOUN_LOG_ODDS)) & _next(capital)
    least = np.where(needs_more, AFTER_NOUN_LOG_ODDS, JOINING_LOG_ODDS)
    log_odds = np.where(joining, np.maximum(log_odds, least), log_odds)
    log_odds = np.where(number | hyphen, NUMBER_LOG_ODDS, log_odds)
    no_gate = inner | number
    if links is None:
        own_links = np.full(len(inner), NEUTRAL_LINK)
    else:
        own_links = np.where(no_gate | _next(no_gate), NEUTRAL_LINK, links)
    own_links[last] = -np.inf
    return ChainInputs(
        log_odds,
        own_links,
        _case_links(signals, inner),
        can_start=~(no_gate | title | _contains(folded, not_names)),
        can_end=~inner,
    )


def _case_links(signals: WordSignals, inner: Flags) -> NDArray[np.float64]:
    """Return the evidence of case: two capitals belong together, a capital and lower case not."""
    capital = signals.casing == Casing.CAPITAL
    lower = (signals.casing == Casing.LOWER) & ~inner
    differ = (capital & _next(lower)) | (lower & _next(capital))
    together = np.where(capital & _next(capital), CASE_LINK, 0.0)
    return np.where(differ, -CASE_LINK, together)


def _hyphens_in_names(sentences: IndexedSentences) -> Flags:
    """Return which hyphens may be inside a name: between a capital and a capital or a number."""
    capital = sentences.map_words(is_capitalised, np.bool_)
    digits = sentences.map_words(_starts_with_digit, np.bool_)
    found: Flags = _contains(sentences, _HYPHENS) & _previous(capital) & _next(capital | digits)
    return found


def _numbers_in_names(sentences: IndexedSentences, hyphen: Flags, last: Flags) -> Flags:
    """Return which numbers may be part of the name before them.

    A number after a hyphen or, if it has at most three digits, after a capital, unless a lower-case
    word follows as in "Paris 20 years ago".

    hyphen: those inside names   last: the last words of sentences
    """
    digits = sentences.map_words(_starts_with_digit, np.bool_)
    short = sentences.map_words(
        lambda word: word.isdecimal() and len(word) <= _MAX_DIGITS, np.bool_
    )
    letters = sentences.map_words(has_letters, np.bool_)
    capital = sentences.map_words(is_capitalised, np.bool_)
    before_lower = _next(letters & ~capital) & ~last
    after_capital = _previous(capital & ~last) & short & ~before_lower
    found: Flags = digits & (_previous(hyphen) | after_capital)
    return found


def _starts_with_digit(word: str) -> bool:
    return word[:1].isdecimal()


def _contains(sentences: IndexedSentences, words: Set[str]) -> Flags:
    return sentences.map_words(words.__contains__, np.bool_)


def _next(flags: Flags) -> Flags:
    return np.append(flags[1:], False)


def _previous(flags: Flags) -> Flags:
    return np.append(False, flags[:-1])
