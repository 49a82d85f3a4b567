import pytest

from thresher import EntityFinder
from thresher.entities.readable_scripts import (
    ENGLISH_ENCODER,
    readable_scripts,
    unreadable_text,
)

JAPANESE = "東京は日本の首都です。"


def test_the_english_encoder_reads_latin_and_the_scripts_of_its_training_text():
    assert readable_scripts(ENGLISH_ENCODER, {}) == {"Latin"}
    assert readable_scripts(ENGLISH_ENCODER, {"scripts": ["Greek"]}) == {"Latin", "Greek"}


def test_a_student_reads_what_its_teacher_reads():
    assert readable_scripts("static", {"teacher": {"encoder": ENGLISH_ENCODER}}) == {"Latin"}
    assert readable_scripts("static", {"teacher": {"encoder": "other"}}) is None


def test_other_encoders_may_read_every_script():
    assert readable_scripts("my-lm", {"scripts": ["Ethiopic"]}) is None


@pytest.mark.parametrize("text", ["Paris", "", "12:30", "Tokyo (東京)", JAPANESE + "a" * 20])
def test_a_text_with_mostly_readable_letters_is_read(text):
    assert unreadable_text(text, {"Latin"}) is None


def test_the_message_names_the_scripts_and_the_model():
    message = unreadable_text(JAPANESE, {"Latin"})
    assert "Han, Hiragana" in message
    assert "`model=multilingual`" in message
    assert unreadable_text(JAPANESE, None) is None


def test_find_logs_that_the_english_model_cannot_read_a_text(caplog):
    finder = EntityFinder.default(device="cpu")
    finder.find("Marie Curie moved to Paris.")
    assert not caplog.messages
    finder.find(JAPANESE)
    assert len(caplog.messages) == 1
    assert "multilingual" in caplog.messages[0]
