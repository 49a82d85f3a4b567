"""Write the built-in multilingual model into the package, with its model card.

    python -m benchmarks.languages.build_multilingual [--model benchmarks/models/multilingual-0]

Uses a model of `benchmarks.languages.train_multilingual`.
"""

import argparse
import dataclasses
from pathlib import Path

from torch import Tensor

from benchmarks.data import MODELS, ROOT
from benchmarks.entities.build_english import LICENCE
from benchmarks.entities.build_english import SOURCES as ENGLISH_SOURCES
from benchmarks.languages.multilingual_data import SOURCES, training_text
from thresher.encoders import load_encoder
from thresher.encoders.protocol import Int8Encoder
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.model import FinderModel
from thresher.entities.model_card import source_table
from thresher.entities.priors.casing import has_letters, is_address

FOLDER = ROOT / "src" / "thresher" / "entities" / MULTILINGUAL
MIN_WORD_SCORE = 0.4  # chosen on tune splits; scores are less certain than in one language
_SENTENCES_PER_LANGUAGE = 60  # of raw text, on which the input ranges are measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODELS / "multilingual-0")
    model = FinderModel.read(parser.parse_args().model)
    words = frozenset(w for w in model.ordinary or () if has_letters(w) and not is_address(w))
    sources = {"licence": LICENCE, "sources": (*ENGLISH_SOURCES, *SOURCES)}
    model = dataclasses.replace(
        model,
        ordinary=words,
        learned_from=model.learned_from | sources,
        ranges=model.ranges or _ranges(model),
        adapts=True,
        min_word_score=MIN_WORD_SCORE,
    )
    model.write(FOLDER)
    (FOLDER / "README.md").write_text(_model_card(model), encoding="utf-8")
    print(f"wrote {FOLDER.relative_to(ROOT)}")


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
        **dataclasses.asdict(model.signal_weights),
    )


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
