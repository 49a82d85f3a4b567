"""--exact: what it reads with is never in eight bits."""

import pytest

from thresher.entities import finder as finder_module

COMMANDS = {
    "find": ["{gold}", "--model", "{model}"],
    "eval": ["{gold}", "--model", "{model}"],
    "serve": ["--port", "0", "--model", "m={model}"],
}


@pytest.fixture
def quickened(monkeypatch):
    """The encoders that were made faster, if the processor allowed it."""
    made = []
    monkeypatch.setattr(
        finder_module, "_faster", lambda encoder, ranges: made.append(encoder) or encoder
    )
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")  # which `serve` may set
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_exact_reads_in_single_precision(run, model, tmp_path, quickened, command):
    gold = tmp_path / "gold.conll"
    gold.write_text("Magda\tB-PER\nleft\tO\n", encoding="utf-8")
    arguments = [each.format(gold=gold, model=model) for each in COMMANDS[command]]
    assert run(command, *arguments, "--exact").status == 0
    assert not quickened
    assert run(command, *arguments).status == 0
    assert len(quickened) == 1
