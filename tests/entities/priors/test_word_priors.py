import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from thresher.entities.priors.casing import Casing, casing_of_sentence
from thresher.entities.priors.prior_knowledge import PRIORS, PriorInputs
from thresher.entities.priors.word_priors import (
    MAX_RARE_COUNT,
    CasingPrior,
    ExpectationPrior,
    LetterlessPrior,
    RarityPrior,
    RepetitionPrior,
    WordListPrior,
    first_probability,
)
from thresher.entities.priors.word_statistics import PASSAGE, WordStatistics
from thresher.entities.training.settings import EntitySettings

NAN = float("nan")
# "rome" is capitalised 4 times of 5 where case speaks, "again" never, "ann" was seen twice.
TEXT = [
    *[["he", "saw", "Rome", "again"]] * 4,
    ["he", "saw", "rome", "again"],
    *[["they", "met", "Ann", "there"]] * 2,
]
STATISTICS = WordStatistics.from_sentences(TEXT)
EVERY_PRIOR = [
    CasingPrior(STATISTICS),
    WordListPrior({"rome"}, 0.9),
    LetterlessPrior(),
    RepetitionPrior(STATISTICS, 0.4),
    RarityPrior(STATISTICS, 0.3),
    ExpectationPrior(STATISTICS, {"lower": 0.05}, selected=0.1),
]


def probabilities_of(prior, sentence):
    return prior.probabilities([sentence.split()])


# The whole family


def test_every_prior_that_can_be_chosen_is_in_the_list():
    inputs = PriorInputs(TEXT, STATISTICS, EntitySettings())
    chosen = {type(build(inputs)) for build in PRIORS.values()}
    missing = chosen - {type(prior) for prior in EVERY_PRIOR}
    assert not missing, f"add {missing} to EVERY_PRIOR"


@pytest.mark.parametrize("prior", EVERY_PRIOR, ids=lambda prior: type(prior).__name__)
def test_every_prior_gives_one_probability_or_nan_per_word(prior):
    sentences = [["he", "saw", "Rome", "!"], [], ["no", "12", "@ann", "東京", ""]]
    result = prior.probabilities(sentences)
    assert result.dtype == np.float32
    assert result.shape == (9,)
    known = result[~np.isnan(result)]
    assert ((known >= 0) & (known <= 1)).all()


@pytest.mark.parametrize(
    "prior", [each for each in EVERY_PRIOR if not isinstance(each, ExpectationPrior)]
)
@pytest.mark.parametrize("sentences", [[], [[]]])
def test_without_words_there_are_no_probabilities(prior, sentences):
    assert prior.probabilities(sentences).shape == (0,)


# Casing


def test_capitals_that_grammar_does_not_force_are_entities_and_lower_case_is_not():
    np.testing.assert_array_equal(
        probabilities_of(CasingPrior(STATISTICS), "he met Zoe near town"), [NAN, 0, 1, 0, 0]
    )


def test_where_case_is_uninformative_the_capital_rate_of_the_word_is_used():
    result = probabilities_of(CasingPrior(STATISTICS), "Rome was old")
    np.testing.assert_allclose(result[0], 0.8, rtol=1e-6)
    headline = probabilities_of(CasingPrior(STATISTICS), "Again Rome Wins")
    np.testing.assert_allclose(headline, [0, 0.8, NAN], rtol=1e-6)


def test_an_infrequent_word_gets_no_probability_where_case_is_uninformative():
    assert np.isnan(probabilities_of(CasingPrior(STATISTICS), "Ann was old")[0])


def test_a_lower_case_word_that_is_mostly_capitalised_gets_no_probability():
    result = probabilities_of(CasingPrior(STATISTICS), "he saw rome again")
    assert np.isnan(result[2])
    assert result[3] == 0


# The plain ones


def test_a_word_list_gives_its_words_a_probability_in_any_case():
    result = probabilities_of(WordListPrior({"rome"}, 0.9), "ROME rome romes")
    np.testing.assert_allclose(result, [0.9, 0.9, NAN], rtol=1e-6)


def test_words_without_letters_and_addresses_get_probability_0():
    result = probabilities_of(LetterlessPrior(), "12 ! @ann http://a.b x1 東京")
    np.testing.assert_array_equal(result, [0, 0, 0, 0, NAN, NAN])


