"""What the tests of language models share."""

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Models this small are slower with more threads, above all on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
