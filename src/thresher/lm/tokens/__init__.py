"""Tokenizers: characters, byte pairs, byte pairs within words, words."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.lm.tokens.byte_pairs import BytePairTokenizer
    from thresher.lm.tokens.characters import CharacterTokenizer
    from thresher.lm.tokens.counts import token_counts
    from thresher.lm.tokens.factory import learn_tokenizer, tokenizer_from_json
    from thresher.lm.tokens.tokenizer import Tokenizer
    from thresher.lm.tokens.word_pairs import WordPairTokenizer
    from thresher.lm.tokens.words import WordTokenizer

__all__ = [
    "BytePairTokenizer",
    "CharacterTokenizer",
    "Tokenizer",
    "WordPairTokenizer",
    "WordTokenizer",
    "learn_tokenizer",
    "token_counts",
    "tokenizer_from_json",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BytePairTokenizer": "thresher.lm.tokens.byte_pairs",
        "CharacterTokenizer": "thresher.lm.tokens.characters",
        "Tokenizer": "thresher.lm.tokens.tokenizer",
        "WordPairTokenizer": "thresher.lm.tokens.word_pairs",
        "WordTokenizer": "thresher.lm.tokens.words",
        "learn_tokenizer": "thresher.lm.tokens.factory",
        "token_counts": "thresher.lm.tokens.counts",
        "tokenizer_from_json": "thresher.lm.tokens.factory",
    },
    renamed={
        "BytePairs": "BytePairTokenizer",
        "Characters": "CharacterTokenizer",
        "Tokens": "Tokenizer",
        "WordPairs": "WordPairTokenizer",
        "Words": "WordTokenizer",
        "learn_tokens": "learn_tokenizer",
        "tokens_from_json": "tokenizer_from_json",
    },
)
