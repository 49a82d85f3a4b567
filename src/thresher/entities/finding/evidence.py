"""Compute the inputs of the span model: log-odds, links, and which words can be at an edge.

Gates were trained on words with letters, so they say nothing about numbers. Prepositions ("of")
never have capitals, so their gates do not show whether they are inside a name. Such words get
constants instead:

    "of" and the like                        JOINING_LOG_ODDS, or AFTER_NOUN_LOG_ODDS after a noun
    "of" after two names by themselves       none: "Jane Smith of Leeds" are two names
    "for", "on" and "in" inside names        AFTER_NOUN_LOG_ODDS
    "&" between capitals                     AMPERSAND_LOG_ODDS, as in "Procter & Gamble"
    "'s" before a common noun in a name      AFTER_NOUN_LOG_ODDS, as in "Gulliver's Travels"
    hyphens, and numbers after capitals      NUMBER_LOG_ODDS, as in "COVID-19", "iPhone 17"
    "v.", ", Jr.", "-de-", "War I"           NUMBER_LOG_ODDS
    second syllables of given names          SYLLABLE_LOG_ODDS, as in "Kim Jong-un"
    months after a name                      NUMBER_LOG_ODDS, as in "Theresa May"
    ordinals before capitals                 ORDINAL_LOG_ODDS, as in "45th Grammy Awards"
    titles of works in quotation marks       at least QUOTED_LOG_ODDS

Where case is uninformative, the link gate can raise the log-odds of "of", "for" and "the": to the
mean of its log-odds for the word and its two neighbours, less LINKED_OFFSET, which is about what
the span model adds to them. Where case is informative, this would join "Ingrid Solberg of the
Harbour Museum".

These words cannot be at the edge of a name, except numbers, months, second syllables and the "'s"
of "McDonald's" at its end and ordinals at its start.
Case is evidence for or against a boundary: CASE_LINK. In a language that the model does not know,
it is also evidence how often names go on after the two words (`SharedGates`). A title ("President")
before a name is outside of it and cannot start it; `name_patterns.py` has the exceptions ("Queen
Elizabeth").
"""

from collections.abc import Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.name_patterns import (
    ampersands_in_names,
    first_of_wars,
    hyphenated_particles,
    hyphens_in_names,
    joining_words,
    months_in_names,
    numbers_in_names,
    ordinals_before_names,
    possessives_at_end,
    possessives_in_names,
    prepositions_in_names,
    quoted_titles,
    second_syllables,
    titles_at_start,
    titles_outside,
)
from thresher.entities.finding.signals import Flags, WordSignals, following, previous
from thresher.entities.finding.span_model import ChainInputs, Evidence
from thresher.entities.finding.word_traits import Trait, Traits, have, word_traits
from thresher.entities.priors.casing import Casing
from thresher.text.indexed_sentences import IndexedSentences

JOINING_LOG_ODDS, AFTER_NOUN_LOG_ODDS = -5.5, 0.0
LINKED_OFFSET = 4.0
MAX_NOUN_LOG_ODDS = 2.5  # of a common noun with a capital, no name by itself: "Treaty of Rome"
MAX_OBJECT_LOG_ODDS = 1.5  # the same for the word after a preposition: "Award for Best Picture"
MIN_SURE_LOG_ODDS = 4.0  # of a word that is surely a name by itself
MIN_NAME_LOG_ODDS = 1.0  # of a word that is a name, where case says nothing
CASE_LINK = 1.0
NEUTRAL_LINK = -2.0  # the log-odds at which the link gate says nothing
NUMBER_LOG_ODDS, ORDINAL_LOG_ODDS, QUOTED_LOG_ODDS = 0.0, -2.0, -1.0
AMPERSAND_LOG_ODDS, SYLLABLE_LOG_ODDS = -1.0, 3.0
_NO_LINK, _MAX_LINK = -9.0, 6.0


