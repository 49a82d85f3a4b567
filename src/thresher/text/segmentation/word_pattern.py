"""What a word looks like: one pattern over Unicode properties, in the conventions of treebanks.

    Curie's → Curie 's        don't → do n't        Jean-Paul → Jean - Paul
    Mr. U.S. e.g. J.          1,234.56  10:30  3.5 %        ... -- one word each
    https://a.b/c  a@b.org  @handle  #tag  👩‍🔬 one word each

White space never lies inside a word, so a chunk between two spaces is split without a look at its
neighbours, and the answer is remembered: few chunks are new, and equal words share one string.
"""

from collections.abc import Callable

import regex

from thresher.text.segmentation.abbreviations import ANYWHERE, INSIDE
from thresher.text.segmentation.unspaced_scripts import LETTERS as UNSPACED
from thresher.text.segmentation.unspaced_scripts import words_of_run

LONGEST = 500  # characters; beyond it (encoded data, a stuck key) a word is cut in pieces
_LONGEST_REMEMBERED, _MOST_REMEMBERED = 40, 1 << 16  # characters of a chunk, chunks

# Letters, marks, digits and "_" of spaced scripts, and invisible characters (a soft hyphen, a mark
# of direction, a zero-width space), which go with the letters they touch.
_LETTER = rf"[\w\p{{Cf}}--[{UNSPACED}]]"
_CLITIC = r"['’](?i:s|m|d|re|ve|ll)(?!\w)"
_PATH = r"""[^\s<>"“”]*[^\s<>"“”.,;:!?'’)\]}*]"""  # the stop after an address is not part of it

# Tried in order at the first character that belongs to no word yet, the common ones first. Repeats
# are possessive or bounded, so the time is linear in the chunk.
_WORD = regex.compile(
    rf"""
      (?!\d) {_LETTER}++ (?! [\w.:'’@/+\-] )                  # letters that nothing can extend
    | (?P<unspaced> [{UNSPACED}]++ )
    | [@\#] [\p{{L}}_] \w*+
    | (?<= [\w.] ) {_CLITIC}
    | (?= \p{{Extended_Pictographic}} ) \X | \p{{RI}}{{1,2}}+     # an emoji, a flag
    | (?P<mark> [\p{{P}}\p{{S}}--_] ) (?P=mark)*+ \p{{M}}*+    # ...  --  !!!
    | (?i: (?: https?:// | ftp:// | www\. ) {_PATH} )
    | (?i: (?: [a-z\d-]{{1,63}}+ \. ){{1,9}}+ [a-z]{{2,24}}+ / (?: {_PATH} )? )
    | \w [\w.+-]{{0,63}}+ @ [\w-]++ (?: \. [\w-]++ )++        # e-mail address
    | \p{{L}} (?: \. \p{{L}} )++ \.? (?!\w)                   # U.S.  e.g.  a.m
    | (?: (?: \p{{L}} | \p{{Lu}}\p{{Ll}} ) \. ){{2,}}+        # Ph.D.  the J.K. of J.K.Rowling
    | (?i: \L<abbreviations> | \p{{L}} \p{{M}}*+ ) \.         # Mr.  etc.  J.
    | \d++ (?: [.,:/٫٬] \d++ )*+ {_LETTER}*+                  # 1,234.56  10:30  5th
    | (?<= \w ) (?i: n['’]t ) (?!\w)
    | \p{{L}}{{1,8}}? (?= (?i: n['’]t ) (?!\w) )              # the "do" of "don't"
    | {_LETTER}++ (?: (?: (?! {_CLITIC} ) ['’]                # O'Neill
                        | \. (?= [\p{{Ll}}\d] )               # node.js
                      ) {_LETTER}++ )*+
    | .
    """,
    regex.VERSION1 | regex.VERBOSE | regex.DOTALL,
    abbreviations=sorted(INSIDE | ANYWHERE),
)


def _words(chunk: str) -> tuple[str, ...]:
    words: list[str] = []
    for match in _WORD.finditer(chunk):
        word = match.group()
        if match.lastgroup == "unspaced":
            words += words_of_run(word)
        elif len(word) > LONGEST:
            words += (word[i : i + LONGEST] for i in range(0, len(word), LONGEST))
        else:
            words.append(word)
    return tuple(words)


class _Remembered(dict[str, tuple[str, ...]]):
    """The words of chunks; all are forgotten when there would be too many."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        words = _words(chunk)
        if len(chunk) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[chunk] = words
        return words


words_of_chunk: Callable[[str], tuple[str, ...]] = _Remembered().__getitem__
"""The words of a piece of text without white space: `"".join(words_of_chunk(c)) == c`."""
