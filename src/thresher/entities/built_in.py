"""The models that come with the package."""

from importlib.resources import files
from pathlib import Path

from thresher.errors import InputError, did_you_mean

ENGLISH = "english"
FAST_ENGLISH = "fast-english"  # its student, with no transformer
NAMES = (ENGLISH, FAST_ENGLISH)


def folder_of(model: str | Path) -> Path:
    """Where a model is: the folder of that name, or if there is none the built-in model."""
    if Path(model).exists():
        return Path(model)
    if str(model) in NAMES:
        return Path(str(files("thresher.entities") / str(model)))
    if hint := did_you_mean(str(model), NAMES):
        raise InputError(f"there is no model folder {model}{hint}")
    return Path(model)
