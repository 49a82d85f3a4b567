"""The models that come with the package."""

from importlib.resources import files
from pathlib import Path

ENGLISH = "english"
FAST_ENGLISH = "fast-english"  # its student, with no transformer
NAMES = (ENGLISH, FAST_ENGLISH)


def folder_of(model: str | Path) -> Path:
    """Where a model is: the folder of that name, or if there is none the built-in model."""
    if str(model) in NAMES and not Path(model).exists():
        return Path(str(files("thresher.entities") / str(model)))
    return Path(model)
