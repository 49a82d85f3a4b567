"""Rationales for labelled tasks: gates beside REINFORCE, random words and gradients.

    python -m benchmarks.rationales [--only "synthetic stretched" …] [--seeds 0 1 2]

Every row and seed is a JSON file in benchmarks/results/rationales, named by row, seed, code and
machine; those that are there are skipped. `benchmarks.rationales_section` makes a section of
docs/results.md of them. The rows of `sources` explain one classifier, with three seeds of gates;
those of `synthetic` have texts and a classifier of their own for each seed.
"""

import argparse
import copy
import hashlib
import json
import platform
import re
import resource
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor

from benchmarks.data import ROOT
from benchmarks.rationales_tasks import TASKS, Task
from thresher.encoders import DEFAULT_ENCODER, Encoder, load_encoder
from thresher.encoders.sentence_bert import SentenceBert
from thresher.gates.word_vectors import cache_vectors
from thresher.rationales.classifier import Classifier, Reader, seeded_classifier
from thresher.rationales.classifier_training import train_classifier
from thresher.rationales.comparison import RIVALS, compare
from thresher.rationales.corpus import Corpus, per_text, split
from thresher.rationales.evaluation import token_counts
from thresher.rationales.fit import open_probabilities
from thresher.rationales.gradient_noise import GradientNoise, gradient_noise
from thresher.rationales.inference import text_vectors
from thresher.rationales.settings import RationaleSettings
from thresher.rationales.training import (
    OPEN,
    GateTraining,
    TrainedGates,
    estimated_task,
    train_gates,
)

RESULTS = ROOT / "benchmarks" / "results" / "rationales"
_DRAWS, _NOISE_TEXTS = 16, 16


@dataclass(frozen=True)
class Row:
    """One way to learn rationales for one task.

    rivals: what else is measured with as many words
    """

    task: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    rivals: tuple[str, ...] = ()


_REINFORCE = {"estimator": "reinforce", "form": "thresholded"}
_JOINT = {"mode": "joint"}
_TWO = {**_REINFORCE, "baseline": "others", "samples": 2}
ROWS = {
    "synthetic stretched": Row("synthetic", rivals=("random", "gradient")),
    "synthetic thresholded": Row("synthetic", {"form": "thresholded"}),
    "synthetic REINFORCE, no baseline": Row("synthetic", {**_REINFORCE, "baseline": "none"}),
    "synthetic REINFORCE, average": Row("synthetic", _REINFORCE),
    "synthetic REINFORCE, two samples": Row("synthetic", _TWO),
    "synthetic no expected selection": Row("synthetic", {"selection": 0.0}),
    "synthetic joint": Row("synthetic", _JOINT),
    "synthetic joint from scratch": Row("synthetic", {**_JOINT, "head_start": False, "steps": 180}),
    "synthetic joint REINFORCE": Row("synthetic", {**_REINFORCE, **_JOINT}),
    "sources stretched": Row("sources", rivals=RIVALS),
    "sources REINFORCE, two samples": Row("sources", _TWO),
    "sources pooled": Row("sources", {"gates_at": "pool"}, rivals=("random",)),
    "sources joint": Row("sources", {"mode": "joint"}, rivals=("random",)),
}


@dataclass(frozen=True)
class Prepared:
    """A task with what its rows share: word vectors, and a classifier of whole texts."""

    task: Task
    corpus: Corpus
    reader: Reader
    classifier: Classifier
    answers: Tensor
    learn: list[int]
    held_out: list[int]
    seconds: float


def prepared(task: Task, encoder: Encoder, work: Path, *, gates_at: str, seed: int) -> Prepared:
    """Read the texts, and learn the classifier that gates are to explain or to go on with."""
    started = time.perf_counter()
    reader = Reader(encoder, gates_at)
    path = work / f"{task.name}-{seed}.npy"
    vectors = cache_vectors(encoder, task.texts, path)
    corpus = Corpus(task.texts, task.labels, vectors)
    learn, held_out = split(task.learning, share=0.1, seed=seed)
    whole = text_vectors(reader, task.texts)
    classifier = train_classifier(
        reader,
        task.texts,
        whole,
        task.labels,
        label_count=len(task.label_names),
        learn=learn,
        held_out=held_out,
        settings=RationaleSettings(seed=seed, partial_readings=1),
    )
    with torch.no_grad():
        answers = classifier(whole).argmax(-1).cpu()
    seconds = time.perf_counter() - started
    return Prepared(task, corpus, reader, classifier, answers, learn, held_out, seconds)


