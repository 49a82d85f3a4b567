"""The file formats that users can choose."""

from enum import StrEnum


class TextFormat(StrEnum):
    """A format that `read_texts` reads."""

    TEXT = "text"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    CONLL = "conll"
    LABEL_STUDIO = "label-studio"
    HTML = "html"
    MARKDOWN = "markdown"
    EMAIL = "email"
    MBOX = "mbox"
    PDF = "pdf"
    DOCX = "docx"


class RecordFormat(StrEnum):
    """A format of records with several fields; `lines` has one text per line and no labels."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    LINES = "lines"


class GoldFormat(StrEnum):
    """A format of texts with annotated entities."""

    CONLL = "conll"
    PRODIGY = "prodigy"
    DOCCANO = "doccano"
    LABEL_STUDIO = "label-studio"
