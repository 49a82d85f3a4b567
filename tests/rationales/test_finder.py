"""Train, explain with correct offsets, save and load a rationale finder."""

import json
import os
import stat

import pytest
import torch

from thresher.errors import InputError
from thresher.rationales.finder import Explanation, RationaleFinder, split_words
from thresher.rationales.model import RationaleModel
from thresher.rationales.settings import RationaleSettings
from thresher.rationales.spans import spans_of

NAMES = ("bad", "good")
SETTINGS = {
    "hidden": 32,
    "steps": 60,
    "checks": 3,
    "learning_rate": 1e-2,
    "sparsity_target": 0.13,
    "expected_rate": 0.13,
}


def in_prose(words):
    """Odd spacing and line breaks, which offsets must survive."""
    return "  " + "\n".join(["  ".join(words[:3]), " ".join(words[3:])]) + " "


@pytest.fixture(scope="module")
def texts(learned):
    return [in_prose(words) for words in learned.texts]


@pytest.fixture(scope="module")
def labels(learned):
    return [NAMES[label] for label in learned.labels.tolist()]


def fitted(bag, texts, labels, *, classifier=None, likely=(), unlikely=(), **settings):
    return RationaleFinder.fit(
        texts,
        labels,
        encoder=bag,
        settings=RationaleSettings(**{**SETTINGS, **settings}),
        classifier=classifier,
        likely=frozenset(likely),
        unlikely=frozenset(unlikely),
    )


@pytest.fixture(scope="module")
def finder(bag, texts, labels):
    return fitted(bag, texts, labels)


@pytest.fixture
def load(bag, monkeypatch):
    monkeypatch.setattr("thresher.rationales.finder.load_encoder", lambda *_, **__: bag)
    return RationaleFinder.load


def test_explanations_have_the_label_and_the_deciding_word(finder, unseen):
    right = found = 0
    for words, label, gold in zip(unseen.texts, unseen.labels, unseen.gold, strict=True):
        text = in_prose(words)
        explanation = finder.explain(text)
        right += explanation.label == NAMES[label]
        decisive = words[int(gold.nonzero()[0])]
        found += any(span.text == decisive for span in explanation.spans)
        assert all(text[s.start : s.end] == s.text for s in explanation.spans)
        assert 0.5 <= explanation.probability <= 1
        assert 0 <= explanation.from_rationale <= 1
    assert right >= 95
    assert found >= 75


def test_many_texts_are_explained_like_single_ones_and_lazily(finder, texts, monkeypatch):
    monkeypatch.setattr("thresher.rationales.finder._WORDS_PER_GROUP", 30)
    taken = []
    several = finder.explain_all(taken.append(i) or text for i, text in enumerate(texts[:20]))
    first = next(several)
    assert len(taken) < 10
    for i, explanation in enumerate([first, *several]):
        alone = finder.explain(texts[i])
        assert explanation.label == alone.label
        assert explanation.probability == pytest.approx(alone.probability, abs=1e-5)
        assert [(s.start, s.end) for s in explanation.spans] == [
            (s.start, s.end) for s in alone.spans
        ]


def test_a_threshold_of_zero_selects_every_word(finder, texts):
    (span,) = finder.explain(texts[0], threshold=0.0).spans
    assert span.text == texts[0].strip()
    whole = finder.explain(texts[0], threshold=0.0)
    assert whole.from_rationale == pytest.approx(whole.probability, abs=1e-5)


def test_a_joint_model_answers_from_its_rationale(bag, texts, labels):
    joint = fitted(bag, texts, labels, mode="joint")
    explanation = joint.explain(texts[0])
    assert explanation.probability == explanation.from_rationale


def test_a_saved_model_gives_the_same_explanations(finder, texts, tmp_path, load):
    finder.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert list(again.explain_all(texts[:10])) == list(finder.explain_all(texts[:10]))
    assert again.labels == NAMES
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == [
        "README.md",
        "config.json",
        "weights.safetensors",
    ]
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "Labels: bad, good." in card
    assert "held-out texts: accuracy" in card


