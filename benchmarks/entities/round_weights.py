"""Round the weights of the English students to integers, so that int8 products are the same.

    python -m benchmarks.entities.round_weights     three minutes on one core for each student
    python -m benchmarks.entities.round_weights --only narrow

Each row of a matrix becomes a scale and integers from −63 to 63, the range of CPUs without VNNI. In
int8, these are the same integers on every CPU; the range up to 126 of newer CPUs is twice as fine.
Only the rounding of the inputs of a layer is then left between int8 and float32.

A layer is rounded after those before it. Its weights are first fitted by least squares: from its
inputs in the rounded model to its outputs in the model before. They are then rounded column by
column, and the columns that follow make up for the error (GPTQ, Frantar et al. 2022). No label is
needed. A student that is not in benchmarks/models is taken from the package. Writes
benchmarks/models/narrow and small.
"""

import argparse
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.data import raw_english
from benchmarks.entities.train_students import STUDENTS
from thresher.encoders.bert import Bert, BertLayer, with_prefix
from thresher.encoders.int8_bert import LINEAR_LAYERS, weight_divisors
from thresher.encoders.int8_linear import MAX_WEIGHTS, channel_divisors
from thresher.encoders.padding import encode_by_length
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.built_in import find_model_folder
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.int8_gates import RANGE
from thresher.entities.model import FinderModel
from thresher.gates.selector import Selector

MAX_WEIGHT = min(MAX_WEIGHTS)
SENTENCES, _SENTENCES_PER_BATCH = 1500, 256  # of raw text
_RIDGE, _DAMPING = 1e-3, 1e-2  # of the mean variance of the inputs
# The residual that is added to the output of a layer is the input of another one.
_RESIDUALS = {"attention_output": "qkv", "feed_forward_out": "feed_forward_in"}


@dataclass(frozen=True)
class Moments:
    """Means and covariances of the inputs of a linear layer and of what it should return.

    covariance: (channels, channels)   with_outputs: (outputs, channels)
    """

    inputs: Tensor
    outputs: Tensor
    covariance: Tensor
    with_outputs: Tensor

    @classmethod
    def of(cls, pairs: Sequence[tuple[Tensor, Tensor]]) -> "Moments":
        """Return the moments of pairs of inputs and outputs, (tokens, …) each."""
        inputs, outputs = (torch.cat(each).double() for each in zip(*pairs, strict=True))
        means = inputs.mean(0), outputs.mean(0)
        centred = inputs - means[0]
        return cls(
            *means,
            centred.T @ centred / len(inputs),
            (outputs - means[1]).T @ centred / len(inputs),
        )


def round_linear(layer: nn.Linear, moments: Moments, divisors: Tensor) -> None:
    """Replace the weights of a layer by integers times a scale for each row; change its bias.

    divisors: what its input channels are divided by in int8, (channels,); the integers are those
        of the weights times the divisors
    """
    covariance = moments.covariance
    variance = covariance.diagonal().mean() * torch.eye(len(covariance)).double()
    weight = layer.weight.detach().double()
    fitted = torch.linalg.solve(
        covariance + _RIDGE * variance, (moments.with_outputs + _RIDGE * weight @ variance).T
    ).T
    divided = covariance / divisors.double() / divisors.double()[:, None]
    damping = _DAMPING * divided.diagonal().mean() * torch.eye(len(divided)).double()
    rounded = rounded_rows(fitted * divisors, divided + damping) / divisors
    layer.weight.data = rounded.half().float()  # as it is saved
    layer.bias.data = (moments.outputs - rounded @ moments.inputs).float()


def rounded_rows(weight: Tensor, covariance: Tensor) -> Tensor:
    """Return weights that are integers times a scale, with a similar product with the inputs.

    In each row, some integer is ±63: the scale is then known from the row alone.

    weight: (outputs, channels)   covariance: of the inputs, (channels, channels)
    """
    scale = weight.abs().amax(1) / MAX_WEIGHT
    while True:
        integers = _rounded_by_column(weight, covariance, scale)
        largest = integers.abs().amax(1)
        if (largest == MAX_WEIGHT).all():
            return integers * scale[:, None]
        scale *= (largest / MAX_WEIGHT).clamp(max=0.999).where(largest < MAX_WEIGHT, 1.0)


def _rounded_by_column(weight: Tensor, covariance: Tensor, scale: Tensor) -> Tensor:
    """Return integers by GPTQ, the channels with the largest variance first."""
    order = covariance.diagonal().argsort(descending=True)
    rest, covariance = weight[:, order].clone(), covariance[order][:, order]
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(covariance))
    factor = torch.linalg.cholesky(inverse, upper=True)
    integers = torch.empty_like(rest)
    for column, row in enumerate(factor):
        integers[:, column] = (rest[:, column] / scale).round().clamp(-MAX_WEIGHT, MAX_WEIGHT)
        error = (rest[:, column] - integers[:, column] * scale) / row[column]
        rest[:, column + 1 :] -= error[:, None] * row[column + 1 :]
    return integers[:, order.argsort()]


