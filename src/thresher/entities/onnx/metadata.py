"""The inputs of an ONNX graph, and the metadata of its file: all else that a finder needs, as JSON.

The file may come from anyone, so the JSON is limited in size and every value is checked.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.encoders.token_windows import IntArray, WindowLayout
from thresher.encoders.word_tokenizers import TokenizeWords, subword_tokenizer, word_pair_tokenizer
from thresher.entities import model_config
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.assignment import KindAssigner
from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.examples import check_kind_name
from thresher.entities.kinds.kind_model import listed_names
from thresher.entities.model_config import finite_numbers
from thresher.entities.sentence_scorer import SentenceScorer
from thresher.errors import InputError
from thresher.untrusted_files import MAX_CONFIG_BYTES, MAX_TEXT_BYTES, parse_json
from thresher.validation import require, require_number

if TYPE_CHECKING:
    from thresher.encoders.word_graph import WordGraph
    from thresher.entities.model import FinderModel


IDS, MASK, WORD, SENTENCE = "input_ids", "attention_mask", "word_of_token", "sentence_of_word"
GATES, VECTORS, LINKS, KIND_SCORES = "gate_scores", "vectors", "links", "kind_scores"

Inputs = dict[str, IntArray]
CONFIG, TOKENIZER, WORD_PAIRS, ORDINARY = (
    "thresher.config",
    "thresher.tokenizer",
    "thresher.word_pairs",
    "thresher.ordinary_words",
)
_FORMAT = 1


@dataclass(frozen=True)
class GraphInputs:
    """Turns sentences into the inputs of a graph."""

    tokenize: TokenizeWords
    layout: WindowLayout

    def of_sentences(self, sentences: Sequence[Sequence[str]]) -> Inputs:
        """Return the inputs for sentences that are encoded together."""
        ids, counts = self.tokenize([word for words in sentences for word in words])
        windows = self.layout.windows(ids, counts, sentences)
        return {
            IDS: windows.ids,
            MASK: windows.mask,
            WORD: windows.word,
            SENTENCE: windows.sentence_of_word,
        }


@dataclass(frozen=True)
class FinderParts:
    """A finder without its graph.

    scripts: that the model can read; None if it can read all, or it is not known
    """

    inputs: GraphInputs
    sentence_scorer: SentenceScorer
    threshold: float
    scripts: frozenset[str] | None


def to_metadata(model: "FinderModel", graph: "WordGraph") -> dict[str, str]:
    """Return the metadata of a finder."""
    classifier = model.kinds.classifier if model.kinds else None
    kind_gates = model.kinds.gates if model.kinds else None
    config = {
        "format": _FORMAT,
        "encoder": model.encoder,
        "windows": asdict(graph.layout),
        "signal_weights": asdict(model.signal_weights),
        "threshold": model.threshold,
        "spans": None if model.span_model is None else asdict(model.span_model),
        "min_word_score": model.min_word_score,
        "not_names": sorted(model.not_names),
        "dates": None if model.dates is None else sorted(model.dates),
        "shared_gates": dict(model.shared_gates),
        "date_expressions": model.date_expressions
        and model_config.date_expressions_config(model.date_expressions),
        "scripts": None if model.scripts is None else sorted(model.scripts),
        "kinds": None if classifier is None else _classifier_config(classifier),
        "listed": model.kinds.listed_config() if model.kinds else {},
        "finding": kind_gates.finding if kind_gates else None,
    }
    values = {
        CONFIG: json.dumps(config, ensure_ascii=False),
        TOKENIZER: graph.tokenizer,
        WORD_PAIRS: graph.word_pairs,
        ORDINARY: None if model.ordinary is None else "\n".join(sorted(model.ordinary)),
    }
    return {name: value for name, value in values.items() if value is not None}


def from_metadata(metadata: Mapping[str, str], name: str) -> FinderParts:
    """Return the finder that `to_metadata` described; raise InputError for anything else.

    name: the name of the file, for error messages
    """
    if CONFIG not in metadata:
        raise InputError(f"{name} was not written by thresher export: it has no {CONFIG}")
    _check_sizes(metadata, name)
    config = parse_json(metadata[CONFIG].encode(), f"{CONFIG} of {name}")
    try:
        return _from_config(config, metadata)
    except (LookupError, TypeError, ValueError, AttributeError, InputError) as error:
        reason = " ".join(str(error).replace("`", "").split()) or type(error).__name__
        raise InputError(f"{name} does not describe a finder: {reason}") from error


def _check_sizes(metadata: Mapping[str, str], name: str) -> None:
    if len(metadata[CONFIG]) > MAX_CONFIG_BYTES:
        raise InputError(f"{CONFIG} of {name} has more than {MAX_CONFIG_BYTES:,} characters")
    for key in (TOKENIZER, WORD_PAIRS, ORDINARY):
        if len(metadata.get(key, "")) > MAX_TEXT_BYTES:
            raise InputError(f"{key} of {name} has more than {MAX_TEXT_BYTES:,} characters")


def _from_config(config: Mapping[str, Any], metadata: Mapping[str, str]) -> FinderParts:
    require(config["format"] == _FORMAT, "format", config["format"], str(_FORMAT))
    threshold = float(config["threshold"])
    require_number("threshold", threshold, at_least=0, at_most=1)
    not_names, dates = frozenset(_words(config, "not_names")), config["dates"]
    weights = SignalWeights(**finite_numbers(config["signal_weights"]))
    spans = None if config["spans"] is None else SpanModel(**finite_numbers(config["spans"]))
    extractor = model_config.signal_extractor(
        weights,
        spans,
        ordinary=frozenset(metadata[ORDINARY].split("\n")) if ORDINARY in metadata else None,
        not_names=not_names,
        dates=None if dates is None else frozenset(_words(config, "dates")),
        shared_gates=model_config.shared_gates(config),
        date_expressions=model_config.date_expressions(config),
    )
    decoder = WordDecoder(weights, not_names, spans, float(config["min_word_score"]))
    classifier = None if config["kinds"] is None else _classifier(config["kinds"])
    kinds = len(classifier.kinds) if classifier else 0
    listed = listed_names(config.get("listed", {}), kinds)
    assigner = KindAssigner(classifier, listed) if classifier else None
    return FinderParts(
        _inputs(config["windows"], metadata),
        SentenceScorer(extractor, decoder, assigner, _finding(config, kinds)),
        threshold,
        None if config["scripts"] is None else frozenset(_words(config, "scripts")),
    )


def _inputs(windows: Mapping[str, Any], metadata: Mapping[str, str]) -> GraphInputs:
    layout = WindowLayout(**windows)
    for each in (*layout.start, *layout.end, layout.pad, layout.overlap, layout.max_tokens or 1):
        require(type(each) is int and each >= 0, "windows", repr(each), "whole numbers")
    if layout.max_tokens is not None:
        rule = f"below {layout.max_tokens} tokens"
        require(layout.overlap < layout.max_tokens, "overlap", layout.overlap, rule)
    if TOKENIZER in metadata:
        return GraphInputs(subword_tokenizer(metadata[TOKENIZER]), layout)
    return GraphInputs(word_pair_tokenizer(metadata[WORD_PAIRS]), layout)


def _classifier_config(classifier: KindClassifier) -> dict[str, Any]:
    values = {name: getattr(classifier, name) for name in ("weight", "bias", "mean")}
    arrays = {name: value.astype(np.float64).tolist() for name, value in values.items()}
    return {"names": list(classifier.kinds), **arrays}


def _classifier(config: Mapping[str, Any]) -> KindClassifier:
    names = _words(config, "names")
    for each in names:
        check_kind_name(each)
    arrays = {name: np.array(config[name], dtype=np.float32) for name in ("weight", "bias", "mean")}
    for name, value in arrays.items():
        require(bool(np.isfinite(value).all()), name, "NaN or infinity", "finite numbers")
    return KindClassifier(tuple(names), **arrays)


def _words(config: Mapping[str, Any], name: str) -> list[str]:
    words = config[name]
    valid = isinstance(words, list) and all(isinstance(each, str) for each in words)
    require(valid, name, type(words).__name__, "a list of words")
    return list(words)


def _finding(config: Mapping[str, Any], kinds: int) -> tuple[bool, ...] | None:
    """Return for each kind whether its gate finds entities; None if all gates do."""
    flags = config.get("finding")
    if flags is None:
        return None
    valid = isinstance(flags, list) and len(flags) == kinds
    require(valid and all(type(each) is bool for each in flags), "finding", flags, f"{kinds} flags")
    return tuple(flags)
