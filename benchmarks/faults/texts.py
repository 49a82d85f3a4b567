"""Read fuzzed texts in every format and find entities in them: nothing fails and nothing is lost.

Half of the files are valid, whatever their texts contain: each of their texts must arrive. The
others are damaged afterwards: lines are cut, joined or repeated, bytes are changed.
"""

import csv
import io
import json
import random
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from thresher import EntityFinder, read_texts
from thresher.errors import InputError
from thresher.text.annotations import Span

TEXTS_PER_FILE = 200
_BLOCKS = (  # first and last character of scripts, planes and other ranges
    *((0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF), (0xE00, 0x10FF)),
    *((0x1200, 0x137F), (0x1E00, 0x1FFF), (0x2000, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF)),
    *((0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0xF900, 0xFFFF), (0x10000, 0x1FFFF), (0x20000, 0x2FFFF)),
    *(
        (0x30000, 0x3FFFF),
        (0xE0000, 0xEFFFF),
        (0xF0000, 0x10FFFF),
        (0x300, 0x36F),
        (0x200B, 0x206F),
    ),
)
_CONTROLS = "".join(map(chr, (*range(1, 32), *range(127, 160), 0x2028, 0x2029, 0xFEFF, 0)))
_WORDS = (
    *"Marie Curie left Paris . The Dr. U.S. 3.14 € http://a.b/c?d @x #y".split(),
    *("ﬁ", "İ", "ß", "北京", "مصر", "ไทย", "\U0001f469\u200d\U0001f52c"),
)
_MARKS = ".,;:!?…-—/\\'\"“”()[]{}<>|&%$*+=~^_`"

Write = Callable[[Sequence[str]], str]


def fuzzed_text(draw: random.Random) -> str:
    """Return a text of random pieces."""
    pieces = [_piece(draw) for _ in range(draw.choice((0, 1, 2, 3, 5, 8, 13)))]
    return draw.choice((" ", " ", "", "\n", "\t", "  ")).join(pieces)


def _piece(draw: random.Random) -> str:
    kind = draw.random()
    if kind < 0.45:
        return draw.choice(_WORDS)
    if kind < 0.75:
        first, last = draw.choice(_BLOCKS)
        return "".join(_character(draw, first, last) for _ in range(draw.randint(1, 8)))
    if kind < 0.83:
        return "".join(draw.choice(_CONTROLS) for _ in range(draw.randint(1, 4)))
    if kind < 0.92:
        return draw.choice(_MARKS) * draw.choice((1, 2, 3, 50))
    if kind < 0.995:
        word = draw.choice(_WORDS)
        return unicodedata.normalize(draw.choice(("NFD", "NFKC")), word) + draw.choice(_MARKS)
    return draw.choice(("a", "Ab", ".", "é", "北", "1", "a-", "\u0301")) * draw.choice((500, 5000))


def _character(draw: random.Random, first: int, last: int) -> str:
    code = draw.randint(first, last)
    return "�" if 0xD800 <= code <= 0xDFFF else chr(code)


def _jsonl(texts: Sequence[str]) -> str:
    return "".join(
        json.dumps({"id": n, "text": text}, ensure_ascii=n % 2 == 0) + "\n"
        for n, text in enumerate(texts)
    )


def _table(texts: Sequence[str], delimiter: str) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "text", "language"])
    writer.writerows([number, text, "en"] for number, text in enumerate(texts))
    return file.getvalue()


def _conll(texts: Sequence[str]) -> str:
    return "".join(
        "".join(f"{word}\tO\n" for word in text.split()) + "\n" for text in texts if text.split()
    )


FORMATS: dict[str, tuple[str, Write]] = {
    "jsonl": ("jsonl", _jsonl),
    "csv": ("csv", lambda texts: _table(texts, ",")),
    "tsv": ("tsv", lambda texts: _table(texts, "\t")),
    "conll": ("conll", _conll),
    "text": ("txt", "\n\n".join),
}
_EXACT = ("jsonl", "csv", "tsv")  # formats in which every text arrives as it was written


