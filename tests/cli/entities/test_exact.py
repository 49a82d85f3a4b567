"""--exact: the encoder is never used in int8."""

import pytest

from thresher.entities import loading
from thresher.entities.finder import EntityFinder

COMMANDS = {
    "find": ["{gold}", "--model", "{model}"],
    "eval": ["{gold}", "--model", "{model}"],
    "serve": ["--port", "0", "--model", "m={model}"],
}


@pytest.fixture
def encoders_in_int8(monkeypatch):
    """Collect the encoders that would be converted to int8 on a CPU that supports it."""
    encoders = []
    monkeypatch.setattr(
        loading, "in_int8", lambda encoder, ranges: encoders.append(encoder) or encoder
    )
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")  # which `serve` may set
    return encoders


@pytest.mark.parametrize("command", COMMANDS)
def test_exact_computes_in_single_precision(run, model, tmp_path, encoders_in_int8, command):
    gold = tmp_path / "gold.conll"
    gold.write_text("Magda\tB-PER\nleft\tO\n", encoding="utf-8")
    arguments = [each.format(gold=gold, model=model) for each in COMMANDS[command]]
    assert run(command, *arguments, "--exact").status == 0
    assert not encoders_in_int8
    assert run(command, *arguments).status == 0
    assert len(encoders_in_int8) == 1


NOTE = "thresher: note: this CPU has no exact 8-bit products"


@pytest.mark.parametrize("options", [[], ["--exact"]])
def test_falling_back_to_float32_is_noted_once(run, model, monkeypatch, options):
    monkeypatch.setattr(EntityFinder, "lacks_int8", True)
    ran = run("find", "-", "--model", model, *options, stdin="Magda left Ostrava.")
    assert ran.err.count(NOTE) == (0 if options else 1)
