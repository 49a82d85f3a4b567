import pytest

from thresher.text.language import is_english

VOCABULARY = frozenset("shares fell merkel paris de moved".split())


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("the and", True),  # frequent words of English
        ("der und", False),  # of German
        ("in is was", False),  # of both: no evidence
        ("the in is was", True),
        ("shares fell", True),  # known words
        ("de", False),  # a known word that is frequent in another language
        ("aksjer falt", False),
        ("shares falt", False),  # one known and one unknown word: no evidence
        ("Shares falt", False),
        ("shares Falt", True),  # an unknown word with a capital may be a name
        ("shares fell påbud", False),  # a letter that English lacks
        ("shares fell pabud", True),
        ("Paris", True),
        ("Oslo", False),
        ("PARIS MOVED", True),
        ("b c shares", True),  # letters are no words
        ("", False),
        ("2026 http://example.org/the @the #the", False),
        ("東京は日本の首都です the shares", False),  # most letters are not Latin
        ("東京 the shares fell", True),
    ],
)
def test_the_sum_of_evidence_decides(text, english):
    assert is_english(text.split(), VOCABULARY) is english


def test_combining_marks_are_letters_of_a_word():
    assert not is_english(["shares", "fe\u0301ll"], VOCABULARY)
