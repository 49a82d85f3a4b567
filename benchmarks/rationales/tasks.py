"""Two labelled tasks: a synthetic one with an exact gold rationale, and one of real sentences."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.data import DATA
from thresher.text.sentences import segment

WARM = "crimson scarlet orange golden amber ruby".split()
COLD = "blue navy azure teal indigo cobalt".split()
BIRDS = "sparrow falcon heron robin swan eagle".split()
FISH = "salmon trout herring tuna carp pike".split()
FILLERS = (
    "the a of to and in on for with was is that this it they we when then very quite after before "
    "meeting table report window paper letter road city week morning people council price office "
    "plan door number list machine engine paint glass music lamp floor school street"
).split()
SOURCES = ("web", "wiki", "speeches", "novel")


@dataclass(frozen=True)
class Task:
    """Labelled texts; the last `test` of them are the test set.

    gold: for each text (words,), True for words of the gold rationale
    rate: the fraction of words to select
    """

    name: str
    texts: list[list[str]]
    labels: Tensor
    label_names: tuple[str, ...]
    test: int
    rate: float
    steps: int
    gold: list[Tensor] | None = None

    @property
    def train(self) -> int:
        """The number of training texts."""
        return len(self.texts) - self.test


def synthetic(seed: int, *, train: int = 800, test: int = 200) -> Task:
    """Return texts of random everyday words with a colour and an animal, which determine the label.

    The labels are combinations of warm or cold and bird or fish, so both words are needed. All
    other words are uninformative, so the gold rationale is exact: two words of about 17.
    """
    draw = random.Random(seed)
    texts, labels, gold = [], [], []
    for _ in range(train + test):
        label = draw.randrange(4)
        words = draw.choices(FILLERS, k=draw.randint(12, 18))
        position = draw.randint(0, len(words))
        pair = [draw.choice((WARM, COLD)[label // 2]), draw.choice((BIRDS, FISH)[label % 2])]
        words[position:position] = pair
        texts.append(words)
        labels.append(label)
        gold.append(torch.tensor([position <= i < position + 2 for i in range(len(words))]))
    names = ("warm bird", "warm fish", "cold bird", "cold fish")
    return Task("synthetic", texts, torch.tensor(labels), names, test, 0.12, 60, gold)


def sources(*, train: int = 1200, test: int = 200) -> Task:
    """Return sentences of 8 to 24 words, labelled by their source; `train` and `test` per source.

    Test sentences are from the last seventh of each source, so that no passage is in both sets.
    """
    draw = random.Random(0)
    parts: list[list[tuple[list[str], int]]] = [[], []]
    for label, name in enumerate(SOURCES):
        text = (DATA / "raw" / "eng" / f"{name}.txt").read_text(encoding="utf-8")
        sentences = [list(each.texts) for each in segment(text)]
        cut = len(sentences) * 6 // 7
        for part, some, count in zip(
            parts, (sentences[:cut], sentences[cut:]), (train, test), strict=True
        ):
            of_length = [words for words in some if 8 <= len(words) <= 24]
            part += [(words, label) for words in draw.sample(of_length, count)]
    for part in parts:
        draw.shuffle(part)
    examples = parts[0] + parts[1]
    labels = torch.tensor([label for _, label in examples])
    texts = [words for words, _ in examples]
    return Task("sources", texts, labels, SOURCES, len(parts[1]), 0.15, 200)


TASKS: dict[str, Callable[[int], Task]] = {"synthetic": synthetic, "sources": lambda _: sources()}
