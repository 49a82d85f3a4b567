"""The models that come with the package."""

from pathlib import Path

from thresher.errors import InputError, did_you_mean

ENGLISH = "english"
SMALL_ENGLISH = "small-english"  # distilled from it; two smaller transformer layers
FAST_ENGLISH = "fast-english"  # distilled from it; has no transformer
MULTILINGUAL = "multilingual"  # about a hundred languages
NAMES = (ENGLISH, SMALL_ENGLISH, FAST_ENGLISH, MULTILINGUAL)
AUTO = "auto"  # english or multilingual, by the language of each text
MEAN_OF = "+"  # between the names of models whose gates are averaged: "english+multilingual"


def find_model_folder(model: str | Path) -> Path:
    """Return the folder of that path if there is one, else that of the built-in model."""
    if Path(model).exists():
        return Path(model)
    if str(model) in NAMES:
        return Path(__file__).parent / str(model)
    if str(model) == AUTO:
        raise InputError(
            "auto chooses a model for each text, and here one model is needed; choose from "
            f"{', '.join(NAMES)}"
        )
    if hint := did_you_mean(str(model), NAMES):
        raise InputError(f"there is no model folder {model}{hint}")
    return Path(model)


def names_of_models(model: str | Path) -> list[str]:
    """Return the names of the models whose gates are averaged: one, or several joined by "+"."""
    names = str(model).split(MEAN_OF)
    return [str(model)] if Path(model).exists() or not all(names) else names
