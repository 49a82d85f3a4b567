"""Class-based and hierarchical softmax, and what they cost."""

import itertools

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from thresher.lm.output_layers import output_layer
from thresher.lm.output_layers.grouped import GroupedSoftmax, blocks_by_group
from thresher.lm.output_layers.hierarchical import (
    ClassSoftmax,
    HierarchicalSoftmax,
    frequency_classes,
    frequency_paths,
)

ZIPF = 1 / torch.arange(1, 101)


# Blocks


@pytest.mark.parametrize("group", [[2, 0, 2, 2, 2, 0, 2], [1], [], [0] * 9, [0, 1, 2, 3]])
@pytest.mark.parametrize("groups", [4, 30])
def test_each_block_has_one_group_and_scatter_inverts_gather(group, groups):
    group = torch.tensor(group, dtype=torch.int64)
    blocks = blocks_by_group(group, groups)
    assert torch.equal(blocks.group[blocks.slot // blocks.length], group)
    assert len(set(blocks.slot.tolist())) == len(group)
    rows = torch.arange(len(group) * 3.0).reshape(-1, 3)
    laid = blocks.gather(rows)
    assert laid.shape == (len(blocks.group), blocks.length, 3)
    assert torch.equal(blocks.scatter(laid), rows)
    assert laid.sum() == rows.sum()


@pytest.mark.parametrize("rows", [1, 50, 1000])
@pytest.mark.parametrize("groups", [1, 7, 200])
def test_blocks_cost_at_most_double(rows, groups):
    generator = torch.Generator().manual_seed(rows + groups)
    skewed = (torch.rand(rows, generator=generator) ** 4 * groups).long()
    blocks = blocks_by_group(skewed, groups)
    assert len(blocks.group) <= 2 * groups
    assert len(blocks.group) * blocks.length <= 2 * rows + 2 * groups


# Groups


def test_a_grouped_softmax_is_a_softmax_in_each_group():
    softmax = GroupedSoftmax(4, torch.tensor([3, 1, 5])).double()
    hidden = torch.randn(6, 4).double()
    group = torch.tensor([0, 2, 1, 2, 0, 2])
    measured = softmax.log_probs(hidden, group)
    everywhere = softmax.all_log_probs(hidden)
    for i, (first, size) in enumerate([(0, 3), (4, 5), (3, 1), (4, 5), (0, 3), (4, 5)]):
        logits = (
            softmax.weight[first : first + size] @ hidden[i] + softmax.bias[first : first + size]
        )
        torch.testing.assert_close(measured[i, :size], logits.log_softmax(0))
        assert (measured[i, size:] == -torch.inf).all()
        torch.testing.assert_close(everywhere[i, first : first + size], logits.log_softmax(0))
    with pytest.raises(ValueError, match="at least 1 member, got 0"):
        GroupedSoftmax(4, torch.tensor([3, 0]))


# Classes


def test_classes_have_similar_frequency_and_size():
    classes = frequency_classes(10, 3, frequencies=torch.tensor([9, 1, 8, 2, 7, 3, 6, 4, 5, 0]))
    members = [set((classes == c).nonzero()[:, 0].tolist()) for c in range(3)]
    assert members == [{0, 2, 4, 6}, {8, 7, 5}, {3, 1, 9}]


def test_there_are_about_sqrt_v_classes():
    layer = ClassSoftmax(4, 100, frequencies=ZIPF)
    assert [len(step.sizes) for step in layer.steps] == [1, 10]
    assert [step.sizes.tolist() for step in layer.steps] == [[10], [10] * 10]


def test_p_is_the_class_times_the_word_in_its_class():
    classes = torch.tensor([5, 2, 5, 5, 2, 9])
    layer = ClassSoftmax(4, 6, classes=classes).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_()
    hidden = torch.randn(3, 4).double()
    p = layer.all_log_probs(hidden).exp()
    of_class = torch.stack([p[:, classes == c].sum(1) for c in (2, 5, 9)], 1)
    first = layer.steps[0]
    expected = (hidden @ first.weight.T + first.bias).softmax(1)
    torch.testing.assert_close(of_class, expected)


def test_classes_are_checked():
    for classes in (0, 7):
        with pytest.raises(ValueError, match=rf"`classes` must lie in \[1, 6\], got {classes}"):
            ClassSoftmax(4, 6, classes=classes)
    with pytest.raises(ValueError, match=r"a tensor of shape \(6,\), got \(5,\)"):
        ClassSoftmax(4, 6, classes=torch.zeros(5).long())


# Levels


@pytest.mark.parametrize("vocabulary", [1, 2, 10, 1000])
@pytest.mark.parametrize("levels", [1, 2, 3, 5])
def test_levels_are_nested_and_evenly_branching(vocabulary, levels):
    paths = frequency_paths(vocabulary, levels=levels)
    assert paths.shape == (vocabulary, levels - 1)
    for wide, narrow in itertools.pairwise(paths.unbind(1)):
        parents = {(n, w) for n, w in zip(narrow.tolist(), wide.tolist(), strict=True)}
        assert len(parents) == len(set(narrow.tolist()))
    layer = HierarchicalSoftmax(2, vocabulary, levels=levels)
    branching = vocabulary ** (1 / levels)
    for step in layer.steps:
        assert step.sizes.max() <= 2 * branching + 1
        assert step.sizes.sum() == len(step.weight)


def test_class_names_may_repeat_in_different_parents():
    """(0, 0) and (1, 0) are two classes."""
    paths = torch.tensor([[0, 0], [0, 0], [0, 1], [1, 0], [1, 0], [1, 0]])
    layer = HierarchicalSoftmax(4, 6, paths=paths)
    assert [step.sizes.tolist() for step in layer.steps] == [[2], [2, 1], [2, 1, 3]]


def test_paths_and_levels_are_checked():
    with pytest.raises(ValueError, match="`levels` must be at least 1, got 0"):
        HierarchicalSoftmax(4, 6, levels=0)
    with pytest.raises(ValueError, match=r"`paths` must be \(6, levels − 1\), got \(5, 2\)"):
        HierarchicalSoftmax(4, 6, paths=torch.zeros(5, 2).long())


# Cost


def products_for_each_position(name, vocabulary, **options):
    """Multiplications of a whole training step, over positions and width."""
    width, positions = 8, 2000
    frequencies = 1 / torch.arange(1, vocabulary + 1)
    layer = output_layer(name, width, vocabulary, frequencies=frequencies, **options)
    generator = torch.Generator().manual_seed(0)
    target = torch.multinomial(frequencies, positions, replacement=True, generator=generator)
    hidden = torch.randn(positions, width, generator=generator, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        layer.loss(hidden, target, generator=generator).backward()
    return counter.get_total_flops() / (2 * 3 * positions * width)


def test_a_position_costs_as_many_products_as_documented():
    """V for the full softmax; within a factor of two 2·√V, 3·∛V, 1 + samples for the others."""
    for vocabulary in (400, 6400):
        assert products_for_each_position("full", vocabulary) == vocabulary
        promises = {
            "classes": 2 * vocabulary**0.5,
            "hierarchical": 3 * vocabulary ** (1 / 3),
            "noise-contrastive": 256,
        }
        for name, promise in promises.items():
            assert promise / 2 < products_for_each_position(name, vocabulary) < 2 * promise


def test_a_position_of_the_tree_costs_its_depth():
    for vocabulary, depth in ((512, 9), (8192, 13)):
        assert products_for_each_position("tree", vocabulary, shape="balanced") == depth
