"""Find the ends of sentences in a passage: terminators, closing quotes, abbreviations.

Unicode classes define the characters that end a sentence in any script. Whether a full stop does
depends on the words before and after it.
"""

from collections.abc import Iterator

import regex

from thresher.text.segmentation.abbreviations import ANYWHERE, BEFORE_NUMBER, INSIDE, OPENERS
from thresher.text.segmentation.unspaced_scripts import UNSPACED_LETTERS

# `SB=ST` contains "!", "?" and the terminators of all scripts (。 ؟ । ።), `SB=AT` the full stops,
# `SB=CL` quotes and brackets; ። is often typed as ፡፡. All of `SB=ST` but "!" and "?" need no space
# after them. A quote between two spaces after a full stop is a closing one, as in « Oui. » .
_STOP = regex.compile(
    rf"""
    (?<! [.…!?] ) (?: \G | (?<! [.…!?] [ ] ) | (?! \. ) )  # of ". . ." only the first begins one
    (?: (?P<sure> [\p{{SB=ST}}--[!?]] | ፡፡ ) [\p{{SB=ST}}\p{{SB=AT}}…]*+ [\p{{Pe}}\p{{Pf}}"']*+ \s*+
      | (?P<stop> [!?\p{{SB=AT}}…]++ (?: [ ] \. [!?\p{{SB=AT}}…]*+ )*+ )
        (?P<close> [\p{{SB=CL}}--\p{{Ps}}]*+ (?: [ \u00a0\u202f] [\p{{Pe}}\p{{Pf}}"'] (?= \s ) )?+ )
        (?: \p{{Cf}}*+ \s++
          | (?= [{UNSPACED_LETTERS}] )
          | (?<= \p{{Ll}}{{2}} [.!?] ) (?<! [/@] \S{{0,60}} | www\. )   # a forgotten space,
            (?= \p{{Lu}} \p{{Ll}} [^\s/@]{{0,60}}+ (?: \s | $ ) )         # not in an address
        )
    )
    """,
    regex.VERSION1 | regex.VERBOSE,
)
_BEFORE = regex.compile(r"(?r)[\w.]{1,24}")
_AFTER = regex.compile(
    r"""
    [\p{Ps}\p{Pi}"'’¿¡*_\-–—\s]*+
    (?P<mark> [,;:)\]}\p{Sentence_Terminal}…] )?+
    (?P<word> \w*+ )
    """,
    regex.VERBOSE,
)
_INITIALS = regex.compile(r"\p{L}(?:\.\p{L})*+|\p{Lu}\p{Ll}?(?:\.\p{Lu}\p{Ll}?)++")  # J  U.S  Ph.D
_ENUMERATOR = regex.compile(r"\d{1,3}|[IVXLC]+|\p{L}")


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split `text[start:end]` into sentences (start, end), in order and without gaps."""
    for match in _STOP.finditer(text, start, end):
        boundary = match.end()
        if boundary < end and (match["sure"] or _ends_sentence(text, start, match, end)):
            yield start, boundary
            start = boundary
    yield start, end


def _ends_sentence(text: str, start: int, match: regex.Match[str], end: int) -> bool:
    """Return True if the sentence that begins at `start` ends at this match of `_STOP`."""
    stop = match["stop"]
    after = _AFTER.match(text, match.end(), end)
    if after["mark"]:
        return False
    if after["word"][:1].islower() and (match["close"] or stop.endswith(("..", " .", "…"))):
        return False  # "Really?" she said; well... maybe
    if stop != ".":
        return True
    before = _BEFORE.match(text, start, match.start())
    if not before:
        return True
    if before.start() == start and _ENUMERATOR.fullmatch(before[0]):
        return False  # "1. Introduction"
    return _full_stop_ends_sentence(before[0], after["word"])


def _full_stop_ends_sentence(before: str, after: str) -> bool:
    """Return True if a full stop between these two words ends a sentence."""
    key = before.lower()
    if key in INSIDE or (key in BEFORE_NUMBER and after[:1].isdigit()):
        return False
    capital = after[:1].isupper()
    if key in ANYWHERE or (_INITIALS.fullmatch(before) and not _is_short_word(before, capital)):
        return capital and after.lower() in OPENERS
    return True


def _is_short_word(letter: str, capital: bool) -> bool:
    """Return True for "I", and for a lower-case letter before a capital (a word in Yorùbá)."""
    return letter == "I" or (capital and len(letter) == 1 and letter.islower())
