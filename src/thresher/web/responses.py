"""From what was read to what is answered."""

from collections.abc import Sequence

from thresher.text.utf16 import utf16_offsets
from thresher.web.schema import Entity, Found, ScoredSentence, ScoredWord
from thresher.web.scored_text import ReadText

DIGITS = 6  # of a score


def found_in(read: ReadText, *, threshold: float, offsets: str, words: bool) -> Found:
    """The entities of a text, and its words if they are wanted."""
    places = utf16_offsets(read.text) if offsets == "utf-16" else range(len(read.text) + 1)
    return Found(
        spans=[
            Entity(
                start=places[span.start],
                end=places[span.end],
                text=span.text,
                score=round(span.score, DIGITS),
            )
            for span in read.spans(threshold)
        ],
        sentences=_sentences(read, places) if words else None,
    )


def _sentences(read: ReadText, places: Sequence[int]) -> list[ScoredSentence]:
    return [
        ScoredSentence(
            start=places[sentence.start],
            end=places[sentence.end],
            words=[
                ScoredWord(
                    start=places[word.start], end=places[word.end], score=round(score, DIGITS)
                )
                for word, score in zip(sentence.words, reading.scores.tolist(), strict=True)
            ],
        )
        for sentence, reading in zip(read.sentences, read.readings, strict=True)
    ]
