"""Split text without white space into words, with one pattern and the conventions of treebanks.

    Curie's → Curie 's        don't → do n't        Jean-Paul → Jean - Paul
    Mr. U.S. e.g. J.          1,234.56  10:30  3.5 %        ... -- one word each
    https://a.b/c  a@b.org  @handle  #tag  👩‍🔬 one word each

Words do not contain white space, so each chunk between two spaces is split on its own and the
result is cached: most chunks occur many times, and equal words share one string.
"""

from collections.abc import Callable

import regex

from thresher.text.segmentation.abbreviations import ANYWHERE, INSIDE
from thresher.text.segmentation.unspaced_scripts import UNSPACED_LETTERS, split_unspaced

MAX_WORD_LENGTH = 500  # characters; longer words (such as encoded data) are cut in pieces
_MAX_CACHED_LENGTH = 40  # characters of a chunk
_MAX_CACHED_CHUNKS = 1 << 16

# Letters, marks, digits and "_" of spaced scripts, and invisible characters (soft hyphen, direction
# mark, zero-width space), which belong to the letters beside them.
_LETTER = rf"[\w\p{{Cf}}--[{UNSPACED_LETTERS}]]"
_CLITIC = r"['’](?i:s|m|d|re|ve|ll)(?!\w)"
_PATH = r"""[^\s<>"“”]*[^\s<>"“”.,;:!?'’)\]}*]"""  # without punctuation after the address

# Alternatives are tried in order, so the most common come first. Repetitions are possessive or
# bounded, so the time is linear in the length of the chunk.
_WORD = regex.compile(
    rf"""
      (?!\d) {_LETTER}++ (?! [\w.:'’@/+\-] )                  # letters that nothing can extend
    | (?P<unspaced> [{UNSPACED_LETTERS}]++ )
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


def _split(chunk: str) -> tuple[str, ...]:
    words: list[str] = []
    for match in _WORD.finditer(chunk):
        word = match.group()
        if match.lastgroup == "unspaced":
            words += split_unspaced(word)
        elif len(word) > MAX_WORD_LENGTH:
            words += (word[i : i + MAX_WORD_LENGTH] for i in range(0, len(word), MAX_WORD_LENGTH))
        else:
            words.append(word)
    return tuple(words)


class _Cache(dict[str, tuple[str, ...]]):
    """The words of each chunk; the cache is cleared when it is full."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        words = _split(chunk)
        if len(chunk) <= _MAX_CACHED_LENGTH:
            if len(self) >= _MAX_CACHED_CHUNKS:
                self.clear()
            self[chunk] = words
        return words


split_chunk: Callable[[str], tuple[str, ...]] = _Cache().__getitem__
"""Split a chunk of text without white space into words: `"".join(split_chunk(c)) == c`."""
