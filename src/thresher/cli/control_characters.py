"""Replace control characters of texts and names, which a terminal would obey."""

# All but the tab and the line feed: ESC begins commands that move the cursor or set the title.
_CONTROL_CHARACTERS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "�")


def without_control_characters(text: str) -> str:
    """Return a text with U+FFFD in place of each control character but tab and line feed."""
    return text.translate(_CONTROL_CHARACTERS)
