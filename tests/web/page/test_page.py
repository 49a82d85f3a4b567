"""The behaviour of the page."""

import json
from pathlib import Path

import pytest
from tests.web.page.conftest import Visit

from thresher.text import read_annotated, read_conll

TEXT = (
    "🎉👩‍🔬 Marie Curie moved to Paris. Nobody knew why Albert Einstein had left Marie Curie alone."
)


def span_texts(spans) -> list[str]:
    return [span.text for span in spans]


def test_entities_of_typed_text_are_highlighted(visit, finder):
    """Also after emoji, where offsets in characters and in UTF-16 code units differ."""
    visit.type(TEXT)
    assert visit.entities() == span_texts(finder.find(TEXT))
    assert "Marie Curie" in visit.entities()
    spans = finder.find(TEXT, threshold=0)
    expected = f"{len(visit.entities())} of {len(spans)} candidates"
    assert visit.page.inner_text("#status") == expected


def test_shades_are_the_scores_of_the_words(visit, finder):
    visit.type("Marie Curie left .")
    visit.page.check("#all-words")
    shades = visit.page.locator(".word").evaluate_all(
        "words => words.map((word) => Number(word.style.getPropertyValue('--p')))"
    )
    [reading] = finder.score_sentences([["Marie", "Curie", "left", "."]])
    assert shades == pytest.approx(reading.scores.tolist(), abs=1e-4)


def test_moving_the_threshold_sends_no_request(visit, finder):
    visit.type(TEXT)
    request_count = len(visit.requests)
    for threshold in (0, 0.6, 0.78, 1):
        visit.set_threshold(threshold)
        assert visit.entities() == span_texts(finder.find(TEXT, threshold=threshold))
    assert visit.entities() == []
    visit.page.focus("#threshold")
    visit.page.keyboard.press("Home")
    assert visit.entities() == span_texts(finder.find(TEXT, threshold=0))
    visit.page.click("#default-threshold")
    assert visit.entities() == span_texts(finder.find(TEXT))
    assert len(visit.requests) == request_count


def test_clicking_an_entity_shows_its_context(visit):
    visit.type(TEXT)
    visit.page.click(".entity >> text=Einstein")
    details = visit.page.locator("#details")
    assert details.locator("h3").inner_text() == "Albert Einstein"
    sentence = "Nobody knew why Albert Einstein had left Marie Curie alone."
    assert details.locator(".context").inner_text() == sentence
    assert details.locator(".context b").inner_text() == "Albert Einstein"
    visit.page.keyboard.press("Escape")
    assert details.is_hidden()


def test_the_other_mentions_of_an_entity_can_be_reached(visit):
    visit.type(TEXT)
    visit.page.locator(".entity", has_text="Marie Curie").first.click()
    assert "found 2 times" in visit.page.inner_text("#details .facts")
    visit.page.click("#details .facts button:not([disabled])")
    assert visit.page.inner_text("#details .context").startswith("Nobody knew")
    visit.page.click("#details .close")
    chosen = visit.page.evaluate(
        "[document.activeElement.textContent, result.innerHTML.length > 0]"
    )
    assert chosen == ["Marie Curie", True]


def test_entities_can_be_reached_with_the_keyboard(visit):
    visit.type(TEXT)
    visit.page.locator("#kinds button").last.focus()
    first, second, *_, last = visit.entities()
    for key, reached in [
        ("Tab", first),
        ("ArrowRight", second),
        ("ArrowLeft", first),
        ("ArrowUp", last),
        ("ArrowDown", first),
    ]:
        visit.page.keyboard.press(key)
        assert visit.page.evaluate("document.activeElement.textContent") == reached
    visit.page.keyboard.press("Enter")
    assert visit.page.inner_text("#details h3") == first


def test_controls_have_accessible_names(visit):
    visit.type(TEXT)
    snapshot = visit.page.locator("body").aria_snapshot()
    for expected in (
        'heading "Thresher"',
        'textbox "Text"',
        'slider "Threshold"',
        'button "Marie Curie, person',
        "status: ",
        'button "Label Studio"',
        'combobox "Model"',
    ):
        assert expected in snapshot, expected


def test_downloads_contain_the_shown_entities(visit, finder, tmp_path):
    visit.type(TEXT)
    visit.set_threshold(0.6)
    spans = finder.find(TEXT, threshold=0.6)

    def downloaded(name: str) -> Path:
        with visit.page.expect_download() as waiting:
            visit.page.click(f"#downloads >> text={name}")
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    record = json.loads(downloaded("JSONL").read_text(encoding="utf-8"))
    places = [(span["start"], span["end"]) for span in record["spans"]]
    assert places == [(span.start, span.end) for span in spans]
    tagged = list(read_conll(downloaded("CoNLL")))
    found = [" ".join(each.words[a:b]) for each in tagged for a, b in each.spans]
    assert found == span_texts(spans)
    for name in ("Label Studio", "Prodigy", "doccano"):
        [read] = read_annotated(downloaded(name), format=name.lower().replace(" ", "-"))
        assert (read.text, span_texts(read.spans)) == (TEXT, span_texts(spans))


def test_a_reload_keeps_the_text_and_the_threshold(visit, finder):
    visit.type(TEXT)
    visit.set_threshold(0.77)
    visit.page.reload()
    visit.page.wait_for_function("text => result.textContent === text", arg=TEXT)
    assert visit.page.input_value("#text") == TEXT
    assert visit.page.input_value("#threshold") == "0.77"
    assert visit.entities() == span_texts(finder.find(TEXT, threshold=0.77))


