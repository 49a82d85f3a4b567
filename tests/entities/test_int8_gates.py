"""The gates in int8 agree with the modules in float32, for any batch."""

import pytest
import torch

from thresher.encoders.int8_linear import MAX_WEIGHTS, int8_products_exact
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.int8_gates import Int8Gates, normalized_range
from thresher.gates.selector import Selector

WIDTH = 64
EXACT = [each for each in MAX_WEIGHTS if int8_products_exact(each)]


@pytest.fixture(scope="module")
def vectors() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(700, WIDTH, generator=generator)
    values[:, 3] *= 12  # a channel that is much larger than the others, as in a transformer
    return values


def gates_and_modules(vectors, *, with_links, max_weight):
    torch.manual_seed(1)
    selector, link_gate = Selector(WIDTH, hidden=48), LinkGate(WIDTH, hidden=16)
    for norm in (selector.norm, link_gate.norm):
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
        torch.nn.init.uniform_(norm.bias, -0.5, 0.5)
    links = link_gate if with_links else None
    gates = Int8Gates(selector, links, normalized_range(vectors), max_weight=max_weight)
    return gates, selector, links


@pytest.mark.skipif(not EXACT, reason="this CPU has no exact 8-bit products")
@pytest.mark.parametrize("with_links", [True, False])
@pytest.mark.parametrize("max_weight", EXACT)
def test_gates_and_links_agree_with_float32(vectors, with_links, max_weight):
    gates, selector, link_gate = gates_and_modules(
        vectors, with_links=with_links, max_weight=max_weight
    )
    with torch.inference_mode():
        opened, links = gates(vectors)
        assert (opened - selector.prob_open(vectors)).abs().max() < 0.02
        if link_gate is None:
            assert links is None
        else:
            expected = link_gate.of_neighbours(vectors)
            assert (links - expected).abs().max() < 0.05 * expected.std() + 0.01


@pytest.mark.skipif(not EXACT, reason="this CPU has no exact 8-bit products")
def test_a_score_is_the_same_in_any_batch(vectors):
    gates, _, _ = gates_and_modules(vectors, with_links=True, max_weight=EXACT[0])
    sizes = [1, 0, 130, 512, 57]
    with torch.inference_mode():
        together, links = gates(vectors)
        parts = [gates(each) for each in vectors.split(sizes)]
    assert torch.equal(torch.cat([opened for opened, _ in parts]), together)
    for (_, own), expected in zip(parts, links.split(sizes), strict=True):
        assert torch.equal(own[:-1], expected[:-1])  # the last link needs the next part
