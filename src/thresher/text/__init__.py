"""Strings in, words with offsets out; knows no torch."""

from thresher.text.annotations import Span, TaggedSentence
from thresher.text.corpus import Document, read_texts
from thresher.text.formats.conll import read_conll, to_conll
from thresher.text.formats.html import to_html
from thresher.text.formats.jsonl import to_jsonl
from thresher.text.words import Sentence, Word, segment

__all__ = [
    "Document",
    "Sentence",
    "Span",
    "TaggedSentence",
    "Word",
    "read_conll",
    "read_texts",
    "segment",
    "to_conll",
    "to_html",
    "to_jsonl",
]
