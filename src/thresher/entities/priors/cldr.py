"""Names that Unicode CLDR knows in a language: of territories and of languages.

They are what every computer shows in its menus, read off no annotated text. Only names of one
word are taken: of "Côte d'Ivoire" and "British Virgin Islands" no single word is a name.
"""

from thresher.errors import InputError
from thresher.text.segmentation.word_pattern import split_chunk


def cldr_names(locale: str) -> frozenset[str]:
    """The names of territories and languages in a language such as "am" or "sw", case-folded."""
    try:
        from babel import Locale, UnknownLocaleError  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise InputError("names of CLDR come with: pip install 'thresher[cldr]'") from error
    try:
        known = Locale.parse(locale.replace("-", "_"))
    except (UnknownLocaleError, ValueError) as error:
        raise InputError(
            f"CLDR has no language {locale!r}; give a code such as am or sw"
        ) from error
    territories = (name for code, name in known.territories.items() if _is_place(code))
    names = {name.casefold() for name in (*territories, *known.languages.values())}
    return frozenset(name for name in names if _is_one_word(name))


def _is_place(code: str) -> bool:
    """Whether a code is of a country or the like: numbers are continents and the world."""
    return code.isalpha() and not code.startswith(("X", "ZZ"))


def _is_one_word(name: str) -> bool:
    return len(name) > 1 and " " not in name and split_chunk(name) == (name,)
