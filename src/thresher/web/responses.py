"""Convert scored texts to the response of the API."""

from collections.abc import Sequence

from thresher.entities.finding.scored_text import ScoredText
from thresher.text.formats.jsonl import SCORE_DIGITS, span_object
from thresher.text.utf16 import utf16_offsets
from thresher.web.schema import Entity, SentenceResult, TextResult, WordResult


def text_result(
    scored: ScoredText, *, threshold: float, offset_unit: str, with_words: bool
) -> TextResult:
    """Return the entities of a text, and the scores of its words if `with_words`.

    offset_unit: "characters" or "utf-16"
    """
    text = scored.text
    offsets = utf16_offsets(text) if offset_unit == "utf-16" else range(len(text) + 1)
    return TextResult(
        spans=[
            Entity(**span_object(span) | {"start": offsets[span.start], "end": offsets[span.end]})
            for span in scored.spans(threshold)
        ],
        sentences=_sentences(scored, offsets) if with_words else None,
    )


def _sentences(scored: ScoredText, offsets: Sequence[int]) -> list[SentenceResult]:
    return [
        SentenceResult(
            start=offsets[sentence.start],
            end=offsets[sentence.end],
            words=[
                WordResult(
                    start=offsets[word.start],
                    end=offsets[word.end],
                    score=round(score, SCORE_DIGITS),
                )
                for word, score in zip(sentence.words, each.scores.tolist(), strict=True)
            ],
        )
        for sentence, each in zip(scored.sentences, scored.scored_sentences, strict=True)
    ]
