"""A run that can be stopped and resumed: word vectors and checkpoints in a work directory."""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch.nn import ModuleList

from thresher.array_files import with_prefix, without_prefix
from thresher.atomic_files import write_file
from thresher.checkpoint_files import read_checkpoint, write_checkpoint
from thresher.encoders.protocol import Encoder, encoder_fingerprint
from thresher.entities.training.loop import TrainingCorpus, steps_per_epoch, train_selectors
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import EpochReport, TrainingState
from thresher.gates.selector import Selector
from thresher.gates.word_vectors import UnitIndex, cache_vectors
from thresher.progress import ProgressReporter
from thresher.text.indexed_sentences import IndexedSentences
from thresher.training_processes import Processes
from thresher.work_folder import other_run_error

_SECONDS_BETWEEN_CHECKPOINTS = 60.0  # within a long epoch
_WEIGHTS, _GENERATOR = "selectors.", "noise"
# Attributes of the state by their names in the file.
_NUMBERS = {
    "epoch": "epoch",
    "step": "step",
    "sums": "term_sums",
    "seen": "term_counts",
    "selected": "selected_sums",
}


@dataclass(frozen=True)
class FitRun:
    """Where a run keeps its files, and whether it continues an earlier one.

    fingerprint: identifies text, encoder, settings and prior; files with another one are refused
    """

    work_dir: Path
    fingerprint: str
    resume: bool
    progress: ProgressReporter
    processes: Processes

    def vectors(
        self,
        encoder: Encoder,
        sentences: IndexedSentences,
        settings: EntitySettings,
        units: UnitIndex,
    ) -> NDArray[np.float16]:
        """Return the vectors of all units, from the file of the stopped run if it is complete."""
        path, done = self.work_dir / "vectors.npy", self.work_dir / "vectors.done"
        if self.resume and done.is_file() and path.is_file():
            if done.read_text(encoding="utf-8") != self.fingerprint:
                raise other_run_error(self.work_dir)
            mapped: NDArray[np.float16] = np.load(path, mmap_mode="r")
            return mapped
        self.processes.wait()  # until all processes have checked the file
        done.unlink(missing_ok=True)
        vectors = cache_vectors(
            encoder,
            sentences,
            path,
            features=settings.features,
            units=units,
            progress=self.progress.stage("encoding", len(sentences)),
            processes=self.processes,
        )
        write_file(done, self.fingerprint.encode())
        return vectors

    def train(
        self, encoder: Encoder, corpus: TrainingCorpus, settings: EntitySettings
    ) -> list[Selector]:
        """Train selectors, from the checkpoint of the stopped run if there is one."""
        path = self.work_dir / "checkpoint.safetensors"
        state = TrainingState.new(settings, settings.features.width(encoder), encoder.device)
        if self.resume:
            load_checkpoint(path, state, self.fingerprint)
        elif self.processes.is_main:
            path.unlink(missing_ok=True)  # of another run in the same directory
        steps = steps_per_epoch(len(corpus.sentences), settings)
        count = self.progress.stage("training", settings.epochs * steps)
        count(state.epoch * steps + state.step)
        saved_at = time.monotonic()
        had_collapsed = False

        def save() -> None:
            nonlocal saved_at
            if self.processes.is_main:
                save_checkpoint(path, state, self.fingerprint)
                saved_at = time.monotonic()

        def after_step() -> None:
            count(1)
            if time.monotonic() - saved_at >= _SECONDS_BETWEEN_CHECKPOINTS:
                save()

        def after_epoch(report: EpochReport) -> None:
            nonlocal had_collapsed
            if report.collapse is not None and not had_collapsed:  # noted once, when it begins
                self.progress.note(report.collapse)
            had_collapsed = report.collapse is not None
            save()

        return train_selectors(
            state,
            encoder,
            corpus,
            settings,
            after_step=after_step,
            after_epoch=after_epoch,
            processes=self.processes,
        )


def fingerprint_of(
    sentences: IndexedSentences,
    encoder: Encoder,
    settings: EntitySettings,
    prior: NDArray[np.float32],
) -> str:
    """Return a digest that only the same text, encoder, settings and prior give.

    An encoder is recognized by its weights and tokenizer, not by its name.
    """
    described = [
        encoder_fingerprint(encoder),
        encoder.layer,
        asdict(settings),
        sentences.vocabulary,
    ]
    digest = hashlib.sha256(json.dumps(described).encode())
    for array in (prior, sentences.starts, sentences.word_ids):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def save_checkpoint(path: Path, state: TrainingState, fingerprint: str) -> None:
    """Write the state after a step; the fingerprint identifies the run it belongs to."""
    tensors = with_prefix(_WEIGHTS, ModuleList(state.selectors).state_dict())
    if state.generator_state is not None:
        tensors[_GENERATOR] = state.generator_state
    numbers = {name: getattr(state, attribute) for name, attribute in _NUMBERS.items()}
    numbers["sparsity_weights"] = [each.weight for each in state.sparsity_weights]
    numbers["rate_errors"] = [each.average for each in state.sparsity_weights]
    write_checkpoint(path, tensors, state.optimizer, numbers, fingerprint=fingerprint)


def load_checkpoint(path: Path, state: TrainingState, fingerprint: str) -> None:
    """Restore the state of a stopped run; without a file the state is unchanged."""
    checkpoint = read_checkpoint(path, state.optimizer, fingerprint=fingerprint)
    if checkpoint is None:
        return
    tensors, numbers = checkpoint
    ModuleList(state.selectors).load_state_dict(without_prefix(_WEIGHTS, tensors))
    state.generator_state = tensors.get(_GENERATOR)
    for name, attribute in _NUMBERS.items():
        setattr(state, attribute, numbers[name])
    pairs = zip(numbers["sparsity_weights"], numbers["rate_errors"], strict=True)
    for term_weight, (weight, average) in zip(state.sparsity_weights, pairs, strict=True):
        term_weight.weight, term_weight.average = weight, average
