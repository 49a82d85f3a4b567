"""Windows of token ids as batches of inputs and targets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from thresher.errors import InputError
from thresher.validation import require_number

IGNORED = -100  # a target that is not predicted


class Batch(NamedTuple):
    """input: (batch, length), ids   target: (batch, length), ids or `IGNORED`."""

    input: Tensor
    target: Tensor


class WeightedPart(NamedTuple):
    """A part of the training ids: its number of tokens, and its fraction of training windows."""

    tokens: int
    fraction: float


@dataclass(frozen=True)
class Task:
    """The prediction task: the next token (causal), or masked tokens from both sides.

    Of the fraction `mask_share` of the tokens, 80 % are replaced by the mask, 10 % by a random
    token, and 10 % stay as they are, as in BERT: a model then has to predict visible tokens too.
    """

    vocabulary: int
    context: int
    causal: bool = True
    mask_share: float = 0.15

    def __post_init__(self) -> None:
        require_number("mask_share", self.mask_share, above=0, below=1)

    def check_length(self, ids: Tensor) -> None:
        """Raise an InputError unless the training ids are longer than one window."""
        if len(ids) <= self.context:
            raise InputError(
                f"the training text has {len(ids)} tokens and must have more than `context` "
                f"({self.context}); give more text or choose a shorter `context`"
            )

    def training_batch(
        self, ids: Tensor, *, size: int, seed: int, step: int, parts: Sequence[WeightedPart] = ()
    ) -> Batch:
        """Return windows at random positions, which depend only on seed and step.

        ids: (tokens,), any integer dtype and device
        parts: consecutive parts of `ids`; each window then lies within one of them
        """
        generator = step_generator(seed, step)
        return self._batch(self._random_windows(ids, size, parts, generator), generator)

    def training_windows(
        self, ids: Tensor, *, size: int, seed: int, step: int, parts: Sequence[WeightedPart] = ()
    ) -> Tensor:
        """Return the ids of a training batch before they become inputs and targets."""
        return self._random_windows(ids, size, parts, step_generator(seed, step))

    def _random_windows(
        self, ids: Tensor, size: int, parts: Sequence[WeightedPart], generator: Generator
    ) -> Tensor:
        starts = (
            self._starts_in_parts(parts, size, generator)
            if parts
            else torch.randint(len(ids) - self.context, (size, 1), generator=generator)
        )
        positions = starts.to(ids.device, non_blocking=True) + self._offsets(ids.device)
        return ids[positions].long()

    def _starts_in_parts(
        self, parts: Sequence[WeightedPart], size: int, generator: Generator
    ) -> Tensor:
        """Draw a part for each window by the parts' fractions, then a position: (size, 1)."""
        tokens = torch.tensor([part.tokens for part in parts])
        fractions = torch.tensor([part.fraction for part in parts], dtype=torch.float64)
        chosen = torch.multinomial(fractions, size, replacement=True, generator=generator)
        within = torch.rand(size, dtype=torch.float64, generator=generator)
        positions = (within * (tokens[chosen] - self.context)).long()
        return (positions + (tokens.cumsum(0) - tokens)[chosen])[:, None]

    def evaluation_batches(
        self, ids: Tensor, *, size: int, limit: int | None = None
    ) -> Iterator[Batch]:
        """Yield consecutive windows with every token once; the same at every call.

        limit: use about this many tokens, in windows spread evenly over the text
        """
        targets = len(ids) - int(self.causal)
        if targets < 1:
            raise InputError(f"the text has {len(ids)} tokens, which leaves none to predict")
        length = min(self.context, targets)
        windows = -(-targets // length)
        chosen = torch.arange(windows)
        if limit is not None and limit < targets:
            count = max(1, min(windows, limit // length))
            chosen = torch.arange(count) * windows // count
        for numbers in torch.split(chosen, size):
            # The last window is moved back to be whole; targets of the window before are ignored.
            starts = (numbers * length).clamp(max=targets - length)
            repeated = torch.arange(length) < (numbers * length - starts)[:, None]
            positions = starts.to(ids.device)[:, None] + self._offsets(ids.device, length)
            # The masks of a window depend on its number, not on the other windows of the batch.
            rows = [
                self._batch(window[None], step_generator(0, number))
                for window, number in zip(ids[positions].long(), numbers.tolist(), strict=True)
            ]
            input, target = (torch.cat(each) for each in zip(*rows, strict=True))
            yield Batch(input, target.masked_fill(repeated.to(ids.device), IGNORED))

    def _offsets(self, device: torch.device, length: int | None = None) -> Tensor:
        """Return the positions of a window's tokens relative to its start."""
        length = self.context if length is None else length
        return torch.arange(length + int(self.causal), device=device)

    def _batch(self, windows: Tensor, generator: Generator) -> Batch:
        if self.causal:
            return Batch(windows[:, :-1], windows[:, 1:])
        return self._masked_batch(windows, generator)

    def _masked_batch(self, windows: Tensor, generator: Generator) -> Batch:
        chance = torch.rand(windows.shape, generator=generator).to(windows.device)
        random_ids = torch.randint(self.vocabulary, windows.shape, generator=generator)
        share = self.mask_share
        input = torch.where(chance < 0.9 * share, random_ids.to(windows.device), windows)
        input = input.masked_fill(chance < 0.8 * share, self.vocabulary)
        return Batch(input, windows.masked_fill(chance >= share, IGNORED))


def step_generator(seed: int, step: int, *, device: torch.device | str = "cpu") -> Generator:
    """Return a generator that depends only on seed and step, so that runs can be resumed."""
    return Generator(device).manual_seed(step_seed(seed, step))


def step_seed(seed: int, step: int) -> int:
    """Return a seed for a step, different for all steps of runs with neighbouring seeds."""
    return (seed * 100_000_007 + step) % 2**63
