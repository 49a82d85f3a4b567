import pytest

from thresher.entities.auto_finder import THRESHOLD, AutoFinder, model_for
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.text_finder import TextFinder


class Fixed(TextFinder):
    """Scores every sentence with one candidate, its first word."""

    def __init__(self, threshold, score):
        self._threshold, self.score, self.read = threshold, score, []

    def adapted_to_words(self, texts):
        return Fixed(self._threshold, 0.3 + 0.1 * len(list(texts)))

    @property
    def threshold(self):
        return self._threshold

    def _score(self, texts):
        self.read += [" ".join(words) for text in texts for words in text]
        return [
            ScoredSentence(words, [self.score] * len(words), [Candidate(0, 1, self.score)])
            for text in texts
            for words in text
        ]


@pytest.mark.parametrize(
    ("words", "model"),
    [
        (["Marie", "Curie", "moved", "to", "Paris", "."], "english"),
        (["Hun", "var", "i", "København", "."], "multilingual"),
        (["東京", "は", "首都", "です"], "multilingual"),
    ],
)
def test_the_model_is_chosen_by_the_language(words, model):
    assert model_for([words]) == model


def test_every_text_goes_to_its_model_and_results_keep_their_order():
    models = {"english": Fixed(0.4, 0.9), "multilingual": Fixed(0.4, 0.5)}
    texts = ["Hun var i København.", "She was in the city of Paris. It was late.", "東京です。"]
    found = list(AutoFinder(models.__getitem__).find_all(texts))
    assert [[span.text for span in spans] for spans in found] == [["Hun"], ["She", "It"], ["東京"]]
    assert [spans[0].score for spans in found] == pytest.approx([0.5, 0.9, 0.5])
    assert len(models["english"].read) == len(models["multilingual"].read) == 2


@pytest.mark.parametrize("threshold", [0.2, 0.4, 0.7])
def test_scores_at_the_threshold_of_a_model_get_the_common_threshold(threshold):
    finder = AutoFinder(lambda name: Fixed(threshold, threshold))
    scored = finder.score_sentences([["Hun", "var"]])
    assert scored[0].candidates[0].score == pytest.approx(THRESHOLD)


def test_each_model_is_adapted_to_the_texts_that_it_reads():
    texts = ["Hun var i København.", "She was in the city of Paris.", "Vi ses i Odense i morgen."]
    finder = AutoFinder(lambda name: Fixed(THRESHOLD, 0.9)).adapted_to(texts)
    scores = [spans[0].score for spans in finder.find_all(texts, threshold=0)]
    assert scores == pytest.approx([0.5, 0.4, 0.5])


def test_a_model_without_texts_is_not_adapted():
    finder = AutoFinder(lambda name: Fixed(THRESHOLD, 0.9)).adapted_to(["Hun var i København."])
    assert finder.find("She was in the city of Paris.")[0].score == pytest.approx(0.9)
