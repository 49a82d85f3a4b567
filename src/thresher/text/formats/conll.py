"""Read and write CoNLL-like files: one word and its tag per line, blank lines between sentences.

The rest differs between files: tabs or spaces, an index before the word, other columns, comments,
IO, IOB1, IOB2, BIOES or BILOU tags. All of these can be read. Files are written as
`word⇥B-ENT|I-ENT|O⇥score`, or without the score for tools that expect plain IOB2.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from pathlib import Path
from typing import NamedTuple

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.annotations import TaggedSentence, check_spans
from thresher.text.formats.conll_layout import DOCUMENT, Layout, detect_layout
from thresher.text.formats.tags import ENTITY_LABEL, decode_tags, encode_tags
from thresher.text.records import JsonObject, field_text, to_json
from thresher.text.sources import open_source

Kinds = Sequence[str | None]

_COMMENT = re.compile(r"# *(.*?) = (.*)")
SAMPLE_LINES = 2000  # lines from which the layout is detected


class _Row(NamedTuple):
    line: int
    word: str
    tag: str


def read_conll(
    path: str | Path,
    *,
    layout: Layout | None = None,
    need_tags: bool = True,
    encoding: str | None = None,
) -> Iterator[TaggedSentence]:
    """Read the sentences of a file, one at a time.

    layout: by default detected from the first lines
    need_tags: if False, files without tags are read, too; their sentences have no spans
    encoding: the character encoding; by default UTF-8
    """
    with open_source(path, encoding=encoding) as stream:
        yield from parse_conll(stream, name=str(path), layout=layout, need_tags=need_tags)


def parse_conll(
    raw: Iterable[bytes],
    *,
    name: str,
    layout: Layout | None = None,
    need_tags: bool = True,
    on_problem: WarningHandler | None = None,
) -> Iterator[TaggedSentence]:
    """Yield the sentences of lines of bytes, as `read_conll` does for a file.

    name: the name of the source, for messages
    on_problem: called for each line that is skipped; without it the first one raises InputError
    """
    on_problem = on_problem or raise_input_error
    lines = _decode_lines(raw, name, on_problem)
    if layout is None:
        sample = list(islice(lines, SAMPLE_LINES))
        layout = detect_layout([line for _, line in sample], name=name)
        lines = chain(sample, lines)
    if need_tags and layout.tag is None:
        raise InputError(f"{name}: no column has tags such as O, B-PER or I-PER")
    found = False
    for is_separator, group in groupby(lines, key=lambda line: _is_separator(line[1])):
        comments: list[str] = []
        rows = [] if is_separator else list(_parse_rows(group, layout, name, on_problem, comments))
        if rows:
            found = True
            yield _to_sentence(rows, comments)
    if not found:
        raise InputError(f"{name} has no sentences")


def _decode_lines(
    raw: Iterable[bytes], name: str, on_problem: WarningHandler
) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_split_lines(raw), 1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            on_problem(f"{name} line {number}: not valid UTF-8")


def _split_lines(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends: LF, CR LF, or CR.

    A CR inside a line may also be a part of a word. It ends a line if the file has no LF, or if the
    parts before and after it have the same number of columns.
    """
    has_line_feeds = None
    for line in raw:
        if has_line_feeds is None:
            has_line_feeds = line.endswith(b"\n")
        content = line.rstrip(b"\r\n")
        if b"\r" not in content or (has_line_feeds and not _is_several_rows(content)):
            yield content
        else:
            yield from content.split(b"\r")


def _is_several_rows(line: bytes) -> bool:
    """Return True if the parts between carriage returns have the same number of columns."""
    separator = b"\t" if b"\t" in line else b" "
    counts = [part.count(separator) for part in line.split(b"\r") if part]
    return len(counts) > 1 and counts[0] > 0 and len(set(counts)) == 1


def _is_separator(line: str) -> bool:
    return not line or line.isspace() or line.startswith(DOCUMENT)


def _parse_rows(
    lines: Iterable[tuple[int, str]],
    layout: Layout,
    name: str,
    on_problem: WarningHandler,
    comments: list[str],
) -> Iterator[_Row]:
    """Yield the rows of a sentence, and append its comment lines to `comments`."""
    for number, line in lines:
        cells = layout.cells(line)
        fits = len(cells) == layout.columns
        if line.startswith("#") and not (fits and layout.has_tag(cells)):
            comments.append(line)  # the word "#" would have a tag
            continue
        if fits and layout.is_range(cells):
            continue
        if problem := _problem(cells, layout):
            on_problem(f"{name} line {number}: {problem}: {line[:60]!r}")
            continue
        yield _Row(number, cells[layout.word], "O" if layout.tag is None else cells[layout.tag])


def _problem(cells: Sequence[str], layout: Layout) -> str | None:
    if len(cells) != layout.columns:
        columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
        return f"{columns}, but the file has {layout.columns}"
    if not cells[layout.word]:
        return "the word is empty"
    if not layout.has_tag(cells):
        return "no tag (O, or B- I- E- S- L- U- and a label) in the column of tags"
    return None


def _to_sentence(rows: Sequence[_Row], comments: Sequence[str]) -> TaggedSentence:
    spans, labels = decode_tags([row.tag for row in rows])
    matches = (_COMMENT.fullmatch(comment) for comment in comments)
    return TaggedSentence(
        tuple(row.word for row in rows),
        spans,
        labels,
        line=rows[0].line,
        comments=tuple((match[1], match[2]) for match in matches if match is not None),
    )


def to_comments(fields: JsonObject) -> str:
    """Return the fields of a record as comment lines `# name = value`.

    A value that is not a string of one line is written as JSON.
    """
    return "".join(f"# {_one_line(name)} = {_one_line(value)}\n" for name, value in fields.items())


def _one_line(value: object) -> str:
    text = field_text(value)
    return text if text == text.strip() and text.isprintable() else to_json(text)


def to_conll(
    words: Sequence[str],
    spans: Sequence[tuple[int, int]],
    scores: Sequence[float],
    *,
    kinds: Kinds | None = None,
) -> str:
    """Return a sentence as lines `word⇥B-ENT|I-ENT|O⇥score` and a blank line.

    spans: (start, end) in words   scores: one for each word
    kinds: one for each span, which replaces ENT; None for a span without a kind
    """
    rows = zip(_tagged_words(words, spans, kinds), scores, strict=True)
    return "".join(f"{tagged}\t{score:.4f}\n" for tagged, score in rows) + "\n"


def to_iob2(
    words: Sequence[str], spans: Sequence[tuple[int, int]], *, kinds: Kinds | None = None
) -> str:
    """Return a sentence as lines `word⇥B-ENT|I-ENT|O` and a blank line; arguments as `to_conll`."""
    return "".join(f"{tagged}\n" for tagged in _tagged_words(words, spans, kinds)) + "\n"


def _tagged_words(
    words: Sequence[str], spans: Sequence[tuple[int, int]], kinds: Kinds | None
) -> list[str]:
    check_spans(spans, len(words))
    labels = None if kinds is None else [_checked_cell(kind or ENTITY_LABEL) for kind in kinds]
    tags = encode_tags(spans, len(words), labels=labels)
    return [f"{_checked_cell(word)}\t{tag}" for word, tag in zip(words, tags, strict=True)]


def _checked_cell(text: str) -> str:
    if not text or "\t" in text or "\n" in text:
        raise InputError(
            f"CoNLL words and kinds must not be empty or have tabs or line breaks: {text!r}"
        )
    return text
