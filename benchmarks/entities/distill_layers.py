"""Train the small English model: two transformer layers that imitate the built-in model.

    python -m benchmarks.entities.distill_layers                    ten minutes of a GPU
    python -m benchmarks.entities.distill_layers --layers 0 1 2 --inner 1024 --output FOLDER
        other layers of the teacher, and other numbers of inner units
    python -m benchmarks.entities.distill_layers --init FOLDER      continue with a student; with
        --seconds 0 it only gets the kinds, signal weights and threshold of the built-in model

The student starts with some of the teacher's three layers, each with all or with the most important
of its inner units. Its loss is the error of the hidden states of all tokens and of the vectors of
all words, relative to their variance, and the divergence of the gates and of the link gates. Words
are replaced at random by words of other sentences, so that no sentence is seen twice; the teacher
reads the same words, so no label is needed. Writes benchmarks/models/small.
"""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.data import SMALL, raw_english
from thresher.encoders.bert import Bert, BertLayer, with_prefix
from thresher.encoders.loading import choose_device, load_encoder
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.built_in import ENGLISH, find_model_folder
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.loading import input_ranges
from thresher.entities.model import FinderModel
from thresher.entities.model_card import CREDITS
from thresher.gates.batching import batches_by_length
from thresher.gates.objective import agreement
from thresher.gates.selector import Selector

KEPT_LAYERS, INNER_UNITS = (0, 2), 768
RATE, WARM_UP, GATE_WEIGHT, LINK_WEIGHT = 6e-4, 300, 2.0, 0.5
_WORDS_PER_BATCH, _MAX_WORDS = 10_000, 120


@dataclass(frozen=True)
class Batch:
    """Token ids, and the indices that are computed once, so that a GPU never waits for the CPU.

    ids, mask: (windows, tokens)   inside: (windows, tokens), True for tokens of words
    tokens: (tokens,), all that are not padding, counted over all windows
    word_tokens, word: (tokens,), those of words, and the word of each
    counts: (words, 1), the number of tokens of each word
    """

    ids: Tensor
    mask: Tensor
    inside: Tensor
    tokens: Tensor
    word_tokens: Tensor
    word: Tensor
    counts: Tensor

    @classmethod
    def of(cls, batch: TokenBatch) -> "Batch":
        inside = batch.word >= 0
        word = batch.word[inside]
        return cls(
            ids=batch.ids,
            mask=batch.mask,
            inside=inside,
            tokens=batch.mask.flatten().nonzero()[:, 0],
            word_tokens=inside.flatten().nonzero()[:, 0],
            word=word,
            counts=torch.bincount(word, minlength=batch.words).clamp(min=1)[:, None],
        )

    def word_vectors(self, hidden: Tensor) -> Tensor:
        """Return the mean of each word's tokens.   hidden: (all tokens, width)"""
        sums = hidden.new_zeros(len(self.counts), hidden.shape[1])
        return sums.index_add(0, self.word, hidden[self.word_tokens]) / self.counts


