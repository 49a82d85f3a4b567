"""Entities in five languages, each found with an encoder trained from its own raw text.

    python -m benchmarks.languages [--only standard margin-4] [--languages amh] [--seeds 0 1 2]
                                   [--processes 12]

An encoder is trained once for all rows that read it. Every row, language and seed is a JSON file
under benchmarks/results/languages, written as soon as it is known; one that is there is not
measured again, unless it says in what way it is provisional.

Processes that share a GPU take turns on it; with NVIDIA's multi-process service they work side by
side, three of them 1.5 times as fast (2.1 million tokens a second): nvidia-cuda-mps-control -d
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.data import ROOT, Gold
from benchmarks.languages_data import LANGUAGES, gold_sentences, in_turn, known_names, raw_sentences
from thresher.atomic_files import write_file
from thresher.encoders import Encoder
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.surprisal import CausalReader
from thresher.encoders.training import SIZES, text_of, train_encoder
from thresher.entities.evaluation import span_counts, word_average_precision, word_counts
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate, best_threshold
from thresher.entities.priors.casing import is_capitalised
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.settings import EntitySettings
from thresher.lm.tokens.factory import WordPairs
from thresher.lm.training.fit import fit_language_model

RESULTS = ROOT / "benchmarks" / "results" / "languages"
WITHOUT_CAPITALS = ("amh",)
JUDGED_ON = 2000  # sentences of raw text that the threshold of words is told by


@dataclass(frozen=True)
class Made:
    """How an encoder is made; `beside` are other languages whose text it learns from too."""

    size: str = "large"
    margin: str = "4"
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A finder: on which encoder, with which priors, knowing which names; whether of dates too.

    together: the finder, too, learns from the other languages of its encoder
    """

    encoder: Made | None = Made()
    priors: tuple[str, ...] = ()
    names: bool = False
    dates: bool = False
    contrast: float = EntitySettings.contrast
    together: bool = False
    languages: Sequence[str] = LANGUAGES


SHARED = Made(beside=("swa", "yor", "hau", "ibo", "eng"))
CASED = tuple(each for each in LANGUAGES if each not in WITHOUT_CAPITALS)

ROWS = {
    "capitals": Row(None, languages=CASED),
    "margin-4": Row(),
    "dates": Row(dates=True, languages=CASED),
    "standard": Row(Made(margin="inf")),
    "small": Row(Made(size="small")),
    "no-contrast": Row(contrast=0.0),
    "names": Row(names=True),
    "contexts": Row(priors=("burstiness", "contexts"), languages=WITHOUT_CAPITALS),
    "surprisal": Row(priors=("burstiness", "surprisal"), languages=WITHOUT_CAPITALS),
    "rarity": Row(priors=("rarity",), languages=WITHOUT_CAPITALS),
    "shared": Row(SHARED, languages=WITHOUT_CAPITALS),
    "shared-together": Row(SHARED, together=True, languages=WITHOUT_CAPITALS),
}


