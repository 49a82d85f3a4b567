"""Write the built-in multilingual model into the package, with its model card.

    python -m benchmarks.languages.build_multilingual [--model benchmarks/models/multilingual-0]

Uses a model of `benchmarks.languages.train_multilingual`.
"""

import argparse
import dataclasses
import json
from itertools import chain
from pathlib import Path

from torch import Tensor

from benchmarks.data import MODELS, ROOT
from benchmarks.entities.build_english import LICENCE
from benchmarks.entities.build_english import SOURCES as ENGLISH_SOURCES
from benchmarks.languages.measure import RESULTS
from benchmarks.languages.multilingual_data import SOURCES, training_text
from benchmarks.languages.train_multilingual import PRIORS
from thresher.encoders import load_encoder
from thresher.encoders.protocol import Int8Encoder
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.loading import in_int8
from thresher.entities.model import FinderModel
from thresher.entities.model_card import source_table
from thresher.entities.priors.casing import has_letters, is_address
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.span_likelihood import fit_span_model

FOLDER = ROOT / "src" / "thresher" / "entities" / MULTILINGUAL
CASELESS = -1.2  # log-odds of words without case, chosen on the tune splits of Chinese and Amharic
_SPAN_SENTENCES = 3000  # of raw text, to which the span model is fitted
_SENTENCES_PER_LANGUAGE = 60  # of raw text, on which the input ranges are measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODELS / "multilingual-0")
    parser.add_argument("-o", "--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    model = FinderModel.read(options.model)
    words = frozenset(w for w in model.ordinary or () if has_letters(w) and not is_address(w))
    sources = {"licence": LICENCE, "sources": (*ENGLISH_SOURCES, *SOURCES)}
    model = dataclasses.replace(
        model,
        ordinary=words,
        learned_from=model.learned_from | sources,
        ranges=model.ranges or _ranges(model),
        adapts=True,
    )
    model = _with_caseless_weight(model if model.span_model else _with_span_model(model))
    model.write(options.out)
    (options.out / "README.md").write_text(_model_card(model), encoding="utf-8")
    print(f"wrote {options.out}")


def _with_caseless_weight(model: FinderModel) -> FinderModel:
    own = model.selectors[model.entity]
    weights = dataclasses.replace(own.signal_weights, caseless=CASELESS)
    return dataclasses.replace(
        model, selectors=(dataclasses.replace(own, signal_weights=weights),), entity=0
    )


def _with_span_model(model: FinderModel) -> FinderModel:
    """Fit a span model to raw English and Danish text, for gates that were trained without one."""
    encoder = load_encoder(model.encoder, layer=model.layer, device="cpu")
    finder = EntityFinder(in_int8(encoder, model.ranges), model)
    texts = training_text()
    sentences = _sample(texts["en"]) + _sample(texts["da"])
    gates = finder.gate_scores(sentences)
    raw = RawText.analyse(
        sentences, PriorKnowledge(priors=PRIORS), EntitySettings(), common=encoder.common_words
    )
    own = dataclasses.replace(
        model.selectors[model.entity], span_model=fit_span_model(raw, gates, None)
    )
    model = dataclasses.replace(model, selectors=(own,), entity=0)
    decoder = WordDecoder(own.signal_weights, model.not_names, own.span_model)
    signals = model.signal_extractor.extract(sentences)
    found = chain.from_iterable(decoder.candidates(sentences, gates, signals))
    calibrated = dataclasses.replace(
        own, threshold=decoder.best_threshold([each.score for each in found])
    )
    return dataclasses.replace(model, selectors=(calibrated,))


def _sample(sentences: list[list[str]]) -> list[list[str]]:
    """Return blocks of neighbouring sentences, half of `_SPAN_SENTENCES`."""
    blocks = [sentences[low : low + 50] for low in range(0, len(sentences), 50)]
    step = max(1, 2 * len(sentences) // _SPAN_SENTENCES)
    return [words for block in blocks[::step] for words in block if words]


def _model_card(model: FinderModel) -> str:
    template = Path(__file__).with_name("multilingual_card.md").read_text(encoding="utf-8")
    parameters = sum(value.numel() for value in model.selector.parameters())
    return template.format(
        licence=LICENCE,
        size=f"{2 * parameters / 1000:.0f} kB",
        encoder=model.encoder,
        layer=model.layer,
        ordinary=len(model.ordinary or ()),
        words=model.learned_from["words"],
        sentences=model.learned_from["sentences"],
        sources=source_table(model.learned_from),
        threshold=model.threshold,
        figures=_figures(),
        **dataclasses.asdict(model.signal_weights),
    )


def _figures() -> str:
    """Return span F1 of seed 0 on the report splits as a table, if it was measured."""
    path = RESULTS / f"{MULTILINGUAL}-0.json"
    if not path.exists():
        return "Not measured yet: `make bench-languages`."
    lines = ["| set | cased | lower-cased |", "|---|---|---|"]
    for name, cases in json.loads(path.read_text(encoding="utf-8")).items():
        cells = [
            f"{cases[case]['adapted']['span_f1']:.3f}" if case in cases else "–"
            for case in ("cased", "lower")
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _ranges(model: FinderModel) -> dict[str, Tensor]:
    """Measure the input ranges of the encoder's layers, which int8 inference needs."""
    encoder = load_encoder(model.encoder, layer=model.layer, device="cpu")
    assert isinstance(encoder, Int8Encoder)
    sample = []
    for sentences in training_text().values():
        sample += sentences[:: max(1, len(sentences) // _SENTENCES_PER_LANGUAGE)]
    return encoder.input_ranges(sample)


if __name__ == "__main__":
    main()
