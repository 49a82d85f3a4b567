"""Write docs/mistakes.md: ten random mistakes of each kind on the tune splits.

python -m benchmarks.entities.mistakes
"""

import random
from collections import defaultdict

from benchmarks.data import ROOT, TUNE, Gold, read_gold
from thresher.entities.finder import EntityFinder

KINDS = {
    "boundary": "Found with different boundaries than the gold span",
    "spurious": "Found where the guideline annotates nothing",
    "missed": "Not found",
}
_SENTENCES = 400  # per set


def mistakes(finder: EntityFinder, data: Gold) -> dict[str, list[str]]:
    """Return the mistakes of a finder by kind, as Markdown."""
    found = finder.find_words(data.sentences)
    by_kind = defaultdict(list)
    for words, spans, row in zip(data.sentences, data.spans, found, strict=True):
        gold_spans, ours = set(spans), {(each.start, each.end) for each in row}
        for span in sorted(ours - gold_spans):
            overlapping = [each for each in spans if each[0] < span[1] and span[0] < each[1]]
            if overlapping:
                expected = "; ".join(_text(words, each) for each in overlapping)
                by_kind["boundary"].append(f"**{_text(words, span)}**, gold: {expected}")
            else:
                by_kind["spurious"].append(_in_context(words, span))
        for span in sorted(gold_spans - ours):
            if not any(span[0] < end and start < span[1] for start, end in ours):
                by_kind["missed"].append(_in_context(words, span))
    return by_kind


def _text(words: list[str], span: tuple[int, int]) -> str:
    return " ".join(words[slice(*span)]).replace("*", r"\*")


def _in_context(words: list[str], span: tuple[int, int]) -> str:
    start, end = span
    left, right = words[max(0, start - 5) : start], words[end : end + 4]
    return " ".join([*left, f"**{_text(words, span)}**", *right]).replace("|", r"\|")


def main() -> None:
    finder = EntityFinder.default()
    generator = random.Random(0)
    lines = [
        "# Examples of mistakes",
        "",
        "Mistakes of the built-in English model in the first "
        f"{_SENTENCES} sentences of each tune split.",
        "`make mistakes` writes this page: up to ten random mistakes of each kind, with the number",
        "of all mistakes of that kind in parentheses. The span found, or missed, is bold.",
    ]
    for data in read_gold(TUNE):
        by_kind = mistakes(finder, data.first(_SENTENCES))
        for kind, title in KINDS.items():
            all_of_kind = by_kind[kind]
            lines += ["", f"## {data.name}: {title.lower()} ({len(all_of_kind)})", ""]
            drawn = generator.sample(all_of_kind, min(10, len(all_of_kind)))
            lines += [f"- {each}" for each in drawn]
    (ROOT / "docs" / "mistakes.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
