"""Words that English capitalises without their being names.

Written out by hand for this project from the calendar and from forms of address; no annotated
text was looked at. A finder can be made without them (`not_names=()`).
"""

CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december mon tue tues wed thu thurs fri sat sun "
    "jan feb mar apr jun jul aug sep sept oct nov dec jan. feb. mar. apr. jun. jul. aug. sep. "
    "sept. oct. nov. dec.".split()
)
PRONOUNS = frozenset(["i", "i'm", "i'll", "i've", "i'd", "i’m", "i’ll", "i’ve", "i’d"])
TITLES = frozenset(
    "mr mrs ms miss dr prof sir madam lord lady mr. mrs. ms. dr. prof. gen. col. capt. lt. sgt. "
    "rev. sen. rep. gov. gen col capt lt sgt rev president general colonel captain lieutenant "
    "sergeant major admiral commander judge justice senator governor mayor minister secretary "
    "chairman professor prince princess king queen pope bishop archbishop cardinal emperor "
    "empress count countess duke duchess baron baroness ambassador reverend".split()
)
ENGLISH_NOT_NAMES = CALENDAR | PRONOUNS | TITLES

ARTICLES = frozenset(["the", "a", "an"])
JOINERS = frozenset(
    ["of", "the", "for", "-", "&", "'s", "’s", "de", "la", "del", "di", "van", "von", "bin", "al"]
)
