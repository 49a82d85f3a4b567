"""Prior knowledge, above all where capitals are no help."""

import numpy as np
import pytest

from thresher.entities.choices import PriorName
from thresher.entities.priors.prior_knowledge import EVIDENCE, PRIORS, PriorKnowledge
from thresher.entities.priors.word_lists import cldr_names
from thresher.entities.priors.word_statistics import PASSAGE, WordStatistics
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError

SPREAD = [["ነው", "ቤት", "።"]] * PASSAGE
TEXT = [*[["ከበደ", "ነው", "ቤት", "።"]] * 6, *SPREAD * 5, ["once", "in", "Oslo", "ነው"]]
WORDS = [word for words in TEXT for word in words]
SETTINGS = EntitySettings(bursty_rate=0.05)


def probabilities_of(**prior_knowledge):
    found = PriorKnowledge(**prior_knowledge).prior_probabilities(
        TEXT, WordStatistics.from_sentences(TEXT), SETTINGS
    )
    return {word: found[i] for i, word in enumerate(WORDS)}


def test_every_name_of_a_prior_but_none_is_registered_once():
    assert not PRIORS.keys() & EVIDENCE.keys()
    assert PRIORS.keys() | EVIDENCE.keys() == set(PriorName) - {PriorName.NONE}


def test_bursty_words_are_entities_and_widespread_words_are_not():
    found = probabilities_of(priors=("burstiness",))
    assert found["ከበደ"] == 1
    assert found["ነው"] == found["ቤት"] == found["።"] == 0
    assert np.isnan(found["once"])


def test_casing_is_used_for_words_that_have_case():
    found = probabilities_of(priors=("burstiness", "casing"))
    assert (found["ከበደ"], found["ነው"], found["Oslo"]) == (1, 0, 1)


def test_known_names_take_precedence_over_burstiness():
    found = probabilities_of(priors=("burstiness",), names={"ቤት"})
    assert found["ቤት"] == 1
    assert np.isnan(found["ከበደ"])
    assert found["ነው"] == 0


@pytest.mark.parametrize(
    ("priors", "names", "alone"),
    [
        (["burstiness"], ["ቤት"], True),
        (["burstiness", "contexts"], ["ቤት"], True),
        (["burstiness"], [], False),
        (["burstiness", "casing"], ["ቤት"], False),
        ([], ["ቤት"], False),
    ],
)
def test_only_names_are_positive_if_no_other_prior_gives_positives(priors, names, alone):
    assert PriorKnowledge(priors=priors, names=frozenset(names)).only_names_are_positive is alone


@pytest.mark.parametrize("options", [{"selected": 0.1}, {"rates": {"repeated": 0.6}}])
def test_expected_rates_give_positives_beside_names(options):
    names = frozenset(["ቤት"])
    assert not PriorKnowledge(
        priors=("burstiness",), names=names, **options
    ).only_names_are_positive


def test_word_lists_apply_in_any_case():
    found = probabilities_of(priors=("none",), names=["ONCE", "Oslo"], not_names=["In", "oslO"])
    assert (found["once"], found["Oslo"], found["in"]) == (1, 1, 0)


def test_the_prior_surprisal_needs_surprisal_values():
    with pytest.raises(InputError, match="'surprisal' needs a causal language model"):
        PriorKnowledge(priors=("surprisal",))
    surprisal = np.array([9.0 if word == "ቤት" else 1.0 for word in WORDS], dtype=np.float32)
    found = probabilities_of(priors=("surprisal",), surprisal=surprisal)
    assert (found["ቤት"], found["ነው"]) == (1, 0)


@pytest.mark.parametrize("argument", ["priors", "names", "not_names"])
def test_a_string_instead_of_a_list_is_refused(argument):
    message = rf"`{argument}` must be a list of names, got the string 'casing'$"
    with pytest.raises(InputError, match=message):
        PriorKnowledge(**{argument: "casing"})


def test_expected_rates_replace_the_chosen_priors():
    found = [
        probabilities_of(priors=(prior,), rates={"capitalised": 0.9})
        for prior in ("casing", "rarity")
    ]
    assert found[0] == found[1]


def test_an_unknown_prior_is_an_error_that_lists_the_choices():
    with pytest.raises(
        InputError, match=r"unknown `priors` 'luck'; choose from casing, .*burstiness"
    ):
        PriorKnowledge(priors=("luck",))


@pytest.mark.parametrize(
    ("locale", "known", "unknown"),
    [
        ("am", {"ኬንያ", "ጀርመን"}, {"እና", "ዓለም", "ኮት"}),
        ("sw", {"kenya", "ujerumani", "kiswahili"}, {"na", "visiwa", "dunia"}),
    ],
)
def test_cldr_names_are_territories_and_languages_of_one_word(locale, known, unknown):
    names = cldr_names(locale)
    assert known <= names
    assert not unknown & names
    assert all(name == name.casefold() and " " not in name for name in names)


@pytest.mark.parametrize("locale", ["xx", "nonsense-tag", "!"])
def test_a_language_unknown_to_cldr_is_an_error(locale):
    with pytest.raises(InputError, match="CLDR has no language"):
        cldr_names(locale)


def test_a_word_on_both_lists_is_a_name():
    prior_knowledge = PriorKnowledge(names=frozenset(["may"]))
    assert "may" not in prior_knowledge.not_names
    assert "june" in prior_knowledge.not_names
