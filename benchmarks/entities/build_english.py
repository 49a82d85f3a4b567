"""Write the built-in English models into the package, with their model cards.

    python -m benchmarks.entities.build_english

Uses benchmarks/models/built-in-0 (made by `benchmarks.entities.train`), the figures that
`benchmarks.entities` measured for it, and, if it exists, the distilled model
benchmarks/models/distilled (made by `benchmarks.entities.distill`) and the small one
benchmarks/models/small (made by `benchmarks.entities.distill_layers`).
"""

import dataclasses
import json
from pathlib import Path

from torch import Tensor

from benchmarks.data import ALL_RESULTS, DISTILLED, MODELS, ROOT, SMALL, raw_english
from benchmarks.entities.train import BUILT_IN, TIMES, folder_name
from thresher.encoders import load_encoder
from thresher.entities.built_in import FAST_ENGLISH, SMALL_ENGLISH
from thresher.entities.loading import input_ranges
from thresher.entities.model import FinderModel
from thresher.entities.model_card import source_table
from thresher.entities.priors.casing import has_letters, is_address

FOLDER = ROOT / "src" / "thresher" / "entities" / "english"
LICENCE = "cc-by-sa-4.0"
SOURCES = (
    (
        "English Web Treebank, training text without annotations (Bies et al. 2012; "
        "UD_English-EWT)",
        "CC BY-SA 4.0",
    ),
    ("WikiText-2, validation text (Merity et al. 2016; Wikipedia authors)", "CC BY-SA 3.0"),
    ("US inaugural and State of the Union addresses", "public domain"),
    (
        "War and Peace, first part, translated by L. and A. Maude (Project Gutenberg 2600)",
        "public domain",
    ),
    ("WNUT-17, the words of the training split (Derczynski et al. 2017)", "CC BY 4.0"),
    (
        "BC5CDR, the words of the training split (Li et al. 2016; via MTL-Bioinformatics-2016)",
        "CC BY 4.0",
    ),
    ("Wikigold, the words of the first half (Balasuriya et al. 2009)", "CC BY 4.0"),
)
SETS = {
    "wnut17": "WNUT-17 dev",
    "ewt": "EWT dev",
    "bc5cdr": "BC5CDR dev",
    "wikigold": "Wikigold",
    "crossner": "CrossNER dev, mean of five",
}


def main() -> None:
    model = FinderModel.read(MODELS / folder_name(BUILT_IN, 0))
    words = frozenset(w for w in model.ordinary or () if has_letters(w) and not is_address(w))
    sources = model.learned_from | {"licence": LICENCE, "sources": SOURCES}
    model = dataclasses.replace(model, ordinary=words, learned_from=sources, ranges=_ranges(model))
    model.write(FOLDER)
    (FOLDER / "README.md").write_text(model_card(model), encoding="utf-8")
    print(f"wrote {FOLDER.relative_to(ROOT)}")
    for made, name in ((DISTILLED, FAST_ENGLISH), (SMALL, SMALL_ENGLISH)):
        if made.exists():
            write_student(made, name)


def model_card(model: FinderModel) -> str:
    """Return the model card of the built-in model, with the figures of the report splits."""
    name = folder_name(BUILT_IN, 0)
    path = ALL_RESULTS / "entities" / "report.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    ours, spacy = results["finders"][name], results["peers"]["spaCy en_core_web_sm"]
    figures = "\n".join(
        f"| {title} | {_f1(ours[each], 'cased')} | {_f1(ours[each], 'lower')} | "
        f"{_f1(spacy[each], 'cased')} / {_f1(spacy[each], 'lower')} |"
        for each, title in SETS.items()
    )
    errors = [ours[each]["cased"]["calibration_error"] for each in SETS]
    training = json.loads((TIMES / f"{name}.json").read_text(encoding="utf-8"))
    parameters = sum(value.numel() for value in model.selector.parameters())
    template = Path(__file__).with_name("english_card.md").read_text(encoding="utf-8")
    return template.format(
        size=f"{2 * parameters / 1000:.0f} kB",
        encoder=model.encoder,
        layer=model.layer,
        ordinary=len(model.ordinary or ()),
        licence=LICENCE,
        sources=source_table(model.learned_from),
        words=model.learned_from["words"],
        sentences=model.learned_from["sentences"],
        not_names=len(model.not_names),
        capital=model.signal_weights.capital,
        lower=model.signal_weights.lower,
        repeated=model.signal_weights.repeated,
        threshold=model.threshold,
        figures=figures,
        device=training["device"],
        seconds=training["seconds"],
        error=f"{min(errors):.2f} to {max(errors):.2f} by set",
    )


def write_student(made: Path, name: str) -> None:
    """Write a distilled model; its sources are those of its teacher."""
    student = FinderModel.read(made)
    record = student.learned_from | {"licence": LICENCE, "sources": SOURCES}
    folder = FOLDER.with_name(name)
    dataclasses.replace(student, learned_from=record).write(folder)
    print(f"wrote {folder.relative_to(ROOT)}")


def _ranges(model: FinderModel) -> dict[str, Tensor]:
    """Measure the input ranges of linear layers on raw text, which int8 inference needs."""
    encoder = load_encoder(model.encoder, layer=model.layer, device="cpu")
    return input_ranges(encoder, [words for words in raw_english() if words])


def _f1(figures: dict[str, dict[str, float]], case: str) -> str:
    return f"{figures[case]['span_f1']:.3f}"


if __name__ == "__main__":
    main()