@dataclass(frozen=True)
class Finder:
    """The parts of a teacher or student that are compared."""

    bert: Bert
    selector: Selector
    link_gate: LinkGate | None
    layers: int

    @classmethod
    def of(cls, model: FinderModel, bert: Bert, device: torch.device) -> "Finder":
        """Return a finder with copies of the gates of a model."""
        link_gate = deepcopy(model.link_gate)
        return cls(
            bert,
            deepcopy(model.selector).to(device).eval(),
            link_gate and link_gate.to(device).eval(),
            bert.depth if model.layers else model.layer,
        )

    def encode(self, batch: Batch, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the hidden states of all tokens and the vectors of all words."""
        hidden = self.bert(self.bert.word_embeddings[ids], batch.mask, layers=self.layers)
        hidden = hidden.flatten(0, 1).float()
        return hidden[batch.tokens], batch.word_vectors(hidden)


def inner_units(teacher: Finder, number: int, count: int, batches: Sequence[Batch]) -> Tensor:
    """Return the units between the two linear layers that change the output most."""
    layer = teacher.bert.layers[number]
    assert isinstance(layer, BertLayer)
    variance = torch.zeros(layer.feed_forward_in.out_features)

    def add(_: object, inputs: tuple[Tensor, ...]) -> None:
        variance.add_(inputs[0].flatten(0, -2).var(0).cpu())

    hook = layer.feed_forward_out.register_forward_pre_hook(add)
    with torch.no_grad():
        for batch in batches:
            teacher.encode(batch, batch.ids)
    hook.remove()
    importance = variance.sqrt() * layer.feed_forward_out.weight.norm(dim=0).cpu()
    units: Tensor = importance.topk(count).indices.sort().values
    return units


def initial_layers(
    teacher: Finder, layers: Sequence[int], inner: int, batches: Sequence[Batch]
) -> dict[str, Tensor]:
    """Return the weights of some layers, each with its most important inner units."""
    weights = teacher.bert.layer_weights()
    kept = {name: value for name, value in weights.items() if name.startswith("embeddings.")}
    for new, old in enumerate(layers):
        units = inner_units(teacher, old, inner, batches).to(
            kept["embeddings.LayerNorm.bias"].device
        )
        prefix = f"encoder.layer.{old}."
        for name, value in with_prefix(weights, prefix).items():
            kept[f"encoder.layer.{new}.{name}"] = _of_units(name, value, units).clone()
    return kept


def _of_units(name: str, value: Tensor, units: Tensor) -> Tensor:
    """Return a weight of a layer without the inner units that are not kept."""
    if name.startswith("intermediate."):
        return value[units]
    return value[:, units] if name == "output.dense.weight" else value


def losses(teacher: Finder, student: Finder, batch: Batch, ids: Tensor) -> Tensor:
    """Return the errors of the student: (3,).

    The relative errors of hidden states and word vectors, and the divergence of gates and links.
    """
    kind = batch.ids.device.type
    with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
        with torch.no_grad():
            hidden, vectors = teacher.encode(batch, ids)
        own_hidden, own_vectors = student.encode(batch, ids)
    with torch.no_grad():
        open_gates = teacher.selector(vectors).prob_open()
    error = functional.mse_loss(own_hidden, hidden) / hidden.var(0).mean()
    word_error = functional.mse_loss(own_vectors, vectors) / vectors.var(0).mean()
    entropy = functional.binary_cross_entropy(open_gates, open_gates)
    divergence = agreement(student.selector(own_vectors), open_gates) - entropy
    return torch.stack(
        [error + word_error, divergence, link_divergence(teacher, student, vectors, own_vectors)]
    )


def link_divergence(
    teacher: Finder, student: Finder, vectors: Tensor, own_vectors: Tensor
) -> Tensor:
    """Return the mean divergence of the student's link gate from the teacher's; 0 without one."""
    if teacher.link_gate is None or student.link_gate is None:
        return vectors.new_zeros(())
    with torch.no_grad():
        linked = teacher.link_gate.of_neighbours(vectors).sigmoid()
    own = student.link_gate.of_neighbours(own_vectors)
    entropy = functional.binary_cross_entropy(linked, linked)
    return functional.binary_cross_entropy_with_logits(own, linked) - entropy


def replaced(batch: Batch, all_ids: Tensor) -> Tensor:
    """Return the ids with up to half of the tokens of most sentences replaced by other tokens."""
    rows, device = len(batch.ids), batch.ids.device
    rate = torch.rand(rows, 1, device=device).square() / 2
    rate *= torch.rand(rows, 1, device=device) < 0.6
    change = (torch.rand(batch.ids.shape, device=device) < rate) & batch.inside
    others = all_ids[torch.randint(len(all_ids), batch.ids.shape, device=device)]
    return torch.where(change, others, batch.ids)


def train(teacher: Finder, student: Finder, batches: list[Batch], seconds: float) -> None:
    """Train the student's layers and selector for some time."""
    bert = student.bert
    trained = [
        *bert.layers.parameters(),
        bert.embeddings.positions,
        *bert.embeddings.norm.parameters(),
        *student.selector.parameters(),
        *(student.link_gate.parameters() if student.link_gate else ()),
    ]
    for parameter in trained:
        parameter.requires_grad_(True)
    optimizer = torch.optim.AdamW(trained, lr=RATE, betas=(0.9, 0.98), fused=True)
    weights = torch.tensor([1.0, GATE_WEIGHT, LINK_WEIGHT], device=bert.word_embeddings.device)
    all_ids = torch.cat([batch.ids[batch.inside] for batch in batches])
    for step, (batch, done) in enumerate(_random_batches(batches, seconds)):
        rate = RATE * min(1, step / WARM_UP) * (1 + math.cos(math.pi * done)) / 2
        for group in optimizer.param_groups:
            group["lr"] = rate
        errors = losses(teacher, student, batch, replaced(batch, all_ids))
        optimizer.zero_grad(set_to_none=True)
        (weights @ errors).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        if step % 500 == 0:
            error, gates, links = errors.tolist()
            figures = f"error {error:.4f}, gates {gates:.5f}, links {links:.5f}"
            print(f"step {step}: {figures}", flush=True)
    for parameter in trained:
        parameter.requires_grad_(False)


def _random_batches(batches: list[Batch], seconds: float) -> Iterator[tuple[Batch, float]]:
    """Yield batches in random order, each with the fraction of the time that has passed."""
    generator = np.random.default_rng(0)
    started = time.monotonic()
    while (passed := time.monotonic() - started) < seconds:
        yield batches[generator.integers(len(batches))], passed / seconds


def small_model(model: FinderModel, student: Finder, encoder: SentenceBert) -> FinderModel:
    """Return the student as a model: other layers and another selector, else as its teacher."""
    sentences = [words for words in raw_english() if words]
    layers = {name: value.half() for name, value in student.bert.layer_weights().items()}
    own = replace(model.selectors[model.entity], selector=student.selector.cpu().eval())
    link_gate = student.link_gate and student.link_gate.cpu().eval()
    made = {
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        **{name: model.learned_from[name] for name in CREDITS if name in model.learned_from},
        "teacher": {"encoder": model.encoder, "layer": model.layer, **model.learned_from},
    }
    return replace(
        model,
        layer=student.layers,
        layers=layers,
        ranges=input_ranges(encoder.with_layers(layers), sentences),
        selectors=(own,),
        entity=0,
        link_gate=link_gate,
        learned_from=made,
        kinds=None,  # learned by `benchmarks.kinds.build`
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--sentences", type=int, help="use only the first ones")
    parser.add_argument("--layers", type=int, nargs="+", default=KEPT_LAYERS, help="to start with")
    parser.add_argument("--inner", type=int, default=INNER_UNITS, help="units of each layer")
    parser.add_argument("--init", type=Path, help="a small model to continue with")
    parser.add_argument("--teacher", default=ENGLISH, help="a model without layers of its own")
    parser.add_argument("--encoder", help="the folder of the teacher's encoder")
    parser.add_argument("--output", type=Path, default=SMALL)
    parser.add_argument("--device")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    device = choose_device(options.device)
    model = FinderModel.read(find_model_folder(options.teacher))
    name = options.encoder or model.encoder
    encoder, cpu_encoder = (
        load_encoder(name, layer=model.layer, device=each) for each in (device, "cpu")
    )
    assert isinstance(encoder, SentenceBert)
    assert isinstance(cpu_encoder, SentenceBert)
    assert isinstance(encoder.model, Bert)
    sentences = [words for words in raw_english() if 1 <= len(words) <= _MAX_WORDS]
    sentences = sentences[: options.sentences]
    batches = [
        Batch.of(encoder.batch([sentences[i] for i in indices]))
        for indices in batches_by_length(sentences, words_per_batch=_WORDS_PER_BATCH)
    ]
    teacher = Finder.of(model, encoder.model, device)
    start = FinderModel.read(options.init) if options.init else model
    sample = batches[:: max(1, len(batches) // 8)]
    layers = start.layers or initial_layers(teacher, options.layers, options.inner, sample)
    bert = teacher.bert.with_layers(layers).to(device)
    student = Finder.of(replace(start, layers=layers), bert, device)
    train(teacher, student, batches, options.seconds)
    small_model(model, student, cpu_encoder).write(options.output)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
