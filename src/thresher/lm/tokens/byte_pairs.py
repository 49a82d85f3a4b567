"""Tokens of bytes and of pairs joined from them: of any text, or of words read one by one."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from thresher.lm.tokens.tokenizer import Ids, Tokens, encodable, words_of
from thresher.text.romanization import has_mixed_scripts, romanize
from thresher.text.sentences import segment

_MOST_KNOWN = 1 << 18  # words whose tokens are kept in mind


class BytePairs(Tokens):
    """Bytes, and the pairs of tokens that were joined most often; reads any text."""

    kind = "bpe"
    lossless = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.names = [self._name(token) for token in range(tokenizer.get_vocab_size())]

    @classmethod
    def learn(cls, text: str, vocabulary: int) -> "BytePairs":
        """At most that many tokens; pairs seen only once are not joined."""
        return cls(_joined(_lines(text), vocabulary, whole=False))

    def encode(self, text: str) -> Ids:
        """The tokens of a text. Lines are read apart, so memory stays within bounds."""
        rows = self._tokenizer.encode_batch_fast(list(_lines(text)))
        return np.fromiter((i for row in rows for i in row.ids), np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens; bytes that are no UTF-8 become U+FFFD."""
        return str(self._tokenizer.decode(list(ids)))

    def _name(self, token: int) -> str:
        """Its text; for a part of a character, its bytes as the library writes them."""
        text = self.decode([token])
        return str(self._tokenizer.id_to_token(token)) if "\ufffd" in text else text

    def _content(self) -> Any:
        return json.loads(self._tokenizer.to_str())


class WordPairs(BytePairs):
    """Byte pairs within words of any script, in no case: what an encoder of words reads.

    Every word is read by itself, a space before it, and every sentence ends in a line end: the
    tokens of a word are the same whatever stands beside it and however it is written.

    spelt: letters that stand for syllables are spelt out (`romanize`), as they are where a text
    has other letters too
    """

    kind = "word-pairs"
    lossless = False

    def __init__(self, tokenizer: Tokenizer, *, spelt: bool = True) -> None:
        super().__init__(tokenizer)
        self.spelt = spelt
        self._known: dict[str, list[int]] = {}

    @classmethod
    def learn(cls, text: str, vocabulary: int) -> "WordPairs":
        """At most that many tokens; pairs seen only once are not joined."""
        spelt = has_mixed_scripts(text)
        words = (_readable(word, spelt=spelt) for word in words_of(text))
        return cls(_joined(words, vocabulary, whole=True), spelt=spelt)

    @property
    def line_end(self) -> int:
        """The token between two sentences."""
        return int(self._tokenizer.encode("\n").ids[0])

    def encode(self, text: str) -> Ids:
        """The tokens of a text: of each word in turn, and a line end after each sentence."""
        ids: list[int] = []
        end = self.line_end
        for sentence in segment(text):
            for tokens in self.encode_words(sentence.texts):
                ids += tokens
            ids.append(end)
        return np.array(ids, dtype=np.int64)

    def encode_words(self, words: Sequence[str]) -> list[list[int]]:
        """The tokens of each word."""
        if len(self._known) > _MOST_KNOWN:
            self._known = {}  # the old one stays whole for threads that read from it
        known = self._known
        new = list({word for word in words if word not in known})
        rows = self._tokenizer.encode_batch_fast(
            [_readable(word, spelt=self.spelt) for word in new]
        )
        known.update((word, row.ids) for word, row in zip(new, rows, strict=True))
        return [known[word] for word in words]

    def _content(self) -> Any:
        return super()._content() | {"spelt": self.spelt}


def _joined(pieces: Iterable[str], vocabulary: int, *, whole: bool) -> Tokenizer:
    """A tokenizer of the most frequent pairs; pieces that are not read whole are cut at words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not whole)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(pieces, trainer)
    return tokenizer


def _readable(word: str, *, spelt: bool) -> str:
    """A word in no case, perhaps spelt out, with a space before it."""
    folded = word.casefold()
    return " " + encodable(romanize(folded) if spelt else folded)


def _lines(text: str) -> Iterable[str]:
    """Lines with their ends, so that joining them gives the text back."""
    return map(encodable, text.splitlines(keepends=True))
