"""Models go to transformers and come back; logits stay the same."""

import json
from dataclasses import replace

import pytest
import torch
from tests.lm.small_model import SETTINGS, SHAPE, fit, make_text

from thresher.errors import InputError
from thresher.lm.pretrained.folder import export_model, is_pretrained_folder, read_pretrained
from thresher.lm.pretrained.tokenizers import character_tokenizer
from thresher.lm.trained_model import TrainedLanguageModel

transformers = pytest.importorskip("transformers")

SHAPES = {
    "default": SHAPE,
    "llama": replace(SHAPE, mlp="swiglu", key_heads=1, rotary_base=500.0, norm_epsilon=1e-5),
    "llama with biases": replace(SHAPE, mlp="swiglu", bias=True, inner=20),
    "gpt2": replace(SHAPE, positions="learned", norm="layer", bias=True, mlp="gelu-tanh"),
    "gpt2 without biases": replace(SHAPE, positions="learned", norm="layer"),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("tied", [True, False])
def test_an_exported_model_has_the_same_logits_and_comes_back(name, tied, tmp_path):
    trained = fit(shape=SHAPES[name], tied=tied, settings=replace(SETTINGS, steps=2))
    export_model(trained, tmp_path / "hf")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "hf").eval()
    ids = torch.randint(trained.tokenizer.vocabulary, (3, 16))
    with torch.no_grad():
        expected = trained.model.output.logits(trained.model(ids))
        torch.testing.assert_close(theirs(ids).logits, expected, rtol=1e-4, atol=1e-5)
    back = read_pretrained(tmp_path / "hf")
    with torch.no_grad():
        found = back.model.output.logits(back.model(ids))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    text = "the cat sat\non a mat\n\nand then"
    assert back.tokenizer.encode(text).tolist() == trained.tokenizer.encode(text).tolist()
    assert back.tokenizer.decode(back.tokenizer.encode(text)) == text


def test_byte_pairs_are_the_same_in_transformers(tmp_path):
    text = make_text()
    trained = fit(text, tokenizer="bpe", vocabulary=300, settings=replace(SETTINGS, steps=2))
    export_model(trained, tmp_path / "hf")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    for each in (text[:500], "the  cat\r\n\n  sat Ω\u2028 on\x0ca mat\n", ""):
        ids = trained.tokenizer.encode(each).tolist()
        assert theirs(each)["input_ids"] == ids
        assert theirs.decode(ids) == each


def transformers_folder(path, kind):
    """Save a small random model of transformers, with a tokenizer of 60 characters."""
    torch.manual_seed(0)
    if kind == "gpt2":
        config = transformers.GPT2Config(
            n_embd=16, n_layer=2, n_head=2, n_positions=32, vocab_size=61
        )
        model = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.LlamaConfig(
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=32,
            vocab_size=61,
            tie_word_embeddings=kind == "tied llama",
            bos_token_id=None,
            eos_token_id=None,
        )
        model = transformers.LlamaForCausalLM(config)
    for parameter in model.parameters():
        parameter.data.add_(0.05 * torch.randn_like(parameter))  # biases and norms, too
    model.save_pretrained(path)
    characters = sorted(set(make_text()))
    (path / "tokenizer.json").write_text(character_tokenizer(characters).to_str())
    return model.eval()


@pytest.mark.parametrize("kind", ["gpt2", "llama", "tied llama"])
def test_a_model_of_transformers_is_trained_further_with_a_margin(kind, tmp_path):
    theirs = transformers_folder(tmp_path / "hf", kind)
    assert is_pretrained_folder(tmp_path / "hf")
    imported = read_pretrained(tmp_path / "hf")
    ids = torch.randint(61, (2, 20))
    with torch.no_grad():
        found = imported.model.output.logits(imported.model(ids))
        torch.testing.assert_close(found, theirs(ids).logits, rtol=1e-4, atol=1e-5)
    settings = replace(SETTINGS, margin="4", steps=20, learning_rate=1e-2)
    trained = fit(initial=imported, settings=settings, shape=None)
    assert trained.architecture == imported.architecture
    before, after = (row["validation_loss"] for row in trained.log)
    assert after < before
    assert any(
        not torch.equal(mine, its)
        for mine, its in zip(trained.model.parameters(), imported.model.parameters(), strict=True)
    )
    trained.write(tmp_path / "ours")
    again = TrainedLanguageModel.read(tmp_path / "ours")
    with torch.no_grad():
        torch.testing.assert_close(again.model(ids), trained.model(ids))
    assert again.tokenizer.names == trained.tokenizer.names


def test_unsupported_models_are_errors_that_say_why(tmp_path):
    transformers_folder(tmp_path / "hf", "llama")
    path = tmp_path / "hf" / "config.json"
    good = json.loads(path.read_text())
    for change, message in (
        ({"model_type": []}, r"type \[\] are not supported"),
        ({"model_type": "bert"}, "'bert' are not supported; choose from gpt2, llama"),
        ({"hidden_act": "relu"}, "hidden_act is relu, but only silu"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "type yarn"),
        ({"head_dim": 6}, "head_dim is 6, but only 4"),
        ({"intermediate_size": 32}, "do not fit the configuration"),
        ({"num_hidden_layers": 3}, "model.layers.2"),
    ):
        path.write_text(json.dumps(good | change))
        with pytest.raises(InputError, match=message):
            read_pretrained(tmp_path / "hf")
    path.write_text("7")
    assert not is_pretrained_folder(tmp_path / "hf")
    (tmp_path / "hf" / "model.safetensors").unlink()
    path.write_text(json.dumps(good))
    with pytest.raises(InputError, match=r"has no model\.safetensors"):
        read_pretrained(tmp_path / "hf")
    with pytest.raises(InputError, match="only causal models"):
        export_model(fit(shape=replace(SHAPE, causal=False)), tmp_path / "masked")
