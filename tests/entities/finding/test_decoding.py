import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import MAX_SPAN_SCORE, Candidate, best_threshold, candidates
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.model import FinderModel
from thresher.entities.priors.word_lists import ARTICLES, JOINERS
from thresher.entities.selectors import CalibratedSelector
from thresher.gates.selector import seeded_selector

TITLES = frozenset(["dr", "monday"])
PLAIN = ["Anna", "Rome", "went", "ninth", "Pond", "."]
TRIMMED = sorted(ARTICLES | JOINERS | TITLES)


@st.composite
def scored_sentences(draw):
    words = draw(st.lists(st.sampled_from(PLAIN + TRIMMED), max_size=12))
    score = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1, width=32)
    scores = draw(st.lists(score, min_size=len(words), max_size=len(words)))
    return words, scores


def decode(sentence, *scores):
    found = candidates(sentence.split(), scores, not_names=TITLES)
    return [(each.start, each.end) for each in found]


def score_of(sentence, *scores):
    (found,) = candidates(sentence.split(), scores, not_names=TITLES)
    return found.score


# Candidates


@given(scored_sentences())
def test_candidates_are_runs_of_words_from_left_to_right_that_never_overlap(sample):
    words, scores = sample
    found = candidates(words, scores, not_names=TITLES)
    assert all(0 <= each.start < each.end <= len(words) for each in found)
    assert all(left.end <= right.start for left, right in itertools.pairwise(found))


@given(scored_sentences())
def test_scores_of_candidates_are_probabilities(sample):
    words, scores = sample
    assert all(0 <= each.score <= 1 for each in candidates(words, scores, not_names=TITLES))


@given(scored_sentences())
def test_no_candidate_begins_or_ends_with_an_article_a_joining_word_or_a_title(sample):
    words, scores = sample
    for each in candidates(words, scores, not_names=TITLES):
        assert words[each.start].casefold() not in TRIMMED
        assert words[each.end - 1].casefold() not in TRIMMED


@given(scored_sentences())
def test_words_of_score_1_are_in_candidates_and_words_of_score_0_only_as_joining_words(
    sample,
):
    words, scores = sample
    found = candidates(words, scores, not_names=TITLES)
    inside = {i for each in found for i in range(each.start, each.end)}
    for i, (word, score) in enumerate(zip(words, scores, strict=True)):
        if score == 1 and word.casefold() not in TRIMMED:
            assert i in inside
        if score == 0 and i in inside:
            assert word.casefold() in JOINERS


@given(scored_sentences())
def test_except_for_articles_decoding_ignores_case(sample):
    words, scores = sample
    lower = [word.lower() for word in words]
    given = candidates(words, scores, not_names=TITLES)
    lowered = candidates(lower, scores, not_names=TITLES)
    assert len(given) == len(lowered)
    for one, other in zip(given, lowered, strict=True):
        assert one.end == other.end
        added = words[one.start : other.start]
        assert one == other or (len(added) == 1 and added[0] in ("The", "A"))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("went to The Pond today", [(2, 4)]),
        ("went to the Pond today", [(3, 4)]),
        ("The Pond is far away", [(1, 2)]),
        ('he said : " The Pond is far', [(5, 6)]),
    ],
)
def test_an_article_with_a_capital_of_its_own_is_part_of_the_name(sentence, expected):
    assert decode(sentence, *(0.9 * (word == "Pond") for word in sentence.split())) == expected


@pytest.mark.parametrize("initial", ["A", "A.", "w", "W."])
def test_an_initial_joins_the_names_around_it(initial):
    assert decode(f"Anna {initial} Rome", 0.9, 0.0, 0.9) == [(0, 3)]


@pytest.mark.parametrize("word", ["a", "i", "I", "7", "."])
def test_other_single_characters_do_not_join(word):
    assert decode(f"Anna {word} Rome", 0.9, 0.0, 0.9) == [(0, 1), (2, 3)]


def test_adjacent_words_form_one_candidate_and_a_gap_separates_two():
    assert decode("Anna Rome went Rome", 0.9, 0.8, 0.0, 0.9) == [(0, 2), (3, 4)]


def test_a_word_with_a_low_score_next_to_a_high_one_joins_the_candidate():
    assert decode("to ninth Pond", 0.0, 0.9, 0.35) == [(1, 3)]


@pytest.mark.parametrize("joint", ["of", "-", "de la"])
def test_one_or_two_joining_words_are_bridged(joint):
    middle = [0.0] * len(joint.split())
    length = 2 + len(middle)
    assert decode(f"Anna {joint} Rome", 0.9, *middle, 0.9) == [(0, length)]


