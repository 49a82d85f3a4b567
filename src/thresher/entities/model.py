"""The model of an entity finder, and how it is saved in a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

from thresher.encoders import static_files
from thresher.encoders.protocol import Encoder
from thresher.encoders.static_encoder import StaticEncoder
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.model_card import card
from thresher.entities.selectors import CalibratedSelector
from thresher.errors import InputError
from thresher.gates.features import Features
from thresher.gates.selector import Selector
from thresher.model_folder import ModelKind, config_errors_as_input_errors

_WEIGHTS, _WORDS, _RANGES = "selector.safetensors", "ordinary.txt", "ranges.safetensors"
KIND = ModelKind(
    "entity finder",
    format=1,
    files=(_WEIGHTS, _WORDS),
    made_by="thresher fit",
    optional=(*static_files.FILES, _RANGES),
)


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

    @cached_property
    def signal_extractor(self) -> SignalExtractor:
        """Extracts the signals of words besides their gates."""
        return SignalExtractor(ordinary=self.ordinary, not_names=self.not_names, dates=self.dates)

    def checked_for(self, encoder: Encoder) -> "FinderModel":
        """Return this model; raise InputError if the encoder's vectors have another width."""
        expected, width = self.selector.norm.normalized_shape[0], self.features.width(encoder)
        if expected != width:
            raise InputError(
                f"the model needs vectors of width {expected}, but {self.encoder} gives {width}"
            )
        return self

    def with_selector(self, number: int) -> "FinderModel":
        """Return this model with another selector for finding entities, counted from 1."""
        if not 1 <= number <= len(self.selectors):
            rule = f"between 1 and {len(self.selectors)}" if len(self.selectors) > 1 else "1"
            raise InputError(f"the number of the selector must be {rule}, got {number}")
        return replace(self, entity=number - 1)

    def write(self, folder: Path) -> None:
        """Save the model as a folder, atomically; weights in half precision."""
        files = {
            _WEIGHTS: save(_weights(self.selectors)),
            _WORDS: "".join(f"{word}\n" for word in sorted(self.ordinary or ())).encode(),
            **(static_files.to_files(self.static) if self.static else {}),
            **({_RANGES: save(dict(self.ranges))} if self.ranges else {}),
        }
        config = {
            "encoder": self.encoder,
            "layer": self.layer,
            "hidden": self.selector.inner.out_features,
            "form": self.selector.form,
            "trust": asdict(self.signal_weights),
            "threshold": self.threshold,
            "features": asdict(self.features),
            "entity": self.entity,
            "others": [
                {"trust": asdict(each.signal_weights), "threshold": each.threshold}
                for number, each in enumerate(self.selectors)
                if number != self.entity
            ],
            "not_names": sorted(self.not_names),
            "repetition": self.ordinary is not None,
            "dates": None if self.dates is None else sorted(self.dates),
            "learned_from": self.learned_from,
        }
        KIND.write(folder, config, files, card=card(self))

    @classmethod
    def read(cls, folder: Path) -> "FinderModel":
        """Load a model from a folder; raise InputError if files are missing, changed or invalid."""
        config, files = KIND.read(folder)
        with config_errors_as_input_errors(folder):
            return cls(
                encoder=config["encoder"],
                layer=config["layer"],
                selectors=_read_selectors(load(files[_WEIGHTS]), config),
                features=Features(**config.get("features", {})),
                entity=config.get("entity", 0),
                ordinary=_ordinary(files[_WORDS]) if config.get("repetition", True) else None,
                not_names=frozenset(config["not_names"]),
                dates=None if config.get("dates") is None else frozenset(config["dates"]),
                learned_from=config["learned_from"],
                static=static_files.from_files(files) if static_files.WEIGHTS in files else None,
                ranges=load(files[_RANGES]) if _RANGES in files else {},
            )


def _ordinary(words: bytes) -> frozenset[str]:
    return frozenset(words.decode().split("\n")) - {""}


def _weights(selectors: Sequence[CalibratedSelector]) -> dict[str, Tensor]:
    """Return the weights of all selectors; names after the first start with its index."""
    return {
        f"{number}.{name}" if number else name: value.half().cpu().contiguous()
        for number, each in enumerate(selectors)
        for name, value in each.selector.state_dict().items()
    }


def _read_selectors(
    weights: dict[str, Tensor], config: dict[str, Any]
) -> tuple[CalibratedSelector, ...]:
    """Build the selectors from the weights; `config` has the values of the entity selector."""
    configs = [dict(each) for each in config.get("others", [])]
    configs.insert(config.get("entity", 0), config)
    selectors = []
    for number, own_config in enumerate(configs):
        prefix = f"{number}." if number else ""
        state = {
            name.removeprefix(prefix): value.float()
            for name, value in weights.items()
            if name.startswith(prefix) and not name.removeprefix(prefix)[0].isdigit()
        }
        selector = Selector(len(state["norm.weight"]), hidden=config["hidden"], form=config["form"])
        selector.load_state_dict(state)
        signal_weights = SignalWeights(
            **{name: float(value) for name, value in own_config["trust"].items()}
        )
        selectors.append(
            CalibratedSelector(selector, signal_weights, float(own_config["threshold"]))
        )
    return tuple(selectors)
