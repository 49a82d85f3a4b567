"""Write the built-in English models into the package, with their model cards.

    python -m benchmarks.entities.build_english

Uses benchmarks/models/built-in-0 (made by `benchmarks.entities.train`), measures it on the report
splits, and writes the figures into its model card and into the results of `benchmarks.entities`. If
they exist, the distilled model benchmarks/models/distilled (made by `benchmarks.entities.distill`)
and the small one benchmarks/models/small (made by `benchmarks.entities.distill_layers`) are copied,
too.
"""

import dataclasses
import json
from pathlib import Path

from torch import Tensor

from benchmarks.data import (
    ALL_RESULTS,
    DISTILLED,
    MODELS,
    REPORT,
    ROOT,
    SMALL,
    raw_english,
    read_crossner,
    read_gold,
)
from benchmarks.entities.__main__ import Cases, finder_cases, mean_of_domains, word_vectors
from benchmarks.entities.train import BUILT_IN, TIMES, folder_name
from thresher.encoders import load_encoder
from thresher.entities.built_in import FAST_ENGLISH, SMALL_ENGLISH
from thresher.entities.loading import input_ranges
from thresher.entities.model import FinderModel
from thresher.entities.model_card import source_table
from thresher.entities.priors.casing import has_letters, is_address

FOLDER = ROOT / "src" / "thresher" / "entities" / "english"
LICENCE = "cc-by-sa-4.0"
_REPORT_RESULTS = ALL_RESULTS / "entities" / "report.json"
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
    (FOLDER / "README.md").write_text(model_card(model, measured(model)), encoding="utf-8")
    print(f"wrote {FOLDER.relative_to(ROOT)}")
    for made, name in ((DISTILLED, FAST_ENGLISH), (SMALL, SMALL_ENGLISH)):
        if made.exists():
            write_student(made, name)


def measured(model: FinderModel) -> dict[str, Cases]:
    """Measure the model on the report splits and add the figures to those of `benchmarks.entities`.

    It is measured in single precision, as the other finders are.
    """
    encoder = load_encoder(model.encoder, layer=model.layer, device="cpu")
    crossner = read_crossner("dev")
    by_set = {
        data.name: finder_cases(model, word_vectors(encoder, data.sentences), data)
        for data in (*read_gold(REPORT), *crossner)
    }
    by_set["crossner"] = mean_of_domains(by_set, [data.name for data in crossner])
    results = json.loads(_REPORT_RESULTS.read_text(encoding="utf-8"))
    results["finders"][folder_name(BUILT_IN, 0)] = by_set
    _REPORT_RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return by_set


def model_card(model: FinderModel, ours: dict[str, Cases]) -> str:
    """Return the model card of the built-in model, with its figures on the report splits."""
    name = folder_name(BUILT_IN, 0)
    peers = json.loads(_REPORT_RESULTS.read_text(encoding="utf-8"))["peers"]
    small, medium = (peers[f"spaCy en_core_web_{size}"] for size in ("sm", "md"))
    table = "\n".join(
        f"| {title} | {_f1s(ours[each])} | {_f1s(small[each])} | {_f1s(medium[each])} |"
        for each, title in SETS.items()
    )
    errors = [figures["calibration_error"] for each in SETS for figures in ours[each].values()]
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
        figures=table,
        span_model=", ".join(f"{key} {value:.2f}" for key, value in vars(model.span_model).items()),
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


def _f1s(figures: Cases) -> str:
    return " / ".join(f"{figures[case]['span_f1']:.3f}" for case in ("cased", "lower"))


if __name__ == "__main__":
    main()
