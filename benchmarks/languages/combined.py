"""Adapt `multilingual` to background text, and average it with a finder fitted on that text.

    python -m benchmarks.languages.combined [--languages hau …] [--seeds 0 1 2] [--models FOLDER]
                                            [--without-mean]

Writes benchmarks/results/languages/multilingual/combined-LANGUAGE-SEED.json with figures of three
finders on the report split, all with dates: `multilingual` adapted to the split alone, adapted to
the split with raw text as background (the gates of 40,000 words, the case of all), and the mean of
its log-odds and those of a fitted finder with the same encoder, with the same adaptation. Finders
are fitted without dates (about two minutes of CPU time each) and kept in FOLDER.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
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
from thresher.entities.finding.adaptation import Adaptation, estimate_adaptation, first_words
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.text_finder import SplitText
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


def adaptation(
    finder: EntityFinder,
    texts: Sequence[SplitText],
    encoded: EncodedWords,
    date_gates: Scores,
    case_texts: Sequence[SplitText] | None = None,
) -> Adaptation:
    """Return what is estimated from all words of the texts.

    case_texts: as in `estimate_adaptation`
    """
    return estimate_adaptation(
        finder.model,
        encoded.gate_scores,
        texts,
        case_texts=case_texts,
        common_words=finder.encoder.common_words,
        links=encoded.links,
        date_gates=date_gates,
    )


def measure(language: str, other: EntityFinder | None) -> dict[str, Any]:
    """Return the figures of all finders by case; without another one, there is no mean."""
    shared = EntityFinder.load("multilingual").with_kinds(None)
    gold = read_gold({language: LANGUAGE_SETS[language]})[0]
    background = list(filter(None, raw_sentences(language)))
    (first,) = first_words([background], RAW_WORDS)
    both = [*gold.sentences, *first]
    gates = {"multilingual": shared.encode(both)}
    if other is not None:
        gates["mean"] = MeanFinder([shared, other]).encode(both)
    date_gates = shared.with_dates().gate_scores(both)
    return {
        case: _figures(shared, data, background, gates, date_gates)
        for case, data in gold.cases().items()
    }


def _figures(
    shared: EntityFinder,
    gold: Gold,
    background: Sentences,
    gates: Mapping[str, EncodedWords],
    date_gates: Scores,
) -> dict[str, dict[str, float]]:
    words = sum(map(len, gold.sentences))
    of_set = {name: _first(each, words) for name, each in gates.items()}
    alone = adaptation(shared, [gold.sentences], of_set["multilingual"], date_gates[:words])
    texts = [gold.sentences, *first_words([background], RAW_WORDS)]
    found = {"multilingual": alone}
    for name, encoded in gates.items():
        found[f"{name}, raw text"] = adaptation(
            shared, texts, encoded, date_gates, [gold.sentences, background]
        )
    if "mean" in gates:
        # The words of dates are those that the gates of one finder show: their difference counts.
        dates = found["multilingual, raw text"].date_expressions
        of_mean = found["mean, raw text"]
        found["mean, raw text"] = replace(of_mean, date_expressions=dates)
    return {
        name: figures(shared.with_adaptation(each), gold, of_set[name.partition(",")[0]])
        for name, each in found.items()
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
    parser.add_argument("--without-mean", action="store_true", help="fit no finders")
    parser.add_argument("-o", "--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in options.seeds:
        for language in options.languages:
            other = None if options.without_mean else fitted(language, seed, options.models)
            results = measure(language, other)
            path = options.out / f"combined-{language}-{seed}.json"
            write_file(path, (json.dumps(results, indent=1) + "\n").encode())
            shown = {
                case: {name: round(each["span_f1"], 3) for name, each in rows.items()}
                for case, rows in results.items()
            }
            print(language, seed, shown, flush=True)


if __name__ == "__main__":
    main()
