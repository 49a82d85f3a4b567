"""Train a small student model to predict the gates of a large teacher, on raw text.

The student encodes words with a `StaticEncoder` instead of a transformer, and otherwise is a finder
like any other. Its token vectors are initialized with the principal components of the teacher's
vectors of single tokens; then all weights learn P(open) of the teacher's gates by binary
cross-entropy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.protocol import Encoder, SubwordEncoder, word_vectors
from thresher.encoders.static_encoder import StaticEncoder
from thresher.encoders.static_files import as_saved
from thresher.entities.finding.signal_weights import Scores
from thresher.errors import InputError
from thresher.gates.objective import agreement
from thresher.gates.optimization import set_learning_rate, take_step
from thresher.gates.selector import Selector
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.validation import require_fields, require_number

_WARM_UP_STEPS = 100
VECTOR_WEIGHT = 0.1


@dataclass(frozen=True, kw_only=True)
class DistillationSettings:
    """How a student is trained.

    width: the length of token vectors   hidden: the width of the selector
    layers, reach: of the convolution over words: each layer mixes `reach` words on either side
    vector_rate: the learning rate of token vectors, which is higher because each batch contains
        only a few of them
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
    """The encoder and the selector of a student."""

    encoder: StaticEncoder
    selector: Selector

    @classmethod
    def new(cls, teacher: Encoder, settings: DistillationSettings, *, form: str) -> "Student":
        """Return an untrained student, whose token vectors are derived from the teacher's.

        form: the form of its gates
        """
        if not isinstance(teacher, SubwordEncoder):
            raise InputError(
                f"the encoder {teacher.name} does not give the vectors of its tokens; "
                "the teacher must be a model with a transformer"
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
        """Return the gate of each word, the sentences one after another."""
        gates: KumaraswamyGate = self.selector(self.vectors(sentences))
        return gates

    def vectors(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Return the vector of each word, the sentences one after another: (words, width)."""
        batch = self.encoder.batch(sentences)
        return word_vectors(self.encoder.encode(batch), batch)

    def as_saved(self) -> "Student":
        """Return the student with its weights rounded as they are saved."""
        return Student(as_saved(self.encoder), self.selector.half().float().eval())


def principal_components(vectors: Tensor, width: int) -> Tensor:
    """Project centred vectors on their first principal components, scaled to unit variance.

    vectors: (rows, any)   returns: (rows, width)
    """
    if width > vectors.shape[1]:
        raise InputError(
            f"`width` must be at most that of the teacher's encoder, {vectors.shape[1]}, "
            f"got {width}"
        )
    centred = vectors.float() - vectors.float().mean(0)
    _, directions = torch.linalg.eigh(centred.T @ centred)  # in order of increasing variance
    projected: Tensor = centred @ directions[:, -width:].flip(1)
    return projected / projected.square().mean().sqrt().clamp(min=1e-6)


def train_student(
    student: Student,
    sentences: Sequence[Sequence[str]],
    gates: Sequence[Scores],
    settings: DistillationSettings,
    *,
    vectors: Sequence[NDArray[np.float16]] | None = None,
    after_step: Callable[[], None] = lambda: None,
) -> None:
    """Train P(open) of the student's gates towards the teacher's; changes the student.

    gates: the teacher's P(open), (words,) for each sentence
    vectors: the teacher's word vectors, (words, width) for each sentence. A linear map of the
        student's vectors learns to predict them, so that they still tell kinds of entities apart
    """
    device = student.encoder.device
    parameters = _parameter_groups(student, settings)
    if vectors is not None:
        predicted = nn.Linear(settings.width, vectors[0].shape[1], device=device)
        parameters[0]["params"] += predicted.parameters()
    optimizer = torch.optim.AdamW(parameters)
    steps = settings.epochs * steps_per_epoch(len(sentences), settings)
    student.encoder.train()
    for step, indices in enumerate(_batches(len(sentences), settings)):
        set_learning_rate(optimizer, step=step, steps=steps, warm_up=_WARM_UP_STEPS)
        target = torch.from_numpy(np.concatenate([gates[i] for i in indices]))
        own = student.vectors([sentences[i] for i in indices])
        loss = agreement(student.selector(own), target.to(device))
        if vectors is not None:
            wanted = torch.from_numpy(np.concatenate([vectors[i] for i in indices])).to(own)
            error = functional.mse_loss(predicted(own), wanted) / wanted.var(0).mean()
            loss = loss + VECTOR_WEIGHT * error
        take_step(optimizer, loss, when=f"at step {step + 1}")
        after_step()
    student.encoder.eval()


def steps_per_epoch(sentences: int, settings: DistillationSettings) -> int:
    """Return the number of batches of an epoch."""
    return -(-sentences // settings.sentences_per_batch)


def _parameter_groups(student: Student, settings: DistillationSettings) -> list[dict[str, Any]]:
    """Separate the token vectors, which have their own learning rate and no weight decay."""
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
    generator = np.random.default_rng(settings.seed)
    for _ in range(settings.epochs):
        shuffled = generator.permutation(sentences)
        for low in range(0, sentences, settings.sentences_per_batch):
            yield shuffled[low : low + settings.sentences_per_batch]
