"""The script that people would use instead: nanoGPT, read from a folder and not copied."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from thresher.lm.model import LanguageModel
from thresher.lm.shape import Shape
from thresher.lm.training.batches import Batch
from thresher.lm.training.optimizer import BETAS, learning_rate
from thresher.lm.training.settings import LanguageModelSettings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT.parent / "shared" / "peers" / "nanogpt"


def load(folder: Path) -> ModuleType:
    """Import nanoGPT's model.py from a folder."""
    spec = importlib.util.spec_from_file_location("nanogpt_model", folder / "model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def new_model(module: ModuleType, shape: Shape, vocabulary: int, *, seed: int) -> Any:
    """Return a new model with the sizes of a shape, as nanoGPT initialises it."""
    torch.manual_seed(seed)
    config = module.GPTConfig(
        block_size=shape.context,
        vocab_size=vocabulary,
        n_layer=shape.layers,
        n_head=shape.heads,
        n_embd=shape.width,
        dropout=0.0,
        bias=shape.bias,
    )
    return module.GPT(config)


def copy_weights(source: Any, model: LanguageModel) -> None:
    """Copy the weights of a nanoGPT model to a model of the same shape."""
    names = {
        "transformer.wte.weight": "embedding",
        "transformer.wpe.weight": "transformer.position_embedding",
        "transformer.ln_f.": "transformer.norm.",
        "transformer.h.": "transformer.layers.",
        ".ln_1.": ".attention_norm.",
        ".ln_2.": ".mlp_norm.",
        ".attn.c_attn.": ".attention.qkv.",
        ".attn.c_proj.": ".attention.output.",
        ".mlp.c_fc.": ".mlp.up.",
        ".mlp.c_proj.": ".mlp.down.",
    }
    state = model.state_dict()
    for name, value in source.state_dict().items():
        if name == "lm_head.weight":  # tied to the embedding
            continue
        for theirs, ours in names.items():
            name = name.replace(theirs, ours)  # noqa: PLW2901
        state[name].copy_(value)


def stepper(
    model: Any, settings: LanguageModelSettings, device: str, *, compiled: bool
) -> Callable[[int, list[Batch]], Tensor]:
    """Return a function that runs one training step as nanoGPT's train.py does."""
    kind = torch.device(device).type
    optimizer = model.configure_optimizers(
        settings.weight_decay, settings.learning_rate, BETAS, kind
    )
    forward = torch.compile(model) if compiled else model

    def step(number: int, batches: list[Batch]) -> Tensor:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(number, settings)
        total = torch.zeros((), device=device)
        for batch in batches:
            with torch.autocast(kind, dtype=torch.bfloat16, enabled=kind == "cuda"):
                _, loss = forward(batch.input.contiguous(), batch.target.contiguous())
                loss = loss / len(batches)
            loss.backward()
            total = total + loss.detach()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return total

    return step
