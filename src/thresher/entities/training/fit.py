"""From raw sentences to everything a finder needs, in steps that can be taken up again."""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.device_transfer import to_device
from thresher.encoders.protocol import Encoder
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.selectors import CalibratedSelector, FittedSelectors
from thresher.entities.training.checkpoints import load_checkpoint, save_checkpoint
from thresher.entities.training.loop import Corpus, steps_per_epoch, train
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import EpochReport, TrainingState
from thresher.errors import InputError
from thresher.gates.distributed import ProcessGroup, current_processes
from thresher.gates.features import Features
from thresher.gates.selector import Selector
from thresher.gates.word_vectors import Units, cache_vectors, sentence_starts
from thresher.progress import ProgressReporter
from thresher.text.indexed_sentences import IndexedSentences

LEAST_WORDS = 200  # fewer teach nothing
FEW_WORDS = 20_000  # fewer teach little
_LEAST_STEPS = 150  # a small text is read more often, until the gates have moved
_FURTHEST, _HALVINGS = 8.0, 16  # how far gates are moved to reach a rate, and how exactly
_ROWS = 65_536  # vectors scored at a time
_SAVED_EVERY = 60.0  # seconds between two states of a long epoch


def fit_selector(
    sentences: Sequence[Sequence[str]],
    encoder: Encoder,
    *,
    settings: EntitySettings,
    prior_knowledge: PriorKnowledge,
    work: Path,
    resume: bool = False,
    progress: ProgressReporter,
) -> FittedSelectors:
    """Learn gates from raw sentences; `work` holds what a stopped run goes on from.

    ProcessGroup that were started together share the encoding, and end with the same gates.
    """
    sentences = IndexedSentences.from_sentences(sentences)
    check_enough(sentences, progress)
    settings = long_enough(settings, len(sentences), alone=not encoder.common_words)
    raw = RawText.of(sentences, prior_knowledge, settings, common=encoder.common_words)
    mark = _fingerprint(sentences, encoder, settings, raw.prior)
    units = Units.of(settings.features, encoder, sentences)
    processes = current_processes()
    vectors = _vectors(
        encoder, sentences, settings.features, units, work, mark, resume, progress, processes
    )
    corpus = Corpus(sentences, vectors, raw.prior[units.word], units)
    selectors = _train(encoder, corpus, settings, work, mark, resume, progress, processes)
    return calibrate_selectors(raw, corpus, selectors, encoder.device)


def check_enough(sentences: Sequence[Sequence[str]], progress: ProgressReporter) -> None:
    """Refuse a text too small to learn from, and warn of one that teaches little."""
    starts = sentence_starts(sentences)
    empty = np.flatnonzero(np.diff(starts) == 0)
    if len(empty):
        raise InputError(f"sentence {empty[0] + 1} has no words; leave it out")
    words = int(starts[-1])
    if words < LEAST_WORDS:
        raise InputError(f"{words} words are too few to learn from; give at least {LEAST_WORDS}")
    if words < FEW_WORDS:
        progress.note(
            f"{words:,} words are few to learn from: expect a rough model below {FEW_WORDS:,}"
        )


