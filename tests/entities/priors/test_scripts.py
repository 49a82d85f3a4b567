"""Scripts of a text, and the default priors for them."""

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
    ("sentences", "message", "priors"),
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
def test_the_script_is_detected_and_determines_the_default_priors(sentences, message, priors):
    profile = ScriptProfile.from_sentences(sentences)
    assert (str(profile), profile.default_priors) == (message, priors)
    assert (
        tuple(PriorKnowledge().with_default_priors(sentences, common_words={"the"}).priors)
        == priors
    )


@given(st.lists(st.lists(st.sampled_from(["Anna", "anna", "ኬንያ", "12", "a1", ""]))))
def test_fractions_are_of_running_letters_and_words(sentences):
    profile = ScriptProfile.from_sentences(sentences)
    words = [word for each in sentences for word in each]
    letters = [letter for word in words for letter in word if letter.isalpha()]
    caseless = [letter for letter in letters if letter.lower() == letter.upper()]
    assert profile.caseless == len(caseless) / max(len(letters), 1)
    assert profile.capitals == words.count("Anna") / max(len(words), 1)
    assert sum(profile.scripts.values()) == pytest.approx(1 if letters else 0)


def test_a_text_is_mixed_if_it_has_scripts_with_and_without_case():
    assert ScriptProfile.from_sentences(ENGLISH + AMHARIC).is_mixed
    for sentences in (ENGLISH, AMHARIC, [["東京", "は", "トウキョウ"]], ENGLISH * 50 + AMHARIC[:1]):
        assert not ScriptProfile.from_sentences(sentences).is_mixed


def test_chosen_priors_are_kept():
    assert PriorKnowledge(priors=("rarity",)).with_default_priors(AMHARIC).priors == ("rarity",)


def test_without_common_words_repetition_is_no_default_prior():
    assert PriorKnowledge().with_default_priors(ENGLISH).priors == ("casing",)


@pytest.mark.parametrize(
    ("sentences", "unspaced"),
    [(CHINESE, True), ([["ภาษา"]], True), (AMHARIC, False), (ENGLISH * 20 + CHINESE, False)],
)
def test_scripts_without_spaces_are_detected(sentences, unspaced):
    assert ScriptProfile.from_sentences(sentences).is_unspaced is unspaced
