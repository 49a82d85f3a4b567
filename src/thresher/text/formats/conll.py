"""CoNLL-like files: a word a line, its tag in some column, a blank line between sentences.

People's files differ in everything else: tab or space, an index before the word, columns between or
after, comments, IO, IOB1, IOB2, BIOES or BILOU tags. All are read; what is written is
`word⇥B-ENT|I-ENT|O⇥score`, or without the score, as tools that know IOB2 alone expect it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from pathlib import Path
from typing import NamedTuple

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.annotations import TaggedSentence, check_spans
from thresher.text.formats.conll_layout import DOCUMENT, Layout, detect_layout
from thresher.text.formats.tags import LABEL, decode_tags, encode_tags
from thresher.text.sources import open_source

SAMPLE = 2000  # lines that decide the layout


class _Row(NamedTuple):
    line: int
    word: str
    tag: str


def read_conll(
    path: str | Path, *, layout: Layout | None = None, need_tags: bool = True
) -> Iterator[TaggedSentence]:
    """The sentences of a file, one at a time.

    layout: found by itself where none is given
    need_tags: if false, a file without tags will do; its sentences have no spans
    """
    with open_source(path) as stream:
        yield from parse_conll(stream, name=str(path), layout=layout, need_tags=need_tags)


def parse_conll(
    raw: Iterable[bytes],
    *,
    name: str,
    layout: Layout | None = None,
    need_tags: bool = True,
    on_problem: WarningHandler | None = None,
) -> Iterator[TaggedSentence]:
    """`read_conll` from lines of bytes; `name` is what messages call them.

    on_problem: told of each line that had to be passed over; without it the first one raises
    """
    report = on_problem or raise_input_error
    lines = _decoded(raw, name, report)
    if layout is None:
        sample = list(islice(lines, SAMPLE))
        layout = detect_layout([line for _, line in sample], name=name)
        lines = chain(sample, lines)
    if need_tags and layout.tag is None:
        raise InputError(f"{name}: no column holds tags such as O, B-PER or I-PER")
    found = False
    for between, group in groupby(lines, key=lambda line: _is_between(line[1])):
        rows = [] if between else list(_rows(group, layout, name, report))
        if rows:
            found = True
            yield _sentence(rows)
    if not found:
        raise InputError(f"{name} holds no sentences")


def _decoded(raw: Iterable[bytes], name: str, report: WarningHandler) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(raw, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            report(f"{name} line {number}: not valid UTF-8")
            continue
        yield number, text.removesuffix("\n").removesuffix("\r")


def _is_between(line: str) -> bool:
    return not line or line.isspace() or line.startswith(DOCUMENT)


def _rows(
    lines: Iterable[tuple[int, str]], layout: Layout, name: str, report: WarningHandler
) -> Iterator[_Row]:
    for number, line in lines:
        cells = layout.cells(line)
        fits = len(cells) == layout.columns
        if line.startswith("#") and not (fits and layout.has_tag(cells)):
            continue  # a comment; a word "#" has its tag
        if fits and layout.is_range(cells):
            continue
        if problem := _problem(cells, layout):
            report(f"{name} line {number}: {problem}: {line[:60]!r}")
            continue
        yield _Row(number, cells[layout.word], "O" if layout.tag is None else cells[layout.tag])


def _problem(cells: Sequence[str], layout: Layout) -> str | None:
    if len(cells) != layout.columns:
        return f"{len(cells)} columns where the file has {layout.columns}"
    if not cells[layout.word]:
        return "the word is empty"
    if not layout.has_tag(cells):
        return "no tag (O, or B- I- E- S- L- U- and a name) where the file has its tags"
    return None


def _sentence(rows: Sequence[_Row]) -> TaggedSentence:
    spans, labels = decode_tags([row.tag for row in rows])
    return TaggedSentence(tuple(row.word for row in rows), spans, labels, line=rows[0].line)


def to_conll(
    words: Sequence[str], spans: Sequence[tuple[int, int]], scores: Sequence[float]
) -> str:
    """One sentence as `word⇥B-ENT|I-ENT|O⇥score` lines, with the blank line that follows it.

    spans: (start, end) in words   scores: one a word
    """
    rows = zip(_tagged(words, spans), scores, strict=True)
    return "".join(f"{tagged}\t{score:.4f}\n" for tagged, score in rows) + "\n"


def to_iob2(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> str:
    """One sentence as `word⇥B-ENT|I-ENT|O` lines, with the blank line that follows it."""
    return "".join(f"{tagged}\n" for tagged in _tagged(words, spans)) + "\n"


def _tagged(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[str]:
    check_spans(spans, len(words))
    for word in words:
        if not word or "\t" in word or "\n" in word:
            raise InputError(f"a word of a CoNLL file has no tab or line break: {word!r}")
    tags = encode_tags(spans, len(words), label=LABEL)
    return [f"{word}\t{tag}" for word, tag in zip(words, tags, strict=True)]
