"""Train the English models whose transformer layers imitate those of a teacher.

    python -m benchmarks.entities.distill_layers narrow     three layers; becomes english
    python -m benchmarks.entities.distill_layers small      two layers; becomes small-english
    python -m benchmarks.entities.distill_layers small --init FOLDER      continue with a student;
        with --seconds 0 it only gets the signal weights and the threshold of its teacher

On a GPU it takes ten minutes. On two CPU cores that can multiply in bfloat16 it takes an hour, with
--seconds 3900 --bfloat16 --batch-tokens 6000 --rate 5e-4.

The student starts with some of the teacher's three layers, each with half of its inner units, those
that replace all of them best. Its loss is the error of the hidden states of all tokens and of the
word vectors, relative to their variance, and the divergence of the gates and of the link gates.
Words are replaced at random by words of other sentences, so that no sentence is seen twice; the
teacher reads the same words, so no label is needed. Writes benchmarks/models/narrow or small.
"""

import argparse
import math
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.data import MODELS, NARROW, ROOT, SMALL, TEACHER, raw_english
from thresher.encoders.bert import Bert, BertLayer, with_prefix
from thresher.encoders.loading import choose_device, load_encoder
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.loading import input_ranges
from thresher.entities.model import FinderModel
from thresher.entities.model_card import CREDITS
from thresher.gates.batching import batches_by_length
from thresher.gates.objective import agreement
from thresher.gates.selector import Selector

INNER_UNITS = 768  # of each layer of a student
WARM_UP = 300
_MAX_WORDS = 120


@dataclass(frozen=True)
class Recipe:
    """How a student is made.

    layers: those of the teacher that it starts with
    weights: of the parts of the loss: vectors, gates, links
    """

    layers: tuple[int, ...]
    weights: tuple[float, float, float]


RECIPES = {
    NARROW.name: Recipe(layers=(0, 1, 2), weights=(1.0, 5.0, 2.0)),
    SMALL.name: Recipe(layers=(0, 2), weights=(1.0, 2.0, 0.5)),
}


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


def inner_products(teacher: Finder, number: int, batches: Sequence[Batch]) -> Tensor:
    """Return Σ hᵀh over all tokens: (inner units + 1, inner units + 1), in float64.

    h: the inner units of a layer, between its two linear layers, and a 1 for the bias
    """
    layer = teacher.bert.layers[number]
    assert isinstance(layer, BertLayer)
    collected: list[Tensor] = []
    hook = layer.feed_forward_out.register_forward_pre_hook(
        lambda _, inputs: collected.append(inputs[0].flatten(0, -2))
    )
    total = torch.zeros(())
    with torch.no_grad():
        for batch in batches:
            teacher.encode(batch, batch.ids)
            units = functional.pad(collected.pop()[batch.tokens].double(), (0, 1), value=1.0)
            total = total.to(units) + units.T @ units
    hook.remove()
    return total


def kept_units(
    weight: Tensor, products: Tensor, count: int, *, at_once: int = 1
) -> tuple[Tensor, Tensor]:
    """Return the inner units to keep, and the weights that replace all units by them.

    Units are removed one by one, each time the one whose removal changes the output of the layer
    least if the weights of the remaining units are fitted to the output of all units by least
    squares (an "optimal brain surgeon" for units instead of weights).

    weight: (width, inner units + 1), with the bias in the last column   products: of the units
    at_once: how many units are removed before the weights are fitted again, to save time
    returns: (count,) and (width, count + 1)
    """
    weight = weight.double()
    ridge = 1e-6 * products.diagonal().mean() * torch.eye(len(products)).to(products)
    inverse = torch.linalg.inv(products + ridge)
    kept = torch.ones(len(products), dtype=torch.bool, device=products.device)
    while (surplus := int(kept.sum()) - 1 - count) > 0:
        increase = weight.square().sum(0) / inverse.diagonal()
        increase[~kept] = torch.inf
        units = increase[:-1].argsort()[: min(at_once, surplus)]  # never the bias
        rows = torch.linalg.solve(inverse[units][:, units], inverse[units])
        weight = weight - weight[:, units] @ rows
        inverse = inverse - inverse[:, units] @ rows
        kept[units] = False
        inverse[units, units] = 1.0  # are not used any more, but must not divide by 0
    return kept[:-1].nonzero()[:, 0], weight[:, kept]


def initial_layers(
    teacher: Finder, layers: Sequence[int], inner: int, batches: Sequence[Batch]
) -> dict[str, Tensor]:
    """Return the weights of some layers, each with `inner` of its inner units."""
    weights = teacher.bert.layer_weights()
    initial = {name: value for name, value in weights.items() if name.startswith("embeddings.")}
    for new, old in enumerate(layers):
        layer = with_prefix(weights, f"encoder.layer.{old}.")
        out = torch.cat([layer["output.dense.weight"], layer["output.dense.bias"][:, None]], 1)
        units, out = kept_units(out, inner_products(teacher, old, batches), inner)
        layer |= {
            "intermediate.dense.weight": layer["intermediate.dense.weight"][units],
            "intermediate.dense.bias": layer["intermediate.dense.bias"][units],
            "output.dense.weight": out[:, :-1].float(),
            "output.dense.bias": out[:, -1].float(),
        }
        initial |= {f"encoder.layer.{new}.{name}": value for name, value in layer.items()}
    return {name: value.clone() for name, value in initial.items()}


