"""Word lists: English words that are capitalised although they are not names; names from CLDR.

The English words are closed word classes, collected without annotated text. The calendar, eras,
times of day and time zones are those of Unicode CLDR for English; the titles and greetings are our
own lists. To train a finder without these lists, use `PriorKnowledge(not_names=frozenset())`.
"""

from thresher.errors import InputError, requires_extra
from thresher.text.segmentation.word_pattern import split_chunk

CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december mon tue tues wed thu thurs fri sat sun "
    "jan feb mar apr jun jul aug sep sept oct nov dec jan. feb. mar. apr. jun. jul. aug. sep. "
    "sept. oct. nov. dec. q1 q2 q3 q4".split()
)
TIMES = frozenset("am pm a.m. p.m. bc ad".split())
TIME_ZONES = frozenset("gmt utc est edt cst cdt mst mdt pst pdt akst akdt hst bst cet cest".split())
PRONOUNS = frozenset(["i", "i'm", "i'll", "i've", "i'd", "i’m", "i’ll", "i’ve", "i’d"])
TITLES = frozenset(
    "mr mrs ms miss dr prof sir madam lord lady mr. mrs. ms. dr. prof. gen. col. capt. lt. sgt. "
    "rev. sen. rep. gov. gen col capt lt sgt rev president general colonel captain lieutenant "
    "sergeant major admiral commander judge justice senator governor mayor minister secretary "
    "chairman professor prince princess king queen pope bishop archbishop cardinal emperor "
    "empress count countess duke duchess baron baroness ambassador reverend chief executive "
    "director ceo cfo cto coach congressman congresswoman chancellor premier".split()
)
GREETINGS = frozenset("hi hello hey dear thanks regards".split())
ENGLISH_NOT_NAMES = CALENDAR | TIMES | TIME_ZONES | PRONOUNS | TITLES | GREETINGS

ARTICLES = frozenset(["the", "a", "an"])
JOINERS = frozenset("of - & 's ’s de la del di van von bin al".split())


def cldr_names(locale: str) -> frozenset[str]:
    """Return the names of territories and languages in a language, case-folded.

    Only names of one word: no single word of "British Virgin Islands" is a name by itself.

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
