"""The fields of a record are kept under their own names, or with a prefix if these are taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.document import Document, with_fields

NAMES = st.sampled_from(["id", "text", "source", "input_source", "input_input_source", "spans"])


def test_where_a_text_was_read_and_its_fields_are_one_record():
    document = Document("Marie", "a.csv", 3, fields={"id": 7, "source": "wire", "text": "old"})
    assert document.about("text", "spans") == {
        "source": "a.csv", "line": 3, "offset": 0,
        "id": 7, "input_source": "wire", "input_text": "old",
    }  # fmt: skip


def test_a_document_can_be_hashed_whatever_its_fields():
    assert len({Document("a", "b", fields={"tags": ["x"]}), Document("a", "b")}) == 2


@given(st.dictionaries(NAMES, st.integers()), st.dictionaries(NAMES, st.integers()), st.sets(NAMES))
def test_no_field_is_lost_or_replaces_another(own, fields, reserved):
    record = with_fields(own, fields, *reserved)
    assert {name: record[name] for name in own} == own
    assert sorted(record.values()) == sorted([*own.values(), *fields.values()])
    assert not reserved & (record.keys() - own.keys())
    assert all(name.endswith(tuple(fields)) for name in record.keys() - own.keys())


@pytest.mark.parametrize("name", ["id", "date"])
def test_a_field_whose_name_is_free_keeps_it(name):
    assert with_fields({"source": "a"}, {name: 1}, "text")[name] == 1
