"""Tokenizers: characters, byte pairs, byte pairs within words, words."""

from thresher.lazy_exports import lazy_exports

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.lm.tokens.byte_pairs": ["BytePairTokenizer"],
        "thresher.lm.tokens.characters": ["CharacterTokenizer"],
        "thresher.lm.tokens.counts": ["token_counts"],
        "thresher.lm.tokens.factory": ["learn_tokenizer", "tokenizer_from_json"],
        "thresher.lm.tokens.tokenizer": ["Tokenizer"],
        "thresher.lm.tokens.word_pairs": ["WordPairTokenizer"],
        "thresher.lm.tokens.words": ["WordTokenizer"],
    },
)
