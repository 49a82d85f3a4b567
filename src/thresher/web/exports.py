"""File formats in which the entities of a text can be downloaded."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from thresher.entities.finding.decoding import word_spans
from thresher.entities.finding.scored_text import ScoredText
from thresher.text.formats.conll import to_conll
from thresher.text.formats.doccano import to_doccano
from thresher.text.formats.jsonl import to_jsonl
from thresher.text.formats.label_studio import to_label_studio
from thresher.text.formats.prodigy import to_prodigy

FormatName = Literal["jsonl", "conll", "label-studio", "prodigy", "doccano"]


class ExportFormat(NamedTuple):
    """A file format.

    write: returns the content of the file for a text and a threshold
    """

    write: Callable[[ScoredText, float], str]
    file_name: str
    media_type: str


def _jsonl(scored: ScoredText, threshold: float) -> str:
    return to_jsonl(scored.text, scored.spans(threshold))


def _conll(scored: ScoredText, threshold: float) -> str:
    sentences = []
    for each in scored.scored_sentences:
        spans, kinds = word_spans(each.found(threshold))
        sentences.append(to_conll(each.words, spans, each.scores.tolist(), kinds=kinds))
    return "".join(sentences)


def _label_studio(scored: ScoredText, threshold: float) -> str:
    return "".join(to_label_studio([(scored.text, scored.spans(threshold), None)]))


def _prodigy(scored: ScoredText, threshold: float) -> str:
    return to_prodigy(scored.text, scored.spans(threshold), sentences=scored.sentences)


def _doccano(scored: ScoredText, threshold: float) -> str:
    return to_doccano(scored.text, scored.spans(threshold))


_JSON_LINES = "application/jsonl"
FORMATS: dict[FormatName, ExportFormat] = {
    "jsonl": ExportFormat(_jsonl, "entities.jsonl", _JSON_LINES),
    "conll": ExportFormat(_conll, "entities.conll", "text/plain"),
    "label-studio": ExportFormat(_label_studio, "label-studio.json", "application/json"),
    "prodigy": ExportFormat(_prodigy, "prodigy.jsonl", _JSON_LINES),
    "doccano": ExportFormat(_doccano, "doccano.jsonl", _JSON_LINES),
}
