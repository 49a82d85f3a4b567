"""Tensors to a device and back; a GPU is tested if there is one."""

import pytest
import torch

from thresher.encoders.device_transfer import to_cpu, to_device

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 5)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int64, torch.bool])
def test_a_tensor_is_unchanged_after_a_round_trip(device, shape, dtype):
    values = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
    there = to_device(values, torch.device(device))
    assert there.device.type == device
    here = to_cpu(there)
    assert (here.device.type, here.dtype) == ("cpu", dtype)
    assert torch.equal(here, values)