def test_rare_words_with_letters_have_the_rate_and_all_others_zero():
    statistics = WordStatistics.from_sentences([["Ann", "saw"]] * MAX_RARE_COUNT + [["saw", "77"]])
    result = probabilities_of(RarityPrior(statistics, 0.3), "ann zoe saw 77")
    np.testing.assert_allclose(result, [0.3, 0.3, 0, 0], rtol=1e-6)


def test_a_bursty_word_in_lower_case_has_the_rate():
    filler = [["x", "y"]] * (PASSAGE * 3)
    text = [*filler, ["the", "aspirin", "and", "Ann"], ["some", "aspirin", "by", "Ann"], *filler]
    prior = RepetitionPrior(WordStatistics.from_sentences(text), 0.4)
    result = prior.probabilities(text)[2 * len(filler) :][:8]
    np.testing.assert_allclose(result, [NAN, 0.4, NAN, NAN, NAN, 0.4, NAN, NAN], rtol=1e-6)
    assert np.isnan(prior.probabilities([["aspirin"], *filler, ["aspirin"]])).all()  # far apart


# Expected rates

SENTENCES = [
    ["he", "met", "Ann", "and", "Zoe", "there", "today"],
    ["they", "saw", "rome", "and", "Rome", "again", "12"],
]
CAPITAL, LOWER = (
    np.array([each is kind for words in SENTENCES for each in casing_of_sentence(words)])
    for kind in (Casing.CAPITAL, Casing.LOWER)
)


def test_an_expected_rate_is_met_and_other_words_get_one_half():
    prior = ExpectationPrior(WordStatistics.from_sentences(SENTENCES), {"capitalised": 0.85})
    result = prior.probabilities(SENTENCES)
    np.testing.assert_allclose(result[CAPITAL], 0.85, rtol=1e-5)
    np.testing.assert_allclose(result[~CAPITAL], 0.5, rtol=1e-5)


def test_with_the_overall_rate_only_all_words_get_it():
    prior = ExpectationPrior(WordStatistics.from_sentences(SENTENCES), {}, selected=0.12)
    np.testing.assert_allclose(prior.probabilities(SENTENCES), 0.12, rtol=1e-5)


def test_rates_and_the_overall_rate_are_met_together_and_log_odds_add_up():
    rates = {"capitalised": 0.85, "lower": 0.1, "rare": 0.3}
    statistics = WordStatistics.from_sentences(SENTENCES)
    result = ExpectationPrior(statistics, rates, selected=0.3).probabilities(SENTENCES)
    rare = np.array(
        [
            any(map(str.isalpha, word)) and statistics.count[word.casefold()] <= 3
            for words in SENTENCES
            for word in words
        ]
    )
    assert result[CAPITAL].mean() == pytest.approx(0.85, abs=1e-5)
    assert result[LOWER].mean() == pytest.approx(0.1, abs=1e-5)
    assert result[rare].mean() == pytest.approx(0.3, abs=1e-5)
    assert result.mean() == pytest.approx(0.3, abs=1e-5)
    columns = np.stack([CAPITAL, LOWER, rare, np.ones_like(rare)], axis=1).astype(float)
    odds = np.log(result) - np.log1p(-result)
    weights = np.linalg.lstsq(columns, odds, rcond=None)[0]
    np.testing.assert_allclose(expit(columns @ weights), result, atol=1e-4)


def test_an_unknown_feature_is_an_error_that_lists_the_choices():
    with pytest.raises(ValueError, match="'capital'; choose from capitalised, lower"):
        ExpectationPrior(STATISTICS, {"capital": 0.5})


# Together


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, NAN]), min_size=4, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_the_first_prior_that_gives_a_probability_is_used(columns):
    class Fixed:
        def __init__(self, column):
            self.column = np.array(column, dtype=np.float32)

        def probabilities(self, sentences):
            return self.column

    result = first_probability([Fixed(each) for each in columns], [["a", "b"], ["c", "d"]])
    expected = [next((each[i] for each in columns if not np.isnan(each[i])), NAN) for i in range(4)]
    np.testing.assert_array_equal(result, expected)


def test_without_priors_there_are_no_probabilities():
    assert np.isnan(first_probability([], [["a", "b"]])).all()