def round_layers(encoder: SentenceBert, model: FinderModel, batches: Sequence[TokenBatch]) -> Bert:
    """Return the transformer of an encoder with rounded weights."""
    before = encoder.model
    assert isinstance(before, Bert)
    after = deepcopy(before)
    for number, layer in enumerate(after.layers):
        ranges = with_prefix(model.ranges, f"layers.{number}.")
        for name in LINEAR_LAYERS:
            pairs = [_layer_pair(before, after, number, name, each) for each in batches]
            round_linear(getattr(layer, name), Moments.of(pairs), weight_divisors(ranges, name))
            print(f"layer {number}: {name}", flush=True)
    return after


def _layer_pair(
    before: Bert, after: Bert, number: int, name: str, batch: TokenBatch
) -> tuple[Tensor, Tensor]:
    """Return the inputs of a layer in the rounded model, and what it should return for them.

    It should make up for the error of the residual that is added to its output.
    """
    own, rounded = (_linear_inputs(bert, number, name, batch) for bert in (before, after))
    layer = before.layers[number]
    assert isinstance(layer, BertLayer)
    outputs: Tensor = getattr(layer, name)(own[name])
    if name in _RESIDUALS:
        outputs = outputs + own[_RESIDUALS[name]] - rounded[_RESIDUALS[name]]
    return rounded[name], outputs


def _linear_inputs(bert: Bert, number: int, name: str, batch: TokenBatch) -> dict[str, Tensor]:
    """Return the inputs of a linear layer and of the one that reads its residual: (tokens, …)."""
    layer, collected = bert.layers[number], dict[str, list[Tensor]]()
    hooks = [
        getattr(layer, each).register_forward_pre_hook(
            lambda _, given, each=each: collected.setdefault(each, []).append(
                given[0].flatten(0, -2).clone()
            )
        )
        for each in {name, _RESIDUALS.get(name, name)}
    ]

    def encode(ids: Tensor, mask: Tensor) -> Tensor:
        embedded = functional.embedding(ids, bert.word_embeddings).float()
        hidden: Tensor = bert(embedded, mask, layers=number + 1)
        return hidden

    encode_by_length(encode, batch)
    for hook in hooks:
        hook.remove()
    return {each: torch.cat(parts) for each, parts in collected.items()}


def round_gate(gate: Selector | LinkGate, ranges: Tensor, before: Tensor, after: Tensor) -> None:
    """Round the first layer of a gate, which int8 computes from the normalized vector.

    before, after: word vectors of the model before and of the rounded one, (words, width)
    """
    norm, inner = gate.norm, gate.inner
    wanted = inner(norm(before)).detach()
    normalized = functional.layer_norm(after, norm.normalized_shape, eps=norm.eps)
    folded = nn.Linear(inner.in_features, inner.out_features).requires_grad_(False)
    folded.weight.data = inner.weight.detach() * norm.weight.detach()
    round_linear(folded, Moments.of([(normalized, wanted)]), channel_divisors(ranges))
    norm.bias.data.zero_()
    norm.weight.data.fill_(1.0)
    inner.weight.data, inner.bias.data = folded.weight.data, folded.bias.data


def rounded_model(folder: Path) -> FinderModel:
    """Return the model of a folder with rounded weights."""
    finder = EntityFinder.load(folder, device="cpu", exact=True)
    encoder, model = finder.encoder, finder.model
    assert isinstance(encoder, SentenceBert)
    texts = raw_english()
    texts = texts[:: len(texts) // SENTENCES]
    batches = [
        encoder.batch(texts[low : low + _SENTENCES_PER_BATCH])
        for low in range(0, len(texts), _SENTENCES_PER_BATCH)
    ]
    with torch.inference_mode():
        layers = round_layers(encoder, model, batches).layer_weights()
        vectors = [
            torch.cat([each.encode_by_word(batch) for batch in batches])
            for each in (encoder, encoder.with_layers(layers))
        ]
        own = model.selectors[model.entity]
        gates = deepcopy((own.selector, model.link_gate))
        for gate in gates:
            if gate is not None:
                round_gate(gate, model.ranges[RANGE], *vectors)
    selectors = list(model.selectors)
    selectors[model.entity] = replace(own, selector=gates[0])
    return replace(model, layers=layers, selectors=tuple(selectors), link_gate=gates[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=STUDENTS, default=list(STUDENTS))
    for name in parser.parse_args().only:
        output, built_in = STUDENTS[name]
        rounded_model(output if output.exists() else find_model_folder(built_in)).write(output)
        print(f"wrote {output.name}")


if __name__ == "__main__":
    main()
