"""What the span model reads of each word: log-odds, links, and which words can be at an edge.

Gates were trained on words with letters, and prepositions ("of") are never capitals, so their
gates say nothing about names that contain them. Such words get constants instead:

    "of" and the like                      JOINING_LOG_ODDS, or AFTER_NOUN_LOG_ODDS
    hyphens, and numbers after capitals    NUMBER_LOG_ODDS, as in "COVID-19", "iPhone 17"

or, if that is more and case says nothing, what the link gate says about "of", "for" and "the" and
their neighbours: the mean of its two log-odds, less LINKED_OFFSET, which is about what the span
model adds to them. With case, it would join "Ingrid Solberg of the Harbour Museum".

They cannot be at the edge of a name, except numbers at its end. CASE_LINK is the evidence of case
for or against a boundary. Titles ("President") cannot start a
name, but can be inside: "Martin Luther King".
"""

from collections.abc import Set
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signals import Flags, WordSignals
from thresher.entities.finding.span_model import ChainInputs
from thresher.entities.priors.casing import Casing, has_letters, is_capitalised
from thresher.entities.priors.word_lists import ARTICLES, JOINERS, TITLES
from thresher.text.indexed_sentences import IndexedSentences

JOINING_LOG_ODDS, AFTER_NOUN_LOG_ODDS = -5.5, 0.0
LINKED_OFFSET = 4.0
MAX_NOUN_LOG_ODDS = 2.5  # of a capital that is no name by itself: "Treaty of Rome"
CASE_LINK = 1.0
NEUTRAL_LINK = -2.0  # the log-odds at which the link gate says nothing
NUMBER_LOG_ODDS = 0.0
_MAX_DIGITS = 3  # of a number that belongs to the capital before it; years have four
_HYPHENS = frozenset("-–")
_INNER = JOINERS | ARTICLES | {"for"}
_PREPOSITIONS = frozenset(word for word in JOINERS if word.isalpha())
_LINKED = _PREPOSITIONS | {"for", "the"}
_NO_LINK, _MAX_LINK = -9.0, 6.0
_CACHE_SIZE = 1 << 16  # words; few words of running text are new

Traits = NDArray[np.int16]
_INSIDE, _TITLE, _PREPOSITION, _LINKING, _HYPHEN, _CAPITAL, _DIGITS, _SHORT, _LETTERS = (
    1 << bit for bit in range(9)
)


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
    traits = sentences.map_words(_traits, np.int16)
    excluded = sentences.map_words(lambda word: word.casefold() in not_names, np.bool_)
    inner = (traits & _INSIDE) != 0
    title = excluded & ((traits & _TITLE) != 0)
    last = np.zeros(len(inner), dtype=np.bool_)
    last[sentences.starts[1:] - 1] = True
    hyphen = _hyphens_in_names(traits)
    number = _numbers_in_names(traits, hyphen, last)
    log_odds = np.where(signals.possible | title | inner, log_odds, -np.inf)
    joining = (traits & _PREPOSITION) != 0
    capital = signals.casing == Casing.CAPITAL
    needs_more = _previous(capital & (log_odds < MAX_NOUN_LOG_ODDS)) & _next(capital)
    least = np.where(needs_more, AFTER_NOUN_LOG_ODDS, JOINING_LOG_ODDS)
    log_odds = np.where(joining, np.maximum(log_odds, least), log_odds)
    if links is not None:
        linked = np.maximum(log_odds, _mean_links(links, last) - LINKED_OFFSET)
        caseless = signals.casing == Casing.UNINFORMATIVE
        log_odds = np.where(((traits & _LINKING) != 0) & caseless, linked, log_odds)
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
        can_start=~(no_gate | excluded),
        can_end=~inner,
    )


def _mean_links(links: NDArray[np.float32], last: Flags) -> NDArray[np.float64]:
    """Return the mean of the link gate's log-odds for each word and its two neighbours: (words,).

    last: the last words of sentences
    """
    following = np.where(last, _NO_LINK, np.clip(links, _NO_LINK, _MAX_LINK))
    return (np.append(_NO_LINK, following[:-1]) + following) / 2


def _case_links(signals: WordSignals, inner: Flags) -> NDArray[np.float64]:
    """Return the evidence of case: two capitals belong together, a capital and lower case not."""
    capital = signals.casing == Casing.CAPITAL
    lower = (signals.casing == Casing.LOWER) & ~inner
    differ = (capital & _next(lower)) | (lower & _next(capital))
    together = np.where(capital & _next(capital), CASE_LINK, 0.0)
    return np.where(differ, -CASE_LINK, together)


def _hyphens_in_names(traits: Traits) -> Flags:
    """Return which hyphens may be inside a name: between a capital and a capital or a number."""
    capital, capital_or_number = (traits & _CAPITAL) != 0, (traits & (_CAPITAL | _DIGITS)) != 0
    found: Flags = ((traits & _HYPHEN) != 0) & _previous(capital) & _next(capital_or_number)
    return found


def _numbers_in_names(traits: Traits, hyphen: Flags, last: Flags) -> Flags:
    """Return which numbers may be part of the name before them.

    A number after a hyphen or, if it has at most three digits, after a capital, unless a lower-case
    word follows as in "Paris 20 years ago".

    hyphen: those inside names   last: the last words of sentences
    """
    digits, short, letters, capital = (
        (traits & each) != 0 for each in (_DIGITS, _SHORT, _LETTERS, _CAPITAL)
    )
    before_lower = _next(letters & ~capital) & ~last
    after_capital = _previous(capital & ~last) & short & ~before_lower
    found: Flags = digits & (_previous(hyphen) | after_capital)
    return found


@lru_cache(_CACHE_SIZE)
def _traits(word: str) -> int:
    """Return what `chain_inputs` needs to know of a word, as bits."""
    folded = word.casefold()
    traits = {
        _INSIDE: folded in _INNER,
        _TITLE: folded in TITLES,
        _PREPOSITION: folded in _PREPOSITIONS,
        _LINKING: folded in _LINKED,
        _HYPHEN: word in _HYPHENS,
        _CAPITAL: is_capitalised(word),
        _DIGITS: word[:1].isdecimal(),
        _SHORT: word.isdecimal() and len(word) <= _MAX_DIGITS,
        _LETTERS: has_letters(word),
    }
    return sum(bit for bit, present in traits.items() if present)


def _next(flags: Flags) -> Flags:
    return np.append(flags[1:], False)


def _previous(flags: Flags) -> Flags:
    return np.append(False, flags[:-1])
