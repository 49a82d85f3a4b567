"""Write language models to folders that `AutoModelForCausalLM` loads, and read such folders."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from thresher.atomic_files import write_folder
from thresher.errors import InputError
from thresher.lm.model import Architecture, LanguageModel
from thresher.lm.output_layers.choices import TIED_LAYERS
from thresher.lm.pretrained import gpt2, llama
from thresher.lm.pretrained.tokenizers import export_tokenizer, read_tokenizer
from thresher.lm.shape import require_rotary_size
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.model_folder import config_errors_as_input_errors
from thresher.tensor_files import load_tensors_file, require_finite, require_shapes
from thresher.untrusted_files import read_json

_FAMILIES: dict[str, ModuleType] = {
    gpt2.MODEL_TYPE: gpt2,
    llama.MODEL_TYPE: llama,
    llama.UNGATED_TYPE: llama,
}
_CONFIG, _WEIGHTS, _INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_UNUSED = (".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq")  # constants in older folders


@dataclass(frozen=True)
class PretrainedModel:
    """A model of another library: what `fit_language_model(initial=…)` starts from."""

    model: LanguageModel
    tokenizer: Tokenizer

    @property
    def architecture(self) -> Architecture:
        """The components of the model."""
        return self.model.architecture


def is_pretrained_folder(folder: Path) -> bool:
    """Return whether a folder has a config.json of transformers."""
    path = folder / _CONFIG
    if not path.is_file():
        return False
    config = read_json(path)
    return isinstance(config, dict) and "model_type" in config


def export_model(trained: TrainedLanguageModel, folder: Path) -> list[str]:
    """Write a model as a folder for `transformers.AutoModelForCausalLM.from_pretrained`.

    GPT-2's layout is used for learned positions with LayerNorm, Llama's for rotary positions with
    RMSNorm. Logits are the same as those of this library. The tokenizer is written too, if it does
    not depend on this library's segmentation.

    returns: the names of the files
    """
    architecture = trained.architecture
    shape = architecture.shape
    family = next((each for each in (gpt2, llama) if each.describes(shape)), None)
    if not shape.causal or family is None or architecture.output not in TIED_LAYERS:
        raise InputError(
            "only causal models with a full softmax, and with rotary positions and RMSNorm (Llama) "
            "or learned positions and LayerNorm (GPT-2), can be exported"
        )
    gated = family is gpt2 or "swiglu" in shape.mlp
    model_type = family.MODEL_TYPE if gated else family.UNGATED_TYPE
    config = family.write_config(architecture) | {
        "model_type": model_type,
        "architectures": [family.CLASS_NAME if gated else family.UNGATED_CLASS],
        "vocab_size": architecture.vocabulary,
        "tie_word_embeddings": architecture.tied,
        "dtype": "float32",
    }
    state = {name: value.detach().cpu() for name, value in trained.model.state_dict().items()}
    tensors = family.write_tensors(state, architecture)
    contiguous = {name: value.contiguous() for name, value in tensors.items()}
    files = {
        _WEIGHTS: save(contiguous, metadata={"format": "pt"}),
        "README.md": trained.card().encode(),
        **export_tokenizer(trained.tokenizer, context=shape.context),
    }
    # By the digests, a later export recognises the folder as one that it may replace.
    config["sha256"] = {name: sha256(content).hexdigest() for name, content in files.items()}
    files[_CONFIG] = json.dumps(config, indent=2).encode()
    write_folder(folder, files)
    return sorted(files)


def read_pretrained(folder: Path) -> PretrainedModel:
    """Read a folder of transformers with a model of the shape of GPT-2 or Llama."""
    config: dict[str, Any] = read_json(folder / _CONFIG)
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in _FAMILIES:
        raise InputError(
            f"{folder}: models of type {kind!r} are not supported; choose from "
            f"{', '.join(_FAMILIES)}"
        )
    with config_errors_as_input_errors(folder):
        architecture = _FAMILIES[kind].read_architecture(config)
        require_rotary_size(architecture.shape)
        tensors = {
            name: value for name, value in _tensors(folder).items() if not name.endswith(_UNUSED)
        }
        state = _FAMILIES[kind].read_state(tensors, architecture)
        model = _build(architecture, {name: value.float() for name, value in state.items()})
        tokenizer = read_tokenizer(folder, architecture.vocabulary)
    return PretrainedModel(model, tokenizer)


def _tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of one file, or of the several files that an index names."""
    if (folder / _WEIGHTS).exists():
        return load_tensors_file(folder / _WEIGHTS)
    if not (folder / _INDEX).exists():
        raise InputError(
            f"{folder} has no {_WEIGHTS}; save the model with `safe_serialization=True`"
        )
    names = sorted(set(read_json(folder / _INDEX)["weight_map"].values()))
    if any("/" in name or "\\" in name or name.startswith(".") for name in names):
        raise InputError(f"{folder / _INDEX} names files outside its folder")
    return {
        name: value for file in names for name, value in load_tensors_file(folder / file).items()
    }


def _build(architecture: Architecture, state: dict[str, Tensor]) -> LanguageModel:
    """Build the model after checking that its size follows from the size of the weights."""
    with torch.device("meta"):
        needed = LanguageModel(architecture).state_dict()
    require_shapes(state, needed)
    require_finite(state, "the weights")
    model = LanguageModel(architecture)
    model.load_state_dict(state)
    return model.eval()
