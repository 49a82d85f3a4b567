"""Tokenizers of words, read from JSON, as functions; without torch."""

from collections.abc import Callable, Sequence

from thresher.encoders.subword_ids import SubwordTokenizer, flatten_ids
from thresher.encoders.token_windows import IntArray
from thresher.lm.tokens.factory import tokenizer_from_json
from thresher.lm.tokens.library_tokenizers import read_library_tokenizer
from thresher.lm.tokens.word_pairs import WordPairTokenizer

TokenizeWords = Callable[[Sequence[str]], tuple[IntArray, IntArray]]
"""From words to the ids of all tokens, (tokens,), and the number of tokens per word, (words,)."""


def subword_tokenizer(content: str) -> TokenizeWords:
    """Read JSON of the tokenizers library, for case-folded words."""
    return SubwordTokenizer(read_library_tokenizer(content)).ids


def word_pair_tokenizer(content: str) -> TokenizeWords:
    """Read JSON of a `WordPairTokenizer`; raise ValueError if it is another tokenizer."""
    tokenizer = tokenizer_from_json(content)
    if not isinstance(tokenizer, WordPairTokenizer):
        raise ValueError(f"the tokenizer must have word pairs, not {tokenizer.kind}")
    return lambda words: flatten_ids(tokenizer.encode_words(words))
