"""The configuration file of a training run: the options of `thresher lm train` as TOML."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import InputError
from thresher.lm.choices import Objective, PretrainedKind, TokenizerKind
from thresher.untrusted_files import MAX_CONFIG_BYTES, read_regular

if TYPE_CHECKING:
    from thresher.lm.model import Architecture
    from thresher.lm.tokens.tokenizer import Tokenizer
    from thresher.lm.training.settings import LanguageModelSettings

_SHAPE = ("width", "layers", "heads", "context", "dropout", "positions", "norm", "bias")
_SETTINGS = (
    *("margin", "match_rare_tokens", "steps", "batch", "accumulate", "learning_rate", "warm_up"),
    *("weight_decay", "label_smoothing", "evaluate_every", "precision", "fused", "compile"),
    *("seed", "rare_token_budget"),
)
_HEADER = "# Train such a model again: thresher lm train SOURCES -o FOLDER --config run.toml\n"


def run_options(
    architecture: "Architecture",
    tokenizer: "Tokenizer",
    settings: "LanguageModelSettings",
    init_from: Path | None = None,
) -> dict[str, Any]:
    """Return the options of `thresher lm train` that give such a model; None if not set.

    init_from: the model from which training began; it determines tokenizer, shape and output layer
    """
    options: dict[str, Any]
    if init_from is None:
        options = _component_options(architecture, tokenizer)
    else:
        options = {"init_from": str(init_from), "dropout": architecture.shape.dropout}
    saved = settings.as_dict()
    options |= {name: saved[name] for name in _SETTINGS}
    options["no_embedding_decay"] = not settings.decay_embeddings
    return options


def _component_options(architecture: "Architecture", tokenizer: "Tokenizer") -> dict[str, Any]:
    """Return the options for tokenizer, Transformer and output layer."""
    shape = architecture.shape
    options: dict[str, Any] = {}
    if tokenizer.kind != PretrainedKind.PRETRAINED:
        options["tokens"] = tokenizer.kind.value
        if tokenizer.kind != TokenizerKind.CHARACTERS:
            options["vocabulary"] = tokenizer.vocabulary
    options["objective"] = (Objective.CAUSAL if shape.causal else Objective.MASKED).value
    options |= {name: getattr(shape, name) for name in _SHAPE} | {"feed_forward": shape.mlp}
    return options | {"output_layer": architecture.output, "untied": not architecture.tied}


def to_toml(options: Mapping[str, Any]) -> str:
    """Return options as TOML; those that are None are left out."""
    lines = [f"{name} = {_value(value)}\n" for name, value in options.items() if value is not None]
    return _HEADER + "".join(lines)


def read_run_config(path: Path) -> dict[str, Any]:
    """Read the options in a TOML file; names may be written with - or _."""
    try:
        options = tomllib.loads(read_regular(path, max_bytes=MAX_CONFIG_BYTES).decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not a TOML file: {error}") from error
    for name, value in options.items():
        if isinstance(value, dict):
            raise InputError(f"{path}: [{name}] is a table; write options as name = value")
    return {name.replace("-", "_"): value for name, value in options.items()}


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")  # JSON allows it
