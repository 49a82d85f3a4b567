"""Cache the vectors of raw text and gold sets, so that rows with the same features share them."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thresher.encoders import Encoder
from thresher.entities.finding.text_finder import SplitText
from thresher.gates.features import Features
from thresher.gates.word_vectors import UnitIndex, cache_vectors


@dataclass(frozen=True)
class Encoded:
    """Sentences with the vectors of their units (words or subwords).

    seconds: how long encoding took
    """

    sentences: SplitText
    vectors: np.ndarray
    units: UnitIndex
    seconds: float


def encode_once(
    encoder: Encoder, name: str, sentences: SplitText, features: Features, work: Path
) -> None:
    """Save vectors and units in the folder `work`; the JSON, written last, marks completion."""
    path = _path(work, name, features)
    if path.with_suffix(".json").exists():
        return
    started = time.perf_counter()
    units = UnitIndex.of_features(features, encoder, sentences)
    cache_vectors(encoder, sentences, path, features=features, units=units)
    np.savez(path.with_suffix(".npz"), word=units.word, starts=units.starts)
    seconds = round(time.perf_counter() - started, 1)
    path.with_suffix(".json").write_text(json.dumps(seconds), encoding="utf-8")


def load_encoded(name: str, sentences: SplitText, features: Features, work: Path) -> Encoded:
    """Load what `encode_once` saved."""
    path = _path(work, name, features)
    arrays = np.load(path.with_suffix(".npz"))
    units = UnitIndex(arrays["word"], arrays["starts"], sum(map(len, sentences)))
    seconds = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return Encoded(sentences, np.load(path, mmap_mode="r"), units, seconds)


def _path(work: Path, name: str, features: Features) -> Path:
    return work / f"{name}-{features.unit}-{features.attention}.npy"
