"""Embeddings of rarely seen tokens that follow the embeddings of their matches."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from thresher.lm.model import LanguageModel
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.training.token_matching import TokenMatches

OFFSET_SCALE = 0.02  # standard deviation of the vector that sets all matched tokens apart


class MatchedRows:
    """Rows of token weights, each the weighted mean of its matches' rows plus a row of its own.

    Only the sum of both is stored, so that saved models have no additional weights. The optimizer
    updates a matched row as if it were the row of its own; `following` then adds the change of its
    matches in the same step. Gradients of matched rows do not reach the matches.
    """

    def __init__(self, model: LanguageModel, matches: TokenMatches) -> None:
        self._matches = TokenMatches(*(each.to(model.device) for each in matches))
        self._weights = [model.embedding]
        if not model.architecture.tied and isinstance(model.output, FullSoftmax):
            self._weights.append(model.output.weight)

    @torch.no_grad()
    def initialise(self, *, seed: int) -> None:
        """Set each row to the mean of its matches plus one random vector for all of them."""
        generator = torch.Generator().manual_seed(seed)
        for weight in self._weights:
            offset = OFFSET_SCALE * torch.randn(weight.shape[1], generator=generator)
            weight[self._matches.tokens] = self._means(weight) + offset.to(weight)

    @contextmanager
    def following(self, *, shrink: float = 0.0) -> Iterator[None]:
        """Run an optimizer step in this context; matched rows then follow their matches.

        shrink: learning rate times weight decay of this step. The decay of a matched row applies to
            its own part only.
        """
        before = [self._means(weight) for weight in self._weights]
        yield
        with torch.no_grad():
            for weight, old in zip(self._weights, before, strict=True):
                weight[self._matches.tokens] += self._means(weight) - (1 - shrink) * old

    @torch.no_grad()
    def _means(self, weight: Tensor) -> Tensor:
        """Return the weighted means of the matches' rows: (rare, width)."""
        _, matches, weights = self._matches
        return torch.einsum("rm,rmw->rw", weights.to(weight), weight[matches])
