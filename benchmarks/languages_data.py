"""Raw text and gold sentences of five languages; nothing made from them is ever shipped.

The raw text of a language is the bare words of its tuning split and its news, less every line that
shares eight words in a row with its report split.
"""

from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.data import DATA, Gold
from thresher.entities.priors.cldr import cldr_names
from thresher.entities.priors.word_statistics import PASSAGE
from thresher.text.formats.conll import read_conll
from thresher.text.sentences import segment

LANGUAGES = ("swa", "yor", "hau", "ibo", "amh")
NAMES = {"swa": "Swahili", "yor": "Yorùbá", "hau": "Hausa", "ibo": "Igbo", "amh": "Amharic"}
LOCALES = {"swa": "sw", "yor": "yo", "hau": "ha", "ibo": "ig", "amh": "am"}
SHARED = 8  # words in a row


@cache
def gold_sentences(language: str, split: str) -> Gold:
    """The gold sentences of a language: `train` to tune on, `dev` to report on."""
    path = DATA / "ner" / "masakhaner" / language / f"{split}.txt"
    sentences = list(read_conll(Path(path)))
    return Gold(
        language,
        [list(each.words) for each in sentences],
        [list(each.spans) for each in sentences],
    )


@cache
def raw_sentences(language: str) -> list[list[str]]:
    """What is learned from: news, then the words of the tuning split; of English, two raw texts."""
    if language == "eng":
        files = [DATA / "raw" / "eng" / name for name in ("web.txt", "wiki.txt")]
        texts = [segment(path.read_text(encoding="utf-8")) for path in files]
        return [list(each.texts) for text in texts for each in text]
    known = _stretches(gold_sentences(language, "dev").sentences)
    news = (DATA / "raw" / language / "news.txt").read_text(encoding="utf-8")
    kept = "\n".join(line for line in news.splitlines() if not _stretches([line.split()]) & known)
    sentences = [list(each.texts) for each in segment(kept)]
    return sentences + gold_sentences(language, "train").sentences


def in_turn(texts: list[list[list[str]]]) -> list[list[str]]:
    """Passages of several texts mixed, so that each part of the whole has all of them."""
    if len(texts) == 1:
        return texts[0]
    passages = [text[i : i + PASSAGE] for text in texts for i in range(0, len(text), PASSAGE)]
    order = np.random.default_rng(0).permutation(len(passages))
    return [sentence for i in order for sentence in passages[i]]


@cache
def known_names(language: str) -> frozenset[str]:
    """The names of CLDR; from a list in the data folder, where there is one."""
    path = DATA / "cldr" / f"{language}.txt"
    if path.is_file():
        return frozenset(path.read_text(encoding="utf-8").split())
    return cldr_names(LOCALES[language])


def _stretches(sentences: list[list[str]]) -> set[tuple[str, ...]]:
    """All runs of eight words in a row, in lower case; punctuation does not count."""
    found: set[tuple[str, ...]] = set()
    for words in sentences:
        plain = [w.lower().strip(".,;:!?\"'“”‘’()[]።፣፤") for w in words]
        plain = [word for word in plain if word]
        found.update(tuple(plain[i : i + SHARED]) for i in range(len(plain) - SHARED + 1))
    return found