HOSTILE = """<img src=x onerror=alert(1)> </textarea></article><script>alert(2)</script> Marie Curie
"><svg onload=alert(3)> javascript:alert(4) {{7*7}} ${alert(5)} &lt;b&gt; &amp; Paris"""


def test_html_in_a_text_has_no_effect(visit):
    visit.type(HOSTILE)
    visit.page.check("#all-words")
    visit.page.click(".entity >> nth=0")
    assert visit.page.evaluate("result.textContent") == HOSTILE
    assert (
        visit.page.evaluate("document.querySelectorAll('main :is(img, script, svg)').length") == 0
    )


def test_all_words_can_be_shaded(visit):
    visit.type("Nobody knew why.")
    assert visit.page.locator("#result .word").count() == 0
    visit.page.check("#all-words")
    assert visit.page.locator("#result .word").all_text_contents() == ["Nobody", "knew", "why", "."]


def test_a_model_and_a_selector_can_be_chosen(visit, two_selectors):
    page = visit.page
    visit.type(TEXT)
    assert page.locator("#selector").is_hidden()
    page.select_option("#model", "two")
    assert page.input_value("#selector") == "2"
    page.select_option("#selector", "1")
    eager = span_texts(two_selectors.with_selector(1).find(TEXT))
    page.wait_for_function("n => document.querySelectorAll('.entity').length === n", arg=len(eager))
    assert visit.entities() == eager
    assert page.inner_text("#threshold-value") == "0.05"
    page.reload()
    page.wait_for_selector(".entity")
    assert (page.input_value("#model"), page.input_value("#selector")) == ("two", "1")


def test_a_dropped_file_is_opened(visit):
    visit.page.evaluate(
        """(text) => {
            const dropped = new DataTransfer();
            dropped.items.add(new File([text], "notes.txt", { type: "text/plain" }));
            const options = { dataTransfer: dropped, bubbles: true, cancelable: true };
            for (const name of ["dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(name, options));
        }""",
        "Oslo\r\nis far.",
    )
    visit.page.wait_for_selector(".entity")
    assert visit.entities() == ["Oslo"]
    assert visit.page.input_value("#text") == "Oslo\nis far."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"x" * 20_001,
            "notes.txt is larger than 20,000 bytes, this server's limit.",
        ),
        (b"Magda\0left", "notes.txt is not a text file in UTF-8."),
    ],
)
def test_an_unsuitable_file_is_rejected_with_a_message(visit, content, message):
    chosen = {"name": "notes.txt", "mimeType": "text/plain", "buffer": content}
    visit.page.set_input_files("#file", chosen)
    visit.page.wait_for_selector("#problem", state="visible")
    assert visit.page.inner_text("#problem") == message
    assert visit.page.input_value("#text") == ""
    visit.type("Oslo is far.")
    assert visit.page.is_hidden("#problem")


def test_the_example_can_be_loaded_and_cleared(visit):
    visit.page.click("#example")
    visit.page.wait_for_selector(".entity")
    assert "Ingrid Solberg" in visit.entities()
    visit.page.click("#clear")
    visit.page.wait_for_selector("#empty", state="visible")
    assert visit.page.locator("#downloads button:enabled").count() == 0


def test_a_text_above_the_limit_gives_a_message_and_the_page_recovers(visit):
    visit.errors_are_expected = True
    visit.page.fill("#text", "word " * 20_000)
    visit.page.wait_for_selector("#problem", state="visible")
    assert "larger than 20,000 bytes" in visit.page.inner_text("#problem")
    visit.type(TEXT)
    assert visit.page.locator("#problem").is_hidden()


def test_clearing_cancels_the_request_and_hides_the_message(visit):
    visit.errors_are_expected = True
    visit.page.fill("#text", "word " * 20_000)
    visit.page.wait_for_selector("#problem", state="visible")
    visit.page.route("**/find", lambda route: None)  # never answered
    visit.page.fill("#text", "Oslo is far.")
    visit.page.wait_for_selector("#result[aria-busy=true]", state="attached")
    visit.page.click("#clear")
    visit.page.wait_for_selector("#empty", state="visible")
    assert visit.page.get_attribute("#result", "aria-busy") == "false"
    assert visit.page.locator("#problem").is_hidden()


def test_a_request_is_repeated_when_the_server_is_busy(visit):
    visit.errors_are_expected = True
    busy = iter([True, False])
    visit.page.route(
        "**/find",
        lambda route: route.fulfill(status=503, body="{}") if next(busy) else route.continue_(),
    )
    visit.type("Oslo is far.")
    assert visit.entities() == ["Oslo"]
    assert visit.find_requests() == 2


def test_the_page_asks_for_the_access_token_and_keeps_it(context, protected_address):
    visit = Visit(context.new_page(), protected_address)
    page = visit.page
    page.wait_for_selector("#token-form", state="visible")
    page.fill("#token", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem", state="visible")
    assert page.inner_text("#problem") == "This access token is wrong."
    page.fill("#token", "secret")
    page.keyboard.press("Enter")
    page.wait_for_selector("#token-form", state="hidden")
    visit.type("Oslo is far.")
    assert visit.entities() == ["Oslo"]
    page.reload()
    page.wait_for_selector(".entity")
    assert page.is_hidden("#token-form")
    assert page.is_hidden("#problem")
    assert not any("secret" in url for url in visit.requests)
    page.close()
