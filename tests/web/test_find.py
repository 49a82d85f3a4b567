"""POST /find and /download return what the finder finds; invalid requests get a plain reason."""

import json

import anyio
import pytest
from starlette.testclient import TestClient

from thresher.text import read_annotated, read_conll, segment
from thresher.web.app import create_app
from thresher.web.body_limit import BodyLimit
from thresher.web.models import ServedModels

TEXT = "👩‍🔬 Marie Curie moved to Paris. 🎉 She met Albert Einstein in Brussels, and nobody else."

JSON = {"Content-Type": "application/json"}


def post(client, path="/find", **body):
    return client.post(path, json=body)


def spans_of(response, number=0):
    return [
        (span["start"], span["end"], span["text"], span["score"])
        for span in response.json()["results"][number]["spans"]
    ]


def expected(finder, text, threshold=None):
    found = finder.find(text, threshold=threshold)
    return [
        (each.start, each.end, each.text, pytest.approx(each.score, abs=1e-5)) for each in found
    ]


def test_find_returns_the_entities_of_the_finder(client, finder):
    response = post(client, text=TEXT)
    assert response.status_code == 200
    assert spans_of(response) == expected(finder, TEXT)
    assert "Marie Curie" in [text for _, _, text, _ in spans_of(response)]
    assert response.json()["model"] == "english"
    assert response.json()["threshold"] == finder.threshold
    assert "sentences" not in response.json()["results"][0]


def test_a_text_that_the_model_cannot_read_has_a_note(client, finder):
    texts = ["Marie Curie moved to Paris.", "東京は日本の首都です。", ""]
    readable, japanese, empty = post(client, texts=texts).json()["results"]
    assert japanese["note"].startswith("the text is in the script Han, Hiragana, which the model")
    assert japanese["note"].endswith("cannot read; use the model multilingual")
    assert "note" not in readable
    assert "note" not in empty
    last_line = post(client, "/find/stream", text=texts[1]).text.splitlines()[-1]
    assert json.loads(last_line)["results"][0]["note"] == japanese["note"]


def test_several_texts_are_independent_of_each_other(client, finder):
    texts = [TEXT, "", "   \n", "Oslo is far from Larvik.", TEXT]
    response = post(client, texts=texts)
    assert len(response.json()["results"]) == len(texts)
    for number, text in enumerate(texts):
        assert spans_of(response, number) == expected(finder, text)


@pytest.mark.parametrize("threshold", [0, 0.9, 1])
def test_a_threshold_only_filters_candidates(client, finder, threshold):
    every = spans_of(post(client, text=TEXT, threshold=0))
    response = post(client, text=TEXT, threshold=threshold)
    assert response.json()["threshold"] == threshold
    assert spans_of(response) == [span for span in every if span[3] >= threshold]
    assert spans_of(response) == expected(finder, TEXT, threshold)


def test_offsets_can_count_utf16_code_units(client):
    units = TEXT.encode("utf-16-le")
    [found] = post(client, text=TEXT, offsets="utf-16", words=True).json()["results"]
    assert found["spans"]
    for span in found["spans"]:
        assert units[2 * span["start"] : 2 * span["end"]].decode("utf-16-le") == span["text"]
    words = [word for sentence in found["sentences"] for word in sentence["words"]]
    assert [units[2 * w["start"] : 2 * w["end"]].decode("utf-16-le") for w in words] == [
        word.text for sentence in segment(TEXT) for word in sentence.words
    ]


def test_word_scores_are_those_of_the_finder(client, finder):
    [found] = post(client, text=TEXT, words=True).json()["results"]
    sentences = segment(TEXT)
    readings = finder.score_sentences([[word.text for word in each.words] for each in sentences])
    for given, sentence, reading in zip(found["sentences"], sentences, readings, strict=True):
        assert (given["start"], given["end"]) == (sentence.start, sentence.end)
        assert [(w["start"], w["end"]) for w in given["words"]] == [
            (word.start, word.end) for word in sentence.words
        ]
        assert [w["score"] for w in given["words"]] == pytest.approx(
            reading.scores.tolist(), abs=1e-5
        )


