"""Tokenizers and models read from a folder, against transformers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import ElectraConfig, ElectraModel

from thresher.encoders.bert import Bert
from thresher.encoders.pretrained_files import read_pretrained
from thresher.encoders.sentence_bert import SentenceBert
from thresher.encoders.transformers_model import TransformersModel
from thresher.errors import InputError

CPU = torch.device("cpu")
READ = """
import sys
from thresher.encoders.sentence_bert import SentenceBert

encoder = SentenceBert(sys.argv[1])
batch = encoder.batch([["Marie", "left"]])
encoder.encode(batch), encoder.encode_gated(batch), encoder.attention(batch)
print("transformers" in sys.modules)
"""
FIND = """
import sys
from thresher.cli import main

status = main(["find", *sys.argv[1:], "--device", "cpu", "--to", "jsonl", "--quiet"])
print(status, "transformers" in sys.modules, file=sys.stderr)
"""
TEXTS = [
    "",
    " ",
    "Marie Skłodowska-Curie moved to Paris.",
    "Zürich, Ελλάδα, Москва, 東京都, 서울, القاهرة, हिन्दी",
    "e\u0301 \ufb01 \u200b \x00 \ufeff \U0001f600\U0001f1eb\U0001f1f7 [MASK] [SEP] ##ing",
    "x" * 99,
    "x" * 101,  # longer than a word may be
    "many words " * 300,  # longer than a saved tokenizer lets through
]


@pytest.fixture(scope="module")
def tokenizer(packaged_folder):
    return read_pretrained(packaged_folder, device=CPU)[0]


def same_ids(tokenizer, plain, text):
    expected = plain.tokenizer(text, truncation=False, padding=False).input_ids
    return tokenizer.encode(text).ids == expected


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_equal_those_of_transformers(tokenizer, plain, text):
    assert same_ids(tokenizer, plain, text)


@given(st.text(max_size=40))
def test_tokens_of_any_text_equal_those_of_transformers(tokenizer, plain, text):
    assert same_ids(tokenizer, plain, text.encode("utf-8", "ignore").decode())


def test_a_plain_bert_is_loaded_without_transformers(new_bert):
    folder = new_bert(["marie", "left"], width=8, layers=2, mask=True)
    ran = subprocess.run(
        [sys.executable, "-c", READ, folder], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"


def test_without_transformers_other_models_are_rejected_with_the_pip_command(new_bert, monkeypatch):
    folder = new_bert(["marie", "left"], width=8, layers=2)
    config = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "thresher.encoders.transformers_model")
    monkeypatch.delattr("thresher.encoders.transformers_model")
    with pytest.raises(InputError, match=r"need transformers: pip install '\.\[transformers"):
        SentenceBert(folder)


@pytest.mark.parametrize("model", [[], ["--model", "fast-english"]], ids=["default", "fast"])
def test_find_does_not_import_transformers(tmp_path, model):
    notes = tmp_path / "notes.txt"
    notes.write_text("Later Marie Curie moved to Paris, it was said.", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", FIND, notes, *model], capture_output=True, text=True, check=True
    )
    assert "Marie Curie" in ran.stdout
    assert ran.stderr == "0 False\n"


@pytest.mark.parametrize("mask", [True, False])
def test_the_closed_embedding_is_that_of_the_mask_token(new_bert, mask):
    folder = new_bert(["marie", "left"], width=8, layers=2, mask=mask)
    encoder = SentenceBert(folder)
    words = encoder.model.word_embeddings
    number = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"].get("[MASK]")
    assert (number is None) is not mask
    assert torch.equal(encoder._closed, words[number] if mask else words.mean(0))


def test_weights_in_several_files_equal_those_in_one(new_bert, tmp_path):
    whole = new_bert(["marie", "left"], width=8, layers=2)
    parts = shutil.copytree(whole, tmp_path / "parts")
    weights = load_file(parts / "model.safetensors")
    (parts / "model.safetensors").unlink()
    home = {}
    for number, name in enumerate(sorted(weights)):
        home[name] = f"model-0000{number % 2 + 1}-of-00002.safetensors"
    for file in set(home.values()):
        own = {name: weights[name] for name in weights if home[name] == file}
        save_file(own, parts / file, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": home}
    (parts / "model.safetensors.index.json").write_text(json.dumps(index))
    (_, expected), (_, got) = (read_pretrained(each, device=CPU) for each in (whole, parts))
    assert isinstance(got, Bert)
    for name, value in expected.state_dict().items():
        assert torch.equal(got.state_dict()[name], value)


def test_word_embeddings_may_be_narrower_than_hidden_states(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "electra")
    config = ElectraConfig(
        vocab_size=9, embedding_size=8, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=16,
    )  # fmt: skip
    ElectraModel(config).save_pretrained(folder)
    encoder = SentenceBert(folder)
    assert isinstance(encoder.model, TransformersModel)
    assert encoder.width == 16
    batch = encoder.batch([["marie", "left"]])
    assert encoder.encode(batch).shape == encoder.encode_gated(batch).shape == (1, 4, 16)
    assert encoder.token_vectors().shape == (9, 16)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("encoder.layer.1.output.dense.weight", "'output.dense.weight' is missing"),
        ("embeddings.LayerNorm.bias", "'LayerNorm.bias' is missing"),
    ],
)
def test_missing_weights_are_named(tiny_folder, tmp_path, name, reason):
    folder = Path(shutil.copytree(tiny_folder, tmp_path / "damaged"))
    weights = load_file(folder / "model.safetensors")
    del weights[name]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match="cannot load the encoder") as raised:
        read_pretrained(folder, device=CPU)
    assert str(raised.value).endswith(reason)