def chain_inputs(
    sentences: IndexedSentences,
    log_odds: Evidence,
    links: NDArray[np.float32] | None,
    signals: WordSignals,
    not_names: Set[str],
) -> ChainInputs:
    """Return the inputs of the span model for all words.

    log_odds: (words,), from all signals   links: (words,), of the link gate, if there is one
    """
    traits = word_traits(sentences)
    last = _last_words(sentences)
    excluded = sentences.map_words(lambda word: word.casefold() in not_names, np.bool_)
    # Titles are excluded words that can still be in a name ("Queen Elizabeth").
    title, inner = excluded & have(traits, Trait.TITLE), have(traits, Trait.INNER)
    log_odds = np.where(signals.possible | title | inner, log_odds, -np.inf)
    capital = signals.possible & (signals.casing == Casing.CAPITAL)
    common_noun = capital & (log_odds < MAX_NOUN_LOG_ODDS)
    caseless = signals.possible & (signals.casing == Casing.UNINFORMATIVE)
    name = capital | (caseless & (log_odds > MIN_NAME_LOG_ODDS))
    outside = titles_outside(traits, title, name, name & ~common_noun, last)
    starting_title = titles_at_start(traits, title, capital, capital & ~common_noun, last)
    log_odds = _with_prepositions(log_odds, links, traits, signals, last)
    log_odds, parts = _with_name_patterns(log_odds, traits, capital, common_noun, last)
    # Quotation marks decide about the edges of the titles of works, whatever the words are.
    quoted = quoted_titles(sentences, traits)
    log_odds = np.where(quoted.inside, np.maximum(log_odds, QUOTED_LOG_ODDS), log_odds)
    inner = ((inner & ~parts.later) | parts.inner) & ~quoted.inside
    can_start = ~(inner | parts.later | (excluded & ~starting_title))
    outside &= ~quoted.inside
    if signals.in_date is not None:
        outside |= signals.in_date
    return ChainInputs(
        np.where(outside, -np.inf, log_odds),
        _links(links, inner | parts.later | parts.first, last),
        _case_links(signals, inner) + _word_links(signals),
        can_start=np.where(quoted.inside, quoted.first, can_start),
        can_end=np.where(quoted.inside, quoted.last, ~(inner | parts.first)),
    )


class _PartsOfNames(NamedTuple):
    """Words that are only part of a name, by where in the name they can be: (words,) each.

    first: ordinals, and words before the parts that must follow them ("McDonald" before "'s")
    inner: prepositions and other joining words   later: numbers, months and the like
    """

    first: Flags
    inner: Flags
    later: Flags


def _with_name_patterns(
    log_odds: Evidence, traits: Traits, capital: Flags, common_noun: Flags, last: Flags
) -> tuple[Evidence, _PartsOfNames]:
    """Return log-odds with constants for words whose gates say nothing, and these words.

    capital: words with a capital that can be in names   common_noun: the common nouns among them
    """
    ampersand = ampersands_in_names(traits, last)
    log_odds = np.where(ampersand, np.maximum(log_odds, AMPERSAND_LOG_ODDS), log_odds)
    second_syllable = second_syllables(traits, last)
    hyphen = hyphens_in_names(traits) | following(second_syllable)
    sure = log_odds > MIN_SURE_LOG_ODDS
    own_possessive = possessives_at_end(traits, last)
    later = numbers_in_names(traits, hyphen, last) | months_in_names(traits, sure, last)
    later |= own_possessive | first_of_wars(traits, last)
    joining = joining_words(traits, last) | hyphenated_particles(traits, last)
    log_odds = np.where(later | hyphen | joining, NUMBER_LOG_ODDS, log_odds)
    log_odds = np.where(second_syllable, SYLLABLE_LOG_ODDS, log_odds)
    surname = (
        have(traits, Trait.CAPITAL)
        & np.isfinite(log_odds)
        & following(following(following(second_syllable)))
    )
    log_odds = np.where(surname, np.maximum(log_odds, NUMBER_LOG_ODDS), log_odds)
    noun_after = capital & (log_odds < MAX_OBJECT_LOG_ODDS)
    inner = prepositions_in_names(traits, capital, common_noun, noun_after, last)
    inner |= possessives_in_names(traits, capital, capital & ~sure, noun_after, last)
    log_odds = np.where(inner, AFTER_NOUN_LOG_ODDS, log_odds)
    ordinal = ordinals_before_names(traits, capital, last) & ~later
    log_odds = np.where(ordinal, ORDINAL_LOG_ODDS, log_odds)
    first = ordinal | following(own_possessive) | following(following(second_syllable))
    inner |= joining | following(second_syllable)
    later |= second_syllable
    return log_odds, _PartsOfNames(first, inner, later)


