"""Checkpoints: a stopped run is resumed exactly, and only with its own checkpoint."""

import hashlib
import json
import tracemalloc
from dataclasses import asdict, replace

import pytest
import torch
from safetensors import safe_open
from tests.lm.training.artificial_language import (
    COUNTS,
    DATA,
    SETTINGS,
    changed,
    start,
)

from thresher.errors import InputError
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.training.batches import WeightedPart
from thresher.lm.training.checkpoints import load_checkpoint, run_fingerprint, save_checkpoint
from thresher.lm.training.loop import train
from thresher.lm.training.state import TrainingData


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"dropout": 0.3}, {"margin": "2"}),
        ({"causal": False, "tied": False}, {"margin": "1:3"}),
        ({"output": "gated"}, {"decay_embeddings": False}),
        ({"output": "noise-contrastive", "tied": False}, {}),
    ],
)
def test_a_resumed_run_gives_exactly_the_same_result(tmp_path, options, settings):
    settings = changed(**settings)
    whole = start(settings, **options)
    train(whole, DATA, settings)

    path = tmp_path / "checkpoint.safetensors"
    stopped = start(settings, **options)
    fingerprint = run_fingerprint(stopped, DATA, settings)

    def stop_at_eight(state):
        save_checkpoint(path, state, fingerprint)
        if state.step == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(stopped, DATA, settings, after_evaluation=stop_at_eight)
    torch.manual_seed(99)  # the global random state does not matter
    resumed = start(settings, **options)
    load_checkpoint(path, resumed, fingerprint)
    assert resumed.step == 8
    train(resumed, DATA, settings)
    for name, value in whole.model.weights().items():
        assert torch.equal(value, resumed.model.weights()[name]), name
    assert (whole.best_step, whole.best_loss) == (resumed.best_step, resumed.best_loss)
    for one, two in zip(whole.log, resumed.log, strict=True):
        assert one | {"tokens_per_second": 0} == pytest.approx(
            two | {"tokens_per_second": 0}, rel=0, abs=0, nan_ok=True
        )
    assert (whole.roles is None) is (options.get("output") == "noise-contrastive")
    if whole.roles is not None:
        assert all(torch.equal(getattr(whole.roles, r), getattr(resumed.roles, r)) for r in ROLES)


@pytest.mark.parametrize(
    "other",
    [
        lambda: (start(changed(seed=1)), DATA, changed(seed=1)),
        lambda: (start(tied=False), DATA, SETTINGS),
        lambda: (start(), TrainingData(DATA.train[1:], DATA.validation, COUNTS), SETTINGS),
        lambda: (
            start(),
            replace(DATA, parts=(WeightedPart(1000, 0.5), WeightedPart(1500, 0.5))),
            SETTINGS,
        ),
    ],
)
def test_a_checkpoint_of_another_run_is_an_error(tmp_path, other):
    path = tmp_path / "checkpoint.safetensors"
    state = start()
    save_checkpoint(path, state, run_fingerprint(state, DATA, SETTINGS))
    state, data, settings = other()
    with pytest.raises(InputError, match="other text or settings"):
        load_checkpoint(path, state, run_fingerprint(state, data, settings))


def test_the_fingerprint_needs_no_copy_of_all_token_ids():
    state, long = start(), TrainingData(torch.zeros(2**20).long(), DATA.validation, COUNTS)
    tracemalloc.start()
    run_fingerprint(state, long, SETTINGS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20  # of 2²³ bytes


def test_a_broken_checkpoint_is_an_error_and_a_missing_one_changes_nothing(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    state = start()
    load_checkpoint(path, state, "fingerprint")
    assert state.step == 0
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot resume"):
        load_checkpoint(path, state, "fingerprint")


def test_a_checkpoint_contains_only_tensors_and_json(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    state = start()
    train(state, DATA, SETTINGS)
    save_checkpoint(path, state, "fingerprint")
    with safe_open(path, framework="pt") as file:
        numbers = json.loads(file.metadata()["numbers"])
    assert numbers["step"] == 12
    assert len(numbers["log"]) == 3
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_the_fingerprint_does_not_depend_on_the_dtype_of_the_ids():
    """Ids were int64 in earlier versions, whose checkpoints can still be resumed."""
    state = start()
    configuration = [asdict(state.model.architecture), SETTINGS.as_dict()]
    content = json.dumps(configuration, sort_keys=True).encode()
    for ids in (DATA.train, DATA.validation):
        content += ids.numpy().tobytes()
    expected = hashlib.sha256(content).hexdigest()
    for dtype in (torch.int16, torch.int32, torch.int64):
        data = replace(DATA, train=DATA.train.to(dtype), validation=DATA.validation.to(dtype))
        assert run_fingerprint(state, data, SETTINGS) == expected
