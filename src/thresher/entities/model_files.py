"""Convert the model of an entity finder to config.json and the files of its folder, and back.

The keys of the config and the names of tensors are those of the first version that wrote them;
they stay when code is renamed. `model_config.py` reads the parts that need no torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from safetensors.torch import save
from torch import Tensor

from thresher.encoders import static_files
from thresher.entities import model_config
from thresher.entities.finding.decoding import MIN_WORD_SCORE
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.model_config import LAYERS, LINKS, RANGES, WEIGHTS, WORDS
from thresher.entities.selectors import CalibratedSelector
from thresher.gates.choices import GateUnit
from thresher.gates.features import MEAN_ATTENTION, Features
from thresher.gates.selector import Selector
from thresher.tensor_files import build_module, load_tensors, require_finite
from thresher.validation import require, require_choice

if TYPE_CHECKING:
    from thresher.entities.model import FinderModel


def to_files(model: "FinderModel") -> dict[str, bytes]:
    """Return the content of the files besides config.json, by name; weights in half precision."""
    files = {
        WEIGHTS: save(_selector_weights(model.selectors)),
        WORDS: "".join(f"{word}\n" for word in sorted(model.ordinary or ())).encode(),
    }
    if model.static is not None:
        files |= static_files.to_files(model.static)
    if model.ranges:
        files[RANGES] = save(dict(model.ranges))
    if model.kinds is not None:
        files |= model.kinds.to_files()
    if model.layers:
        files[LAYERS] = save(_in_half_precision(model.layers))
    if model.link_gate is not None:
        files[LINKS] = save(_in_half_precision(model.link_gate.state_dict()))
    return files


def to_config(model: "FinderModel") -> dict[str, Any]:
    """Return the values of config.json; some of them only if they are not the default."""
    config: dict[str, Any] = {
        "encoder": model.encoder,
        "layer": model.layer,
        "hidden": model.selector.inner.out_features,
        "form": model.selector.form,
        "gate": model.selector.gate_options,
        "trust": asdict(model.signal_weights),
        "threshold": model.threshold,
        "spans": _span_config(model.span_model),
        "features": asdict(model.features),
        "entity": model.entity,
        "others": [
            _other_config(each)
            for number, each in enumerate(model.selectors)
            if number != model.entity
        ],
        "not_names": sorted(model.not_names),
        "repetition": model.ordinary is not None,
        "dates": None if model.dates is None else sorted(model.dates),
        "learned_from": model.learned_from,
    }
    if model.adapts:
        config["adapt"] = True
    if model.min_word_score != MIN_WORD_SCORE:
        config["joining"] = model.min_word_score
    if model.shared_gates:
        config["shared_gates"] = dict(model.shared_gates)
    if model.date_expressions is not None:
        expressions = model_config.date_expressions_config(model.date_expressions)
        config["date_expressions"] = expressions
    return config


def read_selectors(content: bytes, config: dict[str, Any]) -> tuple[CalibratedSelector, ...]:
    """Build the selectors from `WEIGHTS`; `config` has the values of the entity selector."""
    weights = load_tensors(content, WEIGHTS)
    configs = [dict(each) for each in config.get("others", [])]
    configs.insert(config.get("entity", 0), config)
    return tuple(
        CalibratedSelector(
            _read_selector(model_config.weights_of_selector(weights, number), config),
            model_config.signal_weights(own),
            float(own["threshold"]),
            model_config.span_model(own),
            None if own is config else model_config.date_words(own),
        )
        for number, own in enumerate(configs)
    )


def read_features(config: Mapping[str, Any]) -> Features:
    """Return the input of the selectors."""
    features = Features(**config.get("features", {}))
    require_choice("unit", features.unit, GateUnit)
    valid = features.attention in (None, MEAN_ATTENTION) or type(features.attention) is int
    require(valid, "attention", repr(features.attention), "a layer, mean or null")
    return features


def read_ranges(content: bytes) -> dict[str, Tensor]:
    """Return the input ranges in `RANGES`, by the name of the layer: (2, channels) each."""
    ranges = load_tensors(content, RANGES)
    require_finite(ranges, RANGES)
    for name, value in ranges.items():
        if value.dim() != 2 or len(value) != 2 or not value.is_floating_point():
            raise ValueError(f"{RANGES}: {name} must have the shape (2, channels)")
    return ranges


def read_link_gate(content: bytes) -> LinkGate:
    """Return the link gate in `LINKS`."""
    return LinkGate.from_state(load_tensors(content, LINKS)).eval()


def _read_selector(weights: dict[str, Tensor], config: dict[str, Any]) -> Selector:
    build = partial(
        Selector,
        len(weights["norm.weight"]),
        hidden=config["hidden"],
        form=config["form"],
        gate_options=model_config.gate_options(config),
    )
    return build_module(build, weights)


def _other_config(selector: CalibratedSelector) -> dict[str, Any]:
    """Return the values of a selector besides the one that finds entities."""
    config = {
        "trust": asdict(selector.signal_weights),
        "threshold": selector.threshold,
        "spans": _span_config(selector.span_model),
    }
    return config if selector.dates is None else config | {"dates": sorted(selector.dates)}


def _span_config(span_model: SpanModel | None) -> dict[str, float] | None:
    return None if span_model is None else asdict(span_model)


def _selector_weights(selectors: Sequence[CalibratedSelector]) -> dict[str, Tensor]:
    """Return the weights of all selectors; names after the first start with its index."""
    return {
        f"{number}.{name}" if number else name: value
        for number, each in enumerate(selectors)
        for name, value in _in_half_precision(each.selector.state_dict()).items()
    }


def _in_half_precision(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.half().cpu().contiguous() for name, value in tensors.items()}
