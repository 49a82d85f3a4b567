"""The model of an entity finder: everything that was trained, and the word lists it uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from thresher.encoders import static_files
from thresher.encoders.protocol import Encoder
from thresher.encoders.static_encoder import StaticEncoder
from thresher.entities import model_config, model_files
from thresher.entities.finding.adaptation import Adaptation
from thresher.entities.finding.date_expressions import DateExpressions
from thresher.entities.finding.decoding import MIN_WORD_SCORE
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import SharedGates, SignalExtractor
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds import kind_model
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.model_card import card
from thresher.entities.model_config import LAYERS, LAYOUT, LINKS, RANGES, WEIGHTS, WORDS
from thresher.entities.readable_scripts import readable_scripts
from thresher.entities.selectors import CalibratedSelector
from thresher.errors import InputError
from thresher.gates.features import Features
from thresher.gates.selector import Selector
from thresher.model_folder import config_errors_as_input_errors
from thresher.tensor_files import load_tensors


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
    shared_gates: of repeated words, if the model was adapted to texts
    date_expressions: the words of dates, if the model was adapted to texts and finds whole dates
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
    shared_gates: Mapping[str, SharedGates] = field(default_factory=dict)
    date_expressions: DateExpressions | None = None

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
            shared_gates=self.shared_gates,
            date_expressions=self.date_expressions,
        )

    @property
    def word_decoder(self) -> WordDecoder:
        """Combines gates with the other signals of words, and finds candidate spans."""
        return WordDecoder(
            self.signal_weights, self.not_names, self.span_model, self.min_word_score
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
        dates = self.selectors[number - 1].dates
        if dates is None:
            return replace(self, entity=number - 1)
        return replace(self, entity=number - 1, dates=dates, not_names=self.not_names - dates)

    def with_dates(self) -> "FinderModel":
        """Return this model with the selector that also finds dates; InputError if it has none."""
        if self.dates is not None:
            return self
        for number, each in enumerate(self.selectors, 1):
            if each.dates is not None:
                return self.with_selector(number)
        raise InputError(
            "this model cannot find dates; use multilingual, or train a model with fit --dates"
        )

    @property
    def names_alone(self) -> "FinderModel | None":
        """This model with its selector for names alone; None if dates are found without one."""
        if self.dates is None or self.selectors[self.entity].dates is None:
            return None
        return replace(self, entity=0, dates=None, not_names=self.not_names | self.dates)

    def with_adaptation(self, adaptation: Adaptation) -> "FinderModel":
        """Return this model with the weights, threshold and ordinary words for a corpus."""
        model = self
        if adaptation.date_expressions is not None:
            model = self.names_alone or self
        selectors = list(self.selectors)
        selectors[model.entity] = replace(
            selectors[model.entity],
            signal_weights=adaptation.signal_weights,
            threshold=adaptation.threshold,
        )
        ordinary = self.ordinary | adaptation.ordinary if self.ordinary else self.ordinary
        dates = None if model.dates is None else model.dates | adaptation.dates
        return replace(
            model,
            selectors=tuple(selectors),
            ordinary=ordinary,
            dates=dates,
            shared_gates=adaptation.shared_gates,
            date_expressions=adaptation.date_expressions,
        )

    def without_kinds(self) -> "FinderModel":
        """Return this model without its kinds; it keeps the sample of entities, if it has one."""
        return replace(self, kinds=None if self.kinds is None else KindModel(self.kinds.sample))

    def write(self, folder: Path) -> None:
        """Save the model as a folder, atomically; weights in half precision."""
        config, files = model_files.to_config(self), model_files.to_files(self)
        LAYOUT.write(folder, config, files, card=card(self))

    @classmethod
    def read(cls, folder: Path) -> "FinderModel":
        """Load a model from a folder; raise InputError if files are missing, changed or invalid."""
        config, files = LAYOUT.read(folder)
        with config_errors_as_input_errors(folder):
            model_config.check_config(config)
            return cls(
                encoder=config["encoder"],
                layer=config["layer"],
                selectors=model_files.read_selectors(files[WEIGHTS], config),
                features=model_files.read_features(config),
                entity=config.get("entity", 0),
                ordinary=model_config.ordinary_words(config, files[WORDS]),
                not_names=frozenset(config["not_names"]),
                dates=model_config.date_words(config),
                learned_from=config["learned_from"],
                static=static_files.from_files(files) if static_files.WEIGHTS in files else None,
                ranges=model_files.read_ranges(files[RANGES]) if RANGES in files else {},
                kinds=KindModel.from_files(files) if kind_model.WEIGHTS in files else None,
                layers=load_tensors(files[LAYERS], LAYERS) if LAYERS in files else {},
                adapts=config.get("adapt") is True,
                min_word_score=model_config.min_word_score(config),
                link_gate=model_files.read_link_gate(files[LINKS]) if LINKS in files else None,
                shared_gates=model_config.shared_gates(config),
                date_expressions=model_config.date_expressions(config),
            )