def _last_words(sentences: IndexedSentences) -> Flags:
    """Return which words are the last of a sentence; a sentence may be empty: (words,)."""
    last = np.zeros(len(sentences.word_ids), dtype=np.bool_)
    has_words = np.diff(sentences.starts) > 0
    last[sentences.starts[1:][has_words] - 1] = True
    return last


def _with_prepositions(
    log_odds: Evidence,
    links: NDArray[np.float32] | None,
    traits: Traits,
    signals: WordSignals,
    last: Flags,
) -> Evidence:
    """Return the log-odds of all words, changed for "of" and the like."""
    capital = signals.casing == Casing.CAPITAL
    after_noun = previous(capital & (log_odds < MAX_NOUN_LOG_ODDS)) & following(capital)
    sure = (log_odds > MIN_SURE_LOG_ODDS) & ~last
    after_full_name = have(traits, Trait.OF) & previous(sure & previous(sure)) & following(capital)
    least = np.where(after_noun, AFTER_NOUN_LOG_ODDS, JOINING_LOG_ODDS)
    log_odds = np.where(have(traits, Trait.PREPOSITION), np.maximum(log_odds, least), log_odds)
    log_odds = np.where(after_full_name, -np.inf, log_odds)
    if links is None:
        return log_odds
    linked = np.maximum(log_odds, _mean_links(links, last) - LINKED_OFFSET)
    caseless = signals.casing == Casing.UNINFORMATIVE
    return np.where(have(traits, Trait.LINKED) & caseless, linked, log_odds)


def _links(links: NDArray[np.float32] | None, no_gate: Flags, last: Flags) -> Evidence:
    """Return the log-odds of the link gate, neutral beside words that it was not trained on."""
    if links is None:
        own_links = np.full(len(last), NEUTRAL_LINK)
    else:
        own_links = np.where(no_gate | following(no_gate), NEUTRAL_LINK, links)
    own_links[last] = -np.inf
    return own_links


def _mean_links(links: NDArray[np.float32], last: Flags) -> Evidence:
    """Return the mean of the link gate's log-odds for each word and its two neighbours: (words,).

    last: the last words of sentences
    """
    next_links = np.where(last, _NO_LINK, np.clip(links, _NO_LINK, _MAX_LINK))
    return (np.append(_NO_LINK, next_links[:-1]) + next_links) / 2


def _case_links(signals: WordSignals, inner: Flags) -> Evidence:
    """Return the evidence that a word and the next one belong to the same name: (words,).

    It is positive for two capitals, and negative for a capital next to a lower-case word.
    """
    capital = signals.casing == Casing.CAPITAL
    lower = (signals.casing == Casing.LOWER) & ~inner
    differ = (capital & following(lower)) | (lower & following(capital))
    together = np.where(capital & following(capital), CASE_LINK, 0.0)
    return np.where(differ, -CASE_LINK, together)


def _word_links(signals: WordSignals) -> Evidence:
    """Return the evidence against one name of a word that ends names and one that begins them.

    In "Amurka Donald", a name rarely goes on after "Amurka", but nearly always after "Donald", so
    that the second word is the first one of another name: (words,), never positive.
    """
    if signals.shared is None:
        return np.zeros(len(signals.casing))
    goes_on = signals.shared[:, 2].astype(np.float64)
    difference: Evidence = goes_on - np.append(goes_on[1:], 0.0)
    return np.minimum(difference, 0.0)
