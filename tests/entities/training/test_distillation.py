"""Distillation: initial vectors, training and saving of a student without a transformer."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA
from tokenizers import Tokenizer, models, pre_tokenizers

from thresher.encoders.static_encoder import StaticEncoder
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.model import FinderModel
from thresher.entities.model_card import card
from thresher.entities.selectors import CalibratedSelector
from thresher.entities.training import student as student_module
from thresher.entities.training.distillation import (
    DistillationSettings,
    Student,
    principal_components,
    train_student,
)
from thresher.errors import InputError
from thresher.gates.features import Features
from thresher.gates.selector import seeded_selector
from thresher.progress import SilentProgress

NAMES = ["anna", "boris", "chiara", "dmitri", "elena", "farid"]
PLAIN = ["the", "child", "met", "saw", "called", "again", "then", "."]
QUICK = DistillationSettings(
    width=8, hidden=16, epochs=25, sentences_per_batch=32, learning_rate=0.02
)


class Teacher:
    """An encoder with one token per word, each with a random vector."""

    name, width, layer, device = "words", 12, 1, torch.device("cpu")
    common_words: frozenset[str] = frozenset({"the"})

    def __init__(self) -> None:
        ids = {word: number for number, word in enumerate(["?", *NAMES, *PLAIN])}
        self.tokenizer = Tokenizer(models.WordLevel(ids, unk_token="?"))
        self.tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        noise = torch.Generator().manual_seed(0)
        self.inner = StaticEncoder(self.tokenizer, torch.randn(len(ids), 12, generator=noise))
        self.inner.eval().requires_grad_(False)

    def token_vectors(self):
        return self.inner.vectors.detach()

    def batch(self, sentences):
        return self.inner.batch(sentences)

    def encode(self, batch):
        return self.inner.encode(batch)

    def encode_gated(self, batch, gates=None):
        return self.inner.encode_gated(batch, gates)


@pytest.fixture(autouse=True)
def _no_min_steps(monkeypatch):
    monkeypatch.setattr(student_module, "_MIN_STEPS", 1)


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    return Teacher()


@pytest.fixture(scope="module")
def model() -> FinderModel:
    """The model of a teacher."""
    head = CalibratedSelector(
        seeded_selector(0, 12, hidden=4, form="thresholded"), SignalWeights(), 0.5
    )
    origin = {"licence": "cc-by-sa-4.0", "sources": [["Old letters", "CC BY-SA 4.0"]]}
    words = frozenset(PLAIN), frozenset(["the"])
    return FinderModel("words", 1, (head,), *words, learned_from=origin)


def sentences(count: int = 160) -> list[list[str]]:
    """Sentences in which a word is an entity only after "met"."""
    chance = np.random.default_rng(0)
    forms = [
        lambda name: ["The", "child", "met", name, "again", "."],
        lambda name: [name, "the", "child", "again", "."],
        lambda name: ["then", "the", "child", "called", "."],
    ]
    return [forms[i % 3](str(chance.choice(NAMES)).capitalize()) for i in range(count)]


def scores(rows) -> list[np.ndarray]:
    return [
        np.array([0.95 if i and words[i - 1] == "met" else 0.02 for i in range(len(words))], "f4")
        for words in rows
    ]


def distilled(model, teacher, settings=QUICK) -> FinderModel:
    text = sentences()
    return student_module.distill_model(
        model, teacher, text, scores(text), settings=settings, progress=SilentProgress()
    )


@pytest.fixture(scope="module")
def student(model, teacher) -> EntityFinder:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(student_module, "_MIN_STEPS", 1)
        model_of_student = distilled(model, teacher)
    return EntityFinder(model_of_student.static, model_of_student)


def test_token_vectors_begin_as_principal_components():
    vectors = torch.randn(200, 10, generator=torch.Generator().manual_seed(1))
    vectors = vectors * torch.arange(1, 11) + 5
    ours = principal_components(vectors, 4).double().numpy()
    theirs = PCA(4).fit_transform(vectors.double().numpy())
    assert subspace_angles(ours, theirs).max() < 1e-4
    assert np.square(ours).mean() == pytest.approx(1)
    assert np.all(np.diff(ours.var(0)) < 0)
    with pytest.raises(
        InputError, match=r"`width` must be at most that of the teacher's encoder, 10, got 11"
    ):
        principal_components(vectors, 11)


def test_a_student_learns_the_scores_of_its_teacher_from_context(student):
    text = [["child", "met", "anna", "again"], ["anna", "the", "child"]]
    expected = [0.02, 0.02, 0.95, 0.02, 0.02, 0.02, 0.02]
    np.testing.assert_allclose(student.gate_scores(text), expected, atol=0.06)


def test_training_ends_nearer_to_the_teacher(teacher):
    text = sentences()
    target = np.concatenate(scores(text))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        student = Student.new(teacher, QUICK, form="thresholded")

    def distance():
        with torch.inference_mode():
            return float(np.abs(student.gates(text).prob_open().numpy() - target).mean())

    before = distance()
    train_student(student, text, scores(text), QUICK)
    assert distance() < before / 5
    assert not student.encoder.training


def test_vectors_of_the_student_predict_those_of_the_teacher_if_they_are_given(teacher):
    """Measured by least squares: the part of the variance that is not predicted."""
    text = sentences()
    noise = np.random.default_rng(3)
    of_word = {word: noise.normal(size=6).astype("f2") for word in [*NAMES, *PLAIN]}
    vectors = [np.array([of_word[word.lower()] for word in words]) for words in text]
    wanted = np.concatenate(vectors).astype(np.float64)

    def unexplained(given) -> float:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            student = Student.new(teacher, QUICK, form="thresholded")
            train_student(student, text, scores(text), QUICK, vectors=given)
        with torch.inference_mode():
            own = student.vectors(text).double().numpy()
        own = np.column_stack([own, np.ones(len(own))])
        residual = wanted - own @ np.linalg.lstsq(own, wanted, rcond=None)[0]
        return float(np.square(residual).mean() / wanted.var(0).mean())

    assert unexplained(vectors) < 0.7 * unexplained(None)


def test_the_word_lists_of_the_teacher_are_kept(student, model):
    model_of_student = student.model
    assert model_of_student.ordinary == model.ordinary
    assert model_of_student.not_names == model.not_names
    assert model_of_student.features == Features()
    assert model_of_student.learned_from["teacher"]["encoder"] == "words"
    assert model_of_student.learned_from["words"] == sum(map(len, sentences()))
    assert "Distilled from a finder with the encoder `words`" in card(model_of_student)


def test_the_student_names_the_sources_of_its_teacher(student):
    text = card(student.model)
    assert "\nlicense: cc-by-sa-4.0\n" in text
    assert "| Old letters | CC BY-SA 4.0 |" in text


def test_a_small_text_gets_more_epochs(monkeypatch):
    monkeypatch.setattr(student_module, "_MIN_STEPS", 500)
    assert student_module.with_min_steps(DistillationSettings(epochs=4), 640).epochs == 50
    assert student_module.with_min_steps(DistillationSettings(epochs=4), 64_000).epochs == 4


def test_the_same_seed_gives_the_same_student_and_the_global_generator_is_unchanged(
    teacher, model, tmp_path
):
    before = torch.random.get_rng_state()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        distilled(model, teacher, DistillationSettings(width=8, epochs=1, seed=seed)).write(
            tmp_path / name
        )
    assert torch.equal(before, torch.random.get_rng_state())
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name
    weights = "encoder.safetensors"
    assert (tmp_path / "a" / weights).read_bytes() != (tmp_path / "c" / weights).read_bytes()


def test_a_saved_student_finds_the_same_and_needs_no_transformer(student, tmp_path):
    student.save(tmp_path / "fast")
    text = "The child met Chiara again. Anna the child again."
    expected = [[span.text, span.score] for span in student.find(text)]
    assert [name for name, _ in expected] == ["Chiara"]
    code = (
        "import json, sys; from thresher import EntityFinder; "
        f"found = EntityFinder.load({str(tmp_path / 'fast')!r}, device='cpu').find({text!r}); "
        "print(json.dumps([[s.text, s.score] for s in found])); "
        "print('transformers' in sys.modules)"
    )
    lines = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert json.loads(lines[0]) == [[name, pytest.approx(score)] for name, score in expected]
    assert lines[1] == "False"


def test_a_model_that_lacks_its_encoder_is_incomplete(student, tmp_path):
    student.save(tmp_path / "fast")
    (tmp_path / "fast" / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"is incomplete.*tokenizer\.json"):
        EntityFinder.load(tmp_path / "fast")


def test_a_finder_is_distilled_from_texts(teacher, model):
    finder = EntityFinder(teacher, model)
    texts = [" ".join(words) for words in sentences(80)]
    with pytest.raises(InputError, match="list of strings"):
        finder.distill(texts[0])
    with pytest.raises(InputError, match="11 words are too few to learn from"):
        finder.distill(texts[:2])
    student = finder.distill(texts, settings=QUICK)
    ours, theirs = (each.gate_scores(sentences(9)) for each in (student, finder))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.5


def test_an_encoder_without_token_vectors_cannot_be_distilled(tiny, model):
    finder = EntityFinder(tiny, model)
    with pytest.raises(InputError, match="tiny does not give the vectors of its tokens"):
        Student.new(finder.encoder, QUICK, form="thresholded")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 0}, "`width` must be at least 1, got 0"),
        ({"vector_rate": 0}, "`vector_rate` must be above 0"),
        ({"seed": -1}, "`seed` must be at least 0"),
        ({"dropout": 1.0}, r"`dropout` must be at least 0 and below 1, got 1.0"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        DistillationSettings(**wrong)
