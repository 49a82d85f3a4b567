"""Strings in, words with offsets out; knows no torch."""

from thresher.text.annotations import Span, TaggedSentence
from thresher.text.corpus import Document, read_texts
from thresher.text.formats.conll import read_conll, to_conll, to_iob2
from thresher.text.formats.doccano import to_doccano
from thresher.text.formats.html import to_html
from thresher.text.formats.jsonl import to_jsonl
from thresher.text.formats.label_studio import to_label_studio
from thresher.text.formats.labelling_tools import read_labelled
from thresher.text.formats.prodigy import to_prodigy
from thresher.text.sentences import Sentence, Word, segment
from thresher.text.tagged_text import TaggedText

__all__ = [
    "Document",
    "Sentence",
    "Span",
    "TaggedSentence",
    "TaggedText",
    "Word",
    "read_conll",
    "read_labelled",
    "read_texts",
    "segment",
    "to_conll",
    "to_doccano",
    "to_html",
    "to_iob2",
    "to_jsonl",
    "to_label_studio",
    "to_prodigy",
]
