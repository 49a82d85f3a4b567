"""The hierarchical softmax: choose a class, then a class within it, …, then a word.

`ClassSoftmax` is a hierarchy of two levels.
"""

import math

import torch
from torch import Tensor, nn

from thresher.lm.output_layers.grouped import GroupedSoftmax
from thresher.lm.output_layers.module import OutputModule, draw
from thresher.lm.tokens.counts import inverse_permutation, tokens_by_frequency


class HierarchicalSoftmax(OutputModule):
    """p(w | h) = p(c₁ | h)·p(c₂ | c₁, h)·…·p(w | c, h), a softmax at each of `levels` levels.

    With L levels and equal classes a position costs L·V^(1/L) products instead of V.

    paths: (vocabulary, levels − 1), the classes of each word from the largest to the smallest, any
    integers; by default classes of nearly equal size, of words of similar frequency
    """

    nodes: Tensor  # (vocabulary, levels), at each level the children of a node are consecutive
    words: Tensor  # (vocabulary,), the word of each node at the last level

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        levels: int = 3,
        frequencies: Tensor | None = None,
        paths: Tensor | None = None,
    ) -> None:
        super().__init__(width, vocabulary)
        if paths is None:
            paths = frequency_paths(vocabulary, levels=levels, frequencies=frequencies)
        if paths.dim() != 2 or len(paths) != vocabulary:
            shape = tuple(paths.shape)
            raise ValueError(f"`paths` must be ({vocabulary}, levels − 1), got {shape}")
        nodes = _nodes(paths)
        self.register_buffer("nodes", nodes)
        self.register_buffer("words", inverse_permutation(nodes[:, -1]))
        self.steps = nn.ModuleList(GroupedSoftmax(width, sizes) for sizes in _group_sizes(nodes))

    def _log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        group = torch.zeros_like(target)
        log_prob = hidden.new_zeros(len(target))
        for step, node in zip(self._steps(), self.nodes[target].unbind(1), strict=True):
            member = node - step.first[group]
            log_prob = log_prob + step.log_probs(hidden, group).gather(1, member[:, None])[:, 0]
            group = node
        return log_prob

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        log_probs = hidden.new_zeros(len(hidden), self.vocabulary)
        for step, node in zip(self._steps(), self.nodes.unbind(1), strict=True):
            log_probs = log_probs + step.all_log_probs(hidden)[:, node]
        return log_probs

    def _sample(self, hidden: Tensor, generator: torch.Generator | None) -> Tensor:
        group = torch.zeros(len(hidden), dtype=torch.int64, device=hidden.device)
        for step in self._steps():
            group = step.first[group] + draw(step.log_probs(hidden, group), generator)
        return self.words[group]

    def _steps(self) -> list[GroupedSoftmax]:
        return [step for step in self.steps if isinstance(step, GroupedSoftmax)]


def frequency_paths(vocabulary: int, *, levels: int, frequencies: Tensor | None = None) -> Tensor:
    """Return classes of words of similar frequency: level ℓ of L has about V^(ℓ/L) classes.

    returns: (vocabulary, levels − 1), from the largest classes to the smallest
    """
    if levels < 1:
        raise ValueError(f"`levels` must be at least 1, got {levels}")
    counts = [max(1, round(vocabulary ** (level / levels))) for level in range(1, levels)]
    node = inverse_permutation(tokens_by_frequency(frequencies, vocabulary))
    nodes, size = [node], vocabulary
    for count in reversed(counts):
        node = node * count // size  # nearly equal runs of the nodes one level below
        nodes.insert(0, node)
        size = count
    return torch.stack(nodes, 1)[:, :-1]


def _nodes(paths: Tensor) -> Tensor:
    """Number the nodes of each level so that the children of a node are consecutive.

    returns: (vocabulary, levels), the node of each word at each level
    """
    vocabulary, classes = paths.shape
    prefixes = [paths[:, : level + 1] for level in range(classes)]
    columns = [torch.unique(prefix, dim=0, return_inverse=True)[1] for prefix in prefixes]
    smallest = columns[-1] if columns else torch.zeros(vocabulary, dtype=torch.int64)
    return torch.stack([*columns, inverse_permutation(smallest.argsort(stable=True))], 1)


def _group_sizes(nodes: Tensor) -> list[Tensor]:
    """Return, for each level, how many children each node of the level above has."""
    sizes = []
    parent = torch.zeros_like(nodes[:, 0])
    for node in nodes.unbind(1):
        parent_of = torch.empty(int(node.max()) + 1, dtype=torch.int64)
        parent_of[node] = parent
        sizes.append(torch.bincount(parent_of))
        parent = node
    return sizes


class ClassSoftmax(HierarchicalSoftmax):
    """p(w | h) = p(class | h)·p(w | class, h), with 2·√V products per position instead of V.

    A hierarchy of two levels (Goodman 2001). Classes may have different sizes; the largest one
    determines the cost.

    classes: the number of classes of words of similar frequency, by default √V; or (vocabulary,),
    the class of each word
    """

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        classes: int | Tensor | None = None,
        frequencies: Tensor | None = None,
    ) -> None:
        if not isinstance(classes, Tensor):
            count = round(math.sqrt(vocabulary)) if classes is None else classes
            classes = frequency_classes(vocabulary, count, frequencies=frequencies)
        if classes.shape != (vocabulary,):
            shape = tuple(classes.shape)
            rule = f"`classes` must be a number, or a tensor of shape ({vocabulary},)"
            raise ValueError(f"{rule}, got {shape}")
        super().__init__(width, vocabulary, paths=classes[:, None])


def frequency_classes(
    vocabulary: int, classes: int, *, frequencies: Tensor | None = None
) -> Tensor:
    """Divide the words, in order of frequency, into classes of nearly equal size: (vocabulary,)."""
    if not 1 <= classes <= vocabulary:
        raise ValueError(f"`classes` must lie in [1, {vocabulary}], got {classes}")
    return inverse_permutation(tokens_by_frequency(frequencies, vocabulary)) * classes // vocabulary
