import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.kinds.discovery import name_like
from thresher.entities.kinds.examples import KindExamples, as_examples
from thresher.errors import InputError

KINDS = {"person": ["Marie Curie", "Obama"], "place": ["Paris"]}


def test_toml_and_json_files_give_the_same_kinds(tmp_path):
    toml, as_json = tmp_path / "kinds.toml", tmp_path / "kinds.json"
    toml.write_text('person = ["Marie Curie", "Obama"]\nplace = ["Paris"]\n')
    as_json.write_text(json.dumps(KINDS))
    assert KindExamples.read(toml) == KindExamples.read(as_json) == as_examples(KINDS)


@pytest.mark.parametrize("name", ["kinds.toml", "kinds.json", "kinds"])
@pytest.mark.parametrize("content", [json.dumps(KINDS), 'person = ["Marie Curie", "Obama"]'])
def test_a_byte_order_mark_is_ignored(tmp_path, name, content):
    """Some editors on Windows write one."""
    if name.endswith(".json") and not content.startswith("{"):
        pytest.skip("not JSON")
    path = tmp_path / name
    path.write_text(content, encoding="utf-8-sig")
    assert KindExamples.read(path).names["person"] == ("Marie Curie", "Obama")


def test_the_name_of_a_kind_may_have_joiners():
    """The zero-width non-joiner is part of the Persian word for student."""
    kind = "دانش\u200cآموز"
    assert as_examples({kind: ["Sara"]}).kinds == (kind,)


@pytest.mark.parametrize("words", [["Paris", ",", "Texas"], ["A\u00adB\x07\u200c"], ["a\u3000b"]])
def test_a_kind_can_be_named_like_any_entity(words):
    kind = name_like(words)
    assert kind.startswith("like-")
    assert as_examples({kind: ["Paris"]}).kinds == (kind,)


def test_json_is_recognised_without_its_suffix(tmp_path):
    path = tmp_path / "kinds"
    path.write_text(json.dumps(KINDS))
    assert KindExamples.read(path).kinds == ("person", "place")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("# nothing\n", "the file has no kinds"),
        ("person = []", "the kind person has no names"),
        ('person = "Obama"', "the kind person must have a list of names"),
        ("person = [1, 2, 3]", "the kind person must have a list of names"),
        ('person = [" "]', "the kind person must have a list of names"),
        ('a = ["Paris"]\nb = ["PARIS"]', "'PARIS' is listed under two kinds, a and b"),
        ('"a b" = ["Paris"]', "the name of a kind must be one word"),
        ('"a,b" = ["Paris"]', "the name of a kind must have no comma, got 'a,b'"),
        ('None = ["Paris"]', "a kind cannot have the name None"),
        ("a = " + "[" * 100_000, "is not valid TOML: it is nested too deeply"),
        ("person = [", r'is not valid TOML: .*; write lines such as person = \["Marie Curie"'),
        ('medical device = ["MRI"]', "must be one word, such as medical-device"),
        ('Mühle = ["MRI"]', 'name of the kind in quotation marks: "Mühle"'),
        ('a = ["MRI"]\na = ["CT"]', "the kind a is listed twice"),
        ('person = ["?!"]', "the kind person must have a list of names"),
        (f'person = ["{"x " * 600}"]', "has a name of 1,200 characters; at most 1000 are used"),
        ('ENT = ["Paris"]', "a kind cannot have the name ENT, which means without a kind"),
        ('{"person": [}', "is not valid JSON"),
        ('{"person": ["Ann"], "person": ["Bob"]}', "the key 'person' appears twice"),
        (f'person = "{"x" * 10_000}"', r"got 'xxxx*\.\.\.x*'$"),
        ("".join(f'k{i} = ["Name{i}"]\n' for i in range(1001)), "the file has 1,001 kinds"),
    ],
)
def test_a_bad_file_gives_one_clear_line(tmp_path, content, message):
    path = tmp_path / "kinds.toml"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        KindExamples.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value).replace("\\n", "")


def test_a_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "kinds.toml"
    path.write_text('person = ["Obama"]', encoding="utf-16")
    with pytest.raises(InputError, match="is not a text in UTF-8"):
        KindExamples.read(path)


def test_a_name_that_is_given_twice_counts_once():
    assert as_examples({"place": ["Paris", "paris", "Rome"]}).names["place"] == ("Paris", "Rome")


def test_the_file_of_built_in_kinds_is_small_and_has_the_common_kinds():
    names = KindExamples.english().names
    assert {"person", "place", "organisation"} <= names.keys()
    assert all(30 <= len(each) <= 700 for each in names.values())


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5).filter(lambda t: t.isprintable() and not set(t) & set(" ")),
        st.lists(st.text(min_size=1), min_size=1, max_size=3),
        min_size=1,
        max_size=3,
    )
)
def test_written_toml_is_read_back(kinds):
    try:
        examples = as_examples(kinds)
    except InputError:
        return  # names of two kinds, or without words
    assert tomllib.loads(examples.to_toml()) == {k: list(v) for k, v in examples.names.items()}
