"""Write the built-in English models into the package, with their model cards.

    python -m benchmarks.entities.build_english --teacher     write their teacher instead
    python -m benchmarks.entities.build_english

The teacher is benchmarks/models/teacher-0 (made by `benchmarks.entities.train`), with its sources.
The English models are distilled from it: benchmarks/models/narrow and benchmarks/models/small are
made by `benchmarks.entities.distill_layers`, benchmarks/models/distilled by
`benchmarks.entities.distill`. Those that exist are copied. The first one becomes `english`; it is
measured on the report splits, and the figures are written into its model card and into the results
of `benchmarks.entities`.
"""

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data import (
    ALL_RESULTS,
    DISTILLED,
    MODELS,
    NARROW,
    REPORT,
    ROOT,
    SMALL,
    TEACHER,
    read_crossner,
    read_gold,
)
from benchmarks.entities.__main__ import Cases, mean_of_domains, student_cases
from benchmarks.entities.train import TEACHER as TEACHER_ROW
from benchmarks.entities.train import TIMES, folder_name
from thresher.entities.built_in import ENGLISH, FAST_ENGLISH, SMALL_ENGLISH
from thresher.entities.model import FinderModel
from thresher.entities.model_card import source_table
from thresher.entities.priors.casing import has_letters, is_address
from thresher.model_folder import CARD

PACKAGE = ROOT / "src" / "thresher" / "entities"
LICENCE = "cc-by-sa-4.0"
Source = tuple[str, str]
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
STUDENT_SOURCES = (
    *SOURCES,
    ("103 articles of Wikipedia (Wikipedia authors; from the tests of gensim)", "CC BY-SA 3.0"),
    (
        "WordNet 3.1, 28,000 nouns with definitions and examples (Princeton University)",
        "WordNet licence",
    ),
    (
        "Tweets and parts of film and product reviews on which VADER was evaluated (Hutto and "
        "Gilbert 2014; from vaderSentiment)",
        "MIT",
    ),
)
SETS = {
    "wnut17": "WNUT-17 dev",
    "ewt": "EWT dev",
    "bc5cdr": "BC5CDR dev",
    "wikigold": "Wikigold",
    "crossner": "CrossNER dev, mean of five",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", action="store_true")
    if parser.parse_args().teacher:
        write_teacher()
        return
    for made, name in ((NARROW, ENGLISH), (DISTILLED, FAST_ENGLISH), (SMALL, SMALL_ENGLISH)):
        if made.exists():
            write_with_sources(FinderModel.read(made), PACKAGE / name, STUDENT_SOURCES)
            if name == ENGLISH:
                card = model_card(FinderModel.read(PACKAGE / name), measured(ENGLISH))
                (PACKAGE / name / CARD).write_text(card, encoding="utf-8")


def write_teacher() -> None:
    """Write the teacher of the English models; of its ordinary words, those that are words."""
    model = FinderModel.read(MODELS / folder_name(TEACHER_ROW, 0))
    words = frozenset(w for w in model.ordinary or () if has_letters(w) and not is_address(w))
    write_with_sources(dataclasses.replace(model, ordinary=words), TEACHER, SOURCES)


def write_with_sources(model: FinderModel, folder: Path, sources: Sequence[Source]) -> None:
    """Write a model with the sources that it, or its teacher, was trained on.

    sources: each with its licence
    """
    record = model.learned_from | {"licence": LICENCE, "sources": sources}
    dataclasses.replace(model, learned_from=record).write(folder)
    print(f"wrote {folder.relative_to(ROOT)}")


def measured(name: str) -> dict[str, Cases]:
    """Measure the model on the report splits and add the figures to those of `benchmarks.entities`.

    It is measured in single precision, as the other finders are.
    """
    crossner = read_crossner("dev")
    by_set = {data.name: student_cases(name, data) for data in (*read_gold(REPORT), *crossner)}
    by_set["crossner"] = mean_of_domains(by_set, [data.name for data in crossner])
    results = json.loads(_REPORT_RESULTS.read_text(encoding="utf-8"))
    results["finders"][name] = by_set
    _REPORT_RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return by_set


def model_card(model: FinderModel, ours: dict[str, Cases]) -> str:
    """Return the model card of the built-in model, with its figures on the report splits."""
    peers = json.loads(_REPORT_RESULTS.read_text(encoding="utf-8"))["peers"]
    small, medium = (peers[f"spaCy en_core_web_{size}"] for size in ("sm", "md"))
    table = "\n".join(
        f"| {title} | {_f1s(ours[each])} | {_f1s(small[each])} | {_f1s(medium[each])} |"
        for each, title in SETS.items()
    )
    errors = [figures["calibration_error"] for each in SETS for figures in ours[each].values()]
    times = TIMES / f"{folder_name(TEACHER_ROW, 0)}.json"
    training = json.loads(times.read_text(encoding="utf-8"))
    layers = sum(value.numel() for value in model.layers.values())
    selector = sum(value.numel() for value in model.selector.parameters())
    template = Path(__file__).with_name("english_card.md").read_text(encoding="utf-8")
    return template.format(
        layers_size=f"{2 * layers / 1e6:.1f} MB",
        selector_size=f"{2 * selector / 1000:.0f} kB",
        encoder=model.encoder,
        layer=model.layer,
        teacher_layer=model.learned_from["teacher"]["layer"],
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


def _f1s(figures: Cases) -> str:
    return " / ".join(f"{figures[case]['span_f1']:.3f}" for case in ("cased", "lower"))


if __name__ == "__main__":
    main()
