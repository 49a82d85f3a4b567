"""Several processes train the same model as one."""

import os
import socket
import subprocess
import sys

import torch
from safetensors.torch import load_file
from tests.lm.training.artificial_language import DATA, changed, start

from thresher.lm.training.loop import train
from thresher.training_processes import SINGLE_PROCESS, join_processes

SCRIPT = """
import sys
from pathlib import Path
from safetensors.torch import save_file
from tests.lm.training.artificial_language import DATA, changed, start
from thresher.lm.training.loop import train
from thresher.training_processes import join_processes

with join_processes("cpu") as (processes, device):
    settings = changed(steps=8, batch=6, accumulate=2, margin="2", learning_rate=1e-2)
    for causal in (True, False):
        state = start(settings, causal=causal)
        train(state, DATA, settings, processes=processes)
        tensors = state.model.weights() | {"roles": state.roles.other}
        save_file(tensors, Path(sys.argv[1]) / f"{causal}-{processes.rank}.safetensors")
"""


def test_three_processes_train_the_same_model_as_one(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path)],
            env=os.environ | shared | {"RANK": str(rank), "OMP_NUM_THREADS": "1"},
        )
        for rank in range(3)
    ]
    assert [each.wait(120) for each in running] == [0, 0, 0]
    settings = changed(steps=8, batch=6, accumulate=2, margin="2", learning_rate=1e-2)
    for causal in (True, False):
        state = start(settings, causal=causal)
        train(state, DATA, settings)
        expected = state.model.weights() | {"roles": state.roles.other}
        ranks = [load_file(tmp_path / f"{causal}-{rank}.safetensors") for rank in range(3)]
        for name, value in expected.items():
            torch.testing.assert_close(ranks[0][name], value, rtol=1e-3, atol=1e-5)
            assert torch.equal(ranks[0][name], ranks[2][name])


def test_without_torchrun_there_is_one_process():
    with join_processes("cpu") as (processes, device):
        assert processes == SINGLE_PROCESS
        assert device.type == "cpu"
