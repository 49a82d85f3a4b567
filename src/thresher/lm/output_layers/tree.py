"""The softmax as a path down a binary tree, with one binary decision at each node."""

from collections import deque
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.output_layers.module import OutputModule, initial_weight
from thresher.lm.tokens.counts import checked_frequencies

_Nodes = deque[tuple[float, int]]  # weights and nodes, in order of weight


def _log_turns(decisions: Tensor, turns: Tensor) -> Tensor:
    """Return log σ(±decision), 0 where there is no turn."""
    return functional.logsigmoid(decisions * turns).masked_fill(turns == 0, 0)


@dataclass(frozen=True)
class BinaryTree:
    """A tree with a word at each leaf; the V − 1 inner nodes are numbered from the root, 0.

    children: (nodes, 2), left and right; n ≥ 0 is an inner node, −1 − w the leaf of word w
    """

    children: Tensor

    def paths(self) -> tuple[Tensor, Tensor]:
        """Return the nodes between each word and the root, and the turns taken at them.

        returns: nodes (words, depth), from the leaf upwards, padded with 0; turns (words, depth),
        −1 for left, +1 for right, padded with 0
        """
        child = self.children.flatten()
        parent = torch.arange(len(self.children)).repeat_interleave(2)
        side = torch.tensor([-1, 1]).repeat(len(self.children))
        # One table for leaves (−1 − w, from its end) and inner nodes; the root has no entry.
        above = torch.full((2 * len(self.children) + 1,), -1)
        turn = torch.zeros_like(above)
        above[child], turn[child] = parent, side
        nodes, turns = [], []
        here = -1 - torch.arange(len(self.children) + 1)
        while bool((above[here] >= 0).any()):
            nodes.append(above[here].clamp(min=0))
            turns.append(turn[here])
            here = nodes[-1]  # stays at the root once it is reached: it has no turn
        shape = len(self.children) + 1, len(nodes)
        return _columns(nodes, shape), _columns(turns, shape)


def huffman_tree(frequencies: Tensor) -> BinaryTree:
    """Build the tree with the shortest mean path, by joining the two rarest subtrees repeatedly.

    frequencies: (words,)
    """
    rarest_first = frequencies.argsort(stable=True)
    return _huffman(frequencies[rarest_first].tolist(), rarest_first.tolist())


def balanced_tree(frequencies: Tensor) -> BinaryTree:
    """Build a tree of paths of ⌊log₂ V⌋ or ⌈log₂ V⌉ steps; words of similar frequency are close.

    frequencies: (words,)
    """
    rarest_first = frequencies.argsort(stable=True)
    return _huffman([1.0] * len(frequencies), rarest_first.tolist())


def _huffman(weights: list[float], words: list[int]) -> BinaryTree:
    """Run Huffman's algorithm on weights in ascending order.

    New subtrees come in ascending order too, so two queues replace the usual heap.
    """
    leaves = deque((weight, -1 - word) for weight, word in zip(weights, words, strict=True))
    subtrees: _Nodes = deque()
    children = []
    for node in reversed(range(len(words) - 1)):
        pair = [_lighter(leaves, subtrees).popleft() for _ in range(2)]
        subtrees.append((pair[0][0] + pair[1][0], node))
        children.append([child for _, child in pair])
    return BinaryTree(torch.tensor(children[::-1], dtype=torch.int64).reshape(-1, 2))


def _lighter(leaves: _Nodes, subtrees: _Nodes) -> _Nodes:
    if leaves and (not subtrees or leaves[0][0] <= subtrees[0][0]):
        return leaves
    return subtrees


def _columns(columns: list[Tensor], shape: tuple[int, int]) -> Tensor:
    return torch.stack(columns, 1) if columns else torch.zeros(shape, dtype=torch.int64)


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
