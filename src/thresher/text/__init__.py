"""Read texts, split them into sentences and words with offsets, and write annotations; no torch."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.text.annotations import Span, TaggedSentence
    from thresher.text.corpus import Document, read_texts
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
    "thresher.text",
    {
        "Document": "thresher.text.corpus",
        "Sentence": "thresher.text.sentences",
        "Span": "thresher.text.annotations",
        "TaggedSentence": "thresher.text.annotations",
        "TaggedText": "thresher.text.tagged_text",
        "Word": "thresher.text.sentences",
        "read_annotated": "thresher.text.formats.annotation_tools",
        "read_conll": "thresher.text.formats.conll",
        "read_texts": "thresher.text.corpus",
        "segment": "thresher.text.sentences",
        "to_conll": "thresher.text.formats.conll",
        "to_doccano": "thresher.text.formats.doccano",
        "to_html": "thresher.text.formats.html",
        "to_iob2": "thresher.text.formats.conll",
        "to_jsonl": "thresher.text.formats.jsonl",
        "to_label_studio": "thresher.text.formats.label_studio",
        "to_prodigy": "thresher.text.formats.prodigy",
    },
    renamed={"read_labelled": "read_annotated"},
)
