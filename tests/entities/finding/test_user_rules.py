"""Names and patterns of the user are always or never reported."""

import time
from itertools import pairwise

import pytest

from thresher import EntityFinder, InputError
from thresher.entities.finding.adaptation import Adaptation
from thresher.entities.finding.user_rules import UserRules, read_rules
from thresher.text import segment

TEXT = (
    "The letter was sent from Oslo to the forge by Magda; see INV-2024-7. Then invoices may follow."
)


@pytest.fixture(scope="module")
def finder(small):
    return EntityFinder.load(small, device="cpu")


def found(finder, text=TEXT, **options):
    spans = finder.find(text, **options)
    assert all(text[span.start : span.end] == span.text for span in spans)
    return {span.text: span.score for span in spans}


def test_a_name_is_always_reported_with_score_1(finder):
    assert "the forge" not in found(finder)
    ruled = found(finder.with_rules(always=["the forge"]))
    assert ruled["the forge"] == 1
    assert ruled.keys() - {"the forge"} == found(finder).keys()


def test_a_name_with_a_capital_matches_only_as_it_is_written(finder):
    assert "may" not in found(finder.with_rules(always=["May"]))
    assert found(finder.with_rules(always=["may"]))["may"] == 1
    assert found(finder.with_rules(always=["oslo"]))["Oslo"] == 1


def test_a_pattern_covers_whole_words(finder):
    ruled = found(finder.with_rules(always=[r"/INV-\d+/"]))
    assert any(text.startswith("INV-2024") for text, score in ruled.items() if score == 1)


def test_what_is_never_an_entity_is_left_out_and_has_precedence(finder):
    assert "Oslo" in found(finder, threshold=0)
    for rule in ("Oslo", "oslo", "/O.*/"):
        assert "Oslo" not in found(finder.with_rules(never=[rule]), threshold=0)
        assert "Oslo" not in found(finder.with_rules(always=["Oslo"], never=[rule]), threshold=0)
    assert "Oslo" in found(finder.with_rules(never=["Osl", "OSLO", "/Osl/"]), threshold=0)


def test_rules_apply_to_words_and_to_other_finders_of_the_same_model(finder):
    ruled = finder.with_rules(always=["the forge"], never=["Oslo"])
    (candidates,) = ruled.find_words([["to", "the", "forge", "in", "Oslo"]], threshold=0)
    assert [(each.start, each.end, each.score) for each in candidates if each.score == 1] == [
        (1, 3, 1)
    ]
    assert all(each.start != 4 for each in candidates)
    assert ruled.with_selector(1).rules == ruled.rules
    assert finder.rules is None


def test_candidates_stay_in_order_and_do_not_overlap(finder):
    ruled = finder.with_rules(always=["Oslo to", "to the", "Oslo", "/[a-z]+ the/"])
    spans = ruled.find(TEXT, threshold=0)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert "Oslo to" in [span.text for span in spans]


ANSWERS = "Magda used Yahoo! Answers daily. Elias wrote to Rosa! Nobody answered."


@pytest.mark.parametrize("gap", [" ", "  ", "\n", "\r\n"])
@pytest.mark.parametrize("rule", ["Yahoo! Answers", "yahoo! answers"])
def test_a_name_can_contain_the_end_of_a_sentence(finder, gap, rule):
    text = ANSWERS.replace("! A", f"!{gap}A")
    name = f"Yahoo!{gap}Answers"
    assert len(segment(text)) == 4
    without = finder.find(text, threshold=0)
    ruled = finder.with_rules(always=[rule]).find(text, threshold=0)
    assert {span.text: span.score for span in ruled}[name] == 1
    assert all(text[span.start : span.end] == span.text for span in ruled)
    assert all(left.end <= right.start for left, right in pairwise(ruled))
    start = text.index(name)
    end = start + len(name)
    others = [span for span in ruled if span.text != name]
    assert others == [span for span in without if span.end <= start or span.start >= end]


def test_a_sentence_is_joined_only_where_a_name_connects_it(finder):
    ruled = finder.with_rules(always=["Yahoo! Answers", "Rosa"])
    (scored,) = ruled.score_texts([ANSWERS])
    (plain,) = finder.score_texts([ANSWERS])
    words = [list(each.texts) for each in plain.sentences]
    expected = [words[0] + words[1], *words[2:]]
    assert [list(each.texts) for each in scored.sentences] == expected
    assert [list(each.words) for each in scored.scored_sentences] == expected
    scores = [score for each in plain.scored_sentences for score in each.scores.tolist()]
    assert [s for each in scored.scored_sentences for s in each.scores.tolist()] == scores


def test_a_name_can_contain_several_ends_of_sentences(finder):
    text = "They saw Hello! Dolly! Again yesterday. Then they left."
    assert len(segment(text)) == 4
    assert (
        found(finder.with_rules(always=["Hello! Dolly! Again"]), text)["Hello! Dolly! Again"] == 1
    )


@pytest.mark.parametrize("text", ["She saw Yahoo!\n\nAnswers came.", "To Paris\n\nHilton left."])
def test_a_name_does_not_connect_paragraphs(finder, text):
    ruled = finder.with_rules(always=["Yahoo! Answers", "Paris Hilton"])
    assert finder.find(text) == ruled.find(text)


def test_a_catastrophic_pattern_is_stopped_with_one_line(finder):
    start = time.monotonic()
    with pytest.raises(InputError, match=r"the pattern /.*/ takes more than 1 s in one text"):
        found(finder.with_rules(always=["/(a|aa)+(?<=b)c/"]), "a" * 300)
    assert time.monotonic() - start < 30


def test_a_deeply_nested_pattern_is_refused():
    with pytest.raises(InputError, match="is nested too deeply"):
        UserRules(always=("/" + "(" * 5000 + ")" * 5000 + "/",))


@pytest.mark.parametrize("rule", ["/(/", "/[a/", "/a{99999999999}/"])
def test_an_invalid_pattern_is_refused(rule):
    with pytest.raises(InputError, match="is not a regular expression"):
        UserRules(always=(rule,))


def test_a_file_has_one_rule_in_each_line(tmp_path, finder):
    path = tmp_path / "always.txt"
    path.write_text("\ufeff# names\nthe forge\n\n/INV-.*/\n", encoding="utf-8")
    assert read_rules(path) == ("the forge", "/INV-.*/")
    assert finder.with_rules(always=path).rules == UserRules(("the forge", "/INV-.*/"))
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_rules(path)
    with pytest.raises(InputError, match="cannot read"):
        read_rules(tmp_path / "none")


def test_rules_stay_when_kinds_selector_or_adaptation_change(finder):
    ruled = finder.with_rules(always=["the forge"])
    adaptation = Adaptation(ruled.model.signal_weights, ruled.threshold, frozenset(), 0)
    for changed in (
        ruled.with_kinds(None),
        ruled.with_selector(1),
        ruled.with_adaptation(adaptation),
    ):
        assert "the forge" in found(changed)
