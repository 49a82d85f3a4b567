"""What was found, as a file to take away."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from thresher.text.formats.conll import to_conll
from thresher.text.formats.doccano import to_doccano
from thresher.text.formats.jsonl import to_jsonl
from thresher.text.formats.label_studio import to_label_studio
from thresher.text.formats.prodigy import to_prodigy
from thresher.web.scored_text import ReadText

FormatName = Literal["jsonl", "conll", "label-studio", "prodigy", "doccano"]


class Format(NamedTuple):
    """How a file is written, and what it is called."""

    write: Callable[[ReadText, float], str]
    name: str
    kind: str


def _jsonl(read: ReadText, threshold: float) -> str:
    return to_jsonl(read.text, read.spans(threshold))


def _conll(read: ReadText, threshold: float) -> str:
    def sentences() -> Iterator[str]:
        for reading in read.readings:
            spans = [(each.start, each.end) for each in reading.found(threshold)]
            yield to_conll(reading.words, spans, reading.scores.tolist())

    return "".join(sentences())


def _label_studio(read: ReadText, threshold: float) -> str:
    return "".join(to_label_studio([(read.text, read.spans(threshold), None)]))


def _prodigy(read: ReadText, threshold: float) -> str:
    return to_prodigy(read.text, read.spans(threshold), sentences=read.sentences)


def _doccano(read: ReadText, threshold: float) -> str:
    return to_doccano(read.text, read.spans(threshold))


_LINES = "application/jsonl"
FORMATS: dict[FormatName, Format] = {
    "jsonl": Format(_jsonl, "entities.jsonl", _LINES),
    "conll": Format(_conll, "entities.conll", "text/plain"),
    "label-studio": Format(_label_studio, "label-studio.json", "application/json"),
    "prodigy": Format(_prodigy, "prodigy.jsonl", _LINES),
    "doccano": Format(_doccano, "doccano.jsonl", _LINES),
}
