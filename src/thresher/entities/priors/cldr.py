"""Names of territories and languages from Unicode CLDR, without annotated text.

Only names of one word are used: no single word of "Côte d'Ivoire" or "British Virgin Islands" is
a name by itself.
"""

from thresher.errors import InputError, requires_extra
from thresher.text.segmentation.word_pattern import split_chunk


def cldr_names(locale: str) -> frozenset[str]:
    """Return the names of territories and languages in a language, case-folded.

    locale: a code such as "am" or "sw"
    """
    with requires_extra("cldr", "names from CLDR need Babel"):
        from babel import Locale, UnknownLocaleError  # noqa: PLC0415 (optional)

    try:
        known = Locale.parse(locale.replace("-", "_"))
    except (UnknownLocaleError, ValueError) as error:
        raise InputError(f"CLDR has no language {locale!r}; use a code such as am or sw") from error
    territories = (name for code, name in known.territories.items() if _is_territory(code))
    names = {name.casefold() for name in (*territories, *known.languages.values())}
    return frozenset(name for name in names if _is_one_word(name))


def _is_territory(code: str) -> bool:
    """Return True for countries and the like; numeric codes are continents and the world."""
    return code.isalpha() and not code.startswith(("X", "ZZ"))


def _is_one_word(name: str) -> bool:
    return len(name) > 1 and " " not in name and split_chunk(name) == (name,)
