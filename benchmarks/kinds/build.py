"""Give the built-in models their kinds.

    python -m benchmarks.kinds.build [--keep-sample] [--only english small-english …]

The built-in English model finds entities in a part of the raw text. The teacher of the English
models keeps a sample of them, with its own vectors of their contexts, and learns the kinds of
src/thresher/entities/kinds/english.toml from it. The built-in models learn to predict its kinds of
these entities.
`--keep-sample` learns from the sample that the teacher has, which is enough if only the example
names have changed. `--only multilingual` builds only the models of these names.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from benchmarks.data import TEACHER, raw_english
from benchmarks.entities.gate_targets import TERM_KINDS
from thresher.entities.built_in import ENGLISH, MULTILINGUAL, NAMES, find_model_folder
from thresher.entities.finder import EntityFinder
from thresher.entities.kinds.entity_sample import EntitySample, collect_sample
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.model_finder import SENTENCES_PER_GROUP
from thresher.entities.training.kinds import kinds_of_teacher
from thresher.gates.word_vectors import UnitIndex
from thresher.model_folder import CARD
from thresher.text.indexed_sentences import IndexedSentences

_STEP = 6  # one sentence in six of the raw text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep-sample", action="store_true", help="of the teacher")
    all_models = (TEACHER.name, *NAMES)
    parser.add_argument("--only", nargs="+", choices=all_models, default=all_models)
    options = parser.parse_args()
    sentences = IndexedSentences.from_sentences([s for s in raw_english() if s][::_STEP])
    teacher = EntityFinder.load(TEACHER, device="cpu", exact=True)
    english = EntityFinder.load(ENGLISH, device="cpu", exact=True).with_kinds(None)
    if TEACHER.name in options.only:
        if not options.keep_sample:
            kinds = KindModel(entity_sample(teacher, english, sentences))
            teacher = EntityFinder(teacher.encoder, replace(teacher.model, kinds=kinds))
        teacher = teacher.with_kinds(KindExamples.english())
        save(teacher, TEACHER)
    for name in NAMES:
        if name in options.only:
            # The multilingual gates were trained on vectors in int8, which differ more.
            student = EntityFinder.load(name, device="cpu", exact=name != MULTILINGUAL)
            own_teacher = teacher if name != MULTILINGUAL else teacher.with_kinds(without_terms())
            kinds = kinds_of_teacher(student, own_teacher, sentences, finder=english)
            with_kinds = EntityFinder(student.encoder, replace(student.model, kinds=kinds))
            save(with_kinds, find_model_folder(name))


def without_terms() -> KindExamples:
    """Return the example names of the kinds that have no gates for terms.

    The multilingual model does not find terms in lower case, and takes names of languages that it
    knows little of for chemicals.
    """
    names = KindExamples.english().names
    return KindExamples({kind: own for kind, own in names.items() if kind not in TERM_KINDS})


def entity_sample(
    teacher: EntityFinder, finder: EntityFinder, sentences: IndexedSentences
) -> EntitySample:
    """Return the entities that a finder finds, with the teacher's vectors."""
    samples = []
    for low in range(0, len(sentences), SENTENCES_PER_GROUP):
        group = sentences[low : low + SENTENCES_PER_GROUP]
        found = finder.found_in(group, finder.encode(group))
        vectors = teacher.word_scorer.encode(group).vectors
        samples.append(collect_sample(group, found, vectors, UnitIndex.of_words(group)))
    return EntitySample.merged(samples)


def save(finder: EntityFinder, folder: Path) -> None:
    """Save a model without changing its model card."""
    card = (folder / CARD).read_text(encoding="utf-8")
    finder.save(folder)
    (folder / CARD).write_text(card, encoding="utf-8")
    print(f"{folder.name}: {', '.join(finder.kinds)}")


if __name__ == "__main__":
    main()
