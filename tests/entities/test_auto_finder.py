from pathlib import Path

import pytest

from thresher.entities.auto_finder import THRESHOLD, AutoFinder, model_for
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.text_finder import TextFinder
from thresher.text.sentences import segment

# Lines of a language and a text: sentences, headlines, signatures, messages.
TEXTS = Path(__file__).parents[1] / "fixtures" / "language_of_texts.tsv"


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


def chosen_model(text):
    return model_for([sentence.texts for sentence in segment(text)])


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("Marie Curie moved to Paris.", "english"),
        ("Tesla shares fell 4% after Elon Musk sold stock worth $3 billion.", "english"),
        ("Germany's Angela Merkel met Britain's Theresa May.", "english"),
        ("Hurricane Sandy hit New Jersey.", "english"),
        ("the committee met in geneva on monday and agreed", "english"),
        ("Merkel told the Bundestag that the Kanzleramt would not wait.", "english"),
        ("Hun var i København.", "multilingual"),
        ("De man is in Amsterdam en was in Utrecht", "multilingual"),
        ("Dat was in Berlin", "multilingual"),
        ("東京は首都です", "multilingual"),
        ("", "multilingual"),
        ("2026", "multilingual"),
    ],
)
def test_the_model_is_chosen_by_the_language(text, model):
    assert chosen_model(text) == model


@pytest.mark.parametrize(("english", "most_wrong"), [(True, 2), (False, 1)])
def test_short_texts_of_many_languages_go_to_their_model(english, most_wrong):
    lines = TEXTS.read_text(encoding="utf-8").splitlines()
    texts = [
        text for lang, text in (line.split("\t") for line in lines) if (lang == "en") == english
    ]
    wrong = [text for text in texts if (chosen_model(text) == "english") != english]
    assert len(texts) > 40
    assert len(wrong) <= most_wrong, wrong


def test_the_start_of_a_long_text_decides():
    danish, english = ["Hun", "var", "ikke", "hjemme"], ["They", "were", "at", "the", "market"]
    assert model_for([danish] * 400 + [english] * 2000) == "multilingual"
    assert model_for([english] * 400 + [danish] * 2000) == "english"


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
