"""Average `multilingual` with a finder fitted on raw text, and adapt it to that text, too.

    python -m benchmarks.languages.combined [--languages hau …] [--seeds 0 1 2] [--models FOLDER]

Writes benchmarks/results/languages/multilingual/combined-LANGUAGE-SEED.json with figures of three
finders on the report split, all with dates: `multilingual` adapted to the split alone, adapted to
the split and 40,000 words of raw text, and the mean of its log-odds and those of a fitted finder
with the same encoder, with the same adaptation. Finders are fitted without dates (about a minute
of CPU time each) and kept in FOLDER.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.data import MODELS, Gold, read_gold
from benchmarks.languages.data import raw_sentences
from benchmarks.languages.fitted import LANGUAGES
from benchmarks.languages.measure import RESULTS, figures
from benchmarks.languages.multilingual_data import LANGUAGE_SETS
from thresher.atomic_files import write_file
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.adaptation import Adaptation, estimate_adaptation
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.mean_finder import MeanFinder
from thresher.entities.training.settings import EntitySettings

RAW_WORDS = 40_000

Sentences = list[list[str]]


def fitted(language: str, seed: int, models: Path) -> EntityFinder:
    """Return a finder of names with the multilingual encoder, fitted unless it is in the folder."""
    folder = models / f"fit-{language}-{seed}-names"
    if folder.exists():
        return EntityFinder.load(folder)
    text = [words for words in raw_sentences(language) if words]
    settings = EntitySettings(seed=seed, contrast=0.0)
    finder = EntityFinder.fit_words(text, encoder="multilingual", settings=settings)
    finder.save(folder)
    return finder


def first_raw_sentences(language: str) -> Sentences:
    """Return the first sentences of the raw text of a language, about `RAW_WORDS` words."""
    chosen: Sentences = []
    words = 0
    for sentence in filter(None, raw_sentences(language)):
        if words >= RAW_WORDS:
            break
        chosen.append(sentence)
        words += len(sentence)
    return chosen


def adaptation(
    finder: EntityFinder, texts: list[Sentences], encoded: EncodedWords, date_gates: Scores
) -> Adaptation:
    """Return what is estimated from all words of the texts."""
    return estimate_adaptation(
        finder.model,
        encoded.gate_scores,
        texts,
        common_words=finder.encoder.common_words,
        links=encoded.links,
        date_gates=date_gates,
    )


def measure(language: str, other: EntityFinder) -> dict[str, Any]:
    """Return the figures of all three finders by case."""
    shared = EntityFinder.load("multilingual").with_kinds(None)
    gold = read_gold({language: LANGUAGE_SETS[language]})[0]
    raw = first_raw_sentences(language)
    both = gold.sentences + raw
    mean = MeanFinder([shared, other])
    gates = {"multilingual": shared.encode(both), "mean": mean.encode(both)}
    date_gates = shared.with_dates().gate_scores(both)
    return {
        case: _figures(shared, data, raw, gates, date_gates) for case, data in gold.cases().items()
    }


def _figures(
    shared: EntityFinder,
    gold: Gold,
    raw: Sentences,
    gates: Mapping[str, EncodedWords],
    date_gates: Scores,
) -> dict[str, dict[str, float]]:
    words = sum(map(len, gold.sentences))
    of_set = {name: _first(each, words) for name, each in gates.items()}
    own = of_set["multilingual"]
    alone = adaptation(shared, [gold.sentences], own, date_gates[:words])
    with_raw = adaptation(shared, [gold.sentences, raw], gates["multilingual"], date_gates)
    of_mean = adaptation(shared, [gold.sentences, raw], gates["mean"], date_gates)
    # The words of dates are those that the gates of one finder show: their difference counts.
    of_mean = replace(of_mean, date_expressions=with_raw.date_expressions)
    return {
        "multilingual": figures(shared.with_adaptation(alone), gold, own),
        "multilingual, raw text": figures(shared.with_adaptation(with_raw), gold, own),
        "mean, raw text": figures(shared.with_adaptation(of_mean), gold, of_set["mean"]),
    }


def _first(encoded: EncodedWords, words: int) -> EncodedWords:
    assert encoded.links is not None
    return EncodedWords(
        encoded.gate_scores[:words], encoded.vectors[:words], links=encoded.links[:words]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", nargs="*", default=list(LANGUAGES), choices=LANGUAGES)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--models", type=Path, default=MODELS, help="where fitted finders are kept")
    parser.add_argument("-o", "--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in options.seeds:
        for language in options.languages:
            results = measure(language, fitted(language, seed, options.models))
            path = options.out / f"combined-{language}-{seed}.json"
            write_file(path, (json.dumps(results, indent=1) + "\n").encode())
            shown = {
                case: {name: round(each["span_f1"], 3) for name, each in rows.items()}
                for case, rows in results.items()
            }
            print(language, seed, shown, flush=True)


if __name__ == "__main__":
    main()
