"""A tokenizer in which every frequent word is a token."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from thresher.lm.choices import TokenizerKind
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Ids, Tokenizer, split_words

UNKNOWN = "<unk>"


class WordTokenizer(Tokenizer):
    """Words of a fixed list are tokens, white space is dropped, other words become `UNKNOWN`."""

    kind = TokenizerKind.WORDS
    lossless = False

    def __init__(self, words: Sequence[str]) -> None:
        self.names = [UNKNOWN, *words]
        self._ids = {word: i for i, word in enumerate(self.names)}

    @classmethod
    def learn(cls, text: TextRange, vocabulary: int | None) -> "WordTokenizer":
        """Keep the most frequent words, by default all that occur at least twice."""
        counts: Counter[str] = Counter()
        for block in text.blocks():
            counts.update(split_words(str(block)))
        by_frequency = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        if vocabulary is None:
            return cls([word for word, count in by_frequency if count > 1])
        return cls([word for word, _ in by_frequency[: vocabulary - 1]])

    def encode_pieces(self, text: TextRange) -> Iterator[Ids]:
        """Yield the token ids of the words, 0 for a word outside the vocabulary.

        Blocks of text are segmented as a whole: line wrapping is detected over all paragraphs.
        """
        for block in text.blocks():
            words = split_words(str(block))
            yield np.fromiter((self._ids.get(word, 0) for word in words), np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words, separated by single spaces."""
        return " ".join(self.names[i] for i in ids)

    def _json_content(self) -> list[str]:
        return list(self.names[1:])
