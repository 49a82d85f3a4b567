"""Text as numbers: characters, byte-level pairs of any number, pairs within words, or words.

Half of a surrogate pair is no character and has no bytes: it is read as a question mark.
"""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor

from thresher.errors import InputError
from thresher.text.romanised import is_mixed, romanised
from thresher.text.words import segment

UNKNOWN = "<unk>"
DEFAULT_PAIRS = 8192  # tokens of a byte-level vocabulary, where the data can give as many
_BYTES = 256
_MOST_KNOWN = 1 << 18  # words whose tokens are kept in mind

Ids = NDArray[np.int64]


class Tokens(ABC):
    """A vocabulary, the way from text to its ids, and back.

    names: (vocabulary,), each token as a person would read it
    lossless: whether `decode(encode(text)) == text`, so that a rate per byte has a meaning
    """

    kind: ClassVar[str]
    lossless: ClassVar[bool]
    names: Sequence[str]

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return len(self.names)

    @abstractmethod
    def encode(self, text: str) -> Ids:
        """The tokens of a text: (tokens,)."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens."""

    @abstractmethod
    def _content(self) -> Any:
        """What a file has to hold, as JSON."""

    def to_json(self) -> str:
        """All there is to know, for `tokens_from_json`."""
        return json.dumps({"kind": self.kind, "tokens": self._content()}, ensure_ascii=False)


class Characters(Tokens):
    """Every character a token, in the order of their code points."""

    kind = "characters"
    lossless = True

    def __init__(self, characters: str) -> None:
        self._points = np.unique(_code_points(characters))
        self.names = [chr(point) for point in self._points]

    def encode(self, text: str) -> Ids:
        """The tokens of a text; a character that is no token is an error that shows it."""
        points = _code_points(text)
        ids = np.searchsorted(self._points, points)
        unseen = self._points[np.minimum(ids, len(self._points) - 1)] != points
        if unseen.any():
            at = int(unseen.argmax())
            line = text.count("\n", 0, at) + 1
            raise InputError(
                f"the character {text[at]!r} (line {line}) was never seen in training; "
                "byte-level tokens (bpe) read any text"
            )
        return ids.astype(np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens."""
        return "".join(self.names[i] for i in ids)

    def _content(self) -> str:
        return "".join(self.names)


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
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.train_from_iterator(_lines(text), _pair_trainer(vocabulary))
        return cls(tokenizer)

    def encode(self, text: str) -> Ids:
        """The tokens of a text. Lines are read apart, so memory stays within bounds."""
        rows = self._tokenizer.encode_batch_fast(_lines(text))
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

    spelt: letters that stand for syllables are spelt out (`romanised`), as they are where a text
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
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.decoder = decoders.ByteLevel()
        spelt = is_mixed(text)
        tokenizer.train_from_iterator(
            (_readable(word, spelt=spelt) for word in _words(text)), _pair_trainer(vocabulary)
        )
        return cls(tokenizer, spelt=spelt)

    @property
    def line_end(self) -> int:
        """The token between two sentences."""
        return int(self._tokenizer.encode("\n").ids[0])

    def encode(self, text: str) -> Ids:
        """The tokens of a text: of each word in turn, and a line end after each sentence."""
        ids: list[int] = []
        end = self.line_end
        for sentence in segment(_encodable(text)):
            for tokens in self.encode_words([word.text for word in sentence.words]):
                ids += tokens
            ids.append(end)
        return np.array(ids, dtype=np.int64)

    def encode_words(self, words: Sequence[str]) -> list[list[int]]:
        """The tokens of each word."""
        new = list({word for word in words if word not in self._known})
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
            new = list(set(words))
        rows = self._tokenizer.encode_batch_fast(
            [_readable(word, spelt=self.spelt) for word in new]
        )
        self._known |= {word: row.ids for word, row in zip(new, rows, strict=True)}
        return [self._known[word] for word in words]

    def _content(self) -> Any:
        return super()._content() | {"spelt": self.spelt}


class Words(Tokens):
    """The words of a text, white space left out; all words not in the list are one token."""

    kind = "words"
    lossless = False

    def __init__(self, words: Sequence[str]) -> None:
        self.names = [UNKNOWN, *words]
        self._ids = {word: i for i, word in enumerate(self.names)}

    @classmethod
    def learn(cls, text: str, vocabulary: int | None) -> "Words":
        """The most frequent words, by default all that were seen twice."""
        counts = sorted(Counter(_words(text)).items(), key=lambda pair: (-pair[1], pair[0]))
        if vocabulary is None:
            return cls([word for word, count in counts if count > 1])
        return cls([word for word, _ in counts[: vocabulary - 1]])

    def encode(self, text: str) -> Ids:
        """The tokens of a text, 0 for a word that is not in the list."""
        return np.fromiter((self._ids.get(word, 0) for word in _words(text)), np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The words, with a space between two."""
        return " ".join(self.names[i] for i in ids)

    def _content(self) -> list[str]:
        return list(self.names[1:])


_PAIRS: dict[str, type[BytePairs]] = {each.kind: each for each in (BytePairs, WordPairs)}
KINDS = (Characters.kind, *_PAIRS, Words.kind)


def learn_tokens(kind: str, text: str, *, vocabulary: int | None = None) -> Tokens:
    """Tokens of one of the `KINDS`, learned from a text.

    vocabulary: how many; by default every character, `DEFAULT_PAIRS` where the data can give as
    many, every word seen twice
    """
    if kind not in KINDS:
        raise InputError(f"unknown tokens {kind!r}; choose from {', '.join(KINDS)}")
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
    raise InputError(f"unknown tokens {kind!r}; choose from {', '.join(KINDS)}")


def token_counts(ids: Ids, vocabulary: int) -> Tensor:
    """How often each token occurs: (vocabulary,), int64."""
    return torch.from_numpy(np.bincount(ids, minlength=vocabulary))


def _pair_trainer(vocabulary: int) -> trainers.BpeTrainer:
    return trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )


def _readable(word: str, *, spelt: bool) -> str:
    """A word in no case, perhaps spelt out, with a space before it."""
    folded = word.casefold()
    return " " + _encodable(romanised(folded) if spelt else folded)


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)


def _lines(text: str) -> list[str]:
    """Lines with their ends, so that joining them gives the text back."""
    return _encodable(text).splitlines(keepends=True)


def _words(text: str) -> Iterable[str]:
    return (word.text for sentence in segment(_encodable(text)) for word in sentence.words)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
