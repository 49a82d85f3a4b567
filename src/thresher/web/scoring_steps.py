"""Score the texts of a request step by step, so that other requests can be processed in between."""

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from thresher.entities.finding.scored_text import ScoredText
from thresher.entities.kinds.assignment import EncodedWords
from thresher.text.sentences import segment

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

STEP_CHARACTERS = 8_000  # of whole texts that are scored in one step
STEP_TOKENS = 2_000  # of a longer text; both take about a tenth of a second on one core
SentenceWords = tuple[str, ...]
Steps = Generator[float, None, list[ScoredText]]

_CHARACTERS_PER_TOKEN = 4  # roughly, for words of letters; other characters are one token each


def scoring_steps(finder: "EntityFinder", texts: Sequence[str]) -> Steps:
    """Return the scored texts, like `finder.score_texts`; yield the fraction that is done."""
    total = sum(map(len, texts)) or 1
    done = 0
    scored: list[ScoredText] = []
    for group in _groups(texts):
        if len(group[0]) <= STEP_CHARACTERS:
            scored += finder.score_texts(group)
        else:
            scored.append((yield from _long_text_steps(finder, group[0], done, total)))
        done += sum(map(len, group))
        yield done / total
    return scored


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield successive texts with up to `STEP_CHARACTERS` together; a longer text is alone."""
    group: list[str] = []
    characters = 0
    for text in texts:
        if group and characters + len(text) > STEP_CHARACTERS:
            yield group
            group, characters = [], 0
        group.append(text)
        characters += len(text)
    if group:
        yield group


def _long_text_steps(
    finder: "EntityFinder", text: str, before: int, total: int
) -> Generator[float, None, ScoredText]:
    """Encode the text piece by piece and combine the pieces with the other signals at the end.

    The signals of a word depend on the sentences around it, its gate only on its own sentence.

    before: the number of characters of earlier texts   total: of all texts
    """
    sentences = segment(text)
    yield before / total
    words = [sentence.texts for sentence in sentences]
    all_words = sum(map(len, words)) or 1
    encoded = [finder.encode([])]
    encoded_words = 0
    for piece in _pieces(words):
        encoded.append(finder.encode(piece))
        encoded_words += sum(map(len, piece))
        yield (before + len(text) * encoded_words / all_words) / total
    scored = finder.score_encoded(words, EncodedWords.joined(encoded))
    found = ScoredText(text, sentences, scored)
    return found if finder.rules is None else finder.rules.apply(found)


def _pieces(sentences: Sequence[SentenceWords]) -> Iterator[list[SentenceWords]]:
    """Yield successive sentences with up to `STEP_TOKENS` tokens together.

    A sentence with more tokens is cut. Only sentences with very long words have so many, such as
    hundreds of punctuation marks in a row.
    """
    piece: list[SentenceWords] = []
    tokens = 0
    for sentence in sentences:
        for part, size in _parts(sentence):
            if piece and tokens + size > STEP_TOKENS:
                yield piece
                piece, tokens = [], 0
            piece.append(part)
            tokens += size
    if piece:
        yield piece


def _parts(sentence: SentenceWords) -> Iterator[tuple[SentenceWords, int]]:
    """Yield the parts of a sentence, most often just one, with their numbers of tokens."""
    start = tokens = 0
    for end, word in enumerate(sentence):
        size = _estimated_tokens(word)
        if tokens and tokens + size > STEP_TOKENS:
            yield sentence[start:end], tokens
            start, tokens = end, 0
        tokens += size
    yield sentence[start:], tokens


def _estimated_tokens(word: str) -> int:
    return 1 + len(word) // _CHARACTERS_PER_TOKEN if word.isalnum() else len(word)
