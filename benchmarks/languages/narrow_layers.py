"""Remove inner units of the layers of the multilingual encoder by least squares, without training.

    python -m benchmarks.languages.narrow_layers [--units 768] [--sentences 200] [-o FOLDER]

The layers are changed one after another. In each, the inner units that replace all of them best are
kept (`kept_units`). The weights that follow attention and inner units are then fitted by least
squares: from what they read in the narrow model to what the original returns, so that each layer
also makes up for the errors of the layers before. No labels are used, and only text whose licence
allows shipping (`training_text`). It is in three languages only, so each sentence is also read with
half of its tokens replaced by random ones of the vocabulary, which covers a hundred languages.

Prints the relative error of the hidden states after each layer, and writes the built-in model with
these layers into benchmarks/models/multilingual-narrow. Two minutes of CPU time. The model is not
used: it loses too much in languages without calibration text (docs/log.md, 2026-11-19).
"""

import argparse
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.data import MODELS
from benchmarks.entities.distill_layers import kept_units
from benchmarks.languages.multilingual_data import training_text
from thresher.encoders.bert import Bert, BertLayer
from thresher.encoders.padding import group_by_length
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finder import EntityFinder
from thresher.entities.loading import input_ranges
from thresher.entities.model import FinderModel

UNITS, SENTENCES = 768, 200  # of each layer; of each language
_AT_ONCE = 16  # units removed before the weights of the others are fitted again
_MAX_WORDS, _MAX_TOKENS = 60, 4096
_RANDOM = 0.5  # of the tokens of words
_RIDGE = 1e-3  # of the mean variance of the inputs

States = list[Tensor]  # of groups of windows, (windows, tokens, width) each


@dataclass(frozen=True)
class Windows:
    """Groups of windows of similar length: token ids and masks, (windows, tokens) each."""

    ids: list[Tensor]
    masks: list[Tensor]

    @classmethod
    def of(cls, batch: TokenBatch, vocabulary: int) -> "Windows":
        """Return the windows of a batch, as they are and with random tokens."""
        generator = torch.Generator().manual_seed(0)
        tokens = torch.randint(vocabulary, batch.ids.shape, generator=generator)
        replaced = (torch.rand(batch.ids.shape, generator=generator) < _RANDOM) & (batch.word >= 0)
        lengths = batch.lengths()
        ids, masks = [], []
        for rows in group_by_length(lengths, _MAX_TOKENS):
            longest = int(lengths[rows].max())
            for each in (batch.ids, torch.where(replaced, tokens, batch.ids)):
                ids.append(each[torch.from_numpy(rows), :longest])
                masks.append(batch.mask[torch.from_numpy(rows), :longest].bool())
        return cls(ids, masks)

    def tokens(self, states: States) -> Tensor:
        """Return the states of all tokens that are not padding: (tokens, width)."""
        return torch.cat([each[mask] for each, mask in zip(states, self.masks, strict=True)])

    def attended(self, layer: BertLayer, states: States) -> States:
        """Return what the layer's `attention_output` reads."""
        found = []
        for x, mask in zip(states, self.masks, strict=True):
            query, key, value = layer._split_heads(x)
            mixed = functional.scaled_dot_product_attention(
                query, key, value, mask[:, None, None, :]
            )
            found.append(mixed.transpose(1, 2).flatten(2))
        return found


def refit(layer: torch.nn.Linear, inputs: Tensor, outputs: Tensor) -> None:
    """Fit a linear layer by least squares, with a small penalty for changing its weights.

    inputs: (tokens, channels)   outputs: (tokens, width)
    """
    x, y = inputs.double(), outputs.double()
    means = x.mean(0), y.mean(0)
    x, y = x - means[0], y - means[1]
    covariance = x.T @ x / len(x)
    ridge = _RIDGE * covariance.diagonal().mean() * torch.eye(len(covariance)).double()
    right = y.T @ x / len(x) + layer.weight.double() @ ridge
    weight = torch.linalg.solve(covariance + ridge, right.T).T
    layer.weight.data = weight.float()
    layer.bias.data = (means[1] - weight @ means[0]).float()


