"""Modules are built from tensors of unknown origin."""

import pytest
import torch
from safetensors.torch import save
from torch import nn

from thresher.errors import InputError
from thresher.tensor_files import build_module, load_tensors, load_tensors_file, require_finite


def test_a_built_module_equals_the_saved_one():
    saved = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))
    tensors = load_tensors(save(saved.state_dict()), "file")
    built = build_module(lambda: nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2)), tensors)
    x = torch.randn(4, 3)
    assert torch.equal(built(x), saved(x))
    assert all(each.requires_grad for each in built.parameters())


def test_half_precision_is_converted():
    tensors = {name: value.half() for name, value in nn.Linear(3, 2).state_dict().items()}
    assert build_module(lambda: nn.Linear(3, 2), tensors).weight.dtype == torch.float32


def test_a_large_module_is_refused_without_memory_for_it():
    tensors = nn.Linear(3, 2).state_dict()
    with pytest.raises(ValueError, match="do not fit the configuration"):
        build_module(lambda: nn.Linear(10**9, 10**9), tensors)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_are_refused(dtype, value):
    with pytest.raises(InputError, match="file: the tensor 'a' has NaN or infinite values"):
        require_finite({"a": torch.tensor([[1.0, value], [0.0, 2.0]], dtype=dtype)}, "file")
    require_finite({"a": torch.ones(3, dtype=dtype), "b": torch.ones(2, dtype=torch.long)}, "file")


def test_a_value_that_overflows_in_single_precision_is_refused():
    tensors = nn.Linear(3, 2).double().state_dict() | {"bias": torch.tensor([1e300, 0.0]).double()}
    with pytest.raises(InputError, match="'bias' has NaN or infinite values"):
        build_module(lambda: nn.Linear(3, 2), tensors)


def test_empty_tensors_are_refused_unless_allowed(tmp_path):
    content = save({"a": torch.zeros(0, 3)})
    assert load_tensors(content, "file", allow_empty=True)["a"].shape == (0, 3)
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match="the tensor 'a' is empty"):
        load_tensors(content, "file")
    with pytest.raises(InputError, match="the tensor 'a' is empty"):
        load_tensors_file(tmp_path / "file")
