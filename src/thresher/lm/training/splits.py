"""Three parts of a text by position: to learn from, to choose by, to report on."""

from dataclasses import dataclass

from thresher.errors import InputError

VALIDATION_SHARE = TEST_SHARE = 0.05


@dataclass(frozen=True)
class Splits:
    """The parts of a text in their order; together they are the text."""

    train: str
    validation: str
    test: str


def split_text(
    text: str, *, validation: float = VALIDATION_SHARE, test: float = TEST_SHARE
) -> Splits:
    """Cut a text at the line ends nearest after these shares of it; in a long line, anywhere."""
    if not (0 < validation < 1 and 0 < test < 1 and validation + test < 1):
        raise InputError(
            f"the shares must be positive and leave something, got {validation} and {test}"
        )
    if not text.strip():
        raise InputError("there is no text to learn from: it is empty or blank")
    first = _line_end(text, round(len(text) * (1 - validation - test)))
    second = _line_end(text, max(first, round(len(text) * (1 - test))))
    splits = Splits(text[:first], text[first:second], text[second:])
    if not (splits.train.strip() and splits.validation.strip() and splits.test.strip()):
        raise InputError(
            f"a text of {len(text)} characters is too short to be cut in three parts: "
            "training, validation, test"
        )
    return splits


def _line_end(text: str, near: int, *, reach: int = 1000) -> int:
    end = text.find("\n", near, near + min(reach, len(text) // 100))
    return near if end < 0 else end + 1
