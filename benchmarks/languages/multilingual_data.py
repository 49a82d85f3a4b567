"""Texts of the multilingual model: what it is trained on, and the sets it is measured on."""

from benchmarks.data import DATA, REPORT, Gold, raw_english, read_gold
from thresher.text.formats.conll import read_conll

MASAKHANER = ("amh", "swa", "hau", "ibo", "yor")
LANGUAGE_SETS = {
    **{name: f"ner/uner/{name}-dev.iob2" for name in ("zh", "da", "pt", "sr")},
    **{name: f"ner/masakhaner/{name}/dev.txt" for name in MASAKHANER},
}
WITHOUT_CAPITALS = ("zh", "amh")
SOURCES = (
    ("UD_Danish-DDT, the words of the training split (UNER_Danish-DDT)", "CC BY-SA 4.0"),
    ("UD_Chinese-GSDSIMP, the words of the training split (UNER_Chinese-GSDSIMP)", "CC BY-SA 4.0"),
)


def training_text() -> dict[str, list[list[str]]]:
    """Return the sentences by language; their labels are not read."""
    texts = {"en": [words for words in raw_english() if words]}
    for name in ("da", "zh"):
        path = DATA / "ner" / "uner" / f"{name}-train.iob2"
        texts[name] = [list(sentence.words) for sentence in read_conll(path)]
    return texts


def report_sets() -> list[Gold]:
    """Return the report splits of all languages; English comes last."""
    return read_gold(LANGUAGE_SETS) + read_gold(REPORT)
