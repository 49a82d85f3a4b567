"""Train the encoder of one language and seed, and measure the finders of all rows that use it."""

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.data import Gold
from benchmarks.languages.data import gold_sentences, known_names, mix_passages, raw_sentences
from benchmarks.languages.rows import RESULTS, ROWS, EncoderRecipe, Row
from thresher.atomic_files import write_file
from thresher.encoders import Encoder
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.surprisal import CausalSurprisal
from thresher.encoders.training import SIZES, sentences_to_text, train_encoder
from thresher.entities.evaluation import span_counts, word_average_precision, word_counts
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate, best_threshold
from thresher.entities.priors.casing import is_capitalised
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.settings import EntitySettings
from thresher.lm.choices import TokenizerKind
from thresher.lm.training.fit import fit_language_model

THRESHOLD_SENTENCES = 2000  # of raw text, from which the threshold for words is estimated


@dataclass(frozen=True)
class Job:
    """All rows of one language and seed that use the same encoder."""

    encoder: EncoderRecipe | None
    language: str
    seed: int
    rows: tuple[str, ...]

    def missing(self) -> list[str]:
        """Return the rows without a file, or whose file is marked as provisional."""
        return [row for row in self.rows if not _finished(self.path(row))]

    def path(self, row: str) -> Path:
        return RESULTS / f"{row}--{self.language}--{self.seed}.json"

    def run(self) -> None:
        started = time.perf_counter()
        if self.encoder is None:
            for row in self.missing():
                self._write(row, dict(_capitals_figures(gold_sentences(self.language, "dev"))))
            return
        own = raw_sentences(self.language)
        text = mix_passages([*map(raw_sentences, self.encoder.other_languages), own])
        model = train_encoder(
            text,
            size=self.encoder.size,
            margin=self.encoder.margin,
            seed=self.seed,
            device=_device(),
        )
        about = {
            "words": sum(map(len, text)),
            "encoder": vars(self.encoder),
            "encoder_loss": model.test.loss,
            "encoder_seconds": time.perf_counter() - started,
            "device": torch.cuda.get_device_name() if _device() == "cuda" else "CPU",
        }
        encoder = LanguageModelEncoder(model, name="own", device=_device())
        for row in self.missing():
            sentences = text if ROWS[row].together else own
            self._write(row, {**about, **self.figures(ROWS[row], encoder, sentences)})

    def figures(self, row: Row, encoder: Encoder, text: list[list[str]]) -> dict[str, object]:
        started = time.perf_counter()
        names = known_names(self.language) if row.names else frozenset()
        surprisal = _surprisal(text, self.seed) if "surprisal" in row.priors else None
        finder = EntityFinder.fit_words(
            text,
            encoder=encoder,
            settings=EntitySettings(seed=self.seed, contrast=row.contrast),
            prior_knowledge=PriorKnowledge(
                priors=row.priors, names=names, dates=row.dates, surprisal=surprisal
            ),
        )
        seconds = time.perf_counter() - started
        raw = finder.score_sentences(raw_sentences(self.language)[-THRESHOLD_SENTENCES:])
        threshold = best_threshold(np.concatenate([each.scores for each in raw]).tolist())
        report = gold_sentences(self.language, "dev")
        return {
            "priors": finder.model.learned_from["priors"],
            "names": len(names),
            "fit_seconds": seconds,
            "threshold": threshold,
            "cased": _finder_figures(finder, report, threshold),
            "lower": _finder_figures(finder, report.lowered(), threshold),
        }

    def _write(self, row: str, figures: dict[str, object]) -> None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        result = {"row": row, "language": self.language, "seed": self.seed, **figures}
        write_file(self.path(row), (json.dumps(result, indent=1) + "\n").encode())
        print(f"{row:20s} {self.language} {self.seed} {_summary(figures)}", flush=True)


def _surprisal(text: list[list[str]], seed: int) -> NDArray[np.float32]:
    """Return the surprisal of every word under a causal model trained on the same text.

    300 steps, because the validation loss does not improve any more after them.
    """
    large, on_gpu = SIZES["large"], _device() == "cuda"
    model = fit_language_model(
        sentences_to_text(text),
        tokenizer=TokenizerKind.WORD_PAIRS,
        shape=replace(large.shape, causal=True),
        settings=replace(
            large.settings, steps=300, seed=seed, precision="bfloat16" if on_gpu else "float32"
        ),
        device=_device(),
    )
    return CausalSurprisal(model, name="own", device=_device()).surprisal(text)


def _finished(path: Path) -> bool:
    return path.is_file() and "provisional" not in json.loads(path.read_text(encoding="utf-8"))


def _finder_figures(finder: EntityFinder, data: Gold, threshold: float) -> dict[str, float]:
    """Return word figures at `threshold`, and span F1 at the finder's own threshold."""
    readings = finder.score_sentences(data.sentences)
    scores = [each.scores for each in readings]
    found = [each.found(finder.threshold) for each in readings]
    words = word_counts(data.spans, scores, threshold=threshold)
    return {
        "word_ap": word_average_precision(data.spans, scores),
        "word_f1": words.f1,
        "word_precision": words.precision,
        "word_recall": words.recall,
        "word_f1_at_half": word_counts(data.spans, scores).f1,
        "span_f1": span_counts(data.spans, found).f1,
        "base_rate": words.gold / sum(map(len, data.sentences)),
    }


def _capitals_figures(data: Gold) -> dict[str, dict[str, float]]:
    """Return the figures of a rule: runs of capitalised words are entities, except first words."""
    capitals = [
        np.array([i > 0 and is_capitalised(w) for i, w in enumerate(words)], dtype=np.float32)
        for words in data.sentences
    ]
    edges = [np.flatnonzero(np.diff(np.r_[0, row, 0])).tolist() for row in capitals]
    runs = [
        [Candidate(start, end, 1.0) for start, end in zip(each[::2], each[1::2], strict=True)]
        for each in edges
    ]
    words = word_counts(data.spans, capitals)
    return {
        "cased": {
            "word_ap": word_average_precision(data.spans, capitals),
            "word_f1": words.f1,
            "span_f1": span_counts(data.spans, runs).f1,
        }
    }


def _summary(figures: dict[str, Any]) -> str:
    return "  ".join(
        f"{case} AP {figures[case]['word_ap']:.3f} F1 {figures[case]['word_f1']:.3f}"
        for case in ("cased", "lower")
        if case in figures
    )


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
