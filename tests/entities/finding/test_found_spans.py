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
