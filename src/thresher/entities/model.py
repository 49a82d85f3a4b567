"""The model of an entity finder, and how it is saved in a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from thresher.encoders import static_files
from thresher.encoders.protocol import Encoder
from thresher.encoders.static_encoder import StaticEncoder
from thresher.entities import model_config
from thresher.entities.finding.adaptation import Adaptation
from thresher.entities.finding.decoding import MIN_WORD_SCORE
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.kinds import kind_model
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.model_card import card
from thresher.entities.model_config import KIND, LAYERS, LINKS, RANGES, WEIGHTS, WORDS
from thresher.entities.readable_scripts import readable_scripts
from thresher.entities.selectors import CalibratedSelector
from thresher.errors import InputError
from thresher.gates.choices import GateUnit
from thresher.gates.features import MEAN_ATTENTION, Features
from thresher.gates.selector import Selector
from thresher.model_folder import config_errors_as_input_errors
from thresher.tensor_files import build_module, load_tensors, require_finite
from thresher.validation import require, require_choice


@dataclass(frozen=True)
class FinderModel:
    """The selectors of a finder, the word lists it uses, and a record of its training.

    encoder, layer: the name of the encoder and the layer whose vectors the selectors read
    selectors: the selectors with their signal weights and thresholds
    entity: the index of the selector that finds entities
    ordinary: words of the training text that are not bursty; None if repetition is no signal
    not_names: words that are never part of an entity, case-folded
    dates: words of dates in the training text; None if dates are not entities
    features: the input of the selectors
    learned_from: counts and settings, for the model card; `licence` and `sources` if known
    static: the encoder, if it is saved with the model; otherwise it is loaded by its name
    ranges: the input ranges of the encoder's layers, if it may run in int8
    kinds: a sample of entities from which kinds are learned, and the kinds that the model has
    layers: the weights of layers that replace those of the encoder, if the model was distilled
    adapts: whether the command line adapts the model to the text at hand by default
    min_word_score: the smallest score of a word that joins a span
    link_gate: tells whether two neighbouring words belong to the same name; None if not trained
    """

    encoder: str
    layer: int
    selectors: tuple[CalibratedSelector, ...]
    ordinary: frozenset[str] | None
    not_names: frozenset[str]
    dates: frozenset[str] | None = None
    features: Features = field(default_factory=Features)
    entity: int = 0
    learned_from: dict[str, Any] = field(default_factory=dict)
    static: StaticEncoder | None = None
    ranges: Mapping[str, Tensor] = field(default_factory=dict)
    kinds: KindModel | None = None
    layers: Mapping[str, Tensor] = field(default_factory=dict)
    adapts: bool = False
    min_word_score: float = MIN_WORD_SCORE
    link_gate: LinkGate | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.entity < len(self.selectors):
            raise ValueError(
                f"entity is {self.entity}, but there are {len(self.selectors)} selectors"
            )

    @property
    def selector(self) -> Selector:
        """The selector that finds entities."""
        return self.selectors[self.entity].selector

    @property
    def signal_weights(self) -> SignalWeights:
        """The weights of the signals besides the gates of this selector."""
        return self.selectors[self.entity].signal_weights

    @property
    def threshold(self) -> float:
        """The smallest score of a candidate that counts as an entity."""
        return self.selectors[self.entity].threshold

    @property
    def scripts(self) -> frozenset[str] | None:
        """The scripts that the model can read; None if it can read all, or it is not known."""
        return readable_scripts(self.encoder, self.learned_from)

    @property
    def span_model(self) -> SpanModel | None:
        """The probabilities of spans; None for models that decode runs of words."""
        return self.selectors[self.entity].span_model

    @cached_property
    def signal_extractor(self) -> SignalExtractor:
        """Extracts the signals of words besides their gates."""
        return model_config.signal_extractor(
            self.signal_weights,
            self.span_model,
            ordinary=self.ordinary,
            not_names=self.not_names,
            dates=self.dates,
        )

    def checked_for(self, encoder: Encoder) -> "FinderModel":
        """Return this model; raise InputError if the encoder's vectors have another width."""
        expected, width = self.selector.norm.normalized_shape[0], self.features.width(encoder)
        if expected != width:
            raise InputError(
                f"the model needs vectors of width {expected}, but {self.encoder} gives {width}"
            )
        if self.link_gate is not None and self.link_gate.width != width:
            raise InputError(
                f"the link gate needs vectors of width {self.link_gate.width}, "
                f"but {self.encoder} gives {width}"
            )
        if self.kinds is not None:
            self.kinds.check_width(encoder.width)
        return self

    def with_selector(self, number: int) -> "FinderModel":
        """Return this model with another selector for finding entities, counted from 1."""
        if not 1 <= number <= len(self.selectors):
            rule = f"between 1 and {len(self.selectors)}" if len(self.selectors) > 1 else "1"
            raise InputError(f"the number of the selector must be {rule}, got {number}")
        return replace(self, entity=number - 1)

    def with_adaptation(self, adaptation: Adaptation) -> "FinderModel":
        """Return this model with the weights, threshold and ordinary words for a corpus."""
        selectors = list(self.selectors)
        selectors[self.entity] = replace(
            selectors[self.entity],
            signal_weights=adaptation.signal_weights,
            threshold=adaptation.threshold,
        )
        ordinary = self.ordinary and self.ordinary | adaptation.ordinary
        return replace(self, selectors=tuple(selectors), ordinary=ordinary)

    def without_kinds(self) -> "FinderModel":
        """Return this model without its kinds; it keeps the sample of entities, if it has one."""
        return replace(self, kinds=self.kinds and KindModel(self.kinds.sample))

    def write(self, folder: Path) -> None:
        """Save the model as a folder, atomically; weights in half precision."""
        files = {
            WEIGHTS: save(_weights(self.selectors)),
            WORDS: "".join(f"{word}\n" for word in sorted(self.ordinary or ())).encode(),
            **(static_files.to_files(self.static) if self.static else {}),
            **({RANGES: save(dict(self.ranges))} if self.ranges else {}),
            **(self.kinds.to_files() if self.kinds else {}),
            **({LAYERS: save(_in_half_precision(self.layers))} if self.layers else {}),
            **(
                {LINKS: save(_in_half_precision(self.link_gate.state_dict()))}
                if self.link_gate
                else {}
            ),
        }
        config = {
            "encoder": self.encoder,
            "layer": self.layer,
            "hidden": self.selector.inner.out_features,
            "form": self.selector.form,
            "gate": self.selector.gate_options,
            "trust": asdict(self.signal_weights),
            "threshold": self.threshold,
            "spans": _as_config(self.span_model),
            "features": asdict(self.features),
            "entity": self.entity,
            "others": [
                {
                    "trust": asdict(each.signal_weights),
                    "threshold": each.threshold,
                    "spans": _as_config(each.span_model),
                }
                for number, each in enumerate(self.selectors)
                if number != self.entity
            ],
            "not_names": sorted(self.not_names),
            "repetition": self.ordinary is not None,
            "dates": None if self.dates is None else sorted(self.dates),
            "learned_from": self.learned_from,
            **({"adapt": True} if self.adapts else {}),
            **_unless_default("joining", self.min_word_score, MIN_WORD_SCORE),
        }
        KIND.write(folder, config, files, card=card(self))

    @classmethod
    def read(cls, folder: Path) -> "FinderModel":
        """Load a model from a folder; raise InputError if files are missing, changed or invalid."""
        config, files = KIND.read(folder)
        with config_errors_as_input_errors(folder):
            model_config.check_config(config)
            return cls(
                encoder=config["encoder"],
                layer=config["layer"],
                selectors=_read_selectors(load_tensors(files[WEIGHTS], WEIGHTS), config),
                features=_read_features(config),
                entity=config.get("entity", 0),
                ordinary=model_config.ordinary_words(config, files[WORDS]),
                not_names=frozenset(config["not_names"]),
                dates=model_config.date_words(config),
                learned_from=config["learned_from"],
                static=static_files.from_files(files) if static_files.WEIGHTS in files else None,
                ranges=_read_ranges(files[RANGES]) if RANGES in files else {},
                kinds=KindModel.from_files(files) if kind_model.WEIGHTS in files else None,
                layers=load_tensors(files[LAYERS], LAYERS) if LAYERS in files else {},
                adapts=config.get("adapt") is True,
                min_word_score=model_config.min_word_score(config),
                link_gate=_read_links(files[LINKS]) if LINKS in files else None,
            )


