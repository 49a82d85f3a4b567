"""The processes of a training run: their shares of the work, and two that train selectors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from thresher.entities.training.loop import TrainingCorpus, train_selectors
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import TrainingState
from thresher.gates.contrast import contrast
from thresher.gates.word_vectors import UnitIndex, cache_vectors
from thresher.training_processes import SINGLE_PROCESS, Processes, current_processes, join_processes


@pytest.mark.parametrize("items", [0, 1, 2, 7, 256])
def test_the_shares_of_all_processes_cover_every_item_once(items):
    shares = [Processes(rank, 3).share(items) for rank in range(3)]
    assert [i for share in shares for i in range(items)[share]] == list(range(items))


def test_shares_differ_by_at_most_one_item():
    shares = [Processes(rank, 3).share(7) for rank in range(3)]
    assert shares == [slice(0, 2), slice(2, 4), slice(4, 7)]


def test_a_single_process_is_the_main_one_and_has_everything():
    assert SINGLE_PROCESS.is_single
    assert SINGLE_PROCESS.is_main
    assert SINGLE_PROCESS.share(7) == slice(0, 7)


SETTINGS = EntitySettings(
    hidden=16, epochs=2, sentences_per_batch=7, contrast=0.5, contrast_share=0.7, continuity=0.2
)
# What each of the processes runs: `work` of this file.
SCRIPT = """
import sys
sys.path[:0] = [{root!r}]
from tests import test_training_processes
test_training_processes.work({folder!r})
"""


def sentences() -> list[list[str]]:
    rng = np.random.default_rng(0)
    return [
        [f"s{i}", *(f"w{w}" for w in rng.integers(0, 50, size=rng.integers(1, 9)))]
        for i in range(30)  # the last batch has two sentences
    ]


def losses_and_gradient(encoder, processes: Processes, gates_at: str):
    """Return the losses of the contrast of a batch and the gradient in its gates."""
    batch = encoder.batch(sentences()[:9])
    start = torch.linspace(0.1, 0.9, batch.words, requires_grad=True)
    rationale, complement = contrast(
        encoder, batch, start * 1.0, temperature=0.1, gates_at=gates_at, processes=processes
    )
    (rationale - 0.5 * complement + start.square().mean()).backward()
    processes.average_gradients([start])
    return [rationale.item(), complement.item()], start.grad.tolist()


def outcome(encoder, processes: Processes, folder: Path) -> dict:
    path = folder / f"vectors-{processes.count}.npy"
    vectors = cache_vectors(encoder, sentences(), path, processes=processes)
    prior = np.random.default_rng(1).choice([0.0, 1.0, np.nan], size=len(vectors)).astype("f4")
    corpus = TrainingCorpus(sentences(), vectors, UnitIndex.of_words(sentences()), prior)
    state = TrainingState.new(SETTINGS, encoder.width, encoder.device)
    reports = []
    train_selectors(
        state, encoder, corpus, SETTINGS, after_epoch=reports.append, processes=processes
    )
    return {
        "contrast": {at: losses_and_gradient(encoder, processes, at) for at in ("input", "pool")},
        "vectors": vectors.astype(float).tolist(),
        "terms": [each.terms for each in reports],
        "weights": [each.tolist() for each in state.selectors[0].parameters()],
    }


def work(folder: str) -> None:
    """Run one of two processes, in an interpreter of its own."""
    from tests.tiny_encoder import TinyEncoder  # noqa: PLC0415

    with join_processes("cpu") as (processes, device):
        assert device.type == "cpu"
        assert processes == current_processes()
        assert processes.count == 2
        found = outcome(TinyEncoder(), processes, Path(folder))
        (Path(folder) / f"{processes.rank}.json").write_text(json.dumps(found), encoding="utf-8")
    assert current_processes() == SINGLE_PROCESS


def _run_two_processes(script: Path) -> None:
    """Run a script with torchrun; twice if it fails, because another test may take its port."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    for _ in range(2):
        done = subprocess.run(
            [*command, "--nproc_per_node", "2", str(script)],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"},
        )
        if done.returncode == 0:
            return
    pytest.fail(done.stderr)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """The results of two processes that trained together."""
    folder = tmp_path_factory.mktemp("together")
    script = folder / "script.py"
    root = str(Path(__file__).parents[1])
    script.write_text(SCRIPT.format(root=root, folder=str(folder)), encoding="utf-8")
    _run_two_processes(script)
    return [json.loads((folder / f"{rank}.json").read_bytes()) for rank in (0, 1)]


def flat(values) -> list[float]:
    if isinstance(values, dict):
        values = list(values.values())
    return [x for each in values for x in flat(each)] if isinstance(values, list) else [values]


@pytest.mark.parametrize("figures", ["contrast", "vectors", "terms", "weights"])
def test_two_processes_get_the_same_results_as_one(together, tiny, tmp_path, figures):
    alone = json.loads(json.dumps(outcome(tiny, SINGLE_PROCESS, tmp_path)))[figures]
    for each in together:
        np.testing.assert_allclose(flat(each[figures]), flat(alone), rtol=2e-4, atol=2e-6)
    assert together[0][figures] == together[1][figures]


def test_the_gradient_is_that_of_all_negatives(tiny):
    """It differs from what a process that kept to its own sentences would find."""
    _, whole = losses_and_gradient(tiny, SINGLE_PROCESS, "input")
    batch = tiny.batch(sentences()[:9])
    start = torch.linspace(0.1, 0.9, batch.words, requires_grad=True)
    total = torch.zeros(())
    for low, high in ((0, 4), (4, 9)):
        own = tiny.batch(sentences()[low:high])
        words = slice(sum(map(len, sentences()[:low])), sum(map(len, sentences()[:high])))
        rationale, complement = contrast(tiny, own, start[words] * 1.0, temperature=0.1)
        total = total + (rationale - 0.5 * complement) * (high - low) / 9
    (total + start.square().mean()).backward()
    assert np.abs(np.array(whole) - start.grad.numpy()).max() > 1e-3
