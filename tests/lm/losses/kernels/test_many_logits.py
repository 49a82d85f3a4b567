"""More logits than 32-bit integers can count, which only fit on a GPU."""

import pytest
import torch

from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.parametrize("implementation", ["dense", "triton"])
@pytest.mark.parametrize("margin", [4.0, float("inf")])
def test_the_last_positions_are_right_beyond_2_31_logits(implementation, margin):
    positions, width, vocabulary = 8704, 64, 256_000
    assert positions * vocabulary > 2**31
    draw = torch.Generator("cuda").manual_seed(0)
    hidden = torch.randn(positions, width, device="cuda", generator=draw).bfloat16()
    weight = torch.randn(vocabulary, width, device="cuda", generator=draw).mul(0.3).bfloat16()
    target = torch.randint(vocabulary, (positions,), device="cuda", generator=draw)
    few = slice(positions - 64, positions)

    def loss(rows, **options):
        inputs = [hidden[rows].clone().requires_grad_(), weight.clone().requires_grad_()]
        value = linear_selfish_cross_entropy(
            *inputs, target[rows], margin=margin, reduction="sum", **options
        )
        return value.item(), *torch.autograd.grad(value, inputs)

    _, all_rows, _ = loss(slice(0, positions), implementation=implementation)
    _, last_rows, _ = loss(few, implementation="chunked")
    error = (all_rows[few].float() - last_rows.float()).norm() / last_rows.float().norm()
    assert error < 0.01
