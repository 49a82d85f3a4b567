"""Abbreviations, and whether a sentence can end after their full stop.

They are listed without the full stop, in lower case, and compared case-insensitively. The lists
are short on purpose: a wrong entry joins two sentences, a missing one splits a sentence in two.
"""


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# The sentence always continues after these: titles before names, "vs.", "cf.".
INSIDE = _word_set("""
    mr mrs ms mx messrs mme mmes mlle dr drs prof rev fr hon gen col lt maj capt cmdr cpt sgt cpl
    pvt adm gov sen rep pres supt atty amb insp sra srta dra dña hr sig dott alh dkt mhe bw
    v vs viz cf approx resp incl esp bzw evtl
""")

# Inside a sentence or at its end; the next word decides.
ANYWHERE = _word_set("""
    jr sr esq inc corp ltd co cos bros llc plc gmbh dept univ assn st sts mt ft ave blvd rd sq bldg
    jan feb apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri
    etc al ibid op seq est ph phd bsc msc dphil hrs mins lbs tel ext usw
""")

# Abbreviations only before a number ("No. 5", "pp. 3-4"); ordinary words otherwise.
BEFORE_NUMBER = _word_set("no nos nr p pp vol vols fig figs eq sec ch art para ver")

# Capitalised only at the start of a sentence: after "U.S." or "Inc." they begin a new one.
OPENERS = _word_set("""
    the this that these those a an it its he she we they you i his her our their my your
    there here what who when where why how which if but and or so yet nor not no yes
    in on at as by for from with to of after before since while although though because
    however then now once until unless during also thus therefore moreover meanwhile
    all some many most each every both one two such only even still
    is are was were do does did has have had can could will would should may might must
""")
