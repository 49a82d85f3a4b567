"""Layers that give rare words narrower vectors: differentiated and adaptive."""

import pytest
import torch
from torch import nn

from thresher.lm.output_layers.adaptive import AdaptiveSoftmax, default_cutoffs
from thresher.lm.output_layers.differentiated import DifferentiatedSoftmax, default_bands

FREQUENCIES = torch.tensor([1, 50, 3, 20, 7, 9])
RANKED = [1, 3, 5, 4, 2, 0]


def test_a_band_depends_on_its_own_slice_alone():
    layer = DifferentiatedSoftmax(5, 6, frequencies=FREQUENCIES, bands=[(2, 3), (4, 2)]).double()
    hidden = torch.randn(5, dtype=torch.float64)
    logits = torch.cat([layer.weights[0] @ hidden[:3], layer.weights[1] @ hidden[3:]])
    torch.testing.assert_close(layer.all_log_probs(hidden)[RANKED], logits.log_softmax(0))


@pytest.mark.parametrize("width", [1, 2, 3, 8, 512])
@pytest.mark.parametrize("vocabulary", [1, 2, 5, 100, 20_000])
def test_default_bands_add_up_to_vocabulary_and_width(width, vocabulary):
    bands = default_bands(width, vocabulary)
    assert [sum(sizes) for sizes in zip(*bands, strict=True)] == [vocabulary, width]
    assert all(words > 0 and wide > 0 for words, wide in bands)
    DifferentiatedSoftmax(width, vocabulary)


def test_default_bands_are_wide_for_few_words_and_narrow_for_many():
    assert default_bands(512, 20_000) == [(1000, 256), (4000, 128), (15_000, 128)]


def test_bands_are_checked():
    with pytest.raises(ValueError, match="add up to 6 words and a width of 5, got 6 and 4"):
        DifferentiatedSoftmax(5, 6, bands=[(2, 2), (4, 2)])
    with pytest.raises(ValueError, match="a width of 5, got 0 and 0"):
        DifferentiatedSoftmax(5, 6, bands=[])
    with pytest.raises(ValueError, match="every band must have words and a width"):
        DifferentiatedSoftmax(5, 6, bands=[(6, 5), (0, 0)])


def test_adaptive_equals_torchs_layer_on_words_in_order_of_frequency():
    layer = AdaptiveSoftmax(8, 6, frequencies=FREQUENCIES, cutoffs=[1, 3], div_value=2.0).double()
    hidden, target = torch.randn(4, 8).double(), torch.tensor([0, 1, 2, 3])
    ranks = torch.tensor([RANKED.index(word) for word in target.tolist()])
    torchs = nn.AdaptiveLogSoftmaxWithLoss(8, 6, [1, 3], div_value=2.0, head_bias=True).double()
    torchs.load_state_dict(layer.softmax.state_dict())
    torch.testing.assert_close(layer.loss(hidden, target), torchs(hidden, ranks).loss)
    torch.testing.assert_close(layer.all_log_probs(hidden)[:, RANKED], torchs.log_prob(hidden))


def test_default_cutoffs_leave_every_cluster_a_dimension():
    assert default_cutoffs(64, 1000) == [50, 250]
    assert default_cutoffs(8, 1000) == [50]
    assert default_cutoffs(64, 2) == [1]
    with pytest.raises(ValueError, match=r"2 clusters need a `width` of at least 4\^2, got 8"):
        AdaptiveSoftmax(8, 1000, cutoffs=[50, 250])
    with pytest.raises(ValueError, match=r"at least 4\^1, got 2"):
        AdaptiveSoftmax(2, 1000)
