"""The finder as a user meets it: the built-in model, fitting, saving, offsets."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thresher.encoders.processor import eight_bits_work
from thresher.entities import finder as finder_module
from thresher.entities import reading
from thresher.entities.beliefs import Beliefs
from thresher.entities.finder import EntityFinder
from thresher.entities.settings import Settings
from thresher.errors import InputError

NAMES = ["Anna", "Boris", "Chiara", "Dmitri", "Elena", "Farid"]
VERBS = ["met", "saw", "called", "thanked"]


def sentences(count: int = 120) -> list[list[str]]:
    """Made-up sentences in which names, and only names, are capitalised inside."""
    chance = np.random.default_rng(0)
    starts = [["Then", "the", "child"], ["The", "child", "then"]]
    return [
        [*starts[i % 2], chance.choice(VERBS), chance.choice(NAMES), "again", "."]
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def english(minilm):
    return EntityFinder.default(device="cpu")


@pytest.fixture(scope="module")
def fitted(new_tiny):
    return EntityFinder.fit_words(
        sentences(),
        encoder=new_tiny(),
        settings=Settings(epochs=20, sentences_per_batch=16, learning_rate=0.01),
    )


def found(finder, text):
    return [span.text for span in finder.find(text)]


def test_the_built_in_model_finds_names_in_any_case(english):
    assert found(english, "Marie Curie moved to Paris.") == ["Marie Curie", "Paris"]
    assert found(english, "marie curie moved to paris.") == ["marie curie", "paris"]


def test_the_built_in_model_finds_nothing_in_plain_prose(english):
    assert found(english, "The cat sat on the mat and nobody minded, because it was late.") == []


def test_the_built_in_model_is_small():
    folder = Path(finder_module.__file__).parent / "english"
    assert 100_000 < sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80))
def test_offsets_are_true_for_any_text(english, text):
    spans = english.find(text, threshold=0.0)
    for span in spans:
        assert text[span.start : span.end] == span.text
        assert 0 <= span.score <= 1
    for left, right in pairwise(spans):
        assert left.end <= right.start


def test_emoji_and_line_breaks_do_not_move_offsets(english):
    text = "😀👩‍👩‍👧 Yesterday\r\nwe met Angela Merkel in Berlin."
    assert [(s.text, text.index(s.text)) for s in english.find(text)] == [
        (s.text, s.start) for s in english.find(text)
    ]
    assert "Angela Merkel" in found(english, text)


def test_many_texts_give_what_each_gives_alone(english):
    texts = ["Ada Lovelace lived in London.", "", "Nothing here.", "Oslo is in Norway."]
    together = list(english.find_all(texts))
    for text, spans in zip(texts, together, strict=True):
        alone = english.find(text)
        assert [(s.start, s.end) for s in spans] == [(s.start, s.end) for s in alone]
        assert [s.score for s in spans] == pytest.approx([s.score for s in alone], abs=1e-3)


def test_documents_read_together_are_each_read_by_itself(english):
    """The second repeats a rare word of the first, which must not count as a repetition."""
    documents = [[["Zorblatt", "left", "."]], [], [["the", "zorblatt", "left", "."], ["So", "."]]]
    together = english.read_all(documents)
    assert [len(readings) for readings in together] == [1, 0, 2]
    for document, readings in zip(documents, together, strict=True):
        for each, alone in zip(readings, english.read(document), strict=True):
            np.testing.assert_allclose(each.scores, alone.scores, atol=1e-3)


def test_find_all_is_lazy(english, monkeypatch):
    monkeypatch.setattr(reading, "_WORDS_TOGETHER", 100)

    def endless():
        while True:
            yield "Ada Lovelace lived in London. "

    assert [s.text for s in next(english.find_all(endless()))][:2] == ["Ada Lovelace", "London"]


def test_words_already_split_are_found_as_ranges_of_words(english):
    rows = english.find_words([["Marie", "Curie", "left", "."], ["Nobody", "did", "."]])
    assert [[(c.start, c.end) for c in row] for row in rows] == [[(0, 2)], []]


def test_a_threshold_only_filters(english):
    words = [["Marie", "Curie", "left", "Paris", "with", "a", "Harbour", "dog", "."]]
    every = english.find_words(words, threshold=0.0)[0]
    for least in (0.2, 0.5, 0.9):
        assert english.find_words(words, threshold=least)[0] == [
            c for c in every if c.score >= least
        ]


def test_without_the_casing_view_case_changes_nothing(english):
    text = [["Then", "Marie", "Curie", "left", "Paris", "."]]
    lowered = [[word.lower() for word in words] for words in text]
    assert torch.equal(english.gates(text).prob_open(), english.gates(lowered).prob_open())


def test_a_mask_can_be_sampled(english):
    gates = english.gates([["Marie", "Curie", "left", "Paris", "."]])
    masks = gates.sample((400,), generator=torch.Generator().manual_seed(0))
    assert set(masks.unique().tolist()) <= {0.0, 1.0}
    assert torch.allclose(masks.mean(0), gates.prob_open(), atol=0.08)


def test_fitting_learns_the_names(fitted):
    rows = fitted.find_words([["then", "the", "child", "met", "chiara", "again", "."]])
    assert [(c.start, c.end) for c in rows[0]] == [(4, 5)]
    assert len(fitted.find_words(sentences(5))) == 5


def test_the_same_seed_gives_the_same_model(tiny, tmp_path):
    for name in ("a", "b"):
        EntityFinder.fit_words(
            sentences(), encoder=tiny, settings=Settings(epochs=2, seed=3, contrast_share=0.5)
        ).save(tmp_path / name)
    for file in ("selector.safetensors", "config.json", "ordinary.txt"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_another_seed_gives_another_model(tiny, tmp_path):
    for seed in (0, 1):
        EntityFinder.fit_words(
            sentences(), encoder=tiny, settings=Settings(epochs=1, seed=seed)
        ).save(tmp_path / str(seed))
    weights = [(tmp_path / name / "selector.safetensors").read_bytes() for name in "01"]
    assert weights[0] != weights[1]


def test_a_saved_model_scores_exactly_as_before(fitted, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    monkeypatch.setattr("thresher.entities.finder.load_encoder", lambda *_, **__: fitted.encoder)
    again = EntityFinder.load(tmp_path / "model")
    before, after = (each.read(sentences(5)) for each in (fitted, again))
    for left, right in zip(before, after, strict=True):
        assert np.array_equal(left.scores, right.scores)
        assert left.candidates == right.candidates
    assert again.threshold == fitted.threshold


def test_what_a_model_saw_beside_meaning_is_saved_with_it(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(tiny, "common_words", frozenset())
    text = [*sentences(), *[["in", "May", "2018", "it", "rained"]] * 6]
    dated = EntityFinder.fit_words(
        text, encoder=tiny, settings=Settings(contrast=0.0, epochs=1), beliefs=Beliefs(dates=True)
    )
    assert dated.model.ordinary is None
    assert dated.model.dates == {"may", "it"}
    assert "may" not in dated.model.not_names
    dated.save(tmp_path / "model")
    monkeypatch.setattr(finder_module, "load_encoder", lambda *_, **__: tiny)
    again = EntityFinder.load(tmp_path / "model")
    assert (again.model.ordinary, again.model.dates) == (None, {"may", "it"})
    words = [["Elena", "came", "in", "May", "2018"]]
    np.testing.assert_array_equal(again.read(words)[0].scores, dated.read(words)[0].scores)
    assert dated.read(words)[0].scores[4] > 0


def test_a_model_fitted_on_bert_reads_in_eight_bits_from_then_on(new_bert, tmp_path):
    known = {word.casefold() for words in sentences() for word in words}
    folder = new_bert(sorted(known), width=32, layers=2, mask=True, apart=True)
    finder = EntityFinder.fit_words(sentences(), encoder=str(folder), settings=Settings(epochs=2))
    assert len(finder.model.ranges) == 4 * finder.encoder.layer  # linear layers
    finder.save(tmp_path / "model")
    again = EntityFinder.load(tmp_path / "model", device="cpu")
    exact = EntityFinder.load(tmp_path / "model", device="cpu", exact=True)
    of_all = [np.concatenate(each.gate_scores(sentences(20))) for each in (finder, again, exact)]
    np.testing.assert_array_equal(of_all[0], of_all[1])
    difference = np.abs(of_all[0] - of_all[2]).max()
    assert 0 < difference < 0.05 if eight_bits_work() else difference == 0


def test_a_model_for_vectors_of_another_width_is_refused(fitted, tmp_path, minilm, monkeypatch):
    fitted.save(tmp_path / "model")
    monkeypatch.setattr("thresher.entities.finder.load_encoder", lambda *_, **__: minilm)
    with pytest.raises(InputError, match="width 8; tiny gives 384"):
        EntityFinder.load(tmp_path / "model")


def test_known_names_and_stated_rates_are_believed(tiny):
    beliefs = Beliefs(priors=("none",), names=frozenset(["child"]), rates={"capitalised": 0.9})
    finder = EntityFinder.fit_words(
        sentences(),
        encoder=tiny,
        settings=Settings(epochs=20, sentences_per_batch=16, learning_rate=0.01, contrast=0.0),
        beliefs=beliefs,
    )
    gates = finder.gates([["then", "the", "child", "met", "chiara", "again", "."]]).prob_open()
    assert gates[2] > 0.8
    assert gates[5] < 0.6


def test_too_little_text_is_refused(tiny):
    with pytest.raises(InputError, match="5 words are too few"):
        EntityFinder.fit(["Anna met Boris again."], encoder=tiny)


def test_a_small_text_is_read_until_the_gates_have_moved(tiny):
    notes: list[str] = []

    class Notes:
        def stage(self, name, total):
            return lambda steps: None

        def note(self, message):
            notes.append(message)

    finder = EntityFinder.fit_words(
        sentences(60), encoder=tiny, settings=Settings(contrast=0.0), progress=Notes()
    )
    opened = finder.gates(sentences(20)).prob_open().reshape(20, 7)
    assert opened[:, 4].mean() > 2 * opened[:, [3, 5, 6]].mean()
    assert notes == ["420 words are few to learn from: expect a rough model below 20,000"]


def test_a_name_is_a_name_even_if_listed_as_none():
    beliefs = Beliefs(names=frozenset(["may"]))
    assert "may" not in beliefs.not_names
    assert "june" in beliefs.not_names


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_out_of_range_is_refused(fitted, threshold):
    with pytest.raises(InputError, match=r"a threshold lies in \[0, 1\]"):
        fitted.find_words(sentences(1), threshold=threshold)


def test_a_string_is_no_list_of_texts_or_words(fitted):
    with pytest.raises(InputError, match="use find"):
        next(fitted.find_all("Paris"))
    with pytest.raises(InputError, match="use find"):
        fitted.find_words(["Marie", "Curie"])
    with pytest.raises(InputError, match="use fit"):
        EntityFinder.fit("Anna lives in Paris.")


@pytest.mark.parametrize("text", [None, float("nan"), b"Oslo"])
def test_a_text_that_is_no_string_is_told(fitted, text):
    with pytest.raises(InputError, match=f"a text is a string; got {type(text).__name__}"):
        fitted.find(text)


def test_a_sentence_without_words_is_refused(tiny):
    with pytest.raises(InputError, match="sentence 121 has no words; leave it out"):
        EntityFinder.fit_words([*sentences(), [], []], encoder=tiny)


def test_half_a_surrogate_pair_is_no_obstacle(english):
    text = "Half \ud800 a pair met Angela Merkel in Berlin."
    assert "Angela Merkel" in found(english, text)


def test_an_unknown_prior_names_the_choices():
    with pytest.raises(InputError, match="unknown prior 'rare'; choose from casing"):
        Beliefs(priors=("rare",))


class Stops:
    """Interrupts learning once more than a share of it is done."""

    def __init__(self, share):
        self.share = share

    def stage(self, name, total):
        done = 0

        def count(steps):
            nonlocal done
            done += steps
            if name == "learning" and done > self.share * total:
                raise KeyboardInterrupt

        return count

    def note(self, message):
        assert "collapsed" not in message


def test_a_stopped_run_resumes_to_the_same_model(tiny, tmp_path):
    chosen = Settings(epochs=3, contrast_share=0.5)
    straight = EntityFinder.fit_words(sentences(), encoder=tiny, settings=chosen)
    with pytest.raises(KeyboardInterrupt):  # in the second epoch
        EntityFinder.fit_words(
            sentences(), encoder=tiny, settings=chosen, work=tmp_path, progress=Stops(0.5)
        )
    tiny.read.clear()
    resumed = EntityFinder.fit_words(
        sentences(), encoder=tiny, settings=chosen, work=tmp_path, resume=True
    )
    for name, value in straight.model.selector.state_dict().items():
        assert torch.equal(value, resumed.model.selector.state_dict()[name])
    assert resumed.model.trust == straight.model.trust


def test_a_new_run_leaves_nothing_of_the_one_before_to_resume_from(tiny, tmp_path):
    given = {"encoder": tiny, "settings": Settings(epochs=1), "work": tmp_path}
    EntityFinder.fit_words(sentences(), **given)
    with pytest.raises(KeyboardInterrupt):  # before anything is saved
        EntityFinder.fit_words(sentences(90), **given, progress=Stops(0))
    resumed = EntityFinder.fit_words(sentences(90), **given, resume=True)
    assert resumed.model.learned_from["sentences"] == 90


def test_resuming_with_other_text_is_refused(tiny, tmp_path):
    EntityFinder.fit_words(sentences(), encoder=tiny, settings=Settings(epochs=1), work=tmp_path)
    with pytest.raises(InputError, match="begun with other text or settings"):
        EntityFinder.fit_words(
            sentences(90), encoder=tiny, settings=Settings(epochs=1), work=tmp_path, resume=True
        )


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
        ("changes", "told"),
        [
            (
                {"entity": 1},
                "config.json does not describe a model: there are 1 selectors; entity is 1",
            ),
            ({"entity": -1}, "entity is -1"),
            ({"threshold": 41}, "a threshold lies in [0, 1], not 41.0"),
            ({"threshold": "high"}, "could not convert"),
            ({"trust": {"capital": None}}, "float"),
        ],
    )
    def test_a_description_of_no_model(self, folder, changes, told):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **changes}))
        assert told in self.refused(folder)

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"format": 1}'])
    def test_no_description(self, folder, content):
        (folder / "config.json").write_bytes(content)
        assert "config.json" in self.refused(folder)
