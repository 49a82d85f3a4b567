"""Hard-wrapped lines are joined; list items, headings and one sentence per line are not."""

import textwrap

import pytest

from thresher.text import segment

PARAGRAPHS = [
    "The harbour town of Ardmore kept its ships in winter, when the pilots of the northern coast "
    "went home to Inverkell and the clerks counted ropes and barrels in the long sheds. Nobody "
    "sailed before March. In the year of the great frost even the river stood still, and Captain "
    "Anna Maria Holmberg walked across it with her dog, a sack of letters and a lantern.",
    "She told Peter Brown of it only once.",
    "The letters were for Dr. Evans, who had asked for news of his brother ever since the wreck of "
    "the Margaret Anne. He read them by the window, slowly, and put them away in a drawer.",
]


def texts_of(text):
    return [" ".join(text[s.start : s.end].split()) for s in segment(text)]


@pytest.mark.parametrize("width", range(44, 104, 3))
def test_wrapped_text_has_the_sentences_of_the_text_unwrapped(width):
    plain = "\n\n".join(PARAGRAPHS)
    wrapped = "\n\n".join(textwrap.fill(paragraph, width) for paragraph in PARAGRAPHS)
    assert texts_of(wrapped) == texts_of(plain)


def test_a_short_paragraph_uses_the_width_of_the_text():
    short = "She was the well-known and much respected Anna Maria\nHolmberg of Ardmore."
    wrapped = textwrap.fill(PARAGRAPHS[0], 56)
    assert texts_of(f"{wrapped}\n\n{short}")[-1] == short.replace("\n", " ")
    assert len(texts_of(short)) == 2


def test_indented_wrapped_text_is_joined():
    wrapped = textwrap.fill(PARAGRAPHS[0], 60, initial_indent="    ", subsequent_indent="  ")
    assert texts_of(wrapped) == texts_of(PARAGRAPHS[0])


@pytest.mark.parametrize(
    "lines",
    [
        ["Peter left", "Anna stayed at home with the dog and a book", "Nobody came"],
        ["first item", "a second and rather longer item of this list", "third", "fourth one"],
        ["BOOK ONE: 1805", "CHAPTER I"],
        ["- one", "- two", "- three"],
        ["http://example.org/a", "http://example.org/bcd", "http://example.org/e"],
        ["x" * 130 + " and so on", "y" * 128 + " and more", "z" * 131 + " and less"],
        ["北京的秋天", "上海的春天", "广州的夏天"],
    ],
)
def test_a_line_that_was_not_wrapped_is_a_sentence(lines):
    assert texts_of("\n".join(lines)) == lines


def test_headings_and_list_items_inside_wrapped_text_are_not_joined():
    body = textwrap.fill(PARAGRAPHS[0], 60)
    items = "1. Ropes and barrels, counted by the clerks in the long\nsheds\n2. Lanterns"
    found = texts_of(f"CHAPTER I\n{body}\n\n{items}")
    assert found[0] == "CHAPTER I"
    assert found[-2:] == [
        "1. Ropes and barrels, counted by the clerks in the long sheds",
        "2. Lanterns",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028"])
def test_all_kinds_of_line_ends_are_recognised(end):
    assert texts_of(f"One item{end}Another item{end}{end}Last") == [
        "One item",
        "Another item",
        "Last",
    ]
