"""Find entities with a model without a transformer, on a CPU, with numpy instead of torch.

Importing torch takes more than a second, in which such a model reads a hundred thousand words.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from thresher.array_files import (
    Arrays,
    load_arrays,
    require_array_shapes,
    require_finite_arrays,
)
from thresher.encoders import static_arrays
from thresher.encoders.subword_ids import SubwordTokenizer
from thresher.entities import model_config
from thresher.entities.encoding_finder import EncodingFinder
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds import kind_model
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.readable_scripts import readable_scripts
from thresher.entities.sentence_scorer import SentenceScorer
from thresher.gates.static_gates import StaticGates
from thresher.model_folder import config_errors_as_input_errors
from thresher.validation import require_number

_PLAIN_FEATURES = {"unit": "word", "attention": None}


class StaticFinder(EncodingFinder):
    """Finds what `EntityFinder` finds with the same model, up to rounding.

    It has the methods of `TextFinder`, and none that need torch: for other kinds, another selector
    or training, use `EntityFinder`.

    >>> StaticFinder.load(find_model_folder("fast-english")).find("Marie Curie moved to Paris.")
    [Span(start=0, end=11, text='Marie Curie', score=…), Span(start=21, end=26, text='Paris', …)]
    """

    def __init__(
        self,
        gates: StaticGates,
        sentence_scorer: SentenceScorer,
        *,
        threshold: float,
        scripts: frozenset[str] | None = None,
    ) -> None:
        super().__init__(sentence_scorer, threshold=threshold, scripts=scripts)
        self._gates = gates

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """Load a model; None if it needs torch.

        Raises InputError if files are missing, changed or invalid.
        """
        if not (folder / static_arrays.WEIGHTS).exists():
            return None
        config, files = model_config.LAYOUT.read(folder)
        with config_errors_as_input_errors(folder):
            if _needs_torch(config, files):
                return None
            model_config.check_config(config)
            threshold = float(config["threshold"])
            require_number("threshold", threshold, at_least=0, at_most=1)
            return cls(
                _read_gates(config, files),
                _read_scorer(config, files),
                threshold=threshold,
                scripts=readable_scripts(config["encoder"], config["learned_from"]),
            )

    def encode(self, sentences: SplitText) -> EncodedWords:
        """Return vectors and gate scores of words; those of a sentence depend on no other one."""
        vectors = self._gates.word_vectors(sentences)
        return EncodedWords(self._gates.prob_open(vectors), vectors)


def _needs_torch(config: Mapping[str, Any], files: Mapping[str, bytes]) -> bool:
    """Return True if the model has parts that are only computed with torch."""
    return (
        model_config.LINKS in files
        or config.get("features") not in (None, _PLAIN_FEATURES)
        or kind_model.has_gates(files)
    )


def _read_gates(config: Mapping[str, Any], files: Mapping[str, bytes]) -> StaticGates:
    encoder, tokenizer = static_arrays.read_arrays(files)
    weights = load_arrays(files[model_config.WEIGHTS], model_config.WEIGHTS)
    selector = model_config.weights_of_selector(weights, config.get("entity", 0))
    _check_selector(selector, width=encoder["vectors"].shape[1], hidden=config["hidden"])
    return StaticGates(
        SubwordTokenizer(tokenizer),
        encoder,
        selector,
        form=config["form"],
        gate_options=model_config.gate_options(config),
    )


def _check_selector(weights: Arrays, *, width: int, hidden: int) -> None:
    needed = {
        **{"norm.weight": (width,), "norm.bias": (width,)},
        **{"inner.weight": (hidden, width), "inner.bias": (hidden,)},
        **{"outer.weight": (2, hidden), "outer.bias": (2,)},
    }
    require_array_shapes(weights, needed, "the weights of the selector")
    require_finite_arrays(weights, "the weights of the selector")


def _read_scorer(config: Mapping[str, Any], files: Mapping[str, bytes]) -> SentenceScorer:
    spans, not_names = model_config.span_model(config), frozenset(config["not_names"])
    weights = model_config.signal_weights(config)
    extractor = model_config.signal_extractor(
        weights,
        spans,
        ordinary=model_config.ordinary_words(config, files[model_config.WORDS]),
        not_names=not_names,
        dates=model_config.date_words(config),
        shared_gates=model_config.shared_gates(config),
    )
    decoder = WordDecoder(weights, not_names, spans, model_config.min_word_score(config))
    kinds = KindModel.from_files(files) if kind_model.WEIGHTS in files else None
    return SentenceScorer(extractor, decoder, kinds.assigner if kinds else None)