def test_the_same_seed_gives_the_same_files(bag, texts, labels, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        fitted(bag, texts, labels, seed=seed, steps=5).save(tmp_path / name)
    weights = [(tmp_path / each / "weights.safetensors").read_bytes() for each in "abc"]
    assert weights[0] == weights[1] != weights[2]


def test_an_existing_classifier_can_be_explained(bag, finder, texts, labels):
    again = fitted(bag, texts, labels, classifier=finder.model, seed=3, steps=5)
    assert torch.equal(again.model.classifier.inner.weight, finder.model.classifier.inner.weight)
    with pytest.raises(InputError, match="knows the labels bad, good; not 'meh'"):
        fitted(bag, texts, ["meh", *labels[1:]], classifier=finder.model)
    with pytest.raises(
        InputError, match="`gates_at` must be 'input', as the classifier was trained, got 'pool'"
    ):
        fitted(bag, texts, labels, classifier=finder.model, gates_at="pool")


def test_training_a_classifier_further_does_not_change_its_model(bag, finder, texts, labels):
    before = {name: each.clone() for name, each in finder.model.classifier.state_dict().items()}
    joint = fitted(bag, texts, labels, classifier=finder.model, mode="joint", steps=5)
    after = finder.model.classifier.state_dict()
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert not torch.equal(joint.model.classifier.inner.weight, before["inner.weight"])


def test_word_lists_move_the_rationale(bag, texts, labels):
    pushed = fitted(
        bag, texts, labels, likely={"soup"}, unlikely={"lovely", "awful"}, selection=20.0
    )
    found = {
        word for e in pushed.explain_all(texts) for span in e.spans for word in span.text.split()
    }
    assert "soup" in found
    assert not found & {"lovely", "awful"}


def test_warnings_are_kept_with_the_model(bag, texts, labels, tmp_path, load):
    with_warning = fitted(
        bag, texts, labels, checks=1, sparsity=50.0, sparsity_target=None, expected_rate=None
    )
    with_warning.save(tmp_path / "model")
    assert "collapsed" in load(tmp_path / "model").model.learned_from["warnings"][0]
    assert "Warning: the gates have collapsed" in (tmp_path / "model" / "README.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_text_without_words_is_refused(finder, text):
    with pytest.raises(InputError, match="a text without words cannot be labelled"):
        finder.explain(text)


def test_one_string_is_not_taken_for_many(bag, finder):
    with pytest.raises(
        InputError, match="`texts` must be several strings; for a single one use `explain`"
    ):
        next(finder.explain_all("Fine."))
    with pytest.raises(InputError, match="with as many `labels`"):
        RationaleFinder.fit("Fine.", ["good"], encoder=bag)
    with pytest.raises(InputError, match="with as many `labels`"):
        RationaleFinder.fit(["Fine."], ["good", "bad"], encoder=bag)


def test_runs_of_words_are_spans_with_their_mean_score():
    text = "So cold, so  very cold"
    words = split_words(text)
    assert [word.text for word in words] == ["So", "cold", ",", "so", "very", "cold"]
    scores = torch.tensor([0.9, 0.7, 0.1, 0.4, 0.8, 0.6])
    signs = torch.tensor([1.0, 2.0, 0.0, 0.0, -1.0, 0.5])
    spans = spans_of(text, words, scores >= 0.5, scores, signs)
    assert [(s.start, s.end, s.text) for s in spans] == [(0, 7, "So cold"), (13, 22, "very cold")]
    assert [s.score for s in spans] == pytest.approx([0.8, 0.7])
    assert [s.kind for s in spans] == ["for", "against"]  # the sum of their contributions
    assert spans_of(text, words, scores >= 1.0, scores, signs) == ()
    split = spans_of(text, words, scores >= 0.5, scores, signs, split_directions=True)
    assert [(s.text, s.kind) for s in split] == [
        ("So cold", "for"), ("very", "against"), ("cold", "for")
    ]  # fmt: skip


def test_words_of_the_other_label_speak_against_the_answer(finder, unseen):
    """A text with the deciding words of both labels: each speaks for its own label."""
    deciding: dict[int, str] = {}
    for words, label, gold in zip(unseen.texts, unseen.labels.tolist(), unseen.gold, strict=True):
        deciding.setdefault(label, words[int(gold.nonzero()[0])])
    filler = [word for word in unseen.texts[0] if word not in deciding.values()][:4]
    text = " ".join([*filler, deciding[0], *filler, deciding[1]])
    found = finder.explain(text, method="integrated-gradients", threshold=0.0)
    kinds = {word: s.kind for s in found.spans for word in s.text.split()}
    own = NAMES.index(found.label)
    assert kinds[deciding[own]] == "for"
    assert kinds[deciding[1 - own]] == "against"
    words = [[word.text for word in split_words(text)]]
    whole, nothing = finder.answers(words, [torch.zeros(len(words[0]), dtype=torch.bool)])
    gain = float((whole[0, own] / nothing[0, own]).log())
    assert sum(found.contributions) == pytest.approx(gain, rel=0.3)


def test_integrated_gradients_select_as_many_words_as_the_gates(finder, texts):
    for text in texts[:20]:
        gates, gradients = (
            finder.explain(text, method=method) for method in ("gates", "integrated-gradients")
        )
        counts = [
            sum(len(split_words(span.text)) for span in each.spans) for each in (gates, gradients)
        ]
        assert counts[1] == max(1, counts[0])
        assert gradients.label == gates.label
    with pytest.raises(InputError, match="unknown `method` 'lime'"):
        finder.explain(texts[0], method="lime")


def reconfigured(**values):
    def change(folder):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps(config | values), encoding="utf-8")

    return change


CHANGED = {
    "no config": (lambda f: (f / "config.json").unlink(), "is not a model: it has no config.json"),
    "no weights": (lambda f: (f / "weights.safetensors").unlink(), "is incomplete"),
    "half a config": (lambda f: (f / "config.json").write_text('{"kind": '), "not valid JSON"),
    "a list": (lambda f: (f / "config.json").write_text("[]"), "is not a rationale model"),
    "changed weights": (
        lambda f: (f / "weights.safetensors").write_bytes(b"\0" * 99),
        "was changed after the model was saved",
    ),
    "another version": (reconfigured(format=99), "has format 99"),
    "another kind": (reconfigured(kind="entities"), "is not a rationale model"),
    "another width": (reconfigured(hidden=7), "does not describe a model"),
    "other labels": (reconfigured(labels=["a", "b", "c"]), "does not describe a model"),
    "unknown form": (reconfigured(form="hard"), "does not describe a model"),
    "nonsense": (reconfigured(learned_from=5), "does not describe a model"),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_a_changed_model_is_refused_in_one_line(finder, tmp_path, load, kind):
    change, message = CHANGED[kind]
    finder.save(tmp_path / "model")
    change(tmp_path / "model")
    with pytest.raises(InputError, match=message) as error:
        load(tmp_path / "model")
    assert "\n" not in str(error.value)


def test_a_model_for_another_encoder_is_refused(finder, tmp_path, load, bag, monkeypatch):
    finder.save(tmp_path / "model")
    monkeypatch.setattr(type(bag), "width", 5)
    with pytest.raises(InputError, match="reads vectors of width 32; bag gives 5"):
        load(tmp_path / "model")


def test_a_folder_that_is_not_a_model_is_not_replaced(finder, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(InputError, match="exists and is not a model"):
        finder.save(tmp_path / "notes")
    assert (tmp_path / "notes" / "mine.txt").read_text(encoding="utf-8") == "keep"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_an_input_error(finder, tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(InputError, match="cannot write"):
        finder.save(tmp_path / "model")


def test_nothing_in_a_model_needs_unpickling(finder, tmp_path):
    finder.save(tmp_path / "model")
    json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))
    header = (tmp_path / "model" / "weights.safetensors").read_bytes()
    length = int.from_bytes(header[:8], "little")
    assert set(json.loads(header[8 : 8 + length])) >= {
        "selector.inner.weight",
        "classifier.norm.bias",
    }
    assert isinstance(RationaleModel.read(tmp_path / "model"), RationaleModel)


def test_an_explanation_is_a_value(finder, texts):
    first, second = finder.explain(texts[0]), finder.explain(texts[0])
    assert isinstance(first, Explanation)
    assert first == second
