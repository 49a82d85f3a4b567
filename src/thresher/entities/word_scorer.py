"""Encode words and score them with gates."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from thresher.encoders.device_transfer import to_cpu
from thresher.encoders.protocol import Encoder, LowPrecisionEncoder
from thresher.encoders.static_encoder import StaticEncoder
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.int8_gates import RANGE, Int8Gates
from thresher.entities.kinds.assignment import EncodedWords, finding_scores
from thresher.entities.kinds.span_vectors import Vectors
from thresher.entities.model import FinderModel
from thresher.gates.batching import batches_in_order
from thresher.gates.features import Features
from thresher.gates.static_gates import StaticGates
from thresher.gates.word_vectors import UnitIndex
from thresher.maths.hard_kumaraswamy import KumaraswamyGate

WORDS_PER_BATCH = {"cpu": 8192, "cuda": 32_768}

_Gates = tuple[Tensor, Tensor | None]  # P(open) of units, and the log-odds of the link gate


class WordScorer:
    """Encodes the words of sentences, and scores them with the gates of a model."""

    def __init__(self, encoder: Encoder, model: FinderModel) -> None:
        self.encoder = encoder
        self.model = model
        self._selector = model.selector.to(encoder.device).eval()
        self._static_gates = _static_gates(encoder, model)
        self._link_gate = model.link_gate and model.link_gate.to(encoder.device).eval()
        self._int8_gates = _int8_gates(encoder, model)
        gates = model.kinds.gates if model.kinds else None
        self._kind_gates = gates.to(encoder.device) if gates else None

    def gates(self, sentences: SplitText) -> KumaraswamyGate:
        """Return the gate of every word, or of every subword if the model has a gate for each.

        `gates(…).sample(generator=…)` is a random mask.
        """
        with torch.inference_mode():
            vectors = self.model.features.encode(self.encoder, sentences)
            gates: KumaraswamyGate = self._selector(vectors)
        return gates

    def gate_scores(self, sentences: SplitText) -> Scores:
        """Return P(open) of every word, with gates per subword the largest of a word: (words,)."""
        return self.gates_and_links(sentences)[0]

    def gates_and_links(self, sentences: SplitText) -> tuple[Scores, Scores | None]:
        """Return `gate_scores(sentences)` and the log-odds of the link gate, if there is one."""
        if self._static_gates is not None:
            return self._static_gates.gate_scores(sentences), None
        batches = self._batches(sentences)
        # Start all batches before copying any result, so that a GPU never waits for the CPU.
        with torch.inference_mode():
            found = [self._gates_of(self._vectors(batch)) for batch in batches]
        return self._max_per_word(batches, found), self._joined_links(found)

    def encode(self, sentences: SplitText) -> EncodedWords:
        """Return `gate_scores(sentences)`, and what kinds are predicted from."""
        if self._static_gates is not None and self._kind_gates is None:
            of_words = self._static_gates.word_vectors(sentences)
            return EncodedWords(self._static_gates.prob_open(of_words), of_words)
        batches, found, vectors, kinds = self._batches(sentences), [], [], []
        with torch.inference_mode():
            for batch in batches:
                encoded = self._vectors(batch)
                found.append(self._gates_of(encoded))
                vectors.append(encoded[:, : self.encoder.width])
                if self._kind_gates is not None:
                    kinds.append(self._kind_gates.scores(vectors[-1]))
        kind_scores = None
        if self._kind_gates is not None:
            kind_scores = self._mean_per_word(batches, kinds, len(self._kind_gates.selectors))
        return EncodedWords(
            self._max_per_word(batches, found),
            self._mean_per_word(batches, vectors, self.encoder.width),
            kind_scores,
            self._joined_links(found),
        )

    def finding_gates(self, sentences: SplitText) -> Scores:
        """Return the largest P(open) of all gates that find entities: (words,).

        Besides the gate of the model, these are the gates of kinds whose examples it often misses.
        """
        if self._kind_gates is None:
            return self.gate_scores(sentences)
        encoded = self.encode(sentences)
        assert encoded.kind_scores is not None
        of_kinds = finding_scores(encoded.kind_scores, self._kind_gates.finding)
        return (
            encoded.gate_scores if of_kinds is None else np.maximum(encoded.gate_scores, of_kinds)
        )

    def _batches(self, sentences: SplitText) -> list[SplitText]:
        max_words = WORDS_PER_BATCH.get(self.encoder.device.type, 2048)
        return [
            sentences[each[0] : each[-1] + 1]
            for each in batches_in_order(sentences, words_per_batch=max_words)
        ]

    def _vectors(self, batch: SplitText) -> Tensor:
        return self.model.features.encode(self.encoder, batch)

    def _gates_of(self, vectors: Tensor) -> _Gates:
        """Return P(open) of the units of a batch, and the log-odds of the link gate, if any."""
        if self._int8_gates is not None:
            return self._int8_gates(vectors)
        links = None if self._link_gate is None else self._link_gate.of_neighbours(vectors)
        return self._selector.prob_open(vectors), links

    def _max_per_word(self, batches: Sequence[SplitText], found: Sequence[_Gates]) -> Scores:
        """Return the largest P(open) of the units of each word: (words,)."""
        scores = [np.zeros(0, dtype=np.float32)]
        for batch, (opened, _) in zip(batches, found, strict=True):
            units = UnitIndex.of_features(self.model.features, self.encoder, batch)
            scores.append(units.max_per_word(to_cpu(opened).numpy()))
        return np.concatenate(scores)

    def _joined_links(self, found: Sequence[_Gates]) -> Scores | None:
        if self._link_gate is None:
            return None
        links = (to_cpu(each).numpy() for _, each in found if each is not None)
        return np.concatenate([np.zeros(0, np.float32), *links])

    def _mean_per_word(
        self, batches: Sequence[SplitText], values: Sequence[Tensor], width: int
    ) -> Vectors:
        of_words = [np.zeros((0, width), dtype=np.float32)]
        for batch, each in zip(batches, values, strict=True):
            units = UnitIndex.of_features(self.model.features, self.encoder, batch)
            of_words.append(units.mean_per_word(to_cpu(each).float().numpy()))
        return np.concatenate(of_words)


def _int8_gates(encoder: Encoder, model: FinderModel) -> Int8Gates | None:
    """Return the gates in int8, if the encoder runs in int8 and the range of its vectors is known.

    Only for gates of words: attention features have no known range.
    """
    in_int8 = isinstance(encoder, LowPrecisionEncoder) and encoder.precision == "int8"
    if not in_int8 or RANGE not in model.ranges or model.features != Features():
        return None
    return Int8Gates(model.selector, model.link_gate, model.ranges[RANGE])


def _static_gates(encoder: Encoder, model: FinderModel) -> StaticGates | None:
    """Return the gates computed with numpy, if the encoder has no transformer and is on a CPU."""
    if not isinstance(encoder, StaticEncoder) or model.features != Features():
        return None
    if encoder.exact or encoder.device.type != "cpu":
        return None
    weights, selector = (
        {name: value.detach().numpy() for name, value in module.state_dict().items()}
        for module in (encoder, model.selector)
    )
    return StaticGates(
        encoder.subwords,
        weights,
        selector,
        form=model.selector.form,
        gate_options=model.selector.gate_options,
    )