def run_row(row: Row, seed: int, data: Prepared) -> dict[str, Any]:
    """Train the gates and measure them on the texts of the test."""
    task, encoder = data.task, data.reader.encoder
    given = {"sparsity_target": task.share, "expected_rate": task.share, "steps": task.steps}
    settings = RationaleSettings(**{**given, "checks": 5, "seed": seed, **row.settings})
    classifier = copy.deepcopy(data.classifier)  # joint rows change theirs
    if not settings.head_start:
        labels = len(task.label_names)
        classifier = seeded_classifier(seed, encoder.width, labels, hidden=settings.hidden)
        classifier.to(encoder.device)
    if settings.mode == "frozen":
        data = replace(data, corpus=replace(data.corpus, labels=data.answers))
    noise = asdict(_noise(settings, classifier, data))
    started = time.perf_counter()
    trained = train_gates(
        data.reader,
        data.corpus,
        classifier,
        learn=data.learn,
        held_out=data.held_out,
        settings=settings,
    )
    seconds = time.perf_counter() - started
    return {
        "settings": asdict(settings),
        "seconds": round(seconds, 1),
        "shared_seconds": round(data.seconds, 1),
        **_peaks(),
        "gradient_at_start": noise,
        "checks": [asdict(check) for check in trained.checks],
        "chosen": trained.chosen.step,
        **_figures(row, seed, data, trained),
    }


def _figures(row: Row, seed: int, data: Prepared, trained: TrainedGates) -> dict[str, Any]:
    task = data.task
    test = range(task.learning, len(task.texts))
    texts = [task.texts[i] for i in test]
    opened = open_probabilities(
        trained.selector, data.corpus.vectors_of(test, data.reader.encoder.device)
    )
    selected = per_text(opened >= OPEN, texts)
    figures = compare(
        data.reader,
        trained.classifier,
        texts,
        task.labels[list(test)],
        selected,
        rivals=row.rivals,
        seed=seed,
    )
    found: dict[str, Any] = {"figures": {name: asdict(each) for name, each in figures.items()}}
    if task.gold is not None:
        counts = token_counts([task.gold[i] for i in test], selected)
        shares = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
        found["token"] = shares | asdict(counts)
    found["examples"] = [
        " ".join(f"[{word}]" if kept else word for word, kept in zip(words, row_, strict=True))
        for words, row_ in zip(texts[:5], selected[:5], strict=True)
    ]
    return found


def _noise(settings: RationaleSettings, classifier: Classifier, data: Prepared) -> GradientNoise:
    """Of the task's gradient in the selector's weights, where training starts."""
    device = data.reader.encoder.device
    state = GateTraining.new(settings, classifier, device)
    generator = Generator(device).manual_seed(settings.seed)
    texts = data.learn[:_NOISE_TEXTS]
    vectors = data.corpus.vectors_of(texts, device)

    def surrogate() -> Tensor:
        gates = state.selector(vectors)
        return estimated_task(state, data.reader, data.corpus, texts, gates, generator).surrogate

    surrogate()  # a moving average then has something to go by
    return gradient_noise(surrogate, list(state.selector.parameters()), draws=_DRAWS)


def _peaks() -> dict[str, float]:
    peaks = {"peak_ram_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)}
    if torch.cuda.is_available():
        peaks["peak_gpu_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    return peaks


def code_version() -> str:
    """A digest of the code of rationales and of this benchmark."""
    digest = hashlib.sha256()
    room = ROOT / "src" / "thresher" / "rationales"
    for path in sorted([*room.glob("*.py"), *(ROOT / "benchmarks").glob("rationales*.py")]):
        if not path.name.endswith("_section.py"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


def machine() -> str:
    if torch.cuda.is_available():
        return torch.cuda.get_device_name().replace(" ", "-")
    return f"{platform.machine()}-CPU"


def _encoder(weights: str | None) -> Encoder:
    """The default encoder, or a copy of its weights where its package cannot be installed."""
    if weights is None:
        return load_encoder()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return SentenceBert(weights, label=DEFAULT_ENCODER, device=device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--encoder", default=None, help="a folder with the encoder's weights")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    encoder, code, where = _encoder(options.encoder), code_version(), machine()
    shared: dict[tuple[object, ...], Prepared] = {}
    with tempfile.TemporaryDirectory() as work:
        for seed in options.seeds:
            for name in options.only:
                stem = f"{re.sub('[^a-z0-9]+', '-', name.lower())}-{seed}"
                path = options.results / f"{stem}-{code}-{where}.json"
                if path.exists():
                    continue
                row = ROWS[name]
                place = str(row.settings.get("gates_at", "input"))
                own = seed if row.task == "synthetic" else 0
                key = (row.task, own, place)
                if key not in shared:
                    task = TASKS[row.task](own)
                    shared[key] = prepared(task, encoder, Path(work), gates_at=place, seed=own)
                result = run_row(row, seed, shared[key])
                about = {"row": name, "task": row.task, "seed": seed, "code": code}
                for old in options.results.glob(f"{stem}-*-{where}.json"):
                    old.unlink()
                content = json.dumps({**about, "machine": where, **result}, indent=1)
                path.write_text(content + "\n", encoding="utf-8")
                print(_line(name, seed, result), flush=True)


def _line(name: str, seed: int, result: dict[str, Any]) -> str:
    each = result["figures"]["rationale"]
    f1 = f"  F1 {result['token']['f1']:.3f}" if "token" in result else ""
    return (
        f"{name:34s} {seed}  {result['seconds']:6.1f} s  selected {each['selected']:.3f}  accuracy "
        f"{each['accuracy']:.3f} {each['accuracy_from_rationale']:.3f} "
        f"{each['accuracy_without']:.3f}{f1}"
    )


if __name__ == "__main__":
    main()
