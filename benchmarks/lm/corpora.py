"""The texts of the language-model benchmarks as token ids, in three parts each.

They are kept in a folder, so that many processes (or another machine) need not make them again.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import save
from torch import Tensor

from benchmarks.data import DATA, RAW_ENGLISH, ROOT
from thresher.folders import write_file
from thresher.lm.splits import split_text
from thresher.lm.tokens import Characters, Tokens, learn_tokens, token_counts

FOLDER = ROOT / "benchmarks" / "corpora"
LANGUAGES = ("swa", "yor", "hau", "amh")
SMALL_SHARE = 0.02  # of the training text is in the small one of two languages
NEWS_BYTES = (160_000, 80_000, 80_000)  # of each small language: training, validation, test
WORDS = 20_000
PAIRS = (512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True)
class Corpus:
    """One row of ids to train on; several texts, by name, to choose by and to report on.

    test_bytes: what the test texts measure, without their first tokens, which nothing predicts
    """

    vocabulary: int
    train: Tensor
    validation: dict[str, Tensor]
    test: dict[str, Tensor]
    test_bytes: dict[str, int]

    @property
    def counts(self) -> Tensor:
        """Of each token in the training text: (vocabulary,)."""
        return token_counts(self.train.numpy(), self.vocabulary)

    def all_validation(self) -> Tensor:
        """The validation texts one after another."""
        return torch.cat(list(self.validation.values()))

    def short(self, tokens: int = 500) -> "Corpus":
        """The beginnings of its texts, to see whether things work."""
        validation, test = (
            {name: ids[:tokens] for name, ids in texts.items()}
            for texts in (self.validation, self.test)
        )
        return Corpus(self.vocabulary, self.train, validation, test, self.test_bytes)


def shakespeare() -> Corpus:
    """Tiny Shakespeare by characters, cut by position."""
    parts = split_text(_shakespeare_text())
    tokens = Characters(_shakespeare_text())
    return _corpus(tokens, parts.train, {"all": parts.validation}, {"all": parts.test})


def two_languages() -> Corpus:
    """Shakespeare in two alphabets: character c of the second language is token c + 65.

    Passages of the training text are in the small language until it has 2 % of the characters.
    Validation and test are the same texts in either language.
    """
    parts = split_text(_shakespeare_text())
    tokens = Characters(_shakespeare_text())
    passages = [passage + "\n\n" for passage in parts.train.split("\n\n")]
    order = list(range(len(passages)))
    random.Random(0).shuffle(order)
    small: set[int] = set()
    left = SMALL_SHARE * len(parts.train)
    while left > 0:
        small.add(order[len(small)])
        left -= len(passages[order[len(small) - 1]])
    ids = [tokens.encode(passage) for passage in passages]
    train = np.concatenate([each + 65 * (i in small) for i, each in enumerate(ids)])
    validation, test = (
        torch.from_numpy(tokens.encode(text)) for text in (parts.validation, parts.test)
    )
    return Corpus(
        vocabulary=2 * tokens.vocabulary,
        train=torch.from_numpy(train),
        validation={"big": validation, "small": validation + 65},
        test={"big": test, "small": test + 65},
        test_bytes={name: len(parts.test.encode()) - 1 for name in ("big", "small")},
    )


def five_languages() -> Corpus:
    """English and small shares of news in four African languages, in one byte-level vocabulary."""
    train, validation, test = ([text] for text in _english())
    names = ["eng", *LANGUAGES]
    for language in LANGUAGES:
        text = (DATA / "raw" / language / "news.txt").read_text(encoding="utf-8")
        for part, piece in zip((train, validation, test), _pieces(text, NEWS_BYTES), strict=True):
            part.append(piece)
    tokens = learn_tokens("bpe", "".join(train), vocabulary=8192)
    return _corpus(
        tokens,
        "".join(train),
        dict(zip(names, validation, strict=True)),
        dict(zip(names, test, strict=True)),
    )


def words() -> Corpus:
    """English by words: the 20,000 most frequent, all others being one token."""
    train, validation, test = _english()
    tokens = learn_tokens("words", train, vocabulary=WORDS)
    return _corpus(tokens, train, {"all": validation}, {"all": test})


def pairs(vocabulary: int) -> Corpus:
    """English by byte-level pairs."""
    train, validation, test = _english()
    tokens = learn_tokens("bpe", train, vocabulary=vocabulary)
    return _corpus(tokens, train, {"all": validation}, {"all": test})


MAKERS: dict[str, Callable[[], Corpus]] = {
    "shakespeare": shakespeare,
    "two-languages": two_languages,
    "five-languages": five_languages,
    "words": words,
    **{f"pairs-{size}": partial(pairs, size) for size in PAIRS},
}


def corpus(name: str, folder: Path = FOLDER) -> Corpus:
    """The corpus of that name, made once."""
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
    return Corpus(about["vocabulary"], ids["train"], validation, test, about["test_bytes"])


def _packed(made: Corpus) -> bytes:
    about = {
        "vocabulary": made.vocabulary,
        "texts": list(made.test),
        "test_bytes": made.test_bytes,
    }
    ids = {"train": made.train}
    ids |= {f"validation.{name}": each for name, each in made.validation.items()}
    ids |= {f"test.{name}": each for name, each in made.test.items()}
    return save(
        {name: each.numpy().astype(np.uint16) for name, each in ids.items()},
        metadata={"about": json.dumps(about)},
    )


def _corpus(tokens: Tokens, train: str, validation: dict[str, str], test: dict[str, str]) -> Corpus:
    def ids(text: str) -> Tensor:
        return torch.from_numpy(tokens.encode(text))

    return Corpus(
        vocabulary=tokens.vocabulary,
        train=ids(train),
        validation={name: ids(text) for name, text in validation.items()},
        test={name: ids(text) for name, text in test.items()},
        test_bytes={
            name: len(text.encode()) - len(tokens.decode(ids(text)[:1].tolist()).encode())
            for name, text in test.items()
        },
    )


def _shakespeare_text() -> str:
    return (DATA / "lm" / "tinyshakespeare.txt").read_text(encoding="utf-8")


def _english() -> tuple[str, str, str]:
    """Three parts of every English file, joined."""
    files = [(DATA / "raw" / "eng" / name).read_text(encoding="utf-8") for name in RAW_ENGLISH]
    parts = [split_text(text) for text in files]
    train = "".join(each.train for each in parts)
    validation = "".join(each.validation for each in parts)
    return train, validation, "".join(each.test for each in parts)


def _pieces(text: str, sizes: tuple[int, ...]) -> list[str]:
    """Stretches one after another, each of whole lines and about that many bytes."""
    pieces: list[str] = []
    lines = iter(text.splitlines(keepends=True))
    for size in sizes:
        taken: list[str] = []
        left = size
        while left > 0:
            taken.append(next(lines))
            left -= len(taken[-1].encode())
        pieces.append("".join(taken))
    return pieces
