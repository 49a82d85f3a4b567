"""What each part of finding contributes: span F1 on the tune splits without it.

    python -m benchmarks.entities.parts      ten minutes on one core

The built-in model scores the words of each set once. Then candidates are decoded with one part left
out at a time. Results are written to benchmarks/results/entities/parts.json.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from statistics import mean
from unittest.mock import patch

import numpy as np

from benchmarks.data import ALL_RESULTS, TUNE, Gold, read_crossner, read_gold
from thresher.entities import sentence_scorer
from thresher.entities.evaluation import span_counts
from thresher.entities.finder import EntityFinder
from thresher.entities.finding import evidence
from thresher.entities.finding.name_patterns import QuotedTitles
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.sentence_scorer import SentenceScorer

PATH = ALL_RESULTS / "entities" / "parts.json"
F1s = dict[str, dict[str, float]]


def _no_words(*arguments: object) -> np.ndarray:
    """Return that no word matches a pattern; one argument is the traits of all words."""
    traits = next(each for each in arguments if isinstance(each, np.ndarray))
    return np.zeros(len(traits), dtype=np.bool_)


def _no_titles(*arguments: object) -> QuotedTitles:
    return QuotedTitles(*(_no_words(*arguments) for _ in range(3)))


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Leave out patterns of `evidence`."""
    with ExitStack() as patches:
        for name in names:
            nothing = _no_titles if name == "quoted_titles" else _no_words
            patches.enter_context(patch.object(evidence, name, nothing))
        yield


def _same_candidates(_: object, candidates: object, *__: object) -> object:
    return candidates


def f1s(finder: EntityFinder, sets: list[tuple[Gold, EncodedWords]], *, rate: bool = True) -> F1s:
    """Return the span F1 by set and case; `crossner` is the mean of its domains."""
    model = finder.model
    own = replace(model.signal_weights, rate=model.signal_weights.rate if rate else 0.0)
    decoder = replace(model.word_decoder, weights=own)
    scorer = SentenceScorer(model.signal_extractor, decoder)
    found: F1s = {}
    for data, encoded in sets:
        found[data.name] = {}
        for case, each in data.cases().items():
            candidates = [one.candidates for one in scorer.score([each.sentences], encoded)]
            counts = span_counts(each.spans, candidates, threshold=finder.threshold)
            found[data.name][case] = counts.f1
    domains = [found.pop(data.name) for data, _ in sets if data.name not in TUNE]
    found["crossner"] = {case: mean(each[case] for each in domains) for case in domains[0]}
    return found


def main() -> None:
    finder = EntityFinder.default()
    sets = []
    for data in (*read_gold(TUNE), *read_crossner("train")):
        gates, links = finder.word_scorer.gates_and_links(data.sentences)
        no_vectors = np.zeros((len(gates), 0), np.float32)
        sets.append((data, EncodedWords(gates, no_vectors, links=links)))
    rows = {"all parts": f1s(finder, sets)}
    rows["without the rate of entities"] = f1s(finder, sets, rate=False)
    with patch.object(sentence_scorer, "with_repeated_mentions", lambda found, _: found):
        rows["without repeated mentions"] = f1s(finder, sets)
    with patch.object(sentence_scorer, "with_long_forms", _same_candidates):
        rows["without the long forms of abbreviations"] = f1s(finder, sets)
    with patch.object(sentence_scorer, "with_listed_names", _same_candidates):
        rows["without names in lists"] = f1s(finder, sets)
    for label, names in {
        'without "for", "on" and "in"': ["prepositions_in_names"],
        'without "&", and months as surnames': ["ampersands_in_names", "months_in_names"],
        "without ordinals": ["ordinals_before_names"],
        "without titles of persons": ["titles_outside", "titles_at_start"],
        "without quoted titles of works": ["quoted_titles"],
        "without numbers and hyphens": ["numbers_in_names", "hyphens_in_names"],
    }.items():
        with _without(*names):
            rows[label] = f1s(finder, sets)
    without_links = [(data, replace(encoded, links=None)) for data, encoded in sets]
    rows["without the link gate"] = f1s(finder, without_links)
    PATH.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for label, figures in rows.items():
        cells = " ".join(f"{each['cased']:.3f}/{each['lower']:.3f}" for each in figures.values())
        print(f"{label:34s} {cells}")


if __name__ == "__main__":
    main()
