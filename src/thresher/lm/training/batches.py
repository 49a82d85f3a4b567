"""Stretches of a row of tokens, as what a model reads and what it has to predict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from thresher.errors import InputError

IGNORED = -100  # a target that is not to be predicted


class Batch(NamedTuple):
    """input: (batch, length), ids   target: (batch, length), ids or `IGNORED`."""

    input: Tensor
    target: Tensor


class Part(NamedTuple):
    """A stretch of a row of tokens: how long it is, and the share of training windows it gives."""

    tokens: int
    share: float


@dataclass(frozen=True)
class Task:
    """What a model has to predict: the next token, or, looking both ways, hidden ones.

    Of `mask_share` of the tokens, 80 % are hidden by the mask, 10 % by a random token, and 10 % are
    left as they are, so that a model must form an opinion of what it can see too (BERT's rule).
    """

    vocabulary: int
    context: int
    causal: bool = True
    mask_share: float = 0.15

    def __post_init__(self) -> None:
        if not 0 < self.mask_share < 1:
            raise InputError(f"the share of masks must lie in (0, 1), got {self.mask_share}")

    def check(self, ids: Tensor, name: str) -> None:
        """Raise unless there is more than one whole window of tokens."""
        if len(ids) <= self.context:
            raise InputError(
                f"the {name} text has {len(ids)} tokens, no more than the context of "
                f"{self.context}; give more text or choose a shorter context"
            )

    def training_batch(
        self, ids: Tensor, *, size: int, seed: int, step: int, parts: Sequence[Part] = ()
    ) -> Batch:
        """Windows from anywhere in `ids`; they follow from seed and step alone.

        ids: (tokens,) on any device   parts: of ids, one after another; a window lies within one
        """
        draw = step_generator(seed, step)
        starts = (
            self._starts(parts, size, draw)
            if parts
            else torch.randint(len(ids) - self.context, (size, 1), generator=draw)
        )
        places = starts.to(ids.device, non_blocking=True) + self._reach(ids.device)
        return self._batch(ids[places], draw)

    def _starts(self, parts: Sequence[Part], size: int, draw: Generator) -> Tensor:
        """First a part for each window, by their shares, then a place in it: (size, 1)."""
        tokens = torch.tensor([part.tokens for part in parts])
        shares = torch.tensor([part.share for part in parts], dtype=torch.float64)
        chosen = torch.multinomial(shares, size, replacement=True, generator=draw)
        within = torch.rand(size, dtype=torch.float64, generator=draw)
        places = (within * (tokens[chosen] - self.context)).long()
        return (places + (tokens.cumsum(0) - tokens)[chosen])[:, None]

    def evaluation_batches(
        self, ids: Tensor, *, size: int, limit: int | None = None
    ) -> Iterator[Batch]:
        """Every token once, in windows one after another; the same at every call.

        With a `limit`, windows spread evenly over the text that have about as many tokens.
        """
        targets = len(ids) - int(self.causal)
        if targets < 1:
            raise InputError(f"a text of {len(ids)} tokens holds nothing to predict")
        length = min(self.context, targets)
        windows = -(-targets // length)
        chosen = torch.arange(windows)
        if limit is not None and limit < targets:
            count = max(1, min(windows, limit // length))
            chosen = torch.arange(count) * windows // count
        for some in torch.split(chosen, size):
            # The last window is moved back to be whole; what was predicted before is ignored.
            starts = (some * length).clamp(max=targets - length)
            again = (torch.arange(length) < (some * length - starts)[:, None]).to(ids.device)
            places = starts.to(ids.device)[:, None] + self._reach(ids.device, length)
            # Each window has masks of its own, whatever others are in the batch.
            rows = [
                self._batch(window[None], step_generator(0, number))
                for window, number in zip(ids[places], some.tolist(), strict=True)
            ]
            input, target = (torch.cat(parts) for parts in zip(*rows, strict=True))
            yield Batch(input, target.masked_fill(again, IGNORED))

    def _reach(self, device: torch.device, length: int | None = None) -> Tensor:
        length = self.context if length is None else length
        return torch.arange(length + int(self.causal), device=device)

    def _batch(self, windows: Tensor, draw: Generator) -> Batch:
        if self.causal:
            return Batch(windows[:, :-1], windows[:, 1:])
        return self._hidden(windows, draw)

    def _hidden(self, windows: Tensor, draw: Generator) -> Batch:
        chance = torch.rand(windows.shape, generator=draw).to(windows.device)
        other = torch.randint(self.vocabulary, windows.shape, generator=draw).to(windows.device)
        share = self.mask_share
        input = torch.where(chance < 0.9 * share, other, windows)
        input = input.masked_fill(chance < 0.8 * share, self.vocabulary)
        return Batch(input, windows.masked_fill(chance >= share, IGNORED))


def step_generator(seed: int, step: int, *, device: torch.device | str = "cpu") -> Generator:
    """Random numbers that follow from seed and step alone, so a stopped run can go on."""
    return Generator(device).manual_seed(step_seed(seed, step))


def step_seed(seed: int, step: int) -> int:
    """A number for each pair, different for all steps of a run and of its neighbours."""
    return (seed * 100_000_007 + step) % 2**63