def with_units(layer: BertLayer, inputs: Tensor, count: int) -> BertLayer:
    """Return a copy of a layer with `count` of its inner units.

    inputs: what `feed_forward_in` reads, (tokens, width)
    """
    first, second = layer.feed_forward_in, layer.feed_forward_out
    inner = functional.pad(functional.gelu(first(inputs)), (0, 1), value=1.0).double()
    weight = torch.cat([second.weight, second.bias[:, None]], 1)
    units, weight = kept_units(weight, inner.T @ inner, count, at_once=_AT_ONCE)
    narrow = deepcopy(layer)
    narrow.feed_forward_in.weight.data = first.weight[units].clone()
    narrow.feed_forward_in.bias.data = first.bias[units].clone()
    narrow.feed_forward_out.weight.data = weight[:, :-1].float()
    narrow.feed_forward_out.bias.data = weight[:, -1].float()
    return narrow


def narrow_layers(bert: Bert, windows: Windows, *, layers: int, units: int) -> list[BertLayer]:
    """Return the first layers of a transformer, each with `units` inner units."""
    states = [
        bert.embeddings(functional.embedding(ids, bert.word_embeddings)) for ids in windows.ids
    ]
    own_states, narrowed = states, []
    for number, layer in enumerate(bert.layers[:layers]):
        assert isinstance(layer, BertLayer)
        own = deepcopy(layer)
        read = windows.attended(layer, states)
        own_read = windows.attended(own, own_states)
        summed = [layer.attention_output(a) + x for a, x in zip(read, states, strict=True)]
        wanted = windows.tokens(summed) - windows.tokens(own_states)
        refit(own.attention_output, windows.tokens(own_read), wanted)
        own_summed = [
            own.attention_output(a) + x for a, x in zip(own_read, own_states, strict=True)
        ]
        after, own_after = (
            [layer.attention_norm(x) for x in each] for each in (summed, own_summed)
        )
        own = with_units(own, windows.tokens(own_after), units)
        summed = [a + _feed_forward(layer, a) for a in after]
        inner = functional.gelu(own.feed_forward_in(windows.tokens(own_after)))
        refit(own.feed_forward_out, inner, windows.tokens(summed) - windows.tokens(own_after))
        states = [layer.output_norm(x) for x in summed]
        own_states = [layer.output_norm(a + _feed_forward(own, a)) for a in own_after]
        narrowed.append(own)
        original = windows.tokens(states)
        error = (windows.tokens(own_states) - original).square().mean() / original.var(0).mean()
        print(f"layer {number}: relative error {error:.4f}", flush=True)
    return narrowed


def _feed_forward(layer: BertLayer, x: Tensor) -> Tensor:
    y: Tensor = layer.feed_forward_out(functional.gelu(layer.feed_forward_in(x)))
    return y


def sample(sentences: int) -> list[list[str]]:
    """Return sentences of all languages of the training text."""
    chosen: list[list[str]] = []
    for own in training_text().values():
        short = [words for words in own if len(words) <= _MAX_WORDS]
        chosen += short[:: max(1, len(short) // sentences)][:sentences]
    return chosen


def narrowed_model(sentences: Sequence[Sequence[str]], units: int) -> FinderModel:
    """Return the built-in multilingual model with narrow layers and their input ranges."""
    finder = EntityFinder.load(MULTILINGUAL, device="cpu", exact=True)
    encoder, model = finder.encoder, finder.model
    assert isinstance(encoder, SentenceBert)
    assert isinstance(encoder.model, Bert)
    with torch.inference_mode():
        windows = Windows.of(encoder.batch(sentences), len(encoder.model.word_embeddings))
        layers = narrow_layers(encoder.model, windows, layers=encoder.layer, units=units)
        weights = {
            f"encoder.layer.{number}.{name}": value
            for number, layer in enumerate(layers)
            for name, value in layer.weights().items()
        }
        whole = encoder.model.layer_weights()
        weights |= {name: value for name, value in whole.items() if name.startswith("embeddings.")}
        ranges = input_ranges(encoder.with_layers(weights), sentences)
    return replace(model, layers=weights, ranges=ranges)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--sentences", type=int, default=SENTENCES)
    parser.add_argument("-o", "--out", type=Path, default=MODELS / "multilingual-narrow")
    options = parser.parse_args()
    torch.set_num_threads(1)
    narrowed_model(sample(options.sentences), options.units).write(options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
