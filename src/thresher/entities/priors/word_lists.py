"""English words that are capitalised although they are not names.

These are closed word classes, collected without annotated text. The calendar, eras, times of day
and time zones are those of Unicode CLDR for English; the titles are our own list. To train a finder
without these lists, use `PriorKnowledge(not_names=frozenset())`.
"""

CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december mon tue tues wed thu thurs fri sat sun "
    "jan feb mar apr jun jul aug sep sept oct nov dec jan. feb. mar. apr. jun. jul. aug. sep. "
    "sept. oct. nov. dec.".split()
)
TIMES = frozenset("am pm a.m. p.m. bc ad".split())
TIME_ZONES = frozenset("gmt utc est edt cst cdt mst mdt pst pdt akst akdt hst bst cet cest".split())
PRONOUNS = frozenset(["i", "i'm", "i'll", "i've", "i'd", "i’m", "i’ll", "i’ve", "i’d"])
TITLES = frozenset(
    "mr mrs ms miss dr prof sir madam lord lady mr. mrs. ms. dr. prof. gen. col. capt. lt. sgt. "
    "rev. sen. rep. gov. gen col capt lt sgt rev president general colonel captain lieutenant "
    "sergeant major admiral commander judge justice senator governor mayor minister secretary "
    "chairman professor prince princess king queen pope bishop archbishop cardinal emperor "
    "empress count countess duke duchess baron baroness ambassador reverend".split()
)
ENGLISH_NOT_NAMES = CALENDAR | TIMES | TIME_ZONES | PRONOUNS | TITLES

ARTICLES = frozenset(["the", "a", "an"])
JOINERS = frozenset(
    ["of", "-", "&", "'s", "’s", "de", "la", "del", "di", "van", "von", "bin", "al"]
)
