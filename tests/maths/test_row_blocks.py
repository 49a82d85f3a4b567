"""Functions of rows in blocks: the result of a row does not depend on the other rows."""

import pytest
import torch
from torch import nn

from thresher.maths.row_blocks import ROWS_PER_BLOCK, in_row_blocks


@pytest.fixture
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(48, 96), nn.GELU(), nn.Linear(96, 3), nn.Softplus())


@pytest.mark.parametrize("rows", [1, 3, 17, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 1, 700])
def test_each_row_is_the_same_bit_by_bit_in_any_number_of_rows(network, rows):
    inputs = torch.randn(700, 48)
    with torch.no_grad():
        everything = in_row_blocks(network, inputs)
        assert torch.equal(in_row_blocks(network, inputs[:rows]), everything[:rows])
        assert torch.equal(in_row_blocks(network, inputs[-rows:]), everything[-rows:])
        torch.testing.assert_close(everything, network(inputs))


def test_several_inputs_are_divided_alike():
    x, y = torch.randn(300, 2), torch.randn(300, 5)
    with torch.no_grad():
        assert torch.equal(
            in_row_blocks(lambda a, b: a * b.sum(1, keepdim=True), x, y),
            x * y.sum(1, keepdim=True),
        )


def test_no_rows_give_no_rows(network):
    with torch.no_grad():
        assert in_row_blocks(network, torch.zeros(0, 48)).shape == (0, 3)


def test_gradients_pass_through(network):
    x = torch.randn(200, 48, requires_grad=True)
    in_row_blocks(network, x).sum().backward()
    assert x.grad is not None
    assert (x.grad != 0).any(1).all()
