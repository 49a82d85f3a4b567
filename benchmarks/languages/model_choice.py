"""Measure how often `--model auto` chooses the wrong model, for sentences and groups of five.

    python -m benchmarks.languages.model_choice

Reads the words of tune splits only. Some tweets of WNUT-17 are not English, and some sentences of
the Swahili and Danish sets are English, so no choice is right everywhere.
"""

from benchmarks.data import DATA, TUNE
from thresher.entities.auto_finder import model_for
from thresher.entities.built_in import ENGLISH, MULTILINGUAL
from thresher.text.formats.conll import read_conll

_GROUP = 5  # sentences of a text
_OTHERS = {
    "da": "ner/uner/da-train.iob2",
    **{name: f"ner/masakhaner/{name}/train.txt" for name in ("swa", "hau", "ibo", "yor")},
}


def main() -> None:
    for model, sets in ((ENGLISH, TUNE), (MULTILINGUAL, _OTHERS)):
        for name, path in sets.items():
            sentences = [list(each.words) for each in read_conll(DATA / path)]
            singles = [[words] for words in sentences]
            groups = [sentences[low : low + _GROUP] for low in range(0, len(sentences), _GROUP)]
            shares = [
                sum(model_for(text) != model for text in texts) / len(texts)
                for texts in (singles, groups)
            ]
            print(f"{name:9} not {model}: sentences {shares[0]:.1%}, groups {shares[1]:.1%}")


if __name__ == "__main__":
    main()