def test_a_model_is_selected_by_name(client):
    assert post(client, text="x", model="again").json()["model"] == "again"
    names = [each["name"] for each in client.get("/models").json()["models"]]
    assert names == ["english", "again"]
    assert client.get("/models").json()["most_bytes"] == 20_000


def test_a_selector_is_selected_by_number(finder, two_selectors):
    client = TestClient(create_app(ServedModels({"one": finder, "two": two_selectors})))
    one, two = client.get("/models").json()["models"]
    assert (one["selector"], two["selector"]) == (1, 2)
    assert two["thresholds"] == [0.05, finder.threshold]

    usual, eager = (post(client, text=TEXT, model="two", selector=n) for n in (None, 1))
    assert (usual.json()["selector"], eager.json()["selector"]) == (2, 1)
    assert spans_of(usual) == expected(finder, TEXT)
    assert spans_of(eager) == expected(two_selectors.with_selector(1), TEXT)
    assert spans_of(eager) != spans_of(usual)


@pytest.mark.parametrize("number", [0, 2, -1, 10**30])
def test_an_unknown_selector_is_an_error(client, number):
    response = post(client, text="x", selector=number)
    assert response.status_code == 422
    assert "selector" in response.json()["detail"]


@pytest.mark.parametrize(
    "name",
    ["Englsh", "../english", "/etc/passwd", "english/../english", "file:///etc", "", ".", "\x00"],
)
@pytest.mark.parametrize("path", ["/find", "/download"])
def test_only_names_of_served_models_are_accepted(client, path, name, monkeypatch):
    monkeypatch.setattr("pathlib.Path.open", None)  # no file may be opened
    response = post(client, path, text="x", model=name)
    assert response.status_code == 422
    assert "choose from english, again" in response.json()["detail"]


def test_a_mistyped_model_name_gets_a_suggestion(client):
    detail = post(client, text="x", model="englsh").json()["detail"]
    assert detail == "unknown model 'englsh'; choose from english, again; did you mean english?"


INVALID = {
    "no body": (b"", "Field required"),
    "half of JSON": (b'{"text": "Oslo', "the body is not JSON in UTF-8"),
    "no object": (b'"Oslo"', "valid dictionary"),
    "an array": (b"[]", "valid dictionary"),
    "not UTF-8": (b'{"text": "\xff"}', "the body is not JSON in UTF-8"),
    "a number for a text": (b'{"text": 5}', "text: Input should be a valid string"),
    "half a surrogate pair": (b'{"text": "a\\ud800"}', "text: half a surrogate pair at 1"),
    "null": (b'{"text": null}', "text: Input should be a valid string"),
    "no text": (b"{}", "text: Field required"),
    "a text and texts": (
        b'{"text": "a", "texts": ["b"]}',
        "the body: it has both text and texts; give one of them",
    ),
    "no texts": (b'{"texts": []}', "texts: List should have at least 1 item"),
    "too many texts": (json.dumps({"texts": [""] * 1001}).encode(), "texts: List should have"),
    "a text that is none": (b'{"texts": ["a", {}]}', "texts.1: Input should be a valid string"),
    "an unknown field": (b'{"text": "a", "path": "/etc/passwd"}', "path: Extra inputs"),
    "a threshold above 1": (b'{"text": "a", "threshold": 1.5}', "threshold: Input should be less"),
    "a threshold that is no number": (b'{"text": "a", "threshold": NaN}', "threshold: "),
    "an endless number": (b'{"text": "a", "threshold": ' + b"9" * 5000 + b"}", "JSON"),
    "unknown offsets": (b'{"text": "a", "offsets": "bytes"}', "offsets: Input should be"),
    "a deep nest": (b'{"text": ' + b"[" * 9000, "JSON"),
}