def _unless_default(key: str, value: float, default: float) -> dict[str, float]:
    """Return a part of the config; models with the default keep the config of version 0.2."""
    return {} if value == default else {key: value}


def _read_features(config: Mapping[str, Any]) -> Features:
    features = Features(**config.get("features", {}))
    require_choice("unit", features.unit, GateUnit)
    valid = features.attention in (None, MEAN_ATTENTION) or type(features.attention) is int
    require(valid, "attention", repr(features.attention), "a layer, mean or null")
    return features


def _read_ranges(content: bytes) -> dict[str, Tensor]:
    ranges = load_tensors(content, RANGES)
    require_finite(ranges, RANGES)
    for name, value in ranges.items():
        if value.dim() != 2 or len(value) != 2 or not value.is_floating_point():
            raise ValueError(f"{RANGES}: {name} must have the shape (2, channels)")
    return ranges


def _read_links(content: bytes) -> LinkGate:
    return LinkGate.from_state(load_tensors(content, LINKS)).eval()


def _as_config(span_model: SpanModel | None) -> dict[str, float] | None:
    return None if span_model is None else asdict(span_model)


def _weights(selectors: Sequence[CalibratedSelector]) -> dict[str, Tensor]:
    """Return the weights of all selectors; names after the first start with its index."""
    return {
        f"{number}.{name}" if number else name: value
        for number, each in enumerate(selectors)
        for name, value in _in_half_precision(each.selector.state_dict()).items()
    }


def _in_half_precision(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.half().cpu().contiguous() for name, value in tensors.items()}


def _read_selectors(
    weights: dict[str, Tensor], config: dict[str, Any]
) -> tuple[CalibratedSelector, ...]:
    """Build the selectors from the weights; `config` has the values of the entity selector."""
    configs = [dict(each) for each in config.get("others", [])]
    configs.insert(config.get("entity", 0), config)
    return tuple(
        CalibratedSelector(
            _read_selector(model_config.weights_of_selector(weights, number), config),
            model_config.signal_weights(own),
            float(own["threshold"]),
            model_config.span_model(own),
        )
        for number, own in enumerate(configs)
    )


def _read_selector(weights: dict[str, Tensor], config: dict[str, Any]) -> Selector:
    build = partial(
        Selector,
        len(weights["norm.weight"]),
        hidden=config["hidden"],
        form=config["form"],
        gate_options=model_config.gate_options(config),
    )
    return build_module(build, weights)
