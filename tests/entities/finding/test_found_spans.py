"""Columns of lists, pandas and polars have their entities found, and every row is kept."""

import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from thresher import EntityFinder, InputError

TEXTS = ["Magda went to Oslo.", None, "the letter .", "Rosa left."]


@pytest.fixture(scope="module")
def finder(small):
    return EntityFinder.load(small, device="cpu")


@pytest.fixture(scope="module")
def expected(finder):
    return [finder.find(text or "", threshold=0.05) for text in TEXTS]


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        tuple(TEXTS),
        iter(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="string"),
        pd.Series([float("nan") if text is None else text for text in TEXTS], dtype=object),
        pl.Series(TEXTS),
    ],
)
def test_every_kind_of_column_gives_one_result_for_each_row(finder, expected, column):
    assert any(expected)
    assert finder.find(column, threshold=0.05) == expected


def test_other_values_are_refused(finder):
    with pytest.raises(InputError, match="a text must be a string, got int 5"):
        finder.find(["Magda", 5])


def test_a_frame_has_a_row_for_each_entity_and_for_each_text_without(finder, expected):
    frame = finder.to_frame(pd.Series(TEXTS, index=list("abcd")), threshold=0.05)
    assert list(frame.columns) == ["row", "start", "end", "text", "score", "kind"]
    assert set(frame.index) == set("abcd")
    assert frame.loc["b", "start"] is pd.NA
    for row, (label, spans) in enumerate(zip("abcd", expected, strict=True)):
        rows = frame.loc[[label]]
        assert set(rows["row"]) == {row}
        assert [text for text in rows["text"] if isinstance(text, str)] == [s.text for s in spans]
        assert [int(start) for start in rows["start"].dropna()] == [s.start for s in spans]


def test_polars_columns_give_polars_frames(finder):
    found = finder.to_frame(pl.Series(TEXTS), threshold=0.05)
    assert isinstance(found, pl.DataFrame)
    same = finder.to_frame(TEXTS, threshold=0.05)
    assert found["row"].to_list() == same["row"].tolist()
    assert found["text"].to_list() == [None if pd.isna(text) else text for text in same["text"]]
    with pytest.raises(InputError, match="must be a list of strings"):
        finder.to_frame("Magda")


def test_results_are_shown_in_notebooks_and_can_be_sent_to_processes(finder):
    text = "Magda <b> & Oslo"
    found = finder.find(text, threshold=0)
    html = found._repr_html_()
    assert "&lt;" in html
    assert "<b>" not in html
    assert html.count("<mark") == len(found) > 0
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.text) == (found, text)


def test_a_finder_describes_itself_and_logs_under_one_name(small, caplog):
    with caplog.at_level(logging.INFO, logger="thresher"):
        finder = EntityFinder.load(small, device="cpu")
    assert repr(finder) == "<EntityFinder with static, threshold 0.30>"
    assert [record.getMessage() for record in caplog.records] == [f"loaded {finder!r}"]


FRAME = {"id": [1, 2], "text": ["Magda went to Oslo.", "Rosa left."]}


@pytest.mark.parametrize("table", [FRAME, pd.DataFrame(FRAME), pl.DataFrame(FRAME)])
@pytest.mark.parametrize("method", ["find", "find_all", "to_frame", "fit", "discover_kinds"])
def test_a_whole_table_is_refused(finder, table, method):
    """Iterating a table gives the names of its columns, in which nothing would be found."""
    with pytest.raises(InputError, match=r"strings or a column, got a whole (dict|Data)"):
        list(getattr(finder, method)(table))


def test_a_column_with_a_row_named_columns_is_no_table(finder):
    column = pd.Series({"columns": TEXTS[0]})
    assert column.columns == TEXTS[0]
    assert finder.find(column, threshold=0.05) == [finder.find(TEXTS[0], threshold=0.05)]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_values_are_left_out_of_texts_to_learn_from(finder, missing):
    column = pd.Series([TEXTS[0], missing, TEXTS[3]] * 700)
    full = column.dropna()
    assert finder.adapted_to(column).threshold == finder.adapted_to(full).threshold
    assert finder.adapted_to(column).threshold != finder.threshold
    with pytest.raises(InputError, match="different entities were found; 30 are needed"):
        finder.discover_kinds(column[:6])
    with pytest.raises(InputError, match="0 words are too few"):
        EntityFinder.fit([missing])


@pytest.mark.parametrize("texts", [None, b"Oslo", 5])
def test_what_is_no_list_of_texts_is_refused(finder, texts):
    for method in (finder.find_all, finder.fit, finder.adapted_to, finder.discover_kinds):
        with pytest.raises(InputError, match="`texts` must be a list of strings, got"):
            list(method(texts))
    with pytest.raises(InputError, match="a text must be a string, got int 5"):
        finder.adapted_to(["Oslo", 5])


@pytest.mark.parametrize("sentences", [[None], [5], [["Oslo", None]], [["Oslo"], [b"Oslo"]]])
def test_words_that_are_no_strings_are_refused(finder, sentences):
    with pytest.raises(InputError, match=r"a (sentence|word) must be a "):
        finder.find_words(sentences)
    assert finder.find_words([np.array(["Oslo"]), ("Oslo",)])[0] == finder.find_words([["Oslo"]])[0]
