import heapq
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.lm.output_layers.tree import TreeSoftmax, balanced_tree, huffman_tree

TREES = pytest.mark.parametrize("shape", [huffman_tree, balanced_tree])
counts = st.lists(st.integers(0, 1000), min_size=1, max_size=40)


def depths(tree):
    return (tree.paths()[1] != 0).sum(1)


def walk(tree, turns):
    """Return the leaf that turns lead to, from the root downwards."""
    node = 0
    for turn in turns:
        node = tree.children[node, (turn + 1) // 2].item()
    return -1 - node


@TREES
@given(counts=counts)
def test_a_path_from_the_root_leads_to_its_word(shape, counts):
    tree = shape(torch.tensor(counts))
    nodes, turns = tree.paths()
    assert nodes.shape == turns.shape
    for word in range(len(counts)):
        taken = [turn for turn in turns[word].tolist() if turn][::-1]
        if len(counts) > 1:
            assert walk(tree, taken) == word
        assert taken or len(counts) == 1


@TREES
@given(counts=counts)
def test_every_node_is_reached_and_every_tree_is_full(shape, counts):
    """Kraft's sum of a full tree is one."""
    tree = shape(torch.tensor(counts))
    assert len(tree.children) == len(counts) - 1
    assert sum(2.0**-depth for depth in depths(tree).tolist()) == pytest.approx(1)


@given(counts=counts)
def test_a_huffman_tree_has_the_shortest_mean_path(counts):
    """Compared with a heap: the cost is the sum of all joined weights."""
    heap, cost = sorted(counts), 0
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        cost += joined
        heapq.heappush(heap, joined)
    tree = huffman_tree(torch.tensor(counts))
    assert (depths(tree) * torch.tensor(counts)).sum().item() == cost


def test_the_mean_path_of_a_huffman_tree_is_within_a_bit_of_the_entropy():
    p = (1 / torch.arange(1, 1001)).double()
    p /= p.sum()
    mean = (p * depths(huffman_tree(p))).sum().item()
    entropy = -(p * p.log2()).sum().item()
    assert entropy <= mean <= entropy + 1


@pytest.mark.parametrize("words", [1, 2, 3, 7, 8, 9, 100])
def test_a_balanced_tree_has_the_smallest_possible_depth(words):
    assert set(depths(balanced_tree(torch.rand(words))).tolist()) <= {
        math.floor(math.log2(words)),
        math.ceil(math.log2(words)),
    }


def test_a_balanced_tree_keeps_similar_frequencies_together():
    frequencies = torch.tensor([8, 1, 7, 2, 6, 3, 5, 4])
    nodes, _ = balanced_tree(frequencies).paths()
    above = {word: nodes[word, 0].item() for word in range(8)}  # the last turn before the leaf
    by_rank = frequencies.argsort().tolist()
    for a, b in zip(by_rank[::2], by_rank[1::2], strict=True):
        assert above[a] == above[b]


def test_an_unknown_shape_lists_the_choices():
    with pytest.raises(
        ValueError, match="unknown tree shape 'flat'; choose from balanced, huffman"
    ):
        TreeSoftmax(4, 6, shape="flat")


def test_p_is_the_product_of_its_turns():
    layer = TreeSoftmax(4, 9, frequencies=torch.arange(9)).double()
    with torch.no_grad():
        layer.weight.normal_(), layer.bias.normal_()
    hidden = torch.randn(4).double()
    nodes, turns = huffman_tree(torch.arange(9)).paths()
    for word in range(9):
        p = 1.0
        for node, turn in zip(nodes[word].tolist(), turns[word].tolist(), strict=True):
            if turn:
                question = (layer.weight[node] @ hidden + layer.bias[node]).item()
                p *= 1 / (1 + math.exp(-turn * question))
        assert layer.log_prob(hidden, torch.tensor(word)).item() == pytest.approx(math.log(p))