@dataclass(frozen=True)
class Job:
    """All rows of one language and seed that read the same encoder."""

    encoder: Made | None
    language: str
    seed: int
    rows: tuple[str, ...]

    def missing(self) -> list[str]:
        """Rows without a file, or with one that says in what way it is provisional."""
        return [row for row in self.rows if not _finished(self.path(row))]

    def path(self, row: str) -> Path:
        return RESULTS / f"{row}--{self.language}--{self.seed}.json"

    def run(self) -> None:
        started = time.perf_counter()
        if self.encoder is None:
            for row in self.missing():
                self._write(row, dict(_rule(gold_sentences(self.language, "dev"))))
            return
        own = raw_sentences(self.language)
        text = in_turn([*map(raw_sentences, self.encoder.beside), own])
        learned = train_encoder(
            text,
            size=self.encoder.size,
            margin=self.encoder.margin,
            seed=self.seed,
            device=_device(),
        )
        about = {
            "words": sum(map(len, text)),
            "encoder": vars(self.encoder),
            "encoder_loss": learned.test.loss,
            "encoder_seconds": time.perf_counter() - started,
            "device": torch.cuda.get_device_name() if _device() == "cuda" else "CPU",
        }
        encoder = LanguageModelEncoder(learned, name="own", device=_device())
        for row in self.missing():
            read = text if ROWS[row].together else own
            self._write(row, {**about, **self.figures(ROWS[row], encoder, read)})

    def figures(self, row: Row, encoder: Encoder, text: list[list[str]]) -> dict[str, object]:
        started = time.perf_counter()
        names = known_names(self.language) if row.names else frozenset()
        surprisal = _surprisal(text, self.seed) if "surprisal" in row.priors else None
        finder = EntityFinder.fit_words(
            text,
            encoder=encoder,
            settings=EntitySettings(seed=self.seed, contrast=row.contrast),
            beliefs=PriorKnowledge(
                priors=row.priors, names=names, dates=row.dates, surprisal=surprisal
            ),
        )
        seconds = time.perf_counter() - started
        judged = finder.read(raw_sentences(self.language)[-JUDGED_ON:])
        threshold = best_threshold(np.concatenate([each.scores for each in judged]).tolist())
        report = gold_sentences(self.language, "dev")
        return {
            "priors": finder.model.learned_from["priors"],
            "names": len(names),
            "fit_seconds": seconds,
            "threshold": threshold,
            "cased": _measured(finder, report, threshold),
            "lower": _measured(finder, report.lowered(), threshold),
        }

    def _write(self, row: str, figures: dict[str, object]) -> None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        made = {"row": row, "language": self.language, "seed": self.seed, **figures}
        write_file(self.path(row), (json.dumps(made, indent=1) + "\n").encode())
        print(f"{row:20s} {self.language} {self.seed} {_in_short(figures)}", flush=True)


def _surprisal(text: list[list[str]], seed: int) -> NDArray[np.float32]:
    """Of every word, under a causal model of the same text that stops where it gains no more."""
    large, on_gpu = SIZES["large"], _device() == "cuda"
    learned = fit_language_model(
        text_of(text),
        tokens=WordPairs.kind,
        shape=replace(large.shape, causal=True),
        settings=replace(
            large.settings, steps=300, seed=seed, precision="bfloat16" if on_gpu else "float32"
        ),
        device=_device(),
    )
    return CausalReader(learned, name="own", device=_device()).surprisal(text)


def _finished(path: Path) -> bool:
    return path.is_file() and "provisional" not in json.loads(path.read_text(encoding="utf-8"))


def _measured(finder: EntityFinder, data: Gold, threshold: float) -> dict[str, float]:
    """Words at the threshold that raw text alone told, and spans at the finder's own."""
    readings = finder.read(data.sentences)
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


def _rule(data: Gold) -> dict[str, dict[str, float]]:
    """A word with a capital, if not the first, is an entity, and so is a run of them."""
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


def _in_short(figures: dict[str, Any]) -> str:
    return "  ".join(
        f"{case} AP {figures[case]['word_ap']:.3f} F1 {figures[case]['word_f1']:.3f}"
        for case in ("cased", "lower")
        if case in figures
    )


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def jobs(rows: Sequence[str], languages: Sequence[str], seeds: Sequence[int]) -> Iterator[Job]:
    """What is left to do, the first seed of everything first."""
    for seed in seeds:
        for encoder in dict.fromkeys(ROWS[row].encoder for row in rows):
            for language in languages:
                own = tuple(
                    row
                    for row in rows
                    if ROWS[row].encoder == encoder and language in ROWS[row].languages
                )
                job = Job(encoder, language, seed, own)
                if (encoder is not None or seed == seeds[0]) and job.missing():
                    yield job


def _run_apart(job: Job) -> None:
    """In a process of its own, so that several share a GPU."""
    command = [sys.executable, "-m", "benchmarks.languages", "--languages", job.language]
    subprocess.run([*command, "--seeds", str(job.seed), "--only", *job.rows], check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--languages", nargs="*", default=list(LANGUAGES), choices=LANGUAGES)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    todo = list(jobs(options.only, options.languages, options.seeds))
    run = Job.run if options.processes == 1 else _run_apart
    with ThreadPoolExecutor(options.processes) as pool:
        list(pool.map(run, todo))


if __name__ == "__main__":
    main()
