"""The link gate: whether two neighbouring words belong to the same name.

It reads the vectors of both words, which were computed from case-folded text, so it finds the same
boundaries in lower-cased text.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.tensor_files import build_module


class LinkGate(nn.Module):
    """Two layers over the vectors of a word and the next one.

    log-odds = w · GELU(A LayerNorm(h₁) + B LayerNorm(h₂) + b) + c
    """

    def __init__(self, width: int, *, hidden: int = 64) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 2 * hidden)
        self.outer = nn.Linear(hidden, 1)

    @property
    def width(self) -> int:
        """The width of the vectors that the gate reads."""
        return self.inner.in_features

    @classmethod
    def from_state(cls, state: Mapping[str, Tensor]) -> "LinkGate":
        """Build the gate from its weights; ValueError if they do not fit together."""
        inner = state["inner.weight"]
        if inner.dim() != 2 or len(inner) < 2:
            raise ValueError(f"the link gate needs a matrix, got shape {tuple(inner.shape)}")
        return build_module(lambda: cls(inner.shape[1], hidden=len(inner) // 2), dict(state))

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the log-odds that the words of each pair are linked: (pairs,).

        left, right: (pairs, width)
        """
        of_left, _ = self._inner(left)
        _, of_right = self._inner(right)
        return self.of_pairs(of_left + of_right)

    def of_neighbours(self, vectors: Tensor) -> Tensor:
        """Return the log-odds for each word and the next one, 0 for the last: (words,).

        The value of the last word of a sentence has no meaning: the next word is in another one.

        vectors: (words, width)
        """
        return self.from_inner(self.inner(self.norm(vectors)))

    def from_inner(self, inner: Tensor) -> Tensor:
        """Return `of_neighbours`, given the outputs of the first layer: (words, 2 · hidden)."""
        of_left, of_right = inner.chunk(2, dim=-1)
        return functional.pad(self.of_pairs(of_left[:-1] + of_right[1:]), (0, min(1, len(inner))))

    def _inner(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        left, right = self.inner(self.norm(vectors)).chunk(2, dim=-1)
        return left, right

    def of_pairs(self, inner: Tensor) -> Tensor:
        """Return the log-odds of pairs: (pairs,).

        inner: (pairs, hidden), the sum of what the first layer gives for both words
        """
        outer: Tensor = self.outer(functional.gelu(inner)).squeeze(-1)
        return outer


def link_log_odds(gate: LinkGate, vectors: Tensor) -> Tensor:
    """Return `gate.of_neighbours(vectors)` without gradients."""
    with torch.inference_mode():
        return gate.of_neighbours(vectors)
