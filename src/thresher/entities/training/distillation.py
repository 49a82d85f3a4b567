"""A small finder taught by a large one: its word scores on raw text are all the labels there are.

The student reads words with a `StaticEncoder` instead of a transformer and is otherwise a finder
like any other. Its token vectors begin as the directions in which the teacher's vectors of single
tokens differ most; then all of it learns P(open) of the teacher's gates by binary cross-entropy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.protocol import Encoder, SubwordEncoder, word_vectors
from thresher.encoders.static_encoder import StaticEncoder
from thresher.encoders.static_files import as_saved
from thresher.entities.finding.signal_weights import Scores
from thresher.errors import InputError
from thresher.gates.objective import agreement
from thresher.gates.selector import Selector
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.validation import require_fields, require_number

_WARM_UP = 100  # steps


@dataclass(frozen=True, kw_only=True)
class DistillationSettings:
    """How a student is made.

    width: of its vectors   layers, reach: of its convolution over words   hidden: of its selector
    vector_rate: the learning rate of token vectors, of which each batch has only a few
    """

    width: int = 64
    layers: int = 2
    reach: int = 2
    hidden: int = 64
    epochs: int = 4
    sentences_per_batch: int = 64
    learning_rate: float = 2e-3
    vector_rate: float = 4e-3
    weight_decay: float = 1e-2
    dropout: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = ("width", "layers", "reach", "hidden", "epochs", "sentences_per_batch")
        require_fields(self, sizes, at_least=1)
        require_fields(self, ("learning_rate", "vector_rate"), above=0)
        require_fields(self, ("weight_decay", "seed"), at_least=0)
        require_number("dropout", self.dropout, at_least=0, below=1)


@dataclass(frozen=True)
class Student:
    """What reads a word, and what decides about it."""

    encoder: StaticEncoder
    selector: Selector

    @classmethod
    def new(cls, teacher: Encoder, settings: DistillationSettings, *, form: str) -> "Student":
        """One that has learned nothing but what the teacher makes of single tokens."""
        if not isinstance(teacher, SubwordEncoder):
            raise InputError(
                f"the encoder {teacher.name} does not show its tokens to a student; "
                "the teacher must be a model that reads with a transformer"
            )
        vectors = principal_components(teacher.token_vectors(), settings.width)
        encoder = StaticEncoder(
            teacher.tokenizer,
            vectors,
            layers=settings.layers,
            reach=settings.reach,
            dropout=settings.dropout,
        )
        selector = Selector(settings.width, hidden=settings.hidden, form=form)
        return cls(encoder.to(teacher.device), selector.to(teacher.device))

    def gates(self, sentences: Sequence[Sequence[str]]) -> KumaraswamyGate:
        """The gate of each word in turn."""
        batch = self.encoder.batch(sentences)
        gates: KumaraswamyGate = self.selector(word_vectors(self.encoder.encode(batch), batch))
        return gates

    def as_saved(self) -> "Student":
        """The student as it will be read again."""
        return Student(as_saved(self.encoder), self.selector.half().float().eval())


def principal_components(vectors: Tensor, width: int) -> Tensor:
    """Vectors about their mean along the directions in which they differ most, of unit variance.

    vectors: (rows, any)   returns: (rows, width)
    """
    if width > vectors.shape[1]:
        raise InputError(f"width must be at most the teacher's, {vectors.shape[1]}; got {width}")
    centred = vectors.float() - vectors.float().mean(0)
    _, directions = torch.linalg.eigh(centred.T @ centred)  # by growing variance
    found: Tensor = centred @ directions[:, -width:].flip(1)
    return found / found.square().mean().sqrt().clamp(min=1e-6)


def teach(
    student: Student,
    sentences: Sequence[Sequence[str]],
    gates: Sequence[Scores],
    settings: DistillationSettings,
    *,
    after_step: Callable[[], None] = lambda: None,
) -> None:
    """Bring P(open) of the student's gates close to the teacher's; the student is changed.

    gates: the teacher's P(open), (words,) for each sentence
    """
    optimizer = torch.optim.AdamW(_parameters(student, settings))
    rates = [group["lr"] for group in optimizer.param_groups]
    steps = settings.epochs * steps_per_epoch(len(sentences), settings)
    student.encoder.train()
    for step, indices in enumerate(_batches(len(sentences), settings)):
        factor = min(1.0, (step + 1) / _WARM_UP) * (1 - step / steps)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        target = torch.from_numpy(np.concatenate([gates[i] for i in indices]))
        taught = student.gates([sentences[i] for i in indices])
        loss = agreement(taught, target.to(student.encoder.device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        after_step()
    student.encoder.eval()


def steps_per_epoch(sentences: int, settings: DistillationSettings) -> int:
    """How many batches an epoch has."""
    return -(-sentences // settings.sentences_per_batch)


def _parameters(student: Student, settings: DistillationSettings) -> list[dict[str, Any]]:
    """Token vectors apart: they learn faster, and are not drawn to zero."""
    vectors = student.encoder.vectors
    others = [
        parameter
        for module in (student.encoder, student.selector)
        for parameter in module.parameters()
        if parameter is not vectors
    ]
    return [
        {"params": others, "lr": settings.learning_rate, "weight_decay": settings.weight_decay},
        {"params": [vectors], "lr": settings.vector_rate, "weight_decay": 0.0},
    ]


def _batches(sentences: int, settings: DistillationSettings) -> Iterator[NDArray[np.int64]]:
    order = np.random.default_rng(settings.seed)
    for _ in range(settings.epochs):
        shuffled = order.permutation(sentences)
        for low in range(0, sentences, settings.sentences_per_batch):
            yield shuffled[low : low + settings.sentences_per_batch]
