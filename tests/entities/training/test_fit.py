"""Train a finder, save and load it, resume an interrupted run."""

import json

import numpy as np
import pytest
import torch

from thresher.encoders.int8_linear import int8_supported
from thresher.entities import loading
from thresher.entities.finder import EntityFinder
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.fit import shift_to_rate
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError
from thresher.gates.selector import seeded_selector

NAMES = ["Anna", "Boris", "Chiara", "Dmitri", "Elena", "Farid"]
VERBS = ["met", "saw", "called", "thanked"]
SPREAD = [[["ነው", "ቤት", "ሰው"]] * 5, [["ቤት", "ሰው", "ነው"]] * 5]  # words that are everywhere


def sentences(count: int = 120) -> list[list[str]]:
    """Made-up sentences in which names, and only names, are capitalised inside."""
    chance = np.random.default_rng(0)
    starts = [["Then", "the", "child"], ["The", "child", "then"]]
    return [
        [*starts[i % 2], chance.choice(VERBS), chance.choice(NAMES), "again", "."]
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def fitted(new_tiny):
    return EntityFinder.fit_words(
        sentences(),
        encoder=new_tiny(),
        settings=EntitySettings(epochs=20, sentences_per_batch=16, learning_rate=0.01),
    )


def test_fitting_learns_the_names(fitted):
    rows = fitted.find_words([["then", "the", "child", "met", "chiara", "again", "."]])
    assert [(c.start, c.end) for c in rows[0]] == [(4, 5)]
    assert len(fitted.find_words(sentences(5))) == 5


def test_the_same_seed_gives_the_same_model(tiny, tmp_path):
    for name in ("a", "b"):
        EntityFinder.fit_words(
            sentences(), encoder=tiny, settings=EntitySettings(epochs=2, seed=3, contrast_share=0.5)
        ).save(tmp_path / name)
    for file in ("selector.safetensors", "config.json", "ordinary.txt"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_another_seed_gives_another_model(tiny, tmp_path):
    for seed in (0, 1):
        EntityFinder.fit_words(
            sentences(), encoder=tiny, settings=EntitySettings(epochs=1, seed=seed)
        ).save(tmp_path / str(seed))
    weights = [(tmp_path / name / "selector.safetensors").read_bytes() for name in "01"]
    assert weights[0] != weights[1]


def test_a_saved_model_scores_exactly_as_before(fitted, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    monkeypatch.setattr("thresher.entities.loading.load_encoder", lambda *_, **__: fitted.encoder)
    again = EntityFinder.load(tmp_path / "model")
    before, after = (each.score_sentences(sentences(5)) for each in (fitted, again))
    for left, right in zip(before, after, strict=True):
        assert np.array_equal(left.scores, right.scores)
        assert left.candidates == right.candidates
    assert again.threshold == fitted.threshold


def test_word_lists_are_saved_with_the_model(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(tiny, "common_words", frozenset())
    text = [*sentences(), *[["in", "May", "2018", "it", "rained"]] * 6]
    dated = EntityFinder.fit_words(
        text,
        encoder=tiny,
        settings=EntitySettings(contrast=0.0, epochs=1),
        prior_knowledge=PriorKnowledge(dates=True),
    )
    assert dated.model.ordinary is None
    assert dated.model.dates == {"may", "it"}
    assert "may" not in dated.model.not_names
    dated.save(tmp_path / "model")
    monkeypatch.setattr(loading, "load_encoder", lambda *_, **__: tiny)
    again = EntityFinder.load(tmp_path / "model")
    assert (again.model.ordinary, again.model.dates) == (None, {"may", "it"})
    words = [["Elena", "came", "in", "May", "2018"]]
    np.testing.assert_array_equal(
        again.score_sentences(words)[0].scores, dated.score_sentences(words)[0].scores
    )
    assert dated.score_sentences(words)[0].scores[4] > 0


def test_a_model_trained_with_bert_runs_in_int8(new_bert, tmp_path):
    known = {word.casefold() for words in sentences() for word in words}
    folder = new_bert(sorted(known), width=32, layers=2, mask=True, distinct=True)
    finder = EntityFinder.fit_words(
        sentences(), encoder=str(folder), settings=EntitySettings(epochs=2)
    )
    assert len(finder.model.ranges) == 4 * finder.encoder.layer + 1  # linear layers, and the gates
    finder.save(tmp_path / "model")
    again = EntityFinder.load(tmp_path / "model", device="cpu")
    exact = EntityFinder.load(tmp_path / "model", device="cpu", exact=True)
    of_all = [each.gate_scores(sentences(20)) for each in (finder, again, exact)]
    np.testing.assert_array_equal(of_all[0], of_all[1])
    difference = np.abs(of_all[0] - of_all[2]).max()
    assert 0 < difference < 0.05 if int8_supported() else difference == 0


def test_a_model_for_vectors_of_another_width_is_refused(fitted, tmp_path, load_once, monkeypatch):
    fitted.save(tmp_path / "model")
    monkeypatch.setattr("thresher.entities.loading.load_encoder", lambda *_, **__: load_once())
    with pytest.raises(InputError, match="width 8, but tiny gives 384"):
        EntityFinder.load(tmp_path / "model")


def test_known_names_and_expected_rates_are_learned(tiny):
    prior_knowledge = PriorKnowledge(
        priors=("none",), names=frozenset(["child"]), rates={"capitalised": 0.9}
    )
    finder = EntityFinder.fit_words(
        sentences(),
        encoder=tiny,
        settings=EntitySettings(
            epochs=20, sentences_per_batch=16, learning_rate=0.01, contrast=0.0
        ),
        prior_knowledge=prior_knowledge,
    )
    gates = finder.gates([["then", "the", "child", "met", "chiara", "again", "."]]).prob_open()
    assert gates[2] > 0.8
    assert gates[5] < 0.6


def test_gates_trained_on_known_names_only_open_at_the_expected_rate(tiny):
    text = [words for i in range(12) for words in [["ከበደ", "ነው", "አበበ", "ቤት"]] * 5 + SPREAD[i % 2]]
    settings = EntitySettings(epochs=5, sentences_per_batch=16, contrast=0.0, bursty_rate=0.3)
    gates = []
    for names in (["ከበደ"], []):
        prior_knowledge = PriorKnowledge(priors=("burstiness",), names=frozenset(names))
        finder = EntityFinder.fit_words(
            text, encoder=tiny, settings=settings, prior_knowledge=prior_knowledge
        )
        gates.append(finder.gate_scores(text).mean())
    assert gates[0] == pytest.approx(0.3, abs=0.005)
    assert gates[1] != pytest.approx(0.3, abs=0.02)


def test_too_little_text_is_refused(tiny):
    with pytest.raises(InputError, match="5 words are too few"):
        EntityFinder.fit(["Anna met Boris again."], encoder=tiny)


def test_a_small_text_is_trained_on_for_enough_steps(tiny):
    notes: list[str] = []

    class Notes:
        def stage(self, name, total):
            return lambda steps: None

        def note(self, message):
            notes.append(message)

    finder = EntityFinder.fit_words(
        sentences(60), encoder=tiny, settings=EntitySettings(contrast=0.0), progress=Notes()
    )
    opened = finder.gates(sentences(20)).prob_open().reshape(20, 7)
    assert opened[:, 4].mean() > 2 * opened[:, [3, 5, 6]].mean()
    assert notes == ["420 words are few to learn from: expect a rough model below 20,000"]


def test_a_sentence_without_words_is_refused(tiny):
    with pytest.raises(InputError, match="sentence 121 has no words; leave it out"):
        EntityFinder.fit_words([*sentences(), [], []], encoder=tiny)


class InterruptAfter:
    """Progress that interrupts training after a fraction of its steps."""

    def __init__(self, fraction):
        self.fraction = fraction

    def stage(self, name, total):
        done = 0

        def count(steps):
            nonlocal done
            done += steps
            if name == "training" and done > self.fraction * total:
                raise KeyboardInterrupt

        return count

    def note(self, message):
        assert "collapsed" not in message


def test_a_resumed_run_gives_the_same_model(tiny, tmp_path):
    chosen = EntitySettings(epochs=3, contrast_share=0.5)
    straight = EntityFinder.fit_words(sentences(), encoder=tiny, settings=chosen)
    with pytest.raises(KeyboardInterrupt):  # in the second epoch
        EntityFinder.fit_words(
            sentences(),
            encoder=tiny,
            settings=chosen,
            work_dir=tmp_path,
            progress=InterruptAfter(0.5),
        )
    tiny.read.clear()
    resumed = EntityFinder.fit_words(
        sentences(), encoder=tiny, settings=chosen, work_dir=tmp_path, resume=True
    )
    for name, value in straight.model.selector.state_dict().items():
        assert torch.equal(value, resumed.model.selector.state_dict()[name])
    assert resumed.model.signal_weights == straight.model.signal_weights


def test_a_new_run_deletes_the_checkpoint_of_the_previous_one(tiny, tmp_path):
    given = {"encoder": tiny, "settings": EntitySettings(epochs=1), "work_dir": tmp_path}
    EntityFinder.fit_words(sentences(), **given)
    with pytest.raises(KeyboardInterrupt):  # before anything is saved
        EntityFinder.fit_words(sentences(90), **given, progress=InterruptAfter(0))
    resumed = EntityFinder.fit_words(sentences(90), **given, resume=True)
    assert resumed.model.learned_from["sentences"] == 90


def test_resuming_with_other_text_is_refused(tiny, tmp_path):
    EntityFinder.fit_words(
        sentences(), encoder=tiny, settings=EntitySettings(epochs=1), work_dir=tmp_path
    )
    with pytest.raises(InputError, match="started with other text or settings"):
        EntityFinder.fit_words(
            sentences(90),
            encoder=tiny,
            settings=EntitySettings(epochs=1),
            work_dir=tmp_path,
            resume=True,
        )


def test_without_vectors_gates_are_not_shifted():
    selector = seeded_selector(0, 8, form="thresholded")
    none = np.zeros((0, 8), dtype=np.float16)
    assert shift_to_rate(0.3, selector, none, torch.device("cpu")) is selector


def test_resuming_with_the_same_words_in_other_sentences_is_refused(tiny, tmp_path):
    given = {"encoder": tiny, "settings": EntitySettings(epochs=1), "work_dir": tmp_path}
    given["prior_knowledge"] = PriorKnowledge(selected=0.1, priors=["none"])
    EntityFinder.fit_words([["then", "she", "left"]] * 100, **given)
    with pytest.raises(InputError, match="started with other text or settings"):
        EntityFinder.fit_words([["then", "she", "left"] * 2] * 50, **given, resume=True)


class TestBrokenFolders:
    @pytest.fixture
    def folder(self, fitted, tmp_path):
        fitted.save(tmp_path / "model")
        return tmp_path / "model"

    def refused(self, folder):
        with pytest.raises(InputError) as caught:
            EntityFinder.load(folder)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_missing(self, tmp_path):
        assert "there is no model folder" in self.refused(tmp_path / "nowhere")

    def test_not_a_model(self, tmp_path):
        assert "has no config.json" in self.refused(tmp_path)

    @pytest.mark.parametrize("name", ["selector.safetensors", "ordinary.txt"])
    def test_incomplete(self, folder, name):
        (folder / name).unlink()
        assert "is incomplete" in self.refused(folder)

    @pytest.mark.parametrize("name", ["selector.safetensors", "ordinary.txt"])
    def test_changed(self, folder, name):
        with (folder / name).open("ab") as file:
            file.write(b"\0")
        assert "was changed after the model was saved" in self.refused(folder)

    def test_from_another_version(self, folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "format": 99}))
        assert "has format 99; this version reads format 1" in self.refused(folder)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            (
                {"entity": 1},
                "config.json does not describe a model: entity is 1, but there are 1 selectors",
            ),
            ({"entity": -1}, "entity is -1"),
            ({"threshold": 41}, "`threshold` must be between 0 and 1, got 41.0"),
            ({"threshold": "high"}, "could not convert"),
            ({"trust": {"capital": None}}, "float"),
        ],
    )
    def test_a_description_of_no_model(self, folder, changes, message):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **changes}))
        assert message in self.refused(folder)

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"format": 1}'])
    def test_no_description(self, folder, content):
        (folder / "config.json").write_bytes(content)
        assert "config.json" in self.refused(folder)
