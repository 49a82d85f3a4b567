"""Count the parts of speech that the selectors of dual models open, with spaCy's tagger.

    python -m benchmarks.variants.parts_of_speech [--rows "repel 2" "repel 3"] [--sentences 400]

The tagger is used only for this analysis: nothing is trained or chosen with it. Uses the models of
`benchmarks.variants`; writes benchmarks/results/variants/parts-of-speech.json.
"""

import argparse
import json
from collections import Counter
from itertools import chain
from pathlib import Path

from benchmarks.data import TUNE, read_gold
from benchmarks.entities.peers import part_of_speech_tags, spacy_pipeline
from benchmarks.variants.jobs import MODELS, Job
from benchmarks.variants.section import PARTS_OF_SPEECH
from thresher.encoders import load_encoder
from thresher.entities.finder import EntityFinder
from thresher.entities.model import FinderModel

TAGS = ("PROPN", "NOUN", "VERB", "ADJ", "ADV", "PRON", "NUM", "other")
DUAL = ("align 2", "repel 2", "repel 3", "repel 3, more contrast", "repel 3, no prior")
_EXAMPLES = 6  # words


def fractions(tags: Counter[str]) -> dict[str, float]:
    """Return the fraction of each tag; tags not in TAGS count as other."""
    total = max(1, sum(tags.values()))
    known = {tag: tags[tag] / total for tag in TAGS if tag != "other"}
    return {**known, "other": 1 - sum(known.values()) if tags else 0.0}


def opened_by_selectors(
    row: str, finder: EntityFinder, sentences: list[list[str]], tags: list[list[str]]
) -> list[dict[str, object]]:
    """Return the words and parts of speech that each selector of a model opens."""
    found = []
    words = sum(map(len, sentences))
    for number in range(1, len(finder.model.selectors) + 1):
        opened: Counter[str] = Counter()
        tag_counts: Counter[str] = Counter()
        scores = finder.with_selector(number).gate_scores(sentences)
        for word, tag, gate in zip(chain(*sentences), chain(*tags), scores, strict=True):
            if gate > 0.5:
                opened[word.casefold()] += 1
                tag_counts[tag] += 1
        found.append(
            {
                "row": row,
                "selector": number,
                "entity": finder.model.entity == number - 1,
                "opened": sum(tag_counts.values()) / words,
                "shares": fractions(tag_counts),
                "words": [word for word, _ in opened.most_common(_EXAMPLES)],
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="*", default=list(DUAL))
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--sentences", type=int, default=400, help="per tune set")
    options = parser.parse_args()
    sentences = [words for data in read_gold(TUNE) for words in data.sentences[: options.sentences]]
    tags = part_of_speech_tags(spacy_pipeline(), sentences)
    encoder = load_encoder()
    found = []
    for row in options.rows:
        folder = options.models / Job(row, 0, "tune").name
        if not folder.exists():
            print(f"{row}: {folder} does not exist")
            continue
        finder = EntityFinder(encoder, FinderModel.read(folder))
        found += opened_by_selectors(row, finder, sentences, tags)
        print(row, "done", flush=True)
    all_tags = Counter(tag for row_tags in tags for tag in row_tags)
    PARTS_OF_SPEECH.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "tagger": "spaCy en_core_web_sm",
        "sentences": len(sentences),
        "tags": TAGS,
        "all": fractions(all_tags),
        "selectors": found,
    }
    PARTS_OF_SPEECH.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
