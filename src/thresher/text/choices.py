"""The names of file formats that a user chooses from."""

from enum import StrEnum


class TextFormat(StrEnum):
    """A format that `read_texts` reads."""

    TEXT = "text"
    JSONL = "jsonl"
    PARQUET = "parquet"
    CONLL = "conll"
    LABEL_STUDIO = "label-studio"


class GoldFormat(StrEnum):
    """A format of texts with annotated entities."""

    CONLL = "conll"
    PRODIGY = "prodigy"
    DOCCANO = "doccano"
    LABEL_STUDIO = "label-studio"
