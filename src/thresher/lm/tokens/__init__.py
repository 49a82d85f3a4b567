"""Tokenizers: characters, byte pairs, byte pairs within words, words."""

from thresher.lazy_exports import lazy_exports

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
