"""Sentences of CoNLL files, and how they are told from tables."""

import pytest
from tests.text.corpus.files import read, write

from thresher.errors import InputError
from thresher.text import Sentence, read_texts

TAGGED = "Marie\tB-PER\nleft\tO\n\nSo\tO\ndid\tO\nPierre\tB-PER\n"
TABLE = "id\ttext\n1\tMarie left.\n2\tSo did Pierre.\n"


class TestConll:
    def test_each_sentence_is_a_document_with_its_words(self):
        write("a.conll", "# one\nMarie\tB-PER\nleft\tO\n\nN. Y.\tO\n")
        first, second = read_texts("a.conll")
        assert (first.text, first.number) == ("Marie left", 2)
        assert first.segmented() == (Sentence.from_words(["Marie", "left"]),)
        assert [word.text for word in second.segmented()[0].words] == ["N. Y."]

    def test_the_format_can_be_given(self):
        assert read(write("a.txt", "Marie O\nleft O\n"), format="conll") == [
            ("Marie left", "a.txt", 1)
        ]


class TestTsvThatMayBeConll:
    @pytest.mark.parametrize(
        "content",
        [
            TAGGED,
            TAGGED.replace("\n", "\r"),
            "# one\n" + TAGGED,
            TAGGED.replace("Marie", '"'),  # no table: a cell that never ends
            TAGGED.partition("\n\n")[0],
            "word\ttag\n\n" + "\n".join([TAGGED] * 4),
            "1\tMarie\tX\n2\tleft\tX\n\n1\tSo\tX\n",
            "Marie\nleft\n\nSo\n",
        ],
        ids=lambda content: repr(content)[:30],
    )
    def test_tags_and_blank_lines_mean_conll(self, content, problems):
        expected = read(write("a.conll", content), on_problem=problems.append)
        found = read(write("a.tsv", content), on_problem=problems.append)
        assert [(text, line) for text, _, line in found] == [
            (text, line) for text, _, line in expected
        ]

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("id\tbody\n1\tMarie\n", "its first row has no column 'text', and no column has tags"),
            ("Marie\tNNP\nleft\tVBD\n\nSo\tRB\n", "its first row has no column 'text'"),
            ("Marie\nleft\n", "its first row has no column 'text'"),
            ("1\tMarie left.\n2\tSo did I.\n", "its first row has no column 'text'"),
            ("id\tsize\n" + "1\tS\n2\tL\n" * 20, "its first row has no column 'text'"),
            ("text\ttag\n" + "Marie\tO\n" * 20, "it has a column 'text', but also tags or blank"),
            ("text\tO\n" + "Marie\tO\n" * 20, "it has a column 'text', but also tags or blank"),
            ("text\tid\nMarie\t1\n\nleft\t2\n", "it has a column 'text', but also tags or blank"),
        ],
    )
    def test_an_unclear_file_is_refused_with_both_possibilities(self, content, reason):
        write("a.tsv", content)
        with pytest.raises(InputError) as error:
            read("a.tsv")
        assert str(error.value).startswith(
            f"cannot tell whether a.tsv is a table or CoNLL: {reason}"
        )
        assert "`format=tsv`" in str(error.value)
        assert str(error.value).endswith("`format=conll`")

    def test_the_format_decides_if_it_is_given(self):
        write("a.tsv", "text\ttag\n" + "Marie\tO\n" * 20)
        assert len(read("a.tsv", format="tsv")) == 20
        write("a.tsv", "Marie\nleft\n")
        assert read("a.tsv", format="conll") == [("Marie left", "a.tsv", 1)]

    def test_an_empty_file_has_no_sentences(self):
        with pytest.raises(InputError, match=r"a.tsv has no sentences"):
            read(write("a.tsv", ""))


def test_an_invalid_conll_line_is_reported_and_the_rest_is_read(tmp_path):
    path = tmp_path / "gold.conll"
    path.write_bytes(b"Anna\tB-PER\nleft\tO\n\nBoris\tB-PER\nbad\n\xff\tO\ncame\tO\n")
    problems: list[str] = []
    documents = list(read_texts([str(path)], on_problem=problems.append))
    assert [each.text for each in documents] == ["Anna left", "Boris came"]
    assert [problem.split(": ")[0].rsplit(" ", 2)[1:] for problem in problems] == [
        ["line", "6"],
        ["line", "5"],
    ]
    with pytest.raises(InputError, match="line"):
        list(read_texts([str(path)]))
