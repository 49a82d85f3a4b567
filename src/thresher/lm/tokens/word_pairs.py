"""Byte-pair encoding within case-folded words, for encoders of words."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tokenizers

from thresher.lm.choices import TokenizerKind
from thresher.lm.tokens.byte_pairs import LEARNING_CHARACTERS, BytePairTokenizer, train_bpe
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Ids, replace_surrogates, split_words
from thresher.text.romanization import has_mixed_scripts, romanize
from thresher.text.sentences import iter_sentences

_MAX_CACHED_WORDS = 1 << 18
_IDS_PER_PIECE = 1 << 16


class WordPairTokenizer(BytePairTokenizer):
    """BPE within words of any script, ignoring case.

    Every word is encoded by itself with a space before it, and a line end follows each sentence.
    So the tokens of a word do not depend on the words beside it or on capital letters.

    spelt: whether syllabic letters are spelt out in Latin letters (`romanize`), as it is done
        for texts that mix syllabic letters with others
    """

    kind = TokenizerKind.WORD_PAIRS
    lossless = False

    def __init__(self, tokenizer: tokenizers.Tokenizer, *, spelt: bool = True) -> None:
        super().__init__(tokenizer)
        self.spelt = spelt
        self._cache: dict[str, list[int]] = {}

    @classmethod
    def learn(cls, text: TextRange, vocabulary: int) -> "WordPairTokenizer":
        """Learn at most `vocabulary` tokens; pairs that occur only once are not merged."""
        content = "".join(text.pieces(limit=LEARNING_CHARACTERS))
        spelt = has_mixed_scripts(content)
        words = (_normalized(word, spelt=spelt) for word in split_words(content))
        return cls(train_bpe(words, vocabulary, split_at_words=False), spelt=spelt)

    @property
    def has_line_end(self) -> bool:
        """Whether there is a token for line ends, as in every tokenizer that `learn` returns."""
        return bool(self._tokenizer.encode("\n").ids)

    @property
    def line_end(self) -> int:
        """The token that follows each sentence."""
        return int(self._tokenizer.encode("\n").ids[0])

    def encode_pieces(self, text: TextRange) -> Iterator[Ids]:
        """Yield the token ids of the words, with a line end after each sentence.

        Blocks of text are segmented as a whole: line wrapping is detected over all paragraphs.
        """
        line_end = self.line_end
        ids: list[int] = []
        for block in text.blocks():
            for sentence in iter_sentences(str(block)):
                for tokens in self.encode_words(sentence.texts):
                    ids += tokens
                ids.append(line_end)
                if len(ids) >= _IDS_PER_PIECE:
                    yield np.array(ids, dtype=np.int64)
                    ids = []
        yield np.array(ids, dtype=np.int64)

    def encode_words(self, words: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each word."""
        if len(self._cache) > _MAX_CACHED_WORDS:
            self._cache = {}  # a new one, because other threads may still read from the old one
        cache = self._cache
        new = list({word for word in words if word not in cache})
        encodings = self._tokenizer.encode_batch_fast(
            [_normalized(word, spelt=self.spelt) for word in new]
        )
        cache.update((word, each.ids) for word, each in zip(new, encodings, strict=True))
        return [cache[word] for word in words]

    def _json_content(self) -> Any:
        return super()._json_content() | {"spelt": self.spelt}


def _normalized(word: str, *, spelt: bool) -> str:
    """Case-fold a word, optionally romanise it, and put a space before it."""
    folded = word.casefold()
    return " " + replace_surrogates(romanize(folded) if spelt else folded)
