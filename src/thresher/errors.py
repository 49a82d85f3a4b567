"""The one exception that is meant to be read by users."""


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that can be shown as it is."""
