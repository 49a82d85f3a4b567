"""The base class of output layers: shapes, ignored targets, reductions and sampling."""

import inspect
from abc import ABC, abstractmethod

import torch
from torch import Generator, Tensor, nn

from thresher.lm.losses.argument_checks import check_targets
from thresher.lm.losses.reductions import reduce_rows, row_counts
from thresher.lm.tokens.counts import inverse_permutation, tokens_by_frequency

INITIAL_SCALE = 0.02  # standard deviation of a weight before training


class OutputModule(nn.Module, ABC):
    """An `OutputLayer` with parameters. The default loss is −log p(target).

    A subclass implements `_log_prob` and `_all_log_probs` for rows; also `_row_losses` if it is
    trained on another loss, and `_sample` if it can sample without the whole distribution. Options
    are keyword-only arguments of its constructor; one named `frequencies` gets the token counts.
    """

    def __init__(self, width: int, vocabulary: int) -> None:
        super().__init__()
        if width < 1 or vocabulary < 1:
            values = f"{width} and {vocabulary}"
            raise ValueError(f"`width` and `vocabulary` must be positive, got {values}")
        self.width = width
        self.vocabulary = vocabulary

    @classmethod
    def option_names(cls) -> set[str]:
        """Return the names of the options, including those passed on to a base class."""
        names: set[str] = set()
        for each in cls.__mro__:
            parameters = inspect.signature(each).parameters.values()
            names |= {option.name for option in parameters if option.kind is option.KEYWORD_ONLY}
            if not any(option.kind is option.VAR_KEYWORD for option in parameters):
                break
        return names

    def loss(
        self,
        hidden: Tensor,
        target: Tensor,
        *,
        reduction: str = "mean",
        ignore_index: int = -100,
        generator: Generator | None = None,
    ) -> Tensor:
        """Return the training loss: () or, with `reduction="none"`, the shape of target."""
        self._check(hidden, target, ignore_index)
        return self._reduced_loss(
            hidden, target, generator, reduction=reduction, ignore_index=ignore_index
        )

    def loss_sum(
        self,
        hidden: Tensor,
        target: Tensor,
        *,
        ignore_index: int = -100,
        generator: Generator | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the sum of the losses, and the loss of each position without a gradient.

        returns: () and the shape of target
        """
        losses = self.loss(
            hidden, target, reduction="none", ignore_index=ignore_index, generator=generator
        )
        return losses.sum(), losses.detach()

    def log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        """Return log p(target | hidden): the shape of target."""
        self._check(hidden, target)
        rows = self._log_prob(hidden.reshape(-1, self.width), target.reshape(-1))
        return rows.reshape(target.shape)

    def all_log_probs(self, hidden: Tensor) -> Tensor:
        """Return log p of every token: (…, vocabulary)."""
        self._check(hidden)
        rows = self._all_log_probs(hidden.reshape(-1, self.width))
        return rows.reshape(*hidden.shape[:-1], self.vocabulary)

    @torch.no_grad()
    def sample(self, hidden: Tensor, *, generator: Generator | None = None) -> Tensor:
        """Draw a token from p for each hidden state: (…), int64."""
        self._check(hidden)
        rows = self._sample(hidden.reshape(-1, self.width), generator)
        return rows.reshape(hidden.shape[:-1])

    @abstractmethod
    def _log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        """hidden: (rows, width)   target: (rows,)   returns: (rows,)."""

    @abstractmethod
    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        """hidden: (rows, width)   returns: (rows, vocabulary)."""

    def _row_losses(self, hidden: Tensor, target: Tensor, generator: Generator | None) -> Tensor:
        """hidden: (rows, width)   target: (rows,), none ignored   returns: (rows,)."""
        return -self._log_prob(hidden, target)

    def _reduced_loss(
        self,
        hidden: Tensor,
        target: Tensor,
        generator: Generator | None,
        *,
        reduction: str,
        ignore_index: int,
    ) -> Tensor:
        counted = target != ignore_index
        losses = self._row_losses(hidden[counted], target[counted], generator)
        rows = losses.new_zeros(target.shape).masked_scatter(counted, losses)
        return reduce_rows(rows, reduction, row_counts(target, None, ignore_index=ignore_index))

    def _sample(self, hidden: Tensor, generator: Generator | None) -> Tensor:
        """hidden: (rows, width)   returns: (rows,)."""
        return draw(self._all_log_probs(hidden), generator)

    def _check(
        self, hidden: Tensor, target: Tensor | None = None, ignore_index: int | None = None
    ) -> None:
        if hidden.dim() < 1 or hidden.shape[-1] != self.width:
            raise ValueError(f"`hidden` must be (…, {self.width}), got {tuple(hidden.shape)}")
        if target is None:
            return
        if target.shape != hidden.shape[:-1]:
            shapes = f"{tuple(target.shape)} for `hidden` of {tuple(hidden.shape)}"
            rule = "`target` must have the shape of `hidden` without its last dimension"
            raise ValueError(f"{rule}, got {shapes}")
        check_targets(target, self.vocabulary, ignore_index=ignore_index)


class RankedModule(OutputModule):
    """An output layer that works on tokens in order of frequency.

    frequencies: (vocabulary,), counts or relative frequencies; by default all are equal
    """

    ranks: Tensor  # (vocabulary,), of each token, 0 for the most frequent one

    def __init__(self, width: int, vocabulary: int, *, frequencies: Tensor | None = None) -> None:
        super().__init__(width, vocabulary)
        order = tokens_by_frequency(frequencies, vocabulary)
        self.register_buffer("ranks", inverse_permutation(order))


def draw(log_probs: Tensor, generator: Generator | None) -> Tensor:
    """Draw one outcome of each row: (rows, outcomes) to (rows,)."""
    if not len(log_probs):
        return torch.empty(0, dtype=torch.int64, device=log_probs.device)
    return torch.multinomial(log_probs.exp(), 1, generator=generator)[:, 0]


def initial_weight(*shape: int) -> nn.Parameter:
    """Return small random numbers, from torch's global generator as in torch's own modules."""
    return nn.Parameter(torch.randn(*shape) * INITIAL_SCALE)
