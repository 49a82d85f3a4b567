"""Measure finders of any language on the report splits of nine languages and English.

    python -m benchmarks.languages.measure [--models multilingual-0 …] [--name multilingual]

Writes benchmarks/results/languages/multilingual/NAME.json: word AP and span F1 by set, as given
and in lower case, with and without adaptation to the set.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.data import ALL_RESULTS, MODELS, Gold
from benchmarks.languages.multilingual_data import WITHOUT_CAPITALS, report_sets
from thresher.atomic_files import write_file
from thresher.entities.evaluation import span_counts, word_average_precision
from thresher.entities.finder import EntityFinder

RESULTS = ALL_RESULTS / "languages" / "multilingual"


def figures(finder: EntityFinder, gold: Gold) -> dict[str, float]:
    """Return word AP and span F1 at the finder's threshold."""
    scored = finder.score_sentences(gold.sentences)
    found = [each.found(finder.threshold) for each in scored]
    counts = span_counts(gold.spans, found)
    return {
        "word_ap": word_average_precision(gold.spans, [each.scores for each in scored]),
        "span_f1": counts.f1,
        "span_precision": counts.precision,
        "span_recall": counts.recall,
    }


def measure(finder: EntityFinder, gold: Gold) -> dict[str, Any]:
    """Return the figures of a set in both cases, without and with adaptation to it."""
    cases = {"cased": gold} if gold.name in WITHOUT_CAPITALS else gold.cases()
    return {
        case: {
            "fixed": figures(finder, data),
            "adapted": figures(finder.adapted_to_words([data.sentences]), data),
        }
        for case, data in cases.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [f"multilingual-{seed}" for seed in range(3)]
    parser.add_argument("--models", nargs="*", default=names, help="names or folders of models")
    parser.add_argument("-o", "--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        folder = MODELS / name if (MODELS / name).exists() else Path(name)
        finder = EntityFinder.load(folder, exact=True)
        results = {gold.name: measure(finder, gold) for gold in report_sets()}
        path = options.out / f"{folder.name}.json"
        write_file(path, (json.dumps(results, indent=1) + "\n").encode())
        shown = {
            name: {case: round(each["adapted"]["span_f1"], 3) for case, each in cases.items()}
            for name, cases in results.items()
        }
        print(folder.name, shown, flush=True)


if __name__ == "__main__":
    main()
