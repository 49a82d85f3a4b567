"""Split a text by position into training, validation and test parts."""

from dataclasses import dataclass

from thresher.errors import InputError
from thresher.lm.tokens.text_file import TextFile
from thresher.lm.tokens.text_range import TextRange

VALIDATION_FRACTION = TEST_FRACTION = 0.05
MAX_HELD_OUT = 1 << 23  # characters of the validation and of the test part; more take too long

_MAX_LINE_SEARCH = 1000  # characters


@dataclass(frozen=True)
class TextSplits:
    """Three consecutive parts that together are the whole text."""

    train: TextRange
    validation: TextRange
    test: TextRange


def split_text(
    text: str | TextFile, *, validation: float = VALIDATION_FRACTION, test: float = TEST_FRACTION
) -> TextSplits:
    """Split a text so that the parts end at line ends, unless a line is very long.

    validation, test: the fractions of the text at its end, of which at most `MAX_HELD_OUT`
        characters each are used; the rest is for training
    """
    if not (0 < validation < 1 and 0 < test < 1 and validation + test < 1):
        raise InputError(
            "`validation` and `test` must be above 0 and their sum below 1, "
            f"got {validation} and {test}"
        )
    if TextRange.of(text).is_blank():
        raise InputError("there is no text to train on: it is empty or blank")
    length = len(text)
    test_start = max(round(length * (1 - test)), length - MAX_HELD_OUT)
    train_end = max(round(length * (1 - validation - test)), test_start - MAX_HELD_OUT)
    train_end = _next_line_start(text, train_end)
    validation_end = _next_line_start(text, max(train_end, test_start))
    splits = TextSplits(
        TextRange(text, 0, train_end),
        TextRange(text, train_end, validation_end),
        TextRange(text, validation_end, len(text)),
    )
    if any(part.is_blank() for part in (splits.train, splits.validation, splits.test)):
        raise InputError(
            f"the text has {len(text)} characters, which is too short for a training, a validation "
            "and a test part"
        )
    return splits


def _next_line_start(text: str | TextFile, position: int) -> int:
    """Return the start of the next line, or `position` if the line does not end soon."""
    line_end = text.find("\n", position, position + min(_MAX_LINE_SEARCH, len(text) // 100))
    return position if line_end < 0 else line_end + 1
