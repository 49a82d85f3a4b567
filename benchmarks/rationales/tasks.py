"""Two labelled tasks: one whose gold rationale is exact, and one of real sentences."""

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
    """Labelled texts; the last `test` of them are for figures alone.

    gold: for each text (words,), true where a word decides the label
    share: the share of words to select
    """

    name: str
    texts: list[list[str]]
    labels: Tensor
    label_names: tuple[str, ...]
    test: int
    share: float
    steps: int
    gold: list[Tensor] | None = None

    @property
    def learning(self) -> int:
        """How many texts come before those of the test."""
        return len(self.texts) - self.test


def synthetic(seed: int, *, learning: int = 800, test: int = 200) -> Task:
    """Random everyday words around a colour and an animal, which together make the label.

    Warm or cold, bird or fish: four labels, and both words are needed to tell them apart. Nothing
    else in the text says anything, so the gold rationale is exact: two words of about 17.
    """
    draw = random.Random(seed)
    texts, labels, gold = [], [], []
    for _ in range(learning + test):
        label = draw.randrange(4)
        words = draw.choices(FILLERS, k=draw.randint(12, 18))
        at = draw.randint(0, len(words))
        pair = [draw.choice((WARM, COLD)[label // 2]), draw.choice((BIRDS, FISH)[label % 2])]
        words[at:at] = pair
        texts.append(words)
        labels.append(label)
        gold.append(torch.tensor([at <= i < at + 2 for i in range(len(words))]))
    names = ("warm bird", "warm fish", "cold bird", "cold fish")
    return Task("synthetic", texts, torch.tensor(labels), names, test, 0.12, 60, gold)


def sources(*, learning: int = 1200, test: int = 200) -> Task:
    """Which text a sentence of 8 to 24 words is from; so many sentences of each.

    Those of the test come from the last seventh of each text, so that no passage is in both parts.
    """
    draw = random.Random(0)
    parts: list[list[tuple[list[str], int]]] = [[], []]
    for label, name in enumerate(SOURCES):
        text = (DATA / "raw" / "eng" / f"{name}.txt").read_text(encoding="utf-8")
        sentences = [list(each.texts) for each in segment(text)]
        cut = len(sentences) * 6 // 7
        for part, some, count in zip(
            parts, (sentences[:cut], sentences[cut:]), (learning, test), strict=True
        ):
            fitting = [words for words in some if 8 <= len(words) <= 24]
            part += [(words, label) for words in draw.sample(fitting, count)]
    for part in parts:
        draw.shuffle(part)
    both = parts[0] + parts[1]
    labels = torch.tensor([label for _, label in both])
    texts = [words for words, _ in both]
    return Task("sources", texts, labels, SOURCES, len(parts[1]), 0.15, 200)


TASKS: dict[str, Callable[[int], Task]] = {"synthetic": synthetic, "sources": lambda _: sources()}
