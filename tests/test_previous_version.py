"""Models saved by version 0.1 load unchanged and give the answers they gave then.

tests/fixtures/version-0.1 holds small models that version 0.1 trained and saved, and answers.json
what version 0.1 answered with them in a new process.
"""

import json
import shutil
from pathlib import Path

import pytest

from thresher import EntityFinder
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.rationales.finder import RationaleFinder

SAVED = Path(__file__).parent / "fixtures" / "version-0.1"
ANSWERS = json.loads((SAVED / "answers.json").read_text(encoding="utf-8"))
TEXT = ANSWERS["text"]


@pytest.fixture
def models(tmp_path) -> Path:
    """A copy of the saved models at another path, as a user would move them."""
    return Path(shutil.copytree(SAVED, tmp_path / "models"))


def assert_same_spans(spans, expected) -> None:
    assert [[span.start, span.end, span.text] for span in spans] == [row[:3] for row in expected]
    scores = [row[3] for row in expected]
    assert [span.score for span in spans] == pytest.approx(scores, abs=2e-6)


def test_a_saved_finder_finds_the_same_spans(models):
    finder = EntityFinder.load(models / "finder", device="cpu")
    answers = ANSWERS["finder"]
    assert finder.threshold == answers["threshold"]
    assert_same_spans(finder.find(TEXT, threshold=0.05), answers["spans"])
    second = finder.with_selector(2).find(TEXT, threshold=0.05)
    assert_same_spans(second, answers["second selector"])


def test_a_saved_rationale_model_explains_a_text_the_same_way(models):
    explanation = RationaleFinder.load(models / "rationale", device="cpu").explain(
        TEXT[:400], threshold=0.3
    )
    answers = ANSWERS["rationale"]
    assert explanation.label == answers["label"]
    assert explanation.probability == pytest.approx(answers["probability"], abs=2e-6)
    assert explanation.from_rationale == pytest.approx(answers["from_rationale"], abs=2e-6)
    assert_same_spans(explanation.spans, answers["spans"])


@pytest.mark.parametrize("name", ["language-model", "byte-pair-language-model"])
def test_a_saved_language_model_has_the_same_weights_and_tokens(models, name):
    saved = TrainedLanguageModel.read(models / name)
    answers = ANSWERS[name]
    assert saved.test.loss == pytest.approx(answers["test_loss"], abs=2e-6)
    assert saved.best_step == answers["best_step"]
    assert saved.tokenizer.vocabulary == answers["vocabulary"]
    assert saved.tokenizer.encode(TEXT[:60]).tolist() == answers["ids"]
    total = sum(float(weight.detach().double().sum()) for weight in saved.model.parameters())
    assert total == pytest.approx(answers["parameter_sum"], abs=2e-5)
