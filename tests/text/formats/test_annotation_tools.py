"""Files for Prodigy, doccano, Label Studio and IOB2 are written and read back."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.text import (
    Span,
    TaggedText,
    read_annotated,
    read_conll,
    read_texts,
    segment,
    to_doccano,
    to_iob2,
    to_label_studio,
    to_prodigy,
)
from thresher.text.utf16 import from_utf16, utf16_offsets

AWKWARD = {
    "plain": ("Marie Curie left Paris.", ["Marie Curie", "Paris"]),
    "emoji before": ("👩‍🔬🎉 Marie Curie 🇫🇷 left Paris 😀.", ["Marie Curie", "Paris"]),
    "emoji inside": ("The band 🎸Rosa🎸 plays.", ["🎸Rosa🎸"]),
    "combining marks": ("Zoe\u0308 met Andre\u0301 in Ma\u0302con.", ["Zoe\u0308", "Andre\u0301"]),
    "right to left": ("אתמול פגש דוד את مريم في القاهرة.", ["דוד", "مريم", "القاهرة"]),
    "carriage returns": ("Oslo\r\n\r\nMagda\r\nNowak left.\r\n", ["Oslo", "Magda\r\nNowak"]),
    "separators of lines": ("Oslo\u2028Magda\x85Nowak\x0bleft", ["Oslo", "Magda", "Nowak"]),
    "beyond the first plane": ("𝒜lice and 𐍈 met 𠮷野家.", ["𝒜lice", "𠮷野家"]),
}


def placed(text: str, names: list[str]) -> list[Span]:
    spans, done = [], 0
    for number, name in enumerate(names, 2):
        start = text.index(name, done)
        done = start + len(name)
        spans.append(Span(start, done, name, round(1 / number, 6)))
    return spans


@st.composite
def texts_with_spans(draw):
    """Any text, with any spans that do not overlap."""
    text = draw(st.text(st.characters(), min_size=1))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [Span(a, b, text[a:b], draw(st.sampled_from([0, 0.25, 1]))) for a, b in pairs]


def written(tool: str, text: str, spans: list[Span]) -> str:
    about = {"source": "notes.txt", "line": 3}
    if tool == "label-studio":
        return "".join(to_label_studio([(text, spans, about)]))
    return {"prodigy": to_prodigy, "doccano": to_doccano}[tool](text, spans, about=about)


def read_back(folder: Path, tool: str, content: str | bytes, **options) -> list[TaggedText]:
    path = folder / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_annotated(path, format=tool, **options))


TOOLS = ["prodigy", "doccano", "label-studio"]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("kind", AWKWARD)
def test_what_is_written_is_read_back(tool, kind, tmp_path):
    text, names = AWKWARD[kind]
    spans = placed(text, names)
    [back] = read_back(tmp_path, tool, written(tool, text, spans))
    assert back == TaggedText(text, tuple(spans), ("ENT",) * len(spans))


@pytest.mark.parametrize("tool", TOOLS)
@given(given_text=texts_with_spans())
def test_any_text_is_read_back(tool, given_text, tmp_path_factory):
    text, spans = given_text
    [back] = read_back(tmp_path_factory.getbasetemp(), tool, written(tool, text, spans))
    assert (back.text, list(back.spans)) == (text, spans)


@pytest.mark.parametrize("kind", AWKWARD)
def test_prodigy_gets_words_with_correct_offsets(kind):
    text, names = AWKWARD[kind]
    task = json.loads(written("prodigy", text, placed(text, names)))
    tokens = task["tokens"]
    assert [token["id"] for token in tokens] == list(range(len(tokens)))
    assert all(text[token["start"] : token["end"]] == token["text"] for token in tokens)
    assert "".join(token["text"] for token in tokens) == "".join(text.split())
    for span, name in zip(task["spans"], names, strict=True):
        first, last = tokens[span["token_start"]], tokens[span["token_end"]]
        assert first["start"] <= span["start"] < first["end"]
        assert last["start"] < span["end"] <= last["end"]
        assert text[span["start"] : span["end"]] == name
    assert task["meta"] == {"source": "notes.txt", "line": 3}


def test_prodigy_knows_where_white_space_follows():
    tokens = json.loads(to_prodigy("Oslo, May.\n", []))["tokens"]
    assert [(token["text"], token["ws"]) for token in tokens] == [
        ("Oslo", False),
        (",", True),
        ("May", False),
        (".", True),
    ]


@pytest.mark.parametrize("kind", AWKWARD)
def test_doccano_offsets_are_utf16(kind):
    text, names = AWKWARD[kind]
    example = json.loads(written("doccano", text, placed(text, names)))
    units = text.encode("utf-16-le")
    shown = [units[2 * start : 2 * end].decode("utf-16-le") for start, end, _ in example["label"]]
    assert shown == names
    assert [label for *_, label in example["label"]] == ["ENT"] * len(names)


@pytest.mark.parametrize("kind", AWKWARD)
def test_label_studio_offsets_are_characters(kind):
    text, names = AWKWARD[kind]
    [task] = json.loads(written("label-studio", text, placed(text, names)))
    characters = list(task["data"]["text"])
    [prediction] = task["predictions"]
    values = [region["value"] for region in prediction["result"]]
    assert ["".join(characters[v["start"] : v["end"]]) for v in values] == names
    assert [v["text"] for v in values] == names
    assert prediction["score"] == min(region["score"] for region in prediction["result"])
    assert len({region["id"] for region in prediction["result"]}) == len(names)
    assert task["data"]["source"] == "notes.txt"


@pytest.mark.parametrize("count", [0, 1, 3])
def test_label_studio_gets_one_array(count):
    tasks = [(f"Text {number}", [], None) for number in range(count)]
    read = json.loads("".join(to_label_studio(iter(tasks))))
    assert [task["data"]["text"] for task in read] == [text for text, *_ in tasks]
    assert all("score" not in task["predictions"][0] for task in read)


@pytest.mark.parametrize("kind", AWKWARD)
def test_iob2_keeps_every_word(kind, tmp_path):
    """Words hold all but white space: put back in the text, their spans lie where they lay."""
    text, names = AWKWARD[kind]
    spans = placed(text, names)
    tagged = TaggedText(text, tuple(spans), ("ENT",) * len(spans)).sentences()
    path = tmp_path / "words.iob2"
    path.write_text("".join(to_iob2(each.words, each.spans) for each in tagged), encoding="utf-8")
    assert {len(line.split("\t")) for line in path.read_text("utf-8").split("\n") if line} == {2}
    found, done = [], 0
    for sentence in read_conll(path):
        places = []
        for word in sentence.words:
            start = text.index(word, done)
            assert not text[done:start].strip()
            done = start + len(word)
            places.append((start, done))
        found += [(places[first][0], places[last - 1][1]) for first, last in sentence.spans]
    across_lines = {"Magda\r\nNowak"}  # its sentence ends with its line
    if not across_lines & set(names):
        assert found == [(span.start, span.end) for span in spans]


def test_a_span_covers_every_word_it_touches_and_is_cut_at_sentence_ends():
    text = "Anna-Lena left. Oslo is far."
    spans = (Span(2, 6, "na-L", 1), Span(10, 20, "left. Oslo", 1))
    first, second = TaggedText(text, spans, ("PER", "X"), number=7).sentences()
    words = [word.text for word in segment(text)[0].words]
    assert first.words == tuple(words)
    assert [" ".join(words[a:b]) for a, b in first.spans] == ["Anna - Lena", "left ."]
    assert (second.words[second.spans[0][0]], second.spans) == ("Oslo", ((0, 1),))
    assert (first.labels, second.labels, first.line) == (("PER", "X"), ("X",), 7)


def test_tagging_time_is_linear_in_the_length():
    def seconds(count):
        text = "Marie left Paris. " * count
        spans = [Span(18 * i, 18 * i + 5, "Marie", 1) for i in range(count)]
        tagged = TaggedText(text, tuple(spans), ("PER",) * count)
        start = time.process_time()
        assert [each.spans for each in tagged.sentences()] == [((0, 1),)] * count
        return time.process_time() - start

    assert seconds(2000) < 8 * seconds(500) + 0.5  # 4 times if linear, 16 if quadratic


def test_two_spans_in_one_word_become_one():
    spans = (Span(0, 2, "Os", 1), Span(2, 4, "lo", 1))
    [sentence] = TaggedText("Oslo", spans, ("A", "B")).sentences()
    assert (sentence.spans, sentence.labels) == (((0, 1),), ("A",))


TEXT = "😀 Marie left Paris."
MARKED = (Span(2, 7, "Marie", 1.0),)

EXPORTS = {
    "prodigy accepted": (
        "prodigy",
        {"text": TEXT, "spans": [{"start": 2, "end": 7, "label": "PER"}], "answer": "accept"},
    ),
    "doccano": ("doccano", {"id": 1, "text": TEXT, "label": [[3, 8, "PER"]], "Comments": []}),
    "doccano, old": ("doccano", {"id": 1, "text": TEXT, "labels": [[3, 8, "PER"]]}),
    "doccano with relations": (
        "doccano",
        {
            "text": TEXT,
            "entities": [{"id": 4, "label": "PER", "start_offset": 3, "end_offset": 8}],
            "relations": [],
        },
    ),
    "label studio, the last of two people": (
        "label-studio",
        {
            "id": 1,
            "data": {"text": TEXT},
            "annotations": [
                {"result": [{"type": "labels", "value": {"start": 0, "end": 1, "labels": ["X"]}}]},
                {
                    "was_cancelled": False,
                    "result": [
                        {"type": "labels", "value": {"start": 2, "end": 7, "labels": ["PER"]}},
                        {"type": "choices", "value": {"choices": ["good"]}},
                        {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"},
                    ],
                },
                {"was_cancelled": True, "result": []},
            ],
            "predictions": [{"result": []}],
        },
    ),
}


@pytest.mark.parametrize("kind", EXPORTS)
@pytest.mark.parametrize("form", ["lines", "array"])
def test_exports_of_the_tools_are_read(kind, form, tmp_path):
    tool, record = EXPORTS[kind]
    content = json.dumps(record) + "\n"
    content = "\n" + content if form == "lines" else f"\ufeff [{content}]"
    assert read_back(tmp_path, tool, content) == [
        TaggedText(TEXT, MARKED, ("PER",), number=2 if form == "lines" else 1)
    ]


@pytest.mark.parametrize(
    ("tool", "record"),
    [
        ("prodigy", {"text": TEXT, "spans": [], "answer": "reject"}),
        ("prodigy", {"text": TEXT, "spans": [], "answer": "ignore"}),
        ("label-studio", {"data": {"text": TEXT}}),
        ("label-studio", {"data": {"text": TEXT}, "annotations": [{"was_cancelled": True}]}),
    ],
)
def test_texts_without_annotation_are_skipped(tool, record, tmp_path):
    assert read_back(tmp_path, tool, json.dumps(record)) == []


@pytest.mark.parametrize(
    ("tool", "record", "message"),
    [
        ("prodigy", {"spans": []}, "no field 'text'; it has spans"),
        ("prodigy", {"text": "a", "spans": [{"start": 0}]}, "start, end and label"),
        ("prodigy", {"text": "a", "spans": [7]}, "start, end and label"),
        (
            "prodigy",
            {"text": "abc", "spans": [{"start": 1, "end": 9, "label": "X"}]},
            "span 1:9 is not inside its text of 3 characters",
        ),
        (
            "prodigy",
            {"text": "abc", "spans": [{"start": 1, "end": 2, "label": "X", "score": "high"}]},
            "the score of span 1:2 must be between 0 and 1, got 'high'",
        ),
        ("doccano", {"text": "a", "label": ["PER"]}, "start, end and name"),
        ("doccano", {"text": "a", "label": [[0.5, 1, "X"]]}, "start, end and name"),
        ("doccano", {"text": "😀", "label": [[1, 2, "X"]]}, "inside one of its characters"),
        ("doccano", {"text": "a", "label": [[0, 5, "X"]]}, "UTF-16 offset 5 is beyond the text"),
        (
            "doccano",
            {"text": "abc", "label": [[0, 2, "X"], [1, 3, "Y"]]},
            "spans overlap: 'ab' and 'bc'",
        ),
        ("label-studio", {"text": "a"}, "not a Label Studio task"),
        (
            "label-studio",
            {"data": {"text": "a"}, "predictions": [{"result": [{"value": {"labels": []}}]}]},
            "start, end and labels",
        ),
        ("label-studio", {"data": {"text": "a"}, "annotations": 7}, "start, end and labels"),
        ("label-studio", {"data": {"text": "a"}, "predictions": [7]}, "start, end and labels"),
        (
            "label-studio",
            {"data": {"text": "a"}, "annotations": [{"result": None}]},
            "start, end and labels",
        ),
    ],
)
def test_an_invalid_record_is_reported_and_the_rest_is_read(tool, record, message, tmp_path):
    good = EXPORTS[next(kind for kind, (name, _) in EXPORTS.items() if name == tool)][1]
    content = f"{json.dumps(record)}\n[1]\n{{oops\n{json.dumps(good)}\n"
    problems: list[str] = []
    assert len(read_back(tmp_path, tool, content, on_problem=problems.append)) == 1
    first, *rest = problems
    assert first.startswith(f"{tmp_path / 'file'} line 1: ")
    assert message in first
    assert [problem.rpartition(": ")[2] for problem in rest] == [
        "not a JSON object",
        "not JSON in UTF-8",
    ]
    with pytest.raises(InputError, match="line 1"):
        read_back(tmp_path, tool, content)


@pytest.mark.parametrize("content", [b"[", b"[\xff]", b"[" * 100_000])
def test_an_incomplete_array_is_refused(content, tmp_path):
    with pytest.raises(InputError, match="neither a JSON array nor JSON lines"):
        read_back(tmp_path, "label-studio", content)


def test_an_unknown_tool_is_refused(tmp_path):
    with pytest.raises(InputError, match="unknown `format` 'prodgy'; choose from prodigy, doccano"):
        read_back(tmp_path, "prodgy", "")


def test_read_texts_reads_the_texts_of_tasks(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text('[{"data": {"body": "Oslo"}}, {"data": {}}]', encoding="utf-8")
    problems: list[str] = []
    read = read_texts(path, format="label-studio", field="body", on_problem=problems.append)
    assert [(text.text, text.number) for text in read] == [("Oslo", 1)]
    assert problems == [f"{path} record 2: no field 'body'; it has none"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_utf16_offsets_equal_those_of_the_codec(text):
    offsets = utf16_offsets(text)
    expected = [len(text[:i].encode("utf-16-le")) // 2 for i in range(len(text) + 1)]
    assert list(offsets) == expected
    assert [from_utf16(offsets, place) for place in expected] == list(range(len(text) + 1))


@pytest.mark.parametrize("place", [-1, 2, 4])
def test_an_invalid_utf16_offset_is_refused(place):
    with pytest.raises(InputError, match=f"UTF-16 offset {place} is beyond the text or inside"):
        from_utf16(utf16_offsets("a😀"), place)


@pytest.mark.parametrize(
    ("spans", "labels", "message"),
    [
        ((Span(0, 2, "xy", 1),), ("A",), "not a span of this text"),
        ((Span(0, 2, "Os", 1),), (), "0 labels for 1 spans"),
    ],
)
def test_an_inconsistent_tagged_text_is_refused(spans, labels, message):
    with pytest.raises(ValueError, match=message):
        TaggedText("Oslo", spans, labels)
