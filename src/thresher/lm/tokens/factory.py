"""Learn a tokenizer from a text, or read a saved one."""

import json

from thresher.errors import InputError
from thresher.lm.choices import PretrainedKind, TokenizerKind
from thresher.lm.tokens.byte_pairs import BytePairTokenizer
from thresher.lm.tokens.characters import CharacterTokenizer
from thresher.lm.tokens.library_tokenizers import read_library_tokenizer, require_ids_below
from thresher.lm.tokens.text_file import TextFile
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.lm.tokens.word_pairs import WordPairTokenizer
from thresher.lm.tokens.words import WordTokenizer
from thresher.untrusted_files import parse_json
from thresher.validation import require_choice, require_number

DEFAULT_BYTE_PAIRS = 8192  # tokens of a byte-level vocabulary, or fewer if the text is too short

_BYTES = 256
_MIN_VOCABULARY = {
    TokenizerKind.BPE: _BYTES,
    TokenizerKind.WORD_PAIRS: _BYTES,
    TokenizerKind.WORDS: 2,
}


def learn_tokenizer(
    kind: str, text: str | TextFile | TextRange, *, vocabulary: int | None = None
) -> Tokenizer:
    """Learn a tokenizer from a text.

    kind: a `TokenizerKind`
    vocabulary: the number of tokens; by default every character, `DEFAULT_BYTE_PAIRS`, or every
        word that occurs at least twice
    """
    require_choice("tokenizer", kind, TokenizerKind)
    text = TextRange.of(text)
    if text.is_blank():
        raise InputError("cannot learn a tokenizer: the text is empty or blank")
    if kind == TokenizerKind.CHARACTERS:
        if vocabulary is not None:
            raise InputError(
                "`vocabulary` cannot be chosen for characters: every character is a token"
            )
        return CharacterTokenizer.learn(text)
    minimum = _MIN_VOCABULARY[TokenizerKind(kind)]
    if vocabulary is not None:
        require_number("vocabulary", vocabulary, at_least=minimum)
    tokenizer = _learn(kind, text, vocabulary)
    if tokenizer.vocabulary < 2:
        raise InputError(
            "no word occurs twice; set `vocabulary`, choose another tokenizer, or give more text"
        )
    if vocabulary is not None and tokenizer.vocabulary < vocabulary:
        raise InputError(
            f"`vocabulary` is {vocabulary}, but the text only gives {tokenizer.vocabulary} tokens "
            f"of kind {kind}"
        )
    return tokenizer


def _learn(kind: str, text: TextRange, vocabulary: int | None) -> Tokenizer:
    if kind == TokenizerKind.BPE:
        return BytePairTokenizer.learn(text, vocabulary or DEFAULT_BYTE_PAIRS)
    if kind == TokenizerKind.WORD_PAIRS:
        return WordPairTokenizer.learn(text, vocabulary or DEFAULT_BYTE_PAIRS)
    return WordTokenizer.learn(text, vocabulary)


def tokenizer_from_json(content: str) -> Tokenizer:
    """Read what `Tokenizer.to_json` returned."""
    try:
        saved = parse_json(content.encode(), "its content")
        if saved["kind"] == PretrainedKind.PRETRAINED:
            from thresher.lm.pretrained.tokenizers import PretrainedTokenizer  # noqa: PLC0415

            return PretrainedTokenizer.from_json(saved["tokens"])
        kind, tokens = TokenizerKind(saved["kind"]), saved["tokens"]
        if kind == TokenizerKind.CHARACTERS:
            return CharacterTokenizer(tokens)
        if kind == TokenizerKind.WORDS:
            return WordTokenizer(list(map(str, tokens)))
        spelt = tokens.pop("spelt", True)
        byte_pairs = read_library_tokenizer(json.dumps(tokens))
        require_ids_below(byte_pairs.get_vocab_size(), byte_pairs)
        if kind == TokenizerKind.WORD_PAIRS:
            return WordPairTokenizer(byte_pairs, spelt=spelt)
        return BytePairTokenizer(byte_pairs)
    except Exception as error:  # the tokenizers library raises Exception itself
        raise InputError(f"cannot read the tokenizer: {error}") from error
