"""Patterns of words in names that gates cannot know: prepositions, numbers, titles of works.

Every function returns which words match a pattern, for the words of all sentences: (words,). No
pattern extends over the end of a sentence.
"""

from typing import NamedTuple

import numpy as np

from thresher.entities.finding.signals import Flags, following, previous
from thresher.entities.finding.word_traits import Trait, Traits, have
from thresher.text.indexed_sentences import IndexedSentences

_MAX_TITLE = 8  # words of the title of a work


def hyphens_in_names(traits: Traits) -> Flags:
    """Return which hyphens may be inside a name: between a capital and a capital or a number."""
    capital = have(traits, Trait.CAPITAL)
    capital_or_number = have(traits, Trait.CAPITAL | Trait.DIGITS)
    return have(traits, Trait.HYPHEN) & previous(capital) & following(capital_or_number)


def second_syllables(traits: Traits, last: Flags) -> Flags:
    """Return the second syllables of hyphenated given names: "Ban Ki-moon", "Kim Jong-un".

    Both parts are syllables as Korean and Chinese names are romanised, and a capital is before or
    after them ("Jae-in Moon").
    """
    inside, capital = ~last, have(traits, Trait.CAPITAL)
    syllable = have(traits, Trait.SYLLABLE)
    first = syllable & capital & inside
    hyphen = have(traits, Trait.HYPHEN) & inside & previous(first)
    after_surname = previous(previous(previous(capital & inside) & first) & hyphen)
    second = syllable & ~capital & previous(hyphen)
    return second & (after_surname | (inside & following(capital)))


def hyphenated_particles(traits: Traits, last: Flags) -> Flags:
    """Return the words inside hyphenated places: "-de-" in "Saint-Rémy-de-Provence"."""
    inside, capital = ~last, have(traits, Trait.CAPITAL)
    hyphen = have(traits, Trait.HYPHEN) & inside
    before = hyphen & previous(capital & inside)
    particle = have(traits, Trait.PARTICLE_OF_PLACE) & inside & previous(before)
    particle &= following(hyphen & following(capital))
    return particle | previous(particle) | following(particle)


def possessives_at_end(traits: Traits, last: Flags) -> Flags:
    """Return which "'s" end a name: "McDonald's"."""
    return have(traits, Trait.POSSESSIVE) & previous(have(traits, Trait.NAMED_WITH_S) & ~last)


def possessives_in_names(
    traits: Traits, capital: Flags, possessor: Flags, noun: Flags, last: Flags
) -> Flags:
    """Return which "'s" are inside a name: between a capital and a common noun with a capital.

    "Gulliver's Travels", but not "Apple's iPhone": the noun is no name by itself. After a sure
    name, only before some nouns: "Lloyd's Register", but not "Germany's Parliament".

    capital: words with a capital that can be in names   possessor: those that are no sure names
    noun: the common nouns among them
    """
    after_possessor = previous(possessor & ~last) & following(noun & ~have(traits, Trait.TITLE))
    after_name = previous(capital & ~last) & following(noun & have(traits, Trait.POSSESSED))
    return have(traits, Trait.POSSESSIVE) & ~last & (after_possessor | after_name)


def first_of_wars(traits: Traits, last: Flags) -> Flags:
    """Return which "I" are numerals: "World War I"."""
    return have(traits, Trait.LETTER_I) & previous(have(traits, Trait.WAR) & ~last)


def joining_words(traits: Traits, last: Flags) -> Flags:
    """Return which other words join two capitals.

    "v." in the names of court cases ("Roe v. Wade"), a comma before "Jr." and "Inc.", and "and" in
    some well-known names ("Trinidad and Tobago").
    """
    inside, capital = ~last, have(traits, Trait.CAPITAL)
    between = inside & previous(capital & inside) & following(capital)
    first, second = have(traits, Trait.FIRST_OF_PAIR), have(traits, Trait.SECOND_OF_PAIR)
    pair = have(traits, Trait.LETTERS) & ~capital & previous(first) & following(second)
    suffix = have(traits, Trait.COMMA) & following(have(traits, Trait.SUFFIX))
    return between & (have(traits, Trait.VERSUS) | suffix | pair)


def ampersands_in_names(traits: Traits, last: Flags) -> Flags:
    """Return which "&" may be inside a name: between two capitals ("Procter & Gamble").

    Not between two names of several words: "Jane Smith & Peter Jones" are two names.
    """
    capital = have(traits, Trait.CAPITAL)
    two_capitals = capital & previous(capital & ~last)  # the last two words before
    full_names = previous(two_capitals) & following(capital & ~last & following(capital))
    between = previous(capital & ~last) & following(capital) & ~last
    return have(traits, Trait.AMPERSAND) & between & ~full_names


