"""Words that English capitalises without their being names.

Written out by hand for this project: the calendar, forms of address, shorthand that is written in
capitals. The calendar and the forms of address come from general knowledge. The shorthand was
completed after looking at false positives on the tune splits ("RT", "CST", "RSVP" were among
them), so labels touched that group. A finder without any list: `Beliefs(not_names=frozenset())`.
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
SHORTHAND = frozenset(
    "rt lol lmao rofl omg wtf btw fyi imo imho smh tbh dm ps ok okay am pm a.m. p.m. gmt utc est "
    "edt cst cdt mst mdt pst pdt bc ad tv faq asap rsvp tba".split()
)
ENGLISH_NOT_NAMES = CALENDAR | PRONOUNS | TITLES | SHORTHAND

ARTICLES = frozenset(["the", "a", "an"])
JOINERS = frozenset(
    ["of", "the", "for", "-", "&", "'s", "’s", "de", "la", "del", "di", "van", "von", "bin", "al"]
)
