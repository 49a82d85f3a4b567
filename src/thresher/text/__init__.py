"""Read texts, split them into sentences and words with offsets, and write annotations; no torch."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.text.annotations import Span, TaggedSentence
    from thresher.text.corpus import read_texts
    from thresher.text.document import Document
    from thresher.text.formats.annotation_tools import read_annotated
    from thresher.text.formats.conll import read_conll, to_conll, to_iob2
    from thresher.text.formats.doccano import to_doccano
    from thresher.text.formats.html import to_html
    from thresher.text.formats.jsonl import to_jsonl
    from thresher.text.formats.label_studio import to_label_studio
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
    "read_annotated",
    "read_conll",
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

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.text.annotations": ["Span", "TaggedSentence"],
        "thresher.text.corpus": ["read_texts"],
        "thresher.text.document": ["Document"],
        "thresher.text.formats.annotation_tools": ["read_annotated"],
        "thresher.text.formats.conll": ["read_conll", "to_conll", "to_iob2"],
        "thresher.text.formats.doccano": ["to_doccano"],
        "thresher.text.formats.html": ["to_html"],
        "thresher.text.formats.jsonl": ["to_jsonl"],
        "thresher.text.formats.label_studio": ["to_label_studio"],
        "thresher.text.formats.prodigy": ["to_prodigy"],
        "thresher.text.sentences": ["Sentence", "Word", "segment"],
        "thresher.text.tagged_text": ["TaggedText"],
    },
)
