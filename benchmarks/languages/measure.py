"""Measure finders of any language on the report splits of nine languages and English.

    python -m benchmarks.languages.measure [--models multilingual-0 …] [--name multilingual]

Writes benchmarks/results/languages/multilingual/NAME.json: word AP and span F1 by set, as given
and in lower case, with and without adaptation to the set.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import ALL_RESULTS, MODELS, Gold
from benchmarks.kinds.caching_encoder import CachingEncoder
from benchmarks.languages.multilingual_data import MASAKHANER, WITHOUT_CAPITALS, report_sets
from thresher.atomic_files import write_file
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.evaluation import span_counts, word_average_precision
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.adaptation import estimate_adaptation, first_words
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.model import FinderModel

RESULTS = ALL_RESULTS / "languages" / "multilingual"


def figures(
    finder: EntityFinder, gold: Gold, encoded: EncodedWords | None = None
) -> dict[str, float]:
    """Return word AP and span F1 at the finder's threshold.

    encoded: `finder.encode` of the sentences, in any case, if it is known already
    """
    encoded = finder.encode(gold.sentences) if encoded is None else encoded
    scored = finder.score_encoded(gold.sentences, encoded)
    found = [each.found(finder.threshold) for each in scored]
    counts = span_counts(gold.spans, found)
    return {
        "word_ap": word_average_precision(gold.spans, [each.scores for each in scored]),
        "span_f1": counts.f1,
        "span_precision": counts.precision,
        "span_recall": counts.recall,
    }


def measure(finder: EntityFinder, gold: Gold) -> dict[str, Any]:
    """Return the figures of a set in both cases, without and with adaptation to it.

    The encoder folds the case of words, so that the set is encoded once. For MasakhaNER, whose
    names include dates, also with the selector that finds dates, if the model has one.
    """
    cases = {"cased": gold} if gold.name in WITHOUT_CAPITALS else gold.cases()
    encoded = finder.encode(gold.sentences)
    results: dict[str, Any] = {
        case: {"fixed": figures(finder, data, encoded), "adapted": adapted(finder, data, encoded)}
        for case, data in cases.items()
    }
    if gold.name in MASAKHANER and any(each.dates for each in finder.model.selectors):
        date_gates = finder.with_dates().gate_scores(gold.sentences)
        for case, data in cases.items():
            results[case]["dates"] = adapted(finder, data, encoded, date_gates)
    return results


def adapted(
    finder: EntityFinder, gold: Gold, encoded: EncodedWords, date_gates: Scores | None = None
) -> dict[str, float]:
    """Return the figures of the finder adapted to the set.

    date_gates: (words,), of the selector for names and dates, to find dates, too
    """
    first = list(first_words([gold.sentences]))
    words = sum(len(sentence) for text in first for sentence in text)
    adaptation = estimate_adaptation(
        finder.model,
        encoded.gate_scores[:words],
        first,
        common_words=finder.encoder.common_words,
        links=None if encoded.links is None else encoded.links[:words],
        date_gates=None if date_gates is None else date_gates[:words],
    )
    return figures(finder.with_adaptation(adaptation), gold, encoded)


def with_one_encoder(folders: Sequence[Path]) -> Iterator[EntityFinder]:
    """Yield the finders of seeds of one model; each sentence is encoded once for all of them."""
    encoder = EntityFinder.load(folders[0]).encoder
    assert isinstance(encoder, SentenceBert)
    cached = CachingEncoder(encoder)
    for folder in folders:
        yield EntityFinder(cached, FinderModel.read(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [f"multilingual-{seed}" for seed in range(3)]
    parser.add_argument("--models", nargs="*", default=names, help="names or folders of models")
    parser.add_argument("--sets", nargs="*", help="only these; the others are kept")
    parser.add_argument("-o", "--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    folders = [MODELS / name if (MODELS / name).exists() else Path(name) for name in options.models]
    for folder, finder in zip(folders, with_one_encoder(folders), strict=True):
        path = options.out / f"{folder.name}.json"
        results = json.loads(path.read_bytes()) if options.sets else {}
        for gold in report_sets():
            if not options.sets or gold.name in options.sets:
                results[gold.name] = measure(finder, gold)
        write_file(path, (json.dumps(results, indent=1) + "\n").encode())
        shown = {
            name: {case: round(each["adapted"]["span_f1"], 3) for case, each in cases.items()}
            for name, cases in results.items()
        }
        print(folder.name, shown, flush=True)


if __name__ == "__main__":
    main()
