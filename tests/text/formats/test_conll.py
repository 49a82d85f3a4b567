"""CoNLL-like files in many layouts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.text import TaggedSentence, read_conll, to_conll
from thresher.text.formats.conll import parse_conll
from thresher.text.formats.conll_layout import Layout

EXPECTED = [
    (("Marie", "Curie", "left", "#", "."), ((0, 2),)),
    (("In", "Paris"), ((1, 2),)),
]
LAYOUTS = {
    "word tag, tabs": "Marie\tB-PER\nCurie\tI-PER\nleft\tO\n#\tO\n.\tO\n\nIn\tO\nParis\tB-LOC\n",
    "word tag, spaces": "Marie I-PER\nCurie I-PER\nleft O\n# O\n. O\n\nIn O\nParis I-LOC\n\n\n",
    "word POS chunk tag, with -DOCSTART-": (
        "-DOCSTART- -X- -X- O\n\nMarie NNP I-NP I-PER\nCurie NNP I-NP I-PER\nleft VBD I-VP O\n"
        "# # O O\n. . O O\n\nIn IN I-PP O\nParis NNP I-NP I-LOC\n"
    ),
    "index word tag more, with comments": (
        "# newdoc\n# sent_id = 1\n# text = Marie Curie left # .\n1\tMarie\tB-PER\t-\t-\n"
        "2\tCurie\tI-PER\t-\tann\n3\tleft\tO\t-\t-\n4\t#\tO\t-\t-\n5\t.\tO\t-\t-\n\n"
        "# sent_id = 2\n1\tIn\tO\t-\t-\n2\tParis\tB-LOC\t-\t-\n"
    ),
    "index with multiword lines": (
        "1-2\tMarie Curie\t_\n1\tMarie\tB-PER\n2\tCurie\tI-PER\n3\tleft\tO\n4\t#\tO\n5\t.\tO\n\n"
        "1\tIn\tO\n2\tParis\tB-LOC\n"
    ),
    "nested tags after an index": (
        "1\tMarie\tB-PER\tO\n2\tCurie\tI-PER\tO\n3\tleft\tO\tO\n4\t#\tO\tO\n5\t.\tO\tO\n\n"
        "1\tIn\tO\tO\n2\tParis\tB-LOC\tB-ORG\n"
    ),
    "word tag score": (
        "Marie\tB-ENT\t0.9\nCurie\tI-ENT\t0.8\nleft\tO\t0.1\n#\tO\t0.0\n.\tO\t0.0\n\n"
        "In\tO\t0.1\nParis\tB-ENT\t0.7\n"
    ),
    "tag word": "B-PER\tMarie\nI-PER\tCurie\nO\tleft\nO\t#\nO\t.\n\nO\tIn\nB-LOC\tParis\n",
    "BIOES": "Marie B-PER\nCurie E-PER\nleft O\n# O\n. O\n\nIn O\nParis S-LOC",
    "CRLF, byte order mark, blanks in blank lines, comments between words": (
        "\ufeffMarie\tB-PER\r\n# a remark\r\nCurie\tI-PER\r\nleft\tO\r\n#\tO\r\n.\tO\r\n"
        " \t \r\n\r\nIn\tO\r\nParis\tB-LOC\r\n\t\r\n"
    ),
    "CR": "Marie\tB-PER\rCurie\tI-PER\rleft\tO\r#\tO\r.\tO\r\rIn\tO\rParis\tB-LOC\r",
    "CR, spaces": "Marie B-PER\rCurie I-PER\rleft O\r# O\r. O\r\rIn O\rParis B-LOC",
    "CR within sentences, LF between them": (
        "Marie\tB-PER\rCurie\tI-PER\rleft\tO\r#\tO\r.\tO\n\nIn\tO\rParis\tB-LOC\n"
    ),
    "CR CR LF": (
        "Marie\tB-PER\r\r\nCurie\tI-PER\r\r\nleft\tO\r\r\n#\tO\r\r\n.\tO\r\r\n\r\r\n"
        "In\tO\r\r\nParis\tB-LOC\r\r\n"
    ),
}  # fmt: skip


def parsed(text, **options):
    lines = text.encode().splitlines(keepends=True)
    return list(parse_conll(lines, name="gold.conll", **options))


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_every_layout_gives_the_same_sentences(text, tmp_path):
    path = tmp_path / "gold.conll"
    path.write_bytes(text.encode())
    assert [(sentence.words, sentence.spans) for sentence in read_conll(path)] == EXPECTED


def test_labels_and_lines_are_kept():
    first, second = parsed(LAYOUTS["index word tag more, with comments"])
    assert (first.labels, first.line) == (("PER",), 4)
    assert (second.labels, second.line) == (("LOC",), 11)


def test_lines_that_end_with_cr_are_counted():
    sentences = parse_conll([b"Marie\rleft\r\rso\r"], name="gold.conll", need_tags=False)
    assert [(each.words, each.line) for each in sentences] == [(("Marie", "left"), 1), (("so",), 4)]


def test_unusual_characters_stay_in_words():
    (sentence,) = parsed("10\u00a0000\tO\n\u00a0\tO\nwatched\u200bwas\tO\n#tag\tO\n\u2028\tO\n")
    assert sentence.words == ("10\u00a0000", "\u00a0", "watched\u200bwas", "#tag", "\u2028")


def test_files_without_tags_are_read_if_tags_are_not_needed():
    assert parsed("Marie\nleft\n\nso\n", need_tags=False)[0].words == ("Marie", "left")
    assert parsed("Marie NNP\nleft VBD\n", need_tags=False)[0].words == ("Marie", "left")
    assert parsed("1\tMarie\t_\n2\tleft\t_\n", need_tags=False)[0].words == ("Marie", "left")
    with pytest.raises(InputError, match=r"gold.conll: no column has tags"):
        parsed("Marie NNP\nleft VBD\n")


def test_a_given_layout_is_used():
    layout = Layout(" ", columns=3, word=0, tag=1)
    (sentence,) = parsed("Marie B-PER O\nleft O B-ORG\n", layout=layout)
    assert sentence.spans == ((0, 1),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a O\nb O\nc x O\n", r"gold.conll line 3: 3 columns, but the file has 2: 'c x O'"),
        ("a\tO\nb\tO\nc\n", r"gold.conll line 3: 1 column, but the file has 2: 'c'"),
        ("a\tO\n" * 19 + "b\tPER\n", r"gold.conll line 20: no tag .*'b\\tPER'"),
        ("a\tO\n\tO\n", r"gold.conll line 2: the word is empty"),
        ("", r"gold.conll has no sentences"),
        ("# only\n\n-DOCSTART- O\n", r"gold.conll has no sentences"),
    ],
)
def test_errors_name_the_line_and_the_rule(text, message):
    with pytest.raises(InputError, match=message):
        parsed(text)


def test_invalid_utf_8_is_reported_with_its_line():
    with pytest.raises(InputError, match=r"gold.conll line 2: not valid UTF-8"):
        list(parse_conll([b"a O\n", b"\xff O\n"], name="gold.conll"))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none.conll: No such file"):
        list(read_conll(tmp_path / "none.conll"))


def test_a_long_file_is_streamed():
    def endless():
        while True:
            yield b"Marie\tB-PER\n"
            yield b"\n"

    sentences = parse_conll(endless(), name="pipe")
    assert [next(sentences).words for _ in range(5000)] == [("Marie",)] * 5000


words = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n"), min_size=1
).filter(lambda word: not word.startswith("-DOCSTART-"))  # the one word that the format reserves


@given(st.lists(st.lists(st.tuples(words, st.booleans()), min_size=1), min_size=1))
def test_what_is_written_is_read_back(sentences):
    written, expected = "", []
    for sentence in sentences:
        texts = tuple(word for word, _ in sentence)
        spans = tuple((i, i + 1) for i, (_, inside) in enumerate(sentence) if inside)
        written += to_conll(texts, spans, [0.5] * len(texts))
        expected.append((texts, spans))
    expected[0] = ((expected[0][0][0].removeprefix("\ufeff"), *expected[0][0][1:]), expected[0][1])
    if expected[0][0][0]:  # a file that starts with a byte order mark loses it
        raw = written.encode().split(b"\n")
        read = parse_conll([line + b"\n" for line in raw], name="x")
        assert [(sentence.words, sentence.spans) for sentence in read] == expected


def test_a_sentence_is_written_one_word_per_line():
    text = to_conll(["Marie", "Curie", "left"], [(0, 2)], [0.91234, 1, 0])
    assert text == "Marie\tB-ENT\t0.9123\nCurie\tI-ENT\t1.0000\nleft\tO\t0.0000\n\n"


@pytest.mark.parametrize("word", ["", "a\tb", "a\nb"])
def test_words_with_tabs_or_line_breaks_are_refused(word):
    with pytest.raises(InputError, match="tabs or line breaks"):
        to_conll([word], [], [0.5])


def test_spans_outside_the_sentence_are_refused():
    with pytest.raises(ValueError, match="is not inside a sentence of 1 words"):
        to_conll(["a"], [(0, 2)], [0.5])


@pytest.mark.parametrize(
    ("words", "spans", "labels"),
    [
        ((), (), ()),
        (("a", ""), (), ()),
        (("a",), ((0, 1),), ()),
        (("a", "b"), ((0, 2), (1, 2)), ("x", "y")),
    ],
)
def test_an_inconsistent_tagged_sentence_is_refused(words, spans, labels):
    with pytest.raises(ValueError, match=r"must have words|labels for|in order and not overlap"):
        TaggedSentence(words, spans, labels)