def calibrate_selectors(
    raw: RawText,
    corpus: Corpus,
    selectors: Sequence[Selector],
    device: torch.device,
) -> FittedSelectors:
    """Trained selectors with their trust and thresholds, all as they will be saved."""
    if raw.rate is not None:
        possible = np.flatnonzero(raw.seen.possible[corpus.units.word])
        some = corpus.vectors[possible[:: max(1, len(possible) // _ROWS)]]
        selectors = [open_at(raw.rate, each, some, device) for each in selectors]
    saved = [selector.half().float() for selector in selectors]
    gates = [corpus.units.largest(gate_scores(each, corpus.vectors, device)) for each in saved]
    heads = tuple(
        CalibratedSelector.calibrate(each, gate, raw.sentences, raw.seen, not_names=raw.not_names)
        for each, gate in zip(saved, gates, strict=True)
    )
    entity = best_agreement(gates, raw.judge()) if len(heads) > 1 else 0
    return FittedSelectors(heads, entity, raw.ordinary, raw.not_names, raw.dates)


def best_agreement(gates: Sequence[Scores], prior: NDArray[np.float32]) -> int:
    """Return the index of the selector whose gates agree best with the prior.

    Agreement is measured as in the objective: the binary cross-entropy of P(open) to the prior,
    over the words for which the prior gives a probability. Without such words the first is chosen.

    gates: for each selector (words,)   prior: (words,), NaN where it gives no probability
    """
    known = ~np.isnan(prior)
    if not known.any():
        return 0
    return int(np.argmin([_cross_entropy(each[known], prior[known]) for each in gates]))


def _cross_entropy(gate: Scores, prior: NDArray[np.float32]) -> float:
    p = np.clip(gate.astype(np.float64), 1e-6, 1 - 1e-6)
    return float(-(prior * np.log(p) + (1 - prior) * np.log1p(-p)).mean())


def long_enough(settings: EntitySettings, sentences: int, *, alone: bool = False) -> EntitySettings:
    """EntitySettings with as many epochs as it takes for the least number of steps.

    alone: the encoder has read nothing but these sentences, which takes twice as many
    """
    least = 2 * _LEAST_STEPS if alone else _LEAST_STEPS
    epochs = math.ceil(least / steps_per_epoch(sentences, settings))
    return replace(settings, epochs=max(settings.epochs, epochs))


def open_at(
    rate: float, selector: Selector, vectors: NDArray[np.float16], device: torch.device
) -> Selector:
    """The selector with its gates moved up or down, so that on average they are open at a rate.

    Gates that were shown some entities and many other words learn how these differ, but not how
    many entities there are. Where there are no vectors they stay as they are.

    vectors: (units, width)
    """
    if not len(vectors):
        return selector
    low, high = -_FURTHEST, _FURTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        too_few = gate_scores(selector.moved(middle), vectors, device).mean() < rate
        low, high = (middle, high) if too_few else (low, middle)
    return selector.moved((low + high) / 2)


def gate_scores(selector: Selector, vectors: NDArray[np.float16], device: torch.device) -> Scores:
    """P(open) of every unit: (units,)."""
    parts = [np.zeros(0, dtype=np.float32)]
    with torch.inference_mode():
        for low in range(0, len(vectors), _ROWS):
            rows = torch.from_numpy(np.array(vectors[low : low + _ROWS]))
            gates = selector(to_device(rows, device).float())
            parts.append(gates.prob_open().cpu().numpy())
    return np.concatenate(parts)


def _vectors(
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    features: Features,
    units: Units,
    work: Path,
    mark: str,
    resume: bool,
    progress: ProgressReporter,
    processes: ProcessGroup,
) -> NDArray[np.float16]:
    """The vectors of units, from the file of a stopped run where there is a whole one."""
    path, done = work / "vectors.npy", work / "vectors.done"
    if resume and done.is_file():
        if done.read_text(encoding="utf-8") != mark:
            raise InputError(f"cannot resume from {work}: it was begun with other text or settings")
        mapped: NDArray[np.float16] = np.load(path, mmap_mode="r")
        return mapped
    processes.wait()  # until all have looked
    done.unlink(missing_ok=True)
    count = progress.stage("reading", len(sentences))
    vectors = cache_vectors(
        encoder,
        sentences,
        path,
        features=features,
        units=units,
        progress=count,
        processes=processes,
    )
    done.write_text(mark, encoding="utf-8")
    return vectors


def _train(
    encoder: Encoder,
    corpus: Corpus,
    settings: EntitySettings,
    work: Path,
    mark: str,
    resume: bool,
    progress: ProgressReporter,
    processes: ProcessGroup,
) -> list[Selector]:
    path = work / "checkpoint.safetensors"
    state = TrainingState.new(settings, settings.features.width(encoder), encoder.device)
    if resume:
        load_checkpoint(path, state, mark)
    elif processes.is_main:
        path.unlink(missing_ok=True)  # of another run in the same place
    steps = steps_per_epoch(len(corpus.sentences), settings)
    count = progress.stage("learning", settings.epochs * steps)
    count(state.epoch * steps + state.step)
    reports: list[EpochReport] = []
    saved = [time.monotonic()]

    def save() -> None:
        if processes.is_main:
            save_checkpoint(path, state, mark)
            saved[0] = time.monotonic()

    def after_step() -> None:
        count(1)
        if time.monotonic() - saved[0] >= _SAVED_EVERY:
            save()

    def after_epoch(report: EpochReport) -> None:
        if report.collapsed and not (reports and reports[-1].collapsed):  # told as it begins
            progress.note(report.collapsed)
        reports.append(report)
        save()

    return train(
        state,
        encoder,
        corpus,
        settings,
        after_step=after_step,
        after_epoch=after_epoch,
        processes=processes,
    )


def _fingerprint(
    sentences: IndexedSentences,
    encoder: Encoder,
    settings: EntitySettings,
    prior: NDArray[np.float32],
) -> str:
    """A mark that only the same text, encoder, settings and prior knowledge have."""
    told = [encoder.name, encoder.layer, asdict(settings), sentences.vocabulary]
    digest = hashlib.sha256(json.dumps(told).encode())
    for array in (prior, sentences.starts, sentences.word_ids):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
