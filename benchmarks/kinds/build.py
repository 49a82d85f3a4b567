"""Give the built-in English models their kinds.

    python -m benchmarks.kinds.build

Finds entities in a part of the raw text that the models were trained on, keeps a sample of them
with their contexts, and learns the kinds of src/thresher/entities/kinds/english.toml from it.
"""

from dataclasses import replace

from benchmarks.data import ROOT, raw_english
from thresher.entities.built_in import NAMES
from thresher.entities.finder import EntityFinder
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.kind_model import KindModel
from thresher.model_folder import CARD
from thresher.text.indexed_sentences import IndexedSentences

_STEP = 6  # one sentence in six of the raw text


def main() -> None:
    sentences = IndexedSentences.from_sentences([s for s in raw_english() if s][::_STEP])
    for name in NAMES:
        folder = ROOT / "src" / "thresher" / "entities" / name
        finder = EntityFinder.load(folder, device="cpu", exact=True)
        sample = finder.entity_sample(sentences)
        finder = EntityFinder(finder.encoder, replace(finder.model, kinds=KindModel(sample)))
        card = (folder / CARD).read_text(encoding="utf-8")
        finder.with_kinds(KindExamples.english()).save(folder)
        (folder / CARD).write_text(card, encoding="utf-8")
        print(f"{name}: {len(sample)} entities of {len(sentences):,} sentences")


if __name__ == "__main__":
    main()