def find_in_fuzzed_texts(
    count: int, *, seed: int = 0, finder: EntityFinder | None = None
) -> list[dict[str, Any]]:
    """Return a row of results for each format; `count` texts are divided among them."""
    finder = finder or EntityFinder.load("fast-english", device="cpu")
    rows = []
    for name in FORMATS:
        draw = random.Random(f"{seed} {name}")
        row: dict[str, Any] = {"format": name, "texts": 0, "damaged": 0, "entities": 0}
        row |= {"problems": 0, "losses": []}
        for number in range(-(-count // len(FORMATS) // TEXTS_PER_FILE)):
            _try_file(name, number % 2 == 1, draw, finder, row)
        rows.append(row)
        print(row, flush=True)
    return rows


def _try_file(
    name: str, damaged: bool, draw: random.Random, finder: EntityFinder, row: dict[str, Any]
) -> None:
    """Write a file, read it and find entities in what was read; add to the row of results."""
    texts = [fuzzed_text(draw) for _ in range(TEXTS_PER_FILE)]
    suffix, write = FORMATS[name]
    content = write(texts).encode(errors="surrogatepass")
    if damaged:
        content = damage(content, draw)
        row["damaged"] += TEXTS_PER_FILE
    if name == "text":
        content = content.replace(b"\0", b"")  # with NUL bytes a file is refused as a whole
    row["texts"] += TEXTS_PER_FILE
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"texts.{suffix}"
        path.write_bytes(content)
        try:
            read = [each.text for each in read_texts([str(path)], on_problem=problems.append)]
        except InputError as error:
            if len(str(error).splitlines()) != 1 or not damaged:
                row["losses"].append(f"{name}: {error!r}")
            return
        except Exception as error:
            row["losses"].append(f"{name}: {error!r}")
            return
    row["problems"] += len(problems)
    if not damaged and name in _EXACT and read != texts:
        missing = len(set(texts) - set(read))
        row["losses"].append(f"{name}: {len(read)} of {len(texts)} texts, {missing} differ")
    _check_spans(name, read, finder, row)


def _check_spans(
    name: str, texts: Sequence[str], finder: EntityFinder, row: dict[str, Any]
) -> None:
    try:
        for text, spans in zip(texts, finder.find_all(texts), strict=True):
            row["entities"] += len(spans)
            if not spans_are_right(text, spans):
                row["losses"].append(f"{name}: wrong spans in {text[:200]!r}")
    except Exception as error:
        row["losses"].append(f"{name}: {error!r}")


def spans_are_right(text: str, spans: Sequence[Span]) -> bool:
    """Return True if spans are in order, do not overlap, and their offsets and scores are right."""
    ends = [0, *(span.end for span in spans)]
    return all(
        before <= span.start < span.end
        and text[span.start : span.end] == span.text
        and 0 <= span.score <= 1
        for before, span in zip(ends, spans, strict=False)
    )


def damage(content: bytes, draw: random.Random) -> bytes:
    """Return the content with lines cut, joined, repeated or swapped, and with other bytes."""
    lines = content.split(b"\n")
    for _ in range(20):
        number, kind = draw.randrange(len(lines)), draw.randrange(6)
        line = lines[number]
        if kind == 0:
            lines[number] = line[: draw.randint(0, len(line))]
        elif kind == 1:
            lines[number] = line * 2
        elif kind == 2:
            lines.insert(number, bytes(draw.randrange(256) for _ in range(draw.randint(0, 30))))
        elif kind == 3:
            lines[number] = line.replace(draw.choice((b'"', b"\t", b",", b"{")), b"", 1)
        elif kind == 4:
            lines[number] = b"\xef\xbb\xbf" + line
        else:
            lines[number] = line + draw.choice((b"\r", b"\x00", b"\\", b'"', b"\xff\xfe", b"\xc3"))
    return draw.choice((b"", b"\xef\xbb\xbf")) + b"\n".join(lines)
