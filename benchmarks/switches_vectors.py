"""Vectors of raw text and of gold sets, encoded once for every row that reads the same ones."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from thresher.encoders import DEFAULT_ENCODER, Encoder, load_encoder
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.finding.text_finder import Document
from thresher.gates.features import Features
from thresher.gates.word_vectors import Units, cache_vectors


@dataclass(frozen=True)
class Encoded:
    """Sentences with the vectors of their units; seconds: what encoding them took."""

    sentences: Document
    vectors: np.ndarray
    units: Units
    seconds: float


def the_encoder(weights: str | None) -> Encoder:
    """The default encoder, or a copy of its weights where its package cannot be installed."""
    if weights is None:
        return load_encoder()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return SentenceBert(weights, label=DEFAULT_ENCODER, device=device)


def encode_once(
    encoder: Encoder, name: str, sentences: Document, features: Features, work: Path
) -> None:
    """Leave vectors and units in `work`, whole or not at all: the JSON comes last."""
    path = _path(work, name, features)
    if path.with_suffix(".json").exists():
        return
    started = time.perf_counter()
    units = Units.of(features, encoder, sentences)
    cache_vectors(encoder, sentences, path, features=features, units=units)
    np.savez(path.with_suffix(".npz"), word=units.word, starts=units.starts)
    seconds = round(time.perf_counter() - started, 1)
    path.with_suffix(".json").write_text(json.dumps(seconds), encoding="utf-8")


def encoded(name: str, sentences: Document, features: Features, work: Path) -> Encoded:
    """What `encode_once` left."""
    path = _path(work, name, features)
    arrays = np.load(path.with_suffix(".npz"))
    units = Units(arrays["word"], arrays["starts"], sum(map(len, sentences)))
    seconds = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return Encoded(sentences, np.load(path, mmap_mode="r"), units, seconds)


def _path(work: Path, name: str, features: Features) -> Path:
    return work / f"{name}-{features.unit}-{features.attention}.npy"
