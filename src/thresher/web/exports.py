"""File formats in which the entities of a text can be downloaded."""

from collections.abc import Callable, Collection
from typing import Literal, NamedTuple

from thresher.entities.finding.decoding import word_spans
from thresher.entities.finding.scored_text import ScoredText
from thresher.text.formats.conll import to_conll
from thresher.text.formats.doccano import to_doccano
from thresher.text.formats.jsonl import SPAN_COLUMNS, span_object, to_jsonl
from thresher.text.formats.label_studio import to_label_studio
from thresher.text.formats.prodigy import to_prodigy
from thresher.text.formats.tables import to_csv

FormatName = Literal["jsonl", "conll", "label-studio", "prodigy", "doccano", "csv"]
Only = Collection[str | None] | None


class ExportFormat(NamedTuple):
    """A file format.

    write: returns the content of the file for a text, a threshold and the kinds to keep
    """

    write: Callable[[ScoredText, float, Only], str]
    file_name: str
    media_type: str


def _jsonl(scored: ScoredText, threshold: float, only: Only) -> str:
    return to_jsonl(scored.text, scored.spans(threshold, only))


def _conll(scored: ScoredText, threshold: float, only: Only) -> str:
    sentences = []
    for each in scored.scored_sentences:
        spans, kinds = word_spans(each.found(threshold, only))
        sentences.append(to_conll(each.words, spans, each.scores.tolist(), kinds=kinds))
    return "".join(sentences)


def _label_studio(scored: ScoredText, threshold: float, only: Only) -> str:
    return "".join(to_label_studio([(scored.text, scored.spans(threshold, only), None)]))


def _prodigy(scored: ScoredText, threshold: float, only: Only) -> str:
    return to_prodigy(scored.text, scored.spans(threshold, only), sentences=scored.sentences)


def _doccano(scored: ScoredText, threshold: float, only: Only) -> str:
    return to_doccano(scored.text, scored.spans(threshold, only))


def _csv(scored: ScoredText, threshold: float, only: Only) -> str:
    rows = map(span_object, scored.spans(threshold, only))
    return "".join(to_csv(rows, last=SPAN_COLUMNS))


_JSON_LINES = "application/jsonl"
FORMATS: dict[FormatName, ExportFormat] = {
    "jsonl": ExportFormat(_jsonl, "entities.jsonl", _JSON_LINES),
    "conll": ExportFormat(_conll, "entities.conll", "text/plain"),
    "label-studio": ExportFormat(_label_studio, "label-studio.json", "application/json"),
    "prodigy": ExportFormat(_prodigy, "prodigy.jsonl", _JSON_LINES),
    "doccano": ExportFormat(_doccano, "doccano.jsonl", _JSON_LINES),
    "csv": ExportFormat(_csv, "entities.csv", "text/csv"),
}