@pytest.mark.parametrize("kind", INVALID)
def test_an_invalid_request_gets_a_one_line_reason(client, kind):
    content, reason = INVALID[kind]
    response = client.post("/find", content=content, headers=JSON)
    assert response.status_code == 422
    assert list(response.json()) == ["detail"]
    assert reason in response.json()["detail"]
    assert "\n" not in response.json()["detail"]
    assert "passwd" not in response.text


def test_a_body_needs_the_content_type_of_json(client):
    """So that a form on another site cannot send a request."""
    response = client.post(
        "/find", content=b'{"text": "Oslo"}', headers={"Content-Type": "text/plain"}
    )
    assert response.status_code == 422
    assert "Content-Type: application/json" in response.json()["detail"]


def test_a_body_of_the_maximum_size_is_accepted_and_one_byte_more_is_not(client):
    def post_body_of(size):
        return client.post("/find", content=b'{"text":""}'.ljust(size), headers=JSON)

    assert post_body_of(20_000).status_code == 200
    response = post_body_of(20_001)
    assert response.status_code == 413
    assert "20,000 bytes" in response.json()["detail"]


def test_a_body_of_unknown_size_is_cut_off_at_the_limit():
    taken, sent = 0, []

    async def never(scope, receive, send):
        raise AssertionError("the application must not be called")

    async def receive():
        nonlocal taken
        taken += 1000
        return {"type": "http.request", "body": b" " * 1000, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "headers": [], "method": "POST", "path": "/find"}
    anyio.run(BodyLimit(never, max_bytes=20_000), scope, receive, send)
    assert sent[0]["status"] == 413
    assert 20_000 < taken < 500_000


def test_a_body_far_above_the_limit_is_not_received():
    async def never(*_):
        raise AssertionError("nothing may be received or passed on")

    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"content-length", b"10000000000")]
    scope = {"type": "http", "headers": headers, "method": "POST", "path": "/find"}
    anyio.run(BodyLimit(never, max_bytes=20_000), scope, never, send)
    assert sent[0]["status"] == 413


@pytest.mark.parametrize(
    "text",
    [
        "x" * 15_000,
        "A" * 15_000,
        "é" * 7000,
        "\u0301" * 5000,
        "\x00\x01",
        "\u202eevil",
        "😀" * 2000,
    ],
)
def test_unusual_texts_keep_their_offsets(client, text):
    [found] = post(client, text=text, words=True, threshold=0).json()["results"]
    for span in found["spans"]:
        assert text[span["start"] : span["end"]] == span["text"]
    read = [text[w["start"] : w["end"]] for s in found["sentences"] for w in s["words"]]
    assert "".join(read) == "".join(text.split())


@pytest.mark.parametrize("tool", ["prodigy", "doccano", "label-studio"])
def test_a_download_for_a_labelling_tool_contains_the_entities(client, finder, tool, tmp_path):
    response = post(client, "/download", text=TEXT, format=tool)
    assert response.status_code == 200
    assert "attachment" in response.headers["Content-Disposition"]
    path = tmp_path / "file"
    path.write_bytes(response.content)
    [read] = read_annotated(path, format=tool)
    assert read.text == TEXT
    assert [(s.start, s.end, s.text) for s in read.spans] == [
        (s.start, s.end, s.text) for s in finder.find(TEXT)
    ]


def test_downloads_apply_the_threshold(client, finder, tmp_path):
    def lines(threshold):
        response = post(client, "/download", text=TEXT, threshold=threshold, format="jsonl")
        return json.loads(response.content)

    assert lines(1)["spans"] == []
    assert [span["text"] for span in lines(0)["spans"]] == [
        span.text for span in finder.find(TEXT, threshold=0)
    ]
    path = tmp_path / "found.conll"
    path.write_bytes(post(client, "/download", text=TEXT, format="conll").content)
    found = [
        " ".join(sentence.words[a:b]) for sentence in read_conll(path) for a, b in sentence.spans
    ]
    assert found == [span.text for span in finder.find(TEXT)]
