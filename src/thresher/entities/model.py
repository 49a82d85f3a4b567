"""What a finder has learned, as a value and as a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save

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
    """The selectors, how far to trust what, and what they were made from.

    features: what the selectors read   entity: the number of the head that finds entities
    ordinary: words of the text it learned from that are not bursty; None where repetition tells
    nothing
    dates: words of dates in that text; None where dates are no entities
    learned_from: counts and settings, for the model card; `licence` and `sources` where known
    static: the encoder, where it is kept with the model; else one is loaded by its name
    ranges: how large the encoder's numbers are, if it may read in eight bits
    """

    encoder: str
    layer: int
    heads: tuple[CalibratedSelector, ...]
    ordinary: frozenset[str] | None
    not_names: frozenset[str]
    dates: frozenset[str] | None = None
    features: Features = field(default_factory=Features)
    entity: int = 0
    learned_from: dict[str, Any] = field(default_factory=dict)
    static: StaticEncoder | None = None
    ranges: Mapping[str, torch.Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.entity < len(self.heads):
            raise ValueError(f"there are {len(self.heads)} selectors; entity is {self.entity}")

    @property
    def selector(self) -> Selector:
        """The selector that finds entities."""
        return self.heads[self.entity].selector

    @property
    def signal_weights(self) -> SignalWeights:
        """How far the other views are trusted beside its gates."""
        return self.heads[self.entity].signal_weights

    @property
    def threshold(self) -> float:
        """Candidates that score at least this much are entities."""
        return self.heads[self.entity].threshold

    @cached_property
    def signal_extractor(self) -> SignalExtractor:
        """Tells what is seen of words beside their meaning."""
        return SignalExtractor(ordinary=self.ordinary, not_names=self.not_names, dates=self.dates)

    def checked_for(self, encoder: Encoder) -> "FinderModel":
        """This model, if its selectors read what that encoder gives."""
        expected, width = self.selector.norm.normalized_shape[0], self.features.width(encoder)
        if expected != width:
            raise InputError(
                f"the model reads vectors of width {expected}; {self.encoder} gives {width}"
            )
        return self

    def with_selector(self, number: int) -> "FinderModel":
        """This model finding by another of its selectors, counted from 1."""
        if not 1 <= number <= len(self.heads):
            rule = f"1 to {len(self.heads)}" if len(self.heads) > 1 else "1 alone"
            raise InputError(f"the model has selector {rule}; got {number}")
        return replace(self, entity=number - 1)

    def write(self, folder: Path) -> None:
        """Write the model, whole or not at all. Weights are kept in half precision."""
        files = {
            _WEIGHTS: save(_weights(self.heads)),
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
                {"trust": asdict(head.signal_weights), "threshold": head.threshold}
                for number, head in enumerate(self.heads)
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
        """Read a model; what is missing, changed or from elsewhere is said in one line."""
        config, files = KIND.read(folder)
        with config_errors_as_input_errors(folder):
            return cls(
                encoder=config["encoder"],
                layer=config["layer"],
                heads=_heads(load(files[_WEIGHTS]), config),
                features=Features(**config.get("features", {})),
                entity=config.get("entity", 0),
                ordinary=_ordinary(files[_WORDS]) if config.get("repetition", True) else None,
                not_names=frozenset(config["not_names"]),
                dates=_words_of_dates(config.get("dates")),
                learned_from=config["learned_from"],
                static=static_files.from_files(files) if static_files.WEIGHTS in files else None,
                ranges=load(files[_RANGES]) if _RANGES in files else {},
            )


def _ordinary(words: bytes) -> frozenset[str]:
    return frozenset(words.decode().split("\n")) - {""}


def _words_of_dates(words: list[str] | None) -> frozenset[str] | None:
    return None if words is None else frozenset(words)


def _weights(heads: Sequence[CalibratedSelector]) -> dict[str, torch.Tensor]:
    """The weights of all selectors; those after the first have their number before the name."""
    return {
        f"{number}.{name}" if number else name: value.half().cpu().contiguous()
        for number, head in enumerate(heads)
        for name, value in head.selector.state_dict().items()
    }


def _heads(
    weights: dict[str, torch.Tensor], config: dict[str, Any]
) -> tuple[CalibratedSelector, ...]:
    views = [dict(each) for each in config.get("others", [])]
    views.insert(config.get("entity", 0), config)
    heads = []
    for number, view in enumerate(views):
        before = f"{number}." if number else ""
        own = {
            name.removeprefix(before): value.float()
            for name, value in weights.items()
            if name.startswith(before) and not name.removeprefix(before)[0].isdigit()
        }
        selector = Selector(len(own["norm.weight"]), hidden=config["hidden"], form=config["form"])
        selector.load_state_dict(own)
        trust = SignalWeights(**{name: float(value) for name, value in view["trust"].items()})
        heads.append(CalibratedSelector(selector, trust, float(view["threshold"])))
    return tuple(heads)
