"""Raw text and gold sentences of five languages; nothing made from them is shipped.

The raw text of a language is its news and the words of its tuning split, without the lines that
share eight consecutive words with its report split.
"""

from functools import cache

import numpy as np

from benchmarks.data import DATA, Gold
from thresher.entities.priors.word_lists import cldr_names
from thresher.entities.priors.word_statistics import PASSAGE
from thresher.text.formats.conll import read_conll
from thresher.text.sentences import segment

LANGUAGES = ("swa", "yor", "hau", "ibo", "amh")
NAMES = {"swa": "Swahili", "yor": "Yorùbá", "hau": "Hausa", "ibo": "Igbo", "amh": "Amharic"}
LOCALES = {"swa": "sw", "yor": "yo", "hau": "ha", "ibo": "ig", "amh": "am"}
OVERLAP_WORDS = 8


@cache
def gold_sentences(language: str, split: str) -> Gold:
    """Return the gold sentences of a language: split `train` to tune on, `dev` to report on."""
    path = DATA / "ner" / "masakhaner" / language / f"{split}.txt"
    return Gold.of(language, list(read_conll(path)))


@cache
def raw_sentences(language: str) -> list[list[str]]:
    """Return the raw text to train on: news, then the words of the tuning split.

    For English: the web and encyclopedia texts.
    """
    if language == "eng":
        files = [DATA / "raw" / "eng" / name for name in ("web.txt", "wiki.txt")]
        texts = [segment(path.read_text(encoding="utf-8")) for path in files]
        return [list(each.texts) for text in texts for each in text]
    report = _word_ngrams(gold_sentences(language, "dev").sentences)
    news = (DATA / "raw" / language / "news.txt").read_text(encoding="utf-8")
    lines = [line for line in news.splitlines() if not _word_ngrams([line.split()]) & report]
    sentences = [list(each.texts) for each in segment("\n".join(lines))]
    return sentences + gold_sentences(language, "train").sentences


def mix_passages(texts: list[list[list[str]]]) -> list[list[str]]:
    """Shuffle passages of several texts, so that each part of the result contains all of them."""
    if len(texts) == 1:
        return texts[0]
    passages = [text[i : i + PASSAGE] for text in texts for i in range(0, len(text), PASSAGE)]
    order = np.random.default_rng(0).permutation(len(passages))
    return [sentence for i in order for sentence in passages[i]]


@cache
def known_names(language: str) -> frozenset[str]:
    """Return the names of CLDR, from a list in the data folder if there is one."""
    path = DATA / "cldr" / f"{language}.txt"
    if path.is_file():
        return frozenset(path.read_text(encoding="utf-8").split())
    return cldr_names(LOCALES[language])


def _word_ngrams(sentences: list[list[str]]) -> set[tuple[str, ...]]:
    """Return all runs of eight words in lower case, punctuation ignored."""
    found: set[tuple[str, ...]] = set()
    for words in sentences:
        stripped = [w.lower().strip(".,;:!?\"'“”‘’()[]።፣፤") for w in words]
        kept = [word for word in stripped if word]
        starts = range(len(kept) - OVERLAP_WORDS + 1)
        found.update(tuple(kept[i : i + OVERLAP_WORDS]) for i in starts)
    return found
