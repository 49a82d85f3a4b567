"""Gates of repeated words, shared between all their occurrences in the texts at hand.

Where the model knows little of a language, the gates of single occurrences are unreliable, and the
mean over all occurrences of a word says more about it. The log-odds of a gate become

    (1 − share) · own + share · mean        share = unfamiliarity · (n − 1) / (n − 1 + 3)

for a word with n occurrences. In text of the model's own languages the unfamiliarity is small, and
gates stay nearly as they are.

The occurrences of a word also say whether names go on after it: nearly always after a first name,
rarely after the name of a country. Where such names follow each other, as in "shugaban Amurka
Donald Trump" (president of America), this shows where the second one begins. In a language that
the model hardly knows, a capital says nothing about a word that is often written without one, such
as "rais" (president) in Swahili.

Where case says nothing, as in lower-cased text and at the start of a sentence, the case that the
word has elsewhere counts: with c capitals and l occurrences in lower case, its log-odds change by

    (c · weight of a capital + l · weight of lower case) / (c + l + 1)
"""

from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signal_weights import Scores, gate_log_odds
from thresher.entities.finding.signals import SharedGates
from thresher.entities.priors.casing import Casing, is_word
from thresher.text.indexed_sentences import IndexedSentences

_MAX_UNKNOWN = 0.5  # the fraction of unknown words at which a language is wholly unfamiliar
_PRIOR_OCCURRENCES = 3.0  # other occurrences that together count as much as the own gate
_PRIOR_NAMES = 3.0  # names with the rate of all words, which are added to those of each word
_GOES_ON_WEIGHT = 2.0  # of the log-odds that names go on, in a wholly unfamiliar language
_MAX_CAPITALS = 0.75  # of the occurrences of a word that is written with and without a capital
_MIN_LOWER = 2  # such occurrences without a capital
_FAMILIAR, _WHOLLY_UNFAMILIAR = 0.35, 0.5  # bounds between which `_MAX_CAPITALS` grows from 0
_PRIOR_CASES = 1.0  # uninformative occurrences that are added to those of each word
_NONE = SharedGates(0.0, 0.0)
_DIGITS = 4  # decimals that are kept


def unfamiliarity(sentences: Sequence[Sequence[str]], known: Set[str]) -> float:
    """Return how little of the language of a text is known, between 0 and 1.

    This is min(1, 2 u), where u is the fraction of words with letters that are not known.

    known: words of the languages of a model, case-folded
    """
    words = IndexedSentences.from_sentences(sentences)
    with_letters = words.map_words(is_word, np.bool_)
    if not with_letters.any():
        return 0.0
    unknown = words.map_words(lambda word: word.casefold() not in known, np.bool_)
    return min(1.0, float(unknown[with_letters].mean()) / _MAX_UNKNOWN)


def estimate_shared_gates(
    sentences: Sequence[Sequence[str]], gate_scores: Scores, strength: float
) -> Mapping[str, SharedGates]:
    """Return the share and the mean log-odds of each repeated word, case-folded.

    gate_scores: (words,), P(open)   strength: the `unfamiliarity` of the text
    """
    words = IndexedSentences.from_sentences(sentences).replace_words(str.casefold)
    counts = np.bincount(words.word_ids, minlength=len(words.vocabulary))
    sums = np.bincount(words.word_ids, gate_log_odds(gate_scores), minlength=len(counts))
    return {
        word: SharedGates(
            round(strength * (count - 1) / (count - 1 + _PRIOR_OCCURRENCES), _DIGITS),
            round(log_odds / count, _DIGITS),
        )
        for word, count, log_odds in zip(
            words.vocabulary, counts.tolist(), sums.tolist(), strict=True
        )
        if count > 1 and is_word(word)
    }


def with_cases(
    shared: Mapping[str, SharedGates],
    sentences: Sequence[Sequence[str]],
    casing: NDArray[np.int8],
    strength: float,
) -> Mapping[str, SharedGates]:
    """Return shared gates with how often each word is written with and without a capital.

    Words without shared gates that have been seen with or without a capital are added.

    casing: (words,), a `Casing`   strength: the `unfamiliarity` of the text
    """
    ramp = (strength - _FAMILIAR) / (_WHOLLY_UNFAMILIAR - _FAMILIAR)
    max_capitals = _MAX_CAPITALS * min(max(ramp, 0.0), 1.0)
    words = IndexedSentences.from_sentences(sentences).replace_words(str.casefold)
    capital, lower = (words.word_counts(casing == each) for each in (Casing.CAPITAL, Casing.LOWER))
    seen = capital + lower
    both = (lower >= _MIN_LOWER) & (capital < max_capitals * seen)
    fractions = np.stack([np.where(both, 0, capital), lower]) / (seen + _PRIOR_CASES)
    values = np.stack([both, *fractions], axis=1).round(_DIGITS).tolist()
    of_word = dict(zip(words.vocabulary, values, strict=True))
    cases = {word: each for word, each in of_word.items() if word in shared or any(each)}
    return {word: SharedGates(*shared.get(word, _NONE)[:3], *each) for word, each in cases.items()}


def with_continuations(
    shared: Mapping[str, SharedGates],
    sentences: Sequence[Sequence[str]],
    scores: Scores,
    strength: float,
) -> Mapping[str, SharedGates]:
    """Return shared gates with the log-odds that names go on after each word.

    The rate of a word is estimated from its expected number of occurrences in names, and of those
    where the next word is in a name, too.

    scores: (words,), of being part of a name   strength: the `unfamiliarity` of the text
    """
    words = IndexedSentences.from_sentences(sentences).replace_words(str.casefold)
    sentence, size = words.sentence_of_word(), len(words.vocabulary)
    with_next = np.zeros(len(scores))
    with_next[:-1] = scores[:-1] * scores[1:] * (sentence[1:] == sentence[:-1])
    names = np.bincount(words.word_ids, scores, size)
    going_on = np.bincount(words.word_ids, with_next, size)
    rate = going_on.sum() / max(names.sum(), 1e-6)
    rates = (going_on + _PRIOR_NAMES * rate) / (names + _PRIOR_NAMES)
    log_odds = gate_log_odds(rates) - gate_log_odds(rate)
    weighted = _GOES_ON_WEIGHT * strength * log_odds
    values = dict(zip(words.vocabulary, weighted.tolist(), strict=True))
    return {
        word: each._replace(goes_on=round(values.get(word, 0.0), _DIGITS))
        for word, each in shared.items()
    }
