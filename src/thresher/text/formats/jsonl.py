"""A text and its spans as a line of JSON."""

import json
from collections.abc import Iterable

from thresher.text.annotations import Span


def to_jsonl(text: str, spans: Iterable[Span]) -> str:
    """`{"text": …, "spans": [{"start", "end", "text", "score"}, …]}` and a line break."""
    record = {
        "text": text,
        "spans": [
            {"start": s.start, "end": s.end, "text": s.text, "score": round(s.score, 6)}
            for s in spans
        ],
    }
    line = json.dumps(record, ensure_ascii=False)
    if not _is_unicode(line):  # half a surrogate pair can only be written as an escape
        line = json.dumps(record)
    return line + "\n"


def _is_unicode(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True
