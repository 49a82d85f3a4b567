"""How a text is written, and what follows from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.priors.scripts import ScriptProfile

ENGLISH = [["Marie", "went", "to", "Paris", "."]] * 4
AMHARIC = [["አቶ", "ከበደ", "ወደ", "ኬንያ", "ሄዱ", "።"]] * 4
ARABIC = [["ذهب", "أحمد", "إلى", "القاهرة"]]
HINDI = [["मोदी", "दिल्ली", "गए"]]
CHINESE = [["北", "京", "。"]]
LOWERED = [[word.lower() for word in words] for words in ENGLISH]


@pytest.mark.parametrize(
    ("sentences", "told", "priors"),
    [
        (ENGLISH, "Latin script, capitals", ("repetition", "casing")),
        (AMHARIC, "Ethiopic script, no capitals", ("burstiness",)),
        (ARABIC, "Arabic script, no capitals", ("burstiness",)),
        (HINDI, "Devanagari script, no capitals", ("burstiness",)),
        (CHINESE, "Han script, no capitals", ("burstiness",)),
        (LOWERED, "Latin script, no capitals", ("burstiness",)),
        (
            ENGLISH + AMHARIC,
            "Latin 57% and Ethiopic 43% scripts, capitals",
            ("burstiness", "repetition", "casing"),
        ),
        ([["1", "."]], "no letters", ("burstiness",)),
        ([], "no letters", ("burstiness",)),
    ],
)
def test_the_script_is_recognised_and_priors_follow_from_it(sentences, told, priors):
    profile = ScriptProfile.from_sentences(sentences)
    assert (str(profile), profile.default_priors) == (told, priors)
    assert (
        tuple(PriorKnowledge().with_default_priors(sentences, common_words={"the"}).priors)
        == priors
    )


@given(st.lists(st.lists(st.sampled_from(["Anna", "anna", "ኬንያ", "12", "a1", ""]))))
def test_shares_are_those_of_running_letters_and_words(sentences):
    profile = ScriptProfile.from_sentences(sentences)
    words = [word for each in sentences for word in each]
    letters = [letter for word in words for letter in word if letter.isalpha()]
    caseless = [letter for letter in letters if letter.lower() == letter.upper()]
    assert profile.caseless == len(caseless) / max(len(letters), 1)
    assert profile.capitals == words.count("Anna") / max(len(words), 1)
    assert sum(profile.scripts.values()) == pytest.approx(1 if letters else 0)


def test_only_a_text_with_case_and_without_is_mixed():
    assert ScriptProfile.from_sentences(ENGLISH + AMHARIC).is_mixed
    for sentences in (ENGLISH, AMHARIC, [["東京", "は", "トウキョウ"]], ENGLISH * 50 + AMHARIC[:1]):
        assert not ScriptProfile.from_sentences(sentences).is_mixed


def test_priors_that_were_named_stay():
    assert PriorKnowledge(priors=("rarity",)).with_default_priors(AMHARIC).priors == ("rarity",)


def test_repetition_needs_words_known_to_be_common():
    assert PriorKnowledge().with_default_priors(ENGLISH).priors == ("casing",)


@pytest.mark.parametrize(
    ("sentences", "unspaced"),
    [(CHINESE, True), ([["ภาษา"]], True), (AMHARIC, False), (ENGLISH * 20 + CHINESE, False)],
)
def test_scripts_without_spaces_are_known(sentences, unspaced):
    assert ScriptProfile.from_sentences(sentences).is_unspaced is unspaced
