"""Binary trees over words: Huffman trees and balanced trees."""

from collections import deque
from dataclasses import dataclass

import torch
from torch import Tensor


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
    subtrees: deque[tuple[float, int]] = deque()
    children = []
    for node in reversed(range(len(words) - 1)):
        pair = [_lighter(leaves, subtrees).popleft() for _ in range(2)]
        subtrees.append((pair[0][0] + pair[1][0], node))
        children.append([child for _, child in pair])
    return BinaryTree(torch.tensor(children[::-1], dtype=torch.int64).reshape(-1, 2))


def _lighter(
    leaves: deque[tuple[float, int]], subtrees: deque[tuple[float, int]]
) -> deque[tuple[float, int]]:
    if leaves and (not subtrees or leaves[0][0] <= subtrees[0][0]):
        return leaves
    return subtrees


def _columns(columns: list[Tensor], shape: tuple[int, int]) -> Tensor:
    return torch.stack(columns, 1) if columns else torch.zeros(shape, dtype=torch.int64)
