"""Text as numbers: characters, byte-level pairs of any number, pairs within words, or words."""

import json

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.tokens.byte_pairs import BytePairs, WordPairs
from thresher.lm.tokens.tokenizer import UNKNOWN, Characters, Ids, Tokens, Words

__all__ = [
    "DEFAULT_PAIRS",
    "KINDS",
    "UNKNOWN",
    "BytePairs",
    "Characters",
    "Ids",
    "Tokens",
    "WordPairs",
    "Words",
    "learn_tokens",
    "token_counts",
    "tokens_from_json",
]

DEFAULT_PAIRS = 8192  # tokens of a byte-level vocabulary, where the data can give as many
_BYTES = 256

_PAIRS: dict[str, type[BytePairs]] = {each.kind: each for each in (BytePairs, WordPairs)}
KINDS = (Characters.kind, *_PAIRS, Words.kind)


def learn_tokens(kind: str, text: str, *, vocabulary: int | None = None) -> Tokens:
    """Tokens of one of the `KINDS`, learned from a text.

    vocabulary: how many; by default every character, `DEFAULT_PAIRS` where the data can give as
    many, every word seen twice
    """
    if kind not in KINDS:
        raise _unknown(kind)
    if not text.strip():
        raise InputError("there is no text to learn tokens from: it is empty or blank")
    if kind == Characters.kind:
        if vocabulary is not None:
            raise InputError("characters are counted, not chosen: leave the vocabulary out")
        return Characters(text)
    least = _BYTES if kind in _PAIRS else 2
    if vocabulary is not None and vocabulary < least:
        raise InputError(f"a vocabulary of {kind} has at least {least} tokens, got {vocabulary}")
    learned: Tokens = (
        _PAIRS[kind].learn(text, vocabulary or DEFAULT_PAIRS)
        if kind in _PAIRS
        else Words.learn(text, vocabulary)
    )
    if learned.vocabulary < 2:
        raise InputError("no word occurs twice; state a vocabulary, or choose other tokens")
    if vocabulary is not None and learned.vocabulary < vocabulary:
        raise InputError(
            f"a vocabulary of {vocabulary} is larger than the data: its {kind} give at most "
            f"{learned.vocabulary} tokens"
        )
    return learned


def tokens_from_json(content: str) -> Tokens:
    """What `Tokens.to_json` wrote."""
    try:
        found = json.loads(content)
        kind, tokens = found["kind"], found["tokens"]
        if kind == Characters.kind:
            return Characters(tokens)
        if kind == WordPairs.kind:
            spelt = tokens.pop("spelt", True)
            return WordPairs(Tokenizer.from_str(json.dumps(tokens)), spelt=spelt)
        if kind == BytePairs.kind:
            return BytePairs(Tokenizer.from_str(json.dumps(tokens)))
        if kind == Words.kind:
            return Words(tokens)
    except Exception as error:  # the tokenizers library raises Exception itself
        raise InputError(f"these are no tokens that can be read: {error}") from error
    raise _unknown(kind)


def token_counts(ids: Ids, vocabulary: int) -> Tensor:
    """How often each token occurs: (vocabulary,), int64."""
    return torch.from_numpy(np.bincount(ids, minlength=vocabulary))


def _unknown(kind: str) -> InputError:
    return InputError(f"unknown tokens {kind!r}; choose from {', '.join(KINDS)}")