@pytest.mark.parametrize("gap", ["went", "of went", "of the", "of of of", "Pond of the"])
def test_other_words_and_longer_gaps_are_not_bridged(gap):
    middle = [0.0] * len(gap.split())
    last = 1 + len(middle)
    assert decode(f"Anna {gap} Rome", 0.9, *middle, 0.9) == [(0, 1), (last, last + 1)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("the Anna", [(1, 2)]),
        ("Dr Anna 's", [(1, 2)]),
        ("of the Anna of Rome the", [(2, 5)]),
        ("the of Monday", []),
    ],
)
def test_edges_are_trimmed_whatever_their_score(sentence, expected):
    assert decode(sentence, *[0.9] * len(sentence.split())) == expected


def test_without_not_names_titles_are_not_trimmed():
    found = candidates(["Dr", "Anna"], [0.9, 0.9])
    assert [(each.start, each.end) for each in found] == [(0, 2)]


def test_a_span_with_certain_bounds_gets_the_largest_score():
    assert score_of("went Anna Rome went", 0, 1, 1, 0) == MAX_SPAN_SCORE
    assert score_of("Anna", 1) == MAX_SPAN_SCORE


def test_a_higher_word_score_gives_a_higher_span_score():
    assert score_of("went Anna went", 0, 0.5, 0) < score_of("went Anna went", 0, 0.8, 0) < 1


@pytest.mark.parametrize("scores", [(0.1, 0.9, 0.0), (0.0, 0.9, 0.1)])
def test_an_uncertain_neighbour_lowers_the_score_of_a_span(scores):
    assert score_of("went Anna went", *scores) < score_of("went Anna went", 0, 0.9, 0)


def test_without_words_there_are_no_candidates():
    assert candidates([], []) == []


def test_scores_must_be_one_per_word():
    with pytest.raises(ValueError, match="2 words, 3 scores"):
        candidates(["a", "b"], [0.0] * 3)


# The threshold


def test_a_threshold_only_filters_the_candidates(tiny):
    model = FinderModel(
        encoder=tiny.name,
        layer=tiny.layer,
        selectors=(
            CalibratedSelector(
                seeded_selector(0, tiny.width, form="thresholded"), SignalWeights(), 0.5
            ),
        ),
        ordinary=frozenset(),
        not_names=TITLES,
    )
    finder = EntityFinder(tiny, model)
    rng = np.random.default_rng(0)
    sentences = [[f"w{w}" if w % 3 else "of" for w in rng.integers(0, 90, 9)] for _ in range(20)]
    everything = finder.find_words(sentences, threshold=0.0)
    scores = sorted(each.score for row in everything for each in row)
    assert len(scores) > 10
    for threshold in (0.0, *scores[::5], 1.0):
        assert finder.find_words(sentences, threshold=threshold) == [
            [each for each in row if each.score >= threshold] for row in everything
        ]


def expected_f1(scores, threshold):
    """Return the expected F1 of the scores above the threshold, if they are probabilities."""
    selected = scores[scores >= threshold]
    return 2 * selected.sum() / (len(selected) + scores.sum())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(lambda scores: max(scores) > 0.01))
def test_no_threshold_has_a_larger_expected_f1_than_the_best(scores):
    scores = np.array(scores)
    best = max(expected_f1(scores, threshold) for threshold in scores)
    assert expected_f1(scores, best_threshold(scores) - 1e-12) == pytest.approx(best)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.7), (2.0, 2.0), (0.5, 4.0)])
def test_with_calibrated_scores_the_threshold_is_as_good_as_the_best_in_hindsight(a, b):
    rng = np.random.default_rng(0)
    scores = rng.beta(a, b, size=20_000)
    right = rng.random(len(scores)) < scores

    def f1(threshold):
        selected = scores >= threshold
        return 2 * (right & selected).sum() / (right.sum() + selected.sum())

    in_hindsight = max(f1(threshold) for threshold in np.linspace(0, 1, 201))
    assert f1(best_threshold(scores)) == pytest.approx(in_hindsight, abs=0.01)


@pytest.mark.parametrize("scores", [[], [0.0], [0.0, 0.0]])
def test_without_any_likely_candidate_the_threshold_is_still_a_probability(scores):
    assert 0 < best_threshold(scores) < 1


@pytest.mark.parametrize(("score", "threshold"), [(1.0, 0.5), (0.5, 1 / 3)])
def test_the_threshold_is_half_the_best_expected_f1(score, threshold):
    """For candidates that all have the score p and are selected, F1 = 2 p / (1 + p)."""
    assert best_threshold([score] * 7) == pytest.approx(threshold)


def test_a_candidate_is_a_value():
    assert Candidate(1, 2, 0.5) == Candidate(1, 2, 0.5)
    with pytest.raises(AttributeError):
        Candidate(1, 2, 0.5).score = 0.7
