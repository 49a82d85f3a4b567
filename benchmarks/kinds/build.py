"""Give the built-in models their kinds.

    python -m benchmarks.kinds.build [--keep-sample] [--only english small-english …]

Finds entities in a part of the raw text that the models were trained on, keeps a sample of them
with their contexts, and learns the kinds of src/thresher/entities/kinds/english.toml from it. The
smaller English models and the multilingual one learn to predict the kinds of the largest English
model. `--keep-sample` learns from the sample that this model has, which is enough if only the
example names have changed. `--only multilingual` builds only the models of these names.
"""

import argparse
from dataclasses import replace

from benchmarks.data import ROOT, raw_english
from thresher.entities.built_in import ENGLISH, FAST_ENGLISH, MULTILINGUAL, NAMES, SMALL_ENGLISH
from thresher.entities.finder import EntityFinder
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.kind_model import KindModel
from thresher.model_folder import CARD
from thresher.text.indexed_sentences import IndexedSentences

_STEP = 6  # one sentence in six of the raw text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep-sample", action="store_true", help="of the largest model")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="models to build")
    options = parser.parse_args()
    sentences = IndexedSentences.from_sentences([s for s in raw_english() if s][::_STEP])
    teacher = EntityFinder.load(ENGLISH, device="cpu", exact=True)
    if ENGLISH in options.only:
        if not options.keep_sample:
            kinds = KindModel(teacher.entity_sample(sentences))
            teacher = EntityFinder(teacher.encoder, replace(teacher.model, kinds=kinds))
        teacher = teacher.with_kinds(KindExamples.english())
        save(teacher, ENGLISH)
    for name in (SMALL_ENGLISH, FAST_ENGLISH, MULTILINGUAL):
        if name in options.only:
            # The multilingual gates were trained on vectors in int8, which differ more.
            student = EntityFinder.load(name, device="cpu", exact=name != MULTILINGUAL)
            save(student.with_kinds_of(teacher, sentences), name)


def save(finder: EntityFinder, name: str) -> None:
    """Save a built-in model without changing its model card."""
    folder = ROOT / "src" / "thresher" / "entities" / name
    card = (folder / CARD).read_text(encoding="utf-8")
    finder.save(folder)
    (folder / CARD).write_text(card, encoding="utf-8")
    print(f"{name}: {', '.join(finder.kinds)}")


if __name__ == "__main__":
    main()