def losses(teacher: Finder, student: Finder, batch: Batch, ids: Tensor, *, low: bool) -> Tensor:
    """Return the errors of the student: (3,).

    The relative errors of hidden states and word vectors, and the divergence of gates and links.

    low: compute the hidden states in bfloat16
    """
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=low):
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


def replaced(batch: Batch, all_ids: Tensor, vocabulary: Tensor) -> Tensor:
    """Return the ids with up to half of the tokens of most sentences replaced by other tokens.

    Half of the others come from the text, half from the vocabulary, since the raw text lacks many
    rare tokens.

    all_ids: (tokens of the text,)   vocabulary: (size,)
    """
    rows, shape, device = len(batch.ids), batch.ids.shape, batch.ids.device
    rate = torch.rand(rows, 1, device=device).square() / 2
    rate *= torch.rand(rows, 1, device=device) < 0.6
    change = (torch.rand(shape, device=device) < rate) & batch.inside
    of_text = all_ids[torch.randint(len(all_ids), shape, device=device)]
    of_vocabulary = vocabulary[torch.randint(len(vocabulary), shape, device=device)]
    others = torch.where(torch.rand(shape, device=device) < 0.5, of_text, of_vocabulary)
    return torch.where(change, others, batch.ids)


def ordinary_tokens(encoder: SentenceBert) -> Tensor:
    """Return the ids of all tokens but special ones, such as [SEP] and [unused1]."""
    vocabulary = encoder.tokenizer.get_vocab()
    ids = [number for token, number in vocabulary.items() if not re.fullmatch(r"\[\w+\]", token)]
    return torch.tensor(sorted(ids))


def train(
    teacher: Finder,
    student: Finder,
    batches: list[Batch],
    vocabulary: Tensor,
    *,
    seconds: float,
    rate: float,
    weights: Sequence[float],
    low: bool,
) -> None:
    """Train the student's layers and selector for some time.

    rate: the largest learning rate   weights: of the three errors   low: compute in bfloat16
    """
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
    optimizer = torch.optim.AdamW(trained, lr=rate, betas=(0.9, 0.98), fused=True)
    factors = torch.tensor(weights, device=bert.word_embeddings.device)
    all_ids = torch.cat([batch.ids[batch.inside] for batch in batches])
    for step, (batch, done) in enumerate(_random_batches(batches, seconds)):
        current = rate * min(1, step / WARM_UP) * (1 + math.cos(math.pi * done)) / 2
        for group in optimizer.param_groups:
            group["lr"] = current
        errors = losses(teacher, student, batch, replaced(batch, all_ids, vocabulary), low=low)
        optimizer.zero_grad(set_to_none=True)
        (factors @ errors).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        if step % 100 == 0:
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


def fast_attention(device: torch.device) -> AbstractContextManager[None]:
    """Return a context in which attention is fast in training.

    On CPUs, fused attention takes almost half of a training step in bfloat16.
    """
    if device.type != "cpu":
        return nullcontext()
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)  # also holds for CPUs
    return sdpa_kernel(SDPBackend.MATH)


def student_model(model: FinderModel, student: Finder, encoder: SentenceBert) -> FinderModel:
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
    parser.add_argument("student", choices=RECIPES)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rate", type=float, default=6e-4, help="largest learning rate")
    parser.add_argument("--batch-tokens", type=int, default=12_000)
    parser.add_argument("--bfloat16", action="store_true", help="not every CPU can; faster if so")
    parser.add_argument("--sentences", type=int, help="use only the first ones")
    parser.add_argument("--init", type=Path, help="a student to continue with")
    parser.add_argument("--encoder", help="the folder of the teacher's encoder")
    parser.add_argument("--device")
    options = parser.parse_args()
    recipe = RECIPES[options.student]
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    device = choose_device(options.device)
    model = FinderModel.read(TEACHER)
    name = options.encoder or model.encoder
    encoder, cpu_encoder = (
        load_encoder(name, layer=model.layer, device=each) for each in (device, "cpu")
    )
    assert isinstance(encoder, SentenceBert)
    assert isinstance(cpu_encoder, SentenceBert)
    assert isinstance(encoder.model, Bert)
    sentences = [words for words in raw_english() if 1 <= len(words) <= _MAX_WORDS]
    sentences = sentences[: options.sentences]
    tokens = [range(count) for count in encoder.batch(sentences).mask.sum(1).tolist()]
    batches = [
        Batch.of(encoder.batch([sentences[i] for i in indices]))
        for indices in batches_by_length(tokens, words_per_batch=options.batch_tokens)
    ]
    teacher = Finder.of(model, encoder.model, device)
    start = FinderModel.read(options.init) if options.init else model
    sample = batches[:: max(1, len(batches) // 8)]
    layers = start.layers or initial_layers(teacher, recipe.layers, INNER_UNITS, sample)
    bert = teacher.bert.with_layers(layers).to(device)
    student = Finder.of(replace(start, layers=layers), bert, device)
    low = options.bfloat16 or device.type == "cuda"
    with fast_attention(device):
        train(
            teacher,
            student,
            batches,
            ordinary_tokens(encoder).to(device),
            seconds=options.seconds,
            rate=options.rate,
            weights=recipe.weights,
            low=low,
        )
    output = MODELS / options.student
    student_model(model, student, cpu_encoder).write(output)
    print(f"wrote {output.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
