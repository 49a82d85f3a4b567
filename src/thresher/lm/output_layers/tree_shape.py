"""Binary trees over words: Huffman's, and the balanced one."""

from collections import deque
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class BinaryTree:
    """A tree with a word at each leaf; its V − 1 inner nodes are numbered from the root, 0.

    children: (nodes, 2), left and right; n ≥ 0 is an inner node, −1 − w the leaf of word w
    """

    children: Tensor

    def paths(self) -> tuple[Tensor, Tensor]:
        """The nodes between each word and the root, and on which side of them the word lies.

        returns: nodes (words, depth), from the leaf upwards, 0 beyond the root; turns (words,
        depth), −1 for left, +1 for right, 0 beyond the root
        """
        child = self.children.flatten()
        parent = torch.arange(len(self.children)).repeat_interleave(2)
        side = torch.tensor([-1, 1]).repeat(len(self.children))
        # One table for leaves and inner nodes: −1 − w indexes it from its end, the root is absent.
        above = torch.full((2 * len(self.children) + 1,), -1)
        turn = torch.zeros_like(above)
        above[child], turn[child] = parent, side
        nodes, turns = [], []
        here = -1 - torch.arange(len(self.children) + 1)
        while bool((above[here] >= 0).any()):
            nodes.append(above[here].clamp(min=0))
            turns.append(turn[here])
            here = nodes[-1]  # the root again and again, once it is reached: it has no turn
        shape = len(self.children) + 1, len(nodes)
        return _columns(nodes, shape), _columns(turns, shape)


def huffman_tree(frequencies: Tensor) -> BinaryTree:
    """The tree with the shortest mean path: its two rarest subtrees are joined, again and again.

    frequencies: (words,)
    """
    rarest_first = frequencies.argsort(stable=True)
    return _joined(frequencies[rarest_first].tolist(), rarest_first.tolist())


def balanced_tree(frequencies: Tensor) -> BinaryTree:
    """All paths have ⌊log₂ V⌋ or ⌈log₂ V⌉ steps, and words of like frequency share their subtrees.

    frequencies: (words,)
    """
    rarest_first = frequencies.argsort(stable=True)
    return _joined([1.0] * len(frequencies), rarest_first.tolist())


def _joined(weights: list[float], words: list[int]) -> BinaryTree:
    """Huffman's algorithm for weights in rising order.

    Subtrees are made in rising order too, so two queues stand in for a heap.
    """
    leaves = deque((weight, -1 - word) for weight, word in zip(weights, words, strict=True))
    made: deque[tuple[float, int]] = deque()
    children = []
    for node in reversed(range(len(words) - 1)):
        pair = [_lighter(leaves, made).popleft() for _ in range(2)]
        made.append((pair[0][0] + pair[1][0], node))
        children.append([child for _, child in pair])
    return BinaryTree(torch.tensor(children[::-1], dtype=torch.int64).reshape(-1, 2))


def _lighter(
    leaves: deque[tuple[float, int]], made: deque[tuple[float, int]]
) -> deque[tuple[float, int]]:
    if leaves and (not made or leaves[0][0] <= made[0][0]):
        return leaves
    return made


def _columns(columns: list[Tensor], shape: tuple[int, int]) -> Tensor:
    return torch.stack(columns, 1) if columns else torch.zeros(shape, dtype=torch.int64)
