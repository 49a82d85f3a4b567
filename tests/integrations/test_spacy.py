"""The spaCy component: what it writes, where, and that it can be saved."""

import subprocess
import sys
from dataclasses import replace

import pytest

from thresher import EntityFinder
from thresher.errors import InputError

spacy = pytest.importorskip("spacy")
from spacy import displacy  # noqa: E402
from spacy.tokens import Doc, DocBin  # noqa: E402

TEXTS = [
    "🎉 Marie Curie moved to Paris.",
    "",
    "Nobody knew why it rained.",
    "Yesterday\r\nAlbert Einstein's letter reached Zoe\u0308 in Oslo/Larvik.",
]


@pytest.fixture
def nlp():
    blank = spacy.blank("en")
    blank.add_pipe("thresher")
    return blank


def found(spans) -> list[tuple[str, float]]:
    return [(span.text, span._.thresher_score) for span in spans]


def expected(finder, text, **options) -> list[tuple[str, float]]:
    return [
        (span.text, pytest.approx(span.score, abs=1e-5)) for span in finder.find(text, **options)
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_entities_are_those_of_the_finder(nlp, finder, text):
    doc = nlp(text)
    assert found(doc.ents) == expected(finder, text)
    assert [span.label_ for span in doc.ents] == [span.kind or "ENT" for span in finder.find(text)]
    for span in doc.ents:
        assert text[span.start_char : span.end_char] == span.text


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_documents_in_a_batch_get_the_same_entities_as_alone(nlp, batch_size):
    together = nlp.pipe(TEXTS * 2, batch_size=batch_size)
    for text, doc in zip(TEXTS * 2, together, strict=True):
        alone = nlp(text)
        assert [(s.start, s.end) for s in doc.ents] == [(s.start, s.end) for s in alone.ents]
        assert [s._.thresher_score for s in doc.ents] == pytest.approx(
            [s._.thresher_score for s in alone.ents], abs=1e-5
        )


def test_a_stream_of_documents_is_processed_lazily(nlp):
    """The stream has no end."""

    def endless():
        while True:
            yield "Marie Curie left."

    assert [span.text for span in next(nlp.pipe(endless(), batch_size=2)).ents] == ["Marie Curie"]


def test_an_entity_covers_every_token_it_touches(nlp, finder):
    text = "Marie Curie left."
    doc = nlp.get_pipe("thresher")(Doc(nlp.vocab, ["Marie Curie left."], spaces=[False]))
    assert [span.text for span in doc.ents] == [text]
    assert [span.text for span in finder.find(text)] == ["Marie Curie"]


def test_spans_can_be_written_to_a_key_instead_of_the_entities(finder):
    nlp = spacy.blank("en")
    nlp.add_pipe("thresher", config={"spans_key": "thresher", "label": "NAME", "threshold": 0.1})
    doc = nlp(TEXTS[0])
    assert doc.ents == ()
    group = doc.spans["thresher"]
    assert found(group) == expected(finder, TEXTS[0], threshold=0.1)
    assert group.attrs["scores"] == [span._.thresher_score for span in group]
    kinds = [span.kind for span in finder.find(TEXTS[0], threshold=0.1)]
    assert [span.label_ for span in group] == [kind or "NAME" for kind in kinds]


@pytest.mark.parametrize(
    ("overwrite", "left"), [(False, ["Curie moved", "Paris"]), (True, ["Marie Curie", "Paris"])]
)
def test_entities_of_other_pipes_stay_unless_overwrite_is_set(overwrite, left):
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "X", "pattern": "Curie moved"}])
    nlp.add_pipe("thresher", config={"overwrite": overwrite})
    assert [span.text for span in nlp(TEXTS[0]).ents] == left


def test_a_saved_pipeline_contains_its_model(finder, tmp_path):
    """Even after the folder it was loaded from has been moved."""
    [head] = finder.model.selectors
    least = finder.find(TEXTS[3])[-1].score
    strict = replace(finder.model, selectors=(replace(head, threshold=least + 1e-3),))
    folder = tmp_path / "model"
    EntityFinder(finder.encoder, strict).save(folder)
    nlp = spacy.blank("en")
    nlp.add_pipe("thresher", config={"model": str(folder), "label": "NAME"})
    before = found(nlp(TEXTS[3]).ents)
    assert 0 < len(before) < len(finder.find(TEXTS[3]))

    nlp.to_disk(tmp_path / "pipeline")
    packed = nlp.to_bytes()
    folder.rename(tmp_path / "elsewhere")
    loaded = spacy.load(tmp_path / "pipeline")
    unpacked = spacy.blank("en")
    unpacked.add_pipe("thresher")
    unpacked.from_bytes(packed)
    for other in (loaded, unpacked):
        assert found(other(TEXTS[3]).ents) == [
            (text, pytest.approx(score, abs=1e-5)) for text, score in before
        ]
    assert loaded.get_pipe("thresher").label == "NAME"
    nlp.to_disk(tmp_path / "pipeline")  # in the same place


@pytest.mark.parametrize("key", [None, "thresher"])
def test_entities_and_scores_are_kept_in_a_docbin(key):
    nlp = spacy.blank("en")
    nlp.add_pipe("thresher", config={"spans_key": key})
    stored = DocBin(docs=nlp.pipe(TEXTS), store_user_data=True).to_bytes()
    for doc, text in zip(DocBin().from_bytes(stored).get_docs(nlp.vocab), TEXTS, strict=True):
        fresh = nlp(text)
        spans, again = (doc.spans[key], fresh.spans[key]) if key else (doc.ents, fresh.ents)
        assert [(text, pytest.approx(score, abs=1e-5)) for text, score in found(again)] == found(
            spans
        )


def test_displacy_shows_the_entities(nlp):
    shown = displacy.render(nlp(TEXTS[0]), style="ent", jupyter=False)
    assert "Marie Curie" in shown
    assert "person" in shown
    spans = spacy.blank("en")
    spans.add_pipe("thresher", config={"spans_key": "sc"})
    assert "person" in displacy.render(spans(TEXTS[0]), style="span", jupyter=False)


def test_a_selector_can_be_chosen(finder, tmp_path):
    [head] = finder.model.selectors
    selectors = (head, replace(head, threshold=1.0))
    folder = tmp_path / "model"
    EntityFinder(finder.encoder, replace(finder.model, selectors=selectors)).save(folder)
    nlp = spacy.blank("en")
    nlp.add_pipe("thresher", config={"model": str(folder), "selector": 2})
    assert nlp(TEXTS[0]).ents == ()


def test_a_threshold_out_of_range_is_rejected_when_the_pipe_is_made():
    with pytest.raises(InputError, match="`threshold` must be at least 0 and at most 1, got 2"):
        spacy.blank("en").add_pipe("thresher", config={"threshold": 2.0})


def test_a_missing_model_is_reported(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("thresher", config={"model": str(tmp_path / "none")})
    with pytest.raises(InputError, match="there is no model folder"):
        nlp("Oslo")


def test_the_pipe_is_registered_by_its_entry_point():
    code = "import spacy; print(spacy.blank('en').add_pipe('thresher').label)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ENT\n"
