"""The texts of the language-model benchmarks as token ids, split into train, validation and test.

They are cached in a folder, which several processes share and which can be copied to other
machines.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import save
from torch import Tensor

from benchmarks.data import DATA, RAW_ENGLISH, ROOT
from thresher.atomic_files import write_file
from thresher.lm.tokens.characters import CharacterTokenizer
from thresher.lm.tokens.counts import token_counts
from thresher.lm.tokens.factory import learn_tokenizer
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.lm.training.batches import WeightedPart
from thresher.lm.training.fit import predicted_bytes
from thresher.lm.training.splits import split_text

FOLDER = ROOT / "benchmarks" / "corpora"
LANGUAGES = ("swa", "yor", "hau", "amh")
SMALL_SHARE = 0.02  # fraction of training windows in the small one of two languages
NEWS_BYTES = (160_000, 80_000, 80_000)  # per small language: train, validation, test
WORDS = 20_000
PAIRS = (512, 1024, 2048, 4096, 8192)
MANY_PAIRS = 32_000


@dataclass(frozen=True)
class Corpus:
    """Token ids to train on, and validation and test texts by name.

    test_bytes: the number of predicted bytes of each test text, see `predicted_bytes`
    parts: parts of the training ids that are sampled in other proportions than their lengths
    """

    vocabulary: int
    train: Tensor
    validation: dict[str, Tensor]
    test: dict[str, Tensor]
    test_bytes: dict[str, int | None]
    parts: tuple[WeightedPart, ...] = ()

    @property
    def counts(self) -> Tensor:
        """The training occurrences of each token, parts weighted by fraction: (vocabulary,)."""
        if not self.parts:
            return token_counts(self.train.numpy(), self.vocabulary)
        counts = torch.zeros(self.vocabulary, dtype=torch.float64)
        for ids, part in zip(
            torch.split(self.train, [each.tokens for each in self.parts]), self.parts, strict=True
        ):
            counts += part.fraction / part.tokens * token_counts(ids.numpy(), self.vocabulary)
        return (len(self.train) * counts).round().long()

    def all_validation(self) -> Tensor:
        """Return the concatenated validation texts."""
        return torch.cat(list(self.validation.values()))

    def short(self, tokens: int = 500) -> "Corpus":
        """Return a corpus with the beginnings of its texts, for a trial."""
        validation, test = (
            {name: ids[:tokens] for name, ids in texts.items()}
            for texts in (self.validation, self.test)
        )
        return replace(self, validation=validation, test=test)


def shakespeare() -> Corpus:
    """Return Tiny Shakespeare as characters, split by position."""
    parts = split_text(_shakespeare_text())
    tokenizer = CharacterTokenizer(_shakespeare_text())
    return _corpus(
        tokenizer, str(parts.train), {"all": str(parts.validation)}, {"all": str(parts.test)}
    )


def two_languages() -> Corpus:
    """Return Shakespeare in two alphabets: character c of the second language is token c + 65.

    Each training window is in the small language with a probability of 2 %, independently of its
    text, so that the languages differ only in their frequency. Validation and test texts are the
    same in both languages.
    """
    one = shakespeare()
    validation, test = one.validation["all"], one.test["all"]
    return Corpus(
        vocabulary=2 * one.vocabulary,
        train=torch.cat([one.train, one.train + one.vocabulary]),
        validation={"big": validation, "small": validation + one.vocabulary},
        test={"big": test, "small": test + one.vocabulary},
        test_bytes=dict.fromkeys(("big", "small"), one.test_bytes["all"]),
        parts=tuple(
            WeightedPart(len(one.train), share) for share in (1 - SMALL_SHARE, SMALL_SHARE)
        ),
    )


def five_languages() -> Corpus:
    """Return English and a little news in four African languages, as byte pairs."""
    train, validation, test = ([text] for text in _english())
    names = ["eng", *LANGUAGES]
    for language in LANGUAGES:
        text = (DATA / "raw" / language / "news.txt").read_text(encoding="utf-8")
        for part, piece in zip((train, validation, test), _pieces(text, NEWS_BYTES), strict=True):
            part.append(piece)
    tokenizer = learn_tokenizer("bpe", "".join(train), vocabulary=8192)
    return _corpus(
        tokenizer,
        "".join(train),
        dict(zip(names, validation, strict=True)),
        dict(zip(names, test, strict=True)),
    )


def words() -> Corpus:
    """Return English as words: the 20,000 most frequent ones, and one token for all others."""
    train, validation, test = _english()
    tokenizer = learn_tokenizer("words", train, vocabulary=WORDS)
    return _corpus(tokenizer, train, {"all": validation}, {"all": test})


def pairs(vocabulary: int) -> Corpus:
    """Return English as byte pairs."""
    train, validation, test = _english()
    tokenizer = learn_tokenizer("bpe", train, vocabulary=vocabulary)
    return _corpus(tokenizer, train, {"all": validation}, {"all": test})


MAKERS: dict[str, Callable[[], Corpus]] = {
    "shakespeare": shakespeare,
    "two-languages": two_languages,
    "five-languages": five_languages,
    "words": words,
    **{f"pairs-{size}": partial(pairs, size) for size in (*PAIRS, MANY_PAIRS)},
}


def corpus(name: str, folder: Path = FOLDER) -> Corpus:
    """Return the corpus of that name; it is made on the first call and cached."""
    path = folder / f"{name}.safetensors"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        write_file(path, _packed(MAKERS[name]()))
    with safe_open(path, framework="np") as file:
        about = json.loads(file.metadata()["about"])
        ids = {
            key: torch.from_numpy(file.get_tensor(key).astype(np.int64))
            for key in file.keys()  # noqa: SIM118
        }
    validation, test = (
        {text: ids[f"{part}.{text}"] for text in about["texts"]} for part in ("validation", "test")
    )
    parts = tuple(WeightedPart(*part) for part in about["parts"])
    return Corpus(about["vocabulary"], ids["train"], validation, test, about["test_bytes"], parts)


def _packed(corpus: Corpus) -> bytes:
    about = {
        "vocabulary": corpus.vocabulary,
        "texts": list(corpus.test),
        "test_bytes": corpus.test_bytes,
        "parts": corpus.parts,
    }
    ids = {"train": corpus.train}
    ids |= {f"validation.{name}": each for name, each in corpus.validation.items()}
    ids |= {f"test.{name}": each for name, each in corpus.test.items()}
    return save(
        {name: each.numpy().astype(np.uint16) for name, each in ids.items()},
        metadata={"about": json.dumps(about)},
    )


def _corpus(
    tokenizer: Tokenizer, train: str, validation: dict[str, str], test: dict[str, str]
) -> Corpus:
    def ids(text: str) -> Tensor:
        return torch.from_numpy(tokenizer.encode(text))

    return Corpus(
        vocabulary=tokenizer.vocabulary,
        train=ids(train),
        validation={name: ids(text) for name, text in validation.items()},
        test={name: ids(text) for name, text in test.items()},
        test_bytes={
            name: predicted_bytes(tokenizer, ids(text), text) for name, text in test.items()
        },
    )


def _shakespeare_text() -> str:
    return (DATA / "lm" / "tinyshakespeare.txt").read_text(encoding="utf-8")


def _english() -> tuple[str, str, str]:
    """Return train, validation and test parts of all English files, concatenated."""
    files = [(DATA / "raw" / "eng" / name).read_text(encoding="utf-8") for name in RAW_ENGLISH]
    parts = [split_text(text) for text in files]
    train = "".join(str(each.train) for each in parts)
    validation = "".join(str(each.validation) for each in parts)
    return train, validation, "".join(str(each.test) for each in parts)


def _pieces(text: str, sizes: tuple[int, ...]) -> list[str]:
    """Return consecutive pieces of whole lines, each of about the given number of bytes."""
    pieces: list[str] = []
    lines = iter(text.splitlines(keepends=True))
    for size in sizes:
        piece: list[str] = []
        left = size
        while left > 0:
            piece.append(next(lines))
            left -= len(piece[-1].encode())
        pieces.append("".join(piece))
    return pieces