def numbers_in_names(traits: Traits, hyphen: Flags, last: Flags) -> Flags:
    """Return which numbers may be part of the name before them.

    These are numbers after a hyphen ("COVID-19"), and numbers of at most three digits after a
    capital ("iPhone 17"), unless a word follows that they may count ("Paris 20 years ago") or a
    hyphen ("Arsenal 3-1").

    hyphen: those inside names   last: the last words of sentences
    """
    capital = have(traits, Trait.CAPITAL)
    counted = have(traits, Trait.LETTERS) & ~capital & ~have(traits, Trait.NOT_COUNTED)
    before_counted = following(counted) & ~last
    before_score = following(have(traits, Trait.HYPHEN)) & ~last
    after_capital = previous(capital & ~last) & have(traits, Trait.SHORT_NUMBER)
    after_capital &= ~(before_counted | before_score)
    return have(traits, Trait.DIGITS) & (previous(hyphen) | after_capital)


def months_in_names(traits: Traits, sure: Flags, last: Flags) -> Flags:
    """Return which months are surnames: "Theresa May", but not "Paris May 5".

    sure: words that are surely names by themselves
    """
    after_name = previous(sure & have(traits, Trait.CAPITAL) & ~last)
    before_number = following(have(traits, Trait.DIGITS)) & ~last
    return have(traits, Trait.MONTH_NAME) & after_name & ~before_number


def ordinals_before_names(traits: Traits, capital: Flags, last: Flags) -> Flags:
    """Return which ordinals may start a name: "2nd Battle of Fredericksburg".

    capital: words with a capital that can be in names
    """
    return have(traits, Trait.ORDINAL) & following(capital) & ~last


def prepositions_in_names(
    traits: Traits, capital: Flags, noun: Flags, noun_after: Flags, last: Flags
) -> Flags:
    """Return which "for", "on", "in" and "the" after them are inside a name.

    The word after the preposition must be a common noun with a capital. It is no name by itself, so
    it has its capital because it is part of a longer name: "Association for the Advancement of
    Science", "Academy Award for Best Picture". Before "on" and "in" there must be such a noun, too:
    "Council on Foreign Relations".

    capital: words with a capital that can be in names
    noun, noun_after: the common nouns among them, before and after a preposition
    """
    inside = ~last
    after_name = (have(traits, Trait.FOR) & previous(capital)) | (
        have(traits, Trait.ON_OR_IN) & previous(noun)
    )
    after_name &= previous(inside) & inside
    direct = after_name & following(noun_after)
    article = following(have(traits, Trait.THE) & inside & following(noun_after))
    with_article = after_name & article
    return direct | with_article | previous(with_article)


def titles_outside(traits: Traits, title: Flags, name: Flags, sure: Flags, last: Flags) -> Flags:
    """Return which titles are not part of a name because the next word is in one.

    "Arkansas Governor Bill Clinton" are two names. "General" is outside before a sure name
    ("Attorney General William Barr") and can be part of one otherwise ("General Motors").

    title: words that the model knows as titles   name, sure: words probably, surely in a name
    """
    role, rank = have(traits, Trait.ROLE), have(traits, Trait.RANK)
    before_name = np.where(role, following(name), ~rank & following(sure))
    found: Flags = title & before_name & ~last
    return found


def titles_at_start(
    traits: Traits, title: Flags, capital: Flags, sure: Flags, last: Flags
) -> Flags:
    """Return which titles can start a name: "Queen Elizabeth", "Prince Edward Island".

    A rank before a capital; a title such as "General" before a capital that is no sure name.

    title: as in `titles_outside`   capital: words with a capital that can be in names
    """
    role, rank = have(traits, Trait.ROLE), have(traits, Trait.RANK)
    before_name = np.where(rank, following(capital), ~role & following(capital & ~sure))
    found: Flags = title & have(traits, Trait.CAPITAL) & before_name & ~last
    return found


class QuotedTitles(NamedTuple):
    """The words of titles of works in quotation marks, and the first and last ones: (words,)."""

    inside: Flags
    first: Flags
    last: Flags


def quoted_titles(sentences: IndexedSentences, traits: Traits) -> QuotedTitles:
    """Return the titles of works: two to eight words in quotation marks, written as titles are.

    They start and end with a capital, and only short words have none: “A Tale of Two Cities”.
    """
    found = QuotedTitles(*(np.zeros(len(traits), dtype=np.bool_) for _ in range(3)))
    marks = np.flatnonzero(have(traits, Trait.QUOTATION_MARK))
    if len(marks) < 2:
        return found
    sentence = sentences.sentence_of_word()[marks]
    first, end = marks[:-1] + 1, marks[1:]
    size = end - first
    capital = have(traits, Trait.CAPITAL)
    fits = (sentence[:-1] == sentence[1:]) & (size >= 2) & (size <= _MAX_TITLE)
    fits &= capital[first] & capital[end - 1]
    allowed = np.append(0, np.cumsum(have(traits, Trait.IN_TITLES)))
    fits &= allowed[end] - allowed[first] == size
    closed_at = -1
    for low, high in zip(first[fits].tolist(), end[fits].tolist(), strict=True):
        if low - 1 == closed_at:  # this mark closed the title before
            continue
        found.inside[low:high] = True
        found.first[low] = found.last[high - 1] = True
        closed_at = high
    return found
