"""Train the layers and gates of the English students on the gates of several finders.

    python -m benchmarks.entities.train_students narrow     35 minutes on one core with --bfloat16
    python -m benchmarks.entities.train_students small

`benchmarks.entities.distill_layers` taught the students the hidden states of their teacher. Here
their layers, selector and link gate learn the targets of `benchmarks.entities.gate_targets`, a mean
of two finders with different encoders. Word vectors must stay near those of the teacher, so that
they still tell kinds of entities apart. Some tokens are hidden by [MASK], so that names are also
recognised by their context. No label is used. A student that is not in benchmarks/models is taken
from the package. Writes benchmarks/models/narrow or small.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from benchmarks.data import NARROW, SMALL
from benchmarks.entities.distill_layers import Batch, Finder, fast_attention
from benchmarks.entities.gate_targets import GateTargets, raw_sentences
from thresher.encoders.bert import Bert
from thresher.encoders.loading import load_encoder
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.built_in import ENGLISH, SMALL_ENGLISH, find_model_folder
from thresher.entities.loading import input_ranges
from thresher.entities.model import FinderModel
from thresher.gates.batching import batches_by_length, sentence_starts
from thresher.gates.objective import agreement
from thresher.gates.optimization import set_learning_rate, take_step

STUDENTS = {NARROW.name: (NARROW, ENGLISH), SMALL.name: (SMALL, SMALL_ENGLISH)}
EPOCHS, WORDS_PER_BATCH = 3, 3000
LEARNING_RATE, WEIGHT_DECAY, WARM_UP = 3e-4, 1e-2, 200
LINK_WEIGHT, VECTOR_WEIGHT = 0.5, 0.1
HIDDEN_TOKENS = 0.1  # the largest fraction in a sentence
_MAX_WORDS = 120


class Lesson(NamedTuple):
    """A batch of sentences, and what the student should say about them.

    words: (words,), their positions in the raw text
    pairs: positions in `words` of the first of two neighbours in a sentence
    """

    batch: Batch
    words: NDArray[np.int64]
    pairs: Tensor


def lessons_of(
    encoder: SentenceBert,
    sentences: Sequence[list[str]],
    *,
    words_per_batch: int = WORDS_PER_BATCH,
) -> list[Lesson]:
    """Return batches of sentences of like length; very long sentences are left out."""
    starts = sentence_starts(sentences)
    short = [number for number, words in enumerate(sentences) if len(words) <= _MAX_WORDS]
    batches = []
    groups = batches_by_length([sentences[i] for i in short], words_per_batch=words_per_batch)
    for group in groups:
        chosen = [short[i] for i in group]
        words = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in chosen])
        pairs = torch.ones(len(words), dtype=torch.bool)
        pairs[np.cumsum([len(sentences[i]) for i in chosen]) - 1] = False
        batch = Batch.of(encoder.batch([sentences[i] for i in chosen]))
        batches.append(Lesson(batch, words, pairs.nonzero()[:, 0]))
    return batches


def with_hidden_tokens(batch: Batch, mask_id: int) -> tuple[Tensor, Tensor]:
    """Return the token ids with some of them replaced by [MASK], and which words are whole."""
    rate = HIDDEN_TOKENS * torch.rand(len(batch.ids), 1)
    hidden = (torch.rand(batch.ids.shape) < rate) & batch.inside
    whole = torch.ones(len(batch.counts), dtype=torch.bool)
    whole[batch.word[hidden[batch.inside]]] = False
    return torch.where(hidden, mask_id, batch.ids), whole


def losses(
    student: Finder, lesson: Lesson, targets: GateTargets, mask_id: int, *, low: bool = False
) -> Tensor:
    """Return the losses of gates, links and word vectors: (3,).

    low: compute the hidden states in bfloat16
    """
    ids, whole = with_hidden_tokens(lesson.batch, mask_id)
    with torch.autocast("cpu", torch.bfloat16, enabled=low):
        _, vectors = student.encode(lesson.batch, ids)
    gates = torch.from_numpy(targets.gates[lesson.words])
    gate_loss = agreement(student.selector(vectors[whole]), gates[whole])
    assert student.link_gate is not None
    pairs = lesson.pairs[whole[lesson.pairs] & whole[lesson.pairs + 1]]
    link_loss = functional.binary_cross_entropy_with_logits(
        student.link_gate(vectors[pairs], vectors[pairs + 1]),
        torch.from_numpy(targets.links[lesson.words])[pairs],
        reduction="sum",
    ) / max(1, len(pairs))  # sentences of one word have no pairs
    wanted = torch.from_numpy(targets.vectors[lesson.words].astype(np.float32))
    error = functional.mse_loss(vectors[whole], wanted[whole]) / wanted.var(0).mean()
    return torch.stack([gate_loss, link_loss, error])


def train(
    student: Finder,
    lessons: Sequence[Lesson],
    targets: GateTargets,
    *,
    epochs: int,
    mask_id: int,
    low: bool = False,
) -> None:
    """Train all weights of a student but the word embeddings."""
    assert student.link_gate is not None
    trained = [
        *student.bert.layers.parameters(),
        student.bert.embeddings.positions,
        *student.bert.embeddings.norm.parameters(),
        *student.selector.parameters(),
        *student.link_gate.parameters(),
    ]
    for parameter in trained:
        parameter.requires_grad_(True)
    optimizer = torch.optim.AdamW(trained, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)
    weights = torch.tensor([1.0, LINK_WEIGHT, VECTOR_WEIGHT])
    generator = np.random.default_rng(0)
    order = np.concatenate([generator.permutation(len(lessons)) for _ in range(epochs)])
    for step, number in enumerate(order):
        set_learning_rate(optimizer, step=step, steps=len(order), warm_up=WARM_UP)
        each = losses(student, lessons[number], targets, mask_id, low=low)
        take_step(optimizer, weights @ each, when=f"at step {step + 1}", max_gradient_norm=1.0)
        if step % 100 == 0:
            gates, links, vectors = each.tolist()
            figures = f"gates {gates:.4f}, links {links:.4f}, vectors {vectors:.4f}"
            print(f"step {step} of {len(order)}: {figures}", flush=True)
    for parameter in trained:
        parameter.requires_grad_(False)


def trained_model(model: FinderModel, student: Finder, encoder: SentenceBert) -> FinderModel:
    """Return a model with the layers and gates of a student."""
    sentences = raw_sentences()
    layers = {name: value.half() for name, value in student.bert.layer_weights().items()}
    own = replace(model.selectors[model.entity], selector=student.selector.eval())
    record = model.learned_from | {"sentences": len(sentences), "words": sum(map(len, sentences))}
    return replace(
        model,
        layers=layers,
        ranges=input_ranges(encoder.with_layers(layers), sentences),
        selectors=(own,),
        entity=0,
        link_gate=student.link_gate and student.link_gate.eval(),
        learned_from=record,
        kinds=None,  # learned by `benchmarks.kinds.build`
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("student", choices=STUDENTS)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--bfloat16", action="store_true", help="not every CPU can; faster if so")
    options = parser.parse_args()
    torch.manual_seed(0)
    output, built_in = STUDENTS[options.student]
    model = FinderModel.read(output if output.exists() else find_model_folder(built_in))
    encoder = load_encoder(model.encoder, device="cpu")
    assert isinstance(encoder, SentenceBert)
    mask_id = encoder.tokenizer.token_to_id("[MASK]")
    assert mask_id is not None
    cpu = torch.device("cpu")
    student = Finder.of(model, with_layers(encoder, model), cpu)
    with fast_attention(cpu):
        train(
            student,
            lessons_of(encoder, raw_sentences()),
            GateTargets.of_raw_text(),
            epochs=options.epochs,
            mask_id=mask_id,
            low=options.bfloat16,
        )
    trained_model(model, student, encoder).write(output)
    print(f"wrote {output.name}")


def with_layers(encoder: SentenceBert, model: FinderModel) -> Bert:
    """Return the transformer of a model."""
    bert = encoder.with_layers(model.layers).model
    assert isinstance(bert, Bert)
    return bert


if __name__ == "__main__":
    main()
