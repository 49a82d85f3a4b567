"""Convert scored texts to the response of the API, without blocking the event loop for long.

The objects have the fields of `TextResult` and its parts in `schema.py`, which describe the API.
They are plain dictionaries: a long text has some 100,000 words, and a pydantic model for each of
them takes five times as long.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finding.scored_text import ScoredText
from thresher.text.formats.jsonl import SCORE_DIGITS, span_object
from thresher.text.records import JsonObject
from thresher.text.utf16 import utf16_offsets
from thresher.web.scoring_steps import STEP_CHARACTERS

Content = TypeVar("Content", str, bytes)


class ResponseBuilder:
    """Builds small responses at once, and large ones one after the other in a thread."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="responses")

    async def build(self, build: Callable[[], Content], *, texts: Sequence[str]) -> Content:
        """Return what `build` returns; texts: those of the response, which decide on its size."""
        if sum(map(len, texts)) <= STEP_CHARACTERS:
            return build()
        return await asyncio.get_running_loop().run_in_executor(self._executor, build)


def text_result(
    scored: ScoredText,
    *,
    threshold: float,
    only: Collection[str | None] | None = None,
    offset_unit: str,
    with_words: bool,
    unreadable: str | None = None,
) -> JsonObject:
    """Return the entities of a text, and the scores of its words if `with_words`.

    only: the kinds of entities to return; None for all
    offset_unit: "characters" or "utf-16"
    unreadable: why the model cannot read the text, from `EntityFinder.unreadable`
    """
    text = scored.text
    offsets = utf16_offsets(text) if offset_unit == "utf-16" else range(len(text) + 1)
    result: JsonObject = {
        "spans": [
            span_object(span) | {"start": offsets[span.start], "end": offsets[span.end]}
            for span in scored.spans(threshold, only)
        ]
    }
    if with_words:
        result["sentences"] = _sentences(scored, offsets)
    if unreadable is not None:
        result["note"] = unreadable.replace(f"`model={MULTILINGUAL}`", f"the model {MULTILINGUAL}")
    return result


def _sentences(scored: ScoredText, offsets: Sequence[int]) -> list[JsonObject]:
    return [
        {
            "start": offsets[sentence.start],
            "end": offsets[sentence.end],
            "words": [
                {"start": offsets[start], "end": offsets[start + len(word)], "score": score}
                for word, start, score in zip(
                    sentence.texts,
                    sentence.starts,
                    np.round(each.scores.astype(np.float64), SCORE_DIGITS).tolist(),
                    strict=True,
                )
            ],
        }
        for sentence, each in zip(scored.sentences, scored.scored_sentences, strict=True)
    ]
