"""The softmax as a path down a binary tree, with one binary decision at each node."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.output_layers.module import OutputModule, initial_weight
from thresher.lm.output_layers.tree_shape import balanced_tree, huffman_tree
from thresher.lm.tokens.counts import checked_frequencies

SHAPES = {"balanced": balanced_tree, "huffman": huffman_tree}


class TreeSoftmax(OutputModule):
    """p(w | h) = Π σ(±(v_n·h + b_n)) over the nodes n above w (Morin & Bengio 2005).

    A position costs as many products as the depth of its word: log₂ V in a balanced tree; in a
    Huffman tree on average about the entropy of the words in bits.

    shape: of the tree, "huffman" or "balanced"
    """

    branches: Tensor  # (nodes, 2), see BinaryTree
    nodes: Tensor  # (vocabulary, depth)
    turns: Tensor  # (vocabulary, depth)

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        frequencies: Tensor | None = None,
        shape: str = "huffman",
    ) -> None:
        super().__init__(width, vocabulary)
        if shape not in SHAPES:
            raise ValueError(f"unknown tree shape {shape!r}; choose from {', '.join(SHAPES)}")
        tree = SHAPES[shape](checked_frequencies(frequencies, vocabulary))
        nodes, turns = tree.paths()
        self.register_buffer("branches", tree.children)
        self.register_buffer("nodes", nodes.int())
        self.register_buffer("turns", turns.to(torch.int8))
        self.weight = initial_weight(vocabulary - 1, width)
        self.bias = nn.Parameter(torch.zeros(vocabulary - 1))

    def _log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        nodes, turns = self.nodes[target], self.turns[target]  # (rows, depth)
        depth = int((turns != 0).sum(1).max()) if len(target) else 0
        return _log_turns(self._decisions(hidden, nodes[:, :depth]), turns[:, :depth]).sum(1)

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        decisions = functional.linear(hidden, self.weight, self.bias)
        log_probs = decisions.new_zeros(len(hidden), self.vocabulary)
        for node, turn in zip(self.nodes.unbind(1), self.turns.unbind(1), strict=True):
            log_probs = log_probs + _log_turns(decisions[:, node], turn)
        return log_probs

    def _sample(self, hidden: Tensor, generator: torch.Generator | None) -> Tensor:
        start = 0 if self.vocabulary > 1 else -1
        here = torch.full((len(hidden),), start, device=hidden.device)
        while bool((here >= 0).any()):
            inner = here.clamp(min=0)
            right = self._decisions(hidden, inner[:, None])[:, 0].sigmoid()
            goes_right = torch.rand(right.shape, generator=generator, device=right.device) < right
            here = torch.where(here < 0, here, self.branches[inner, goes_right.long()])
        return -1 - here

    def _decisions(self, hidden: Tensor, nodes: Tensor) -> Tensor:
        """Return v_n·h + b_n, the logit of turning right at each node.

        hidden: (rows, width)   nodes: (rows, depth)   returns: (rows, depth)
        """
        weight = functional.embedding(nodes, self.weight)  # (rows, depth, width)
        return (weight @ hidden[:, :, None])[:, :, 0] + self.bias[nodes]


def _log_turns(decisions: Tensor, turns: Tensor) -> Tensor:
    """Return log σ(±decision), 0 where there is no turn."""
    return functional.logsigmoid(decisions * turns).masked_fill(turns == 0, 0)
