"""The rows of the language benchmark: one way each to train an encoder and a finder."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.data import ALL_RESULTS
from benchmarks.languages.data import LANGUAGES
from thresher.entities.training.settings import EntitySettings

RESULTS = ALL_RESULTS / "languages"
WITHOUT_CAPITALS = ("amh",)
WITH_CAPITALS = tuple(each for each in LANGUAGES if each not in WITHOUT_CAPITALS)


@dataclass(frozen=True)
class EncoderRecipe:
    """How an encoder is trained.

    other_languages: languages whose raw text is added to the training text
    """

    size: str = "large"
    margin: str = "4"
    other_languages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """How a finder is trained.

    encoder: None for the rule that every capitalised word is an entity
    names: use the names of CLDR as a word list
    dates: dates count as entities
    together: fit the finder on all languages of its encoder, not only on its own
    languages: the languages that the row is measured in
    """

    encoder: EncoderRecipe | None = EncoderRecipe()
    priors: tuple[str, ...] = ()
    names: bool = False
    dates: bool = False
    contrast: float = EntitySettings.contrast
    together: bool = False
    languages: Sequence[str] = LANGUAGES


_SHARED = EncoderRecipe(other_languages=("swa", "yor", "hau", "ibo", "eng"))

ROWS = {
    "capitals": Row(None, languages=WITH_CAPITALS),
    "margin-4": Row(),
    "dates": Row(dates=True, languages=WITH_CAPITALS),
    "standard": Row(EncoderRecipe(margin="inf")),
    "small": Row(EncoderRecipe(size="small")),
    "no-contrast": Row(contrast=0.0),
    "names": Row(names=True),
    "contexts": Row(priors=("burstiness", "contexts"), languages=WITHOUT_CAPITALS),
    "surprisal": Row(priors=("burstiness", "surprisal"), languages=WITHOUT_CAPITALS),
    "rarity": Row(priors=("rarity",), languages=WITHOUT_CAPITALS),
    "shared": Row(_SHARED, languages=WITHOUT_CAPITALS),
    "shared-together": Row(_SHARED, together=True, languages=WITHOUT_CAPITALS),
}
