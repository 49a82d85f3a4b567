"""What the page does."""

import json
from pathlib import Path

import pytest

from thresher.text import read_conll, read_labelled

TEXT = (
    "🎉👩‍🔬 Marie Curie moved to Paris. Nobody knew why Albert Einstein had left Marie Curie alone."
)


def texts(spans) -> list[str]:
    return [span.text for span in spans]


def test_what_is_typed_is_highlighted_where_entities_are(visit, finder):
    """After two emoji: were places counted in characters, the marks would be off."""
    visit.type(TEXT)
    assert visit.entities() == texts(finder.find(TEXT))
    assert "Marie Curie" in visit.entities()
    spans = finder.find(TEXT, threshold=0)
    told = f"{len(visit.entities())} of {len(spans)} candidates"
    assert visit.page.inner_text("#status") == told


def test_deeper_shades_are_stronger_gates(visit, finder):
    visit.type("Marie Curie left .")
    visit.page.check("#every-word")
    shades = visit.page.locator(".word").evaluate_all(
        "words => words.map((word) => Number(word.style.getPropertyValue('--p')))"
    )
    [reading] = finder.score_sentences([["Marie", "Curie", "left", "."]])
    assert shades == pytest.approx(reading.scores.tolist(), abs=1e-4)


def test_moving_the_threshold_filters_without_another_request(visit, finder):
    visit.type(TEXT)
    asked = len(visit.asked)
    for threshold in (0, 0.6, 0.78, 1):
        visit.slide_to(threshold)
        assert visit.entities() == texts(finder.find(TEXT, threshold=threshold))
    assert visit.entities() == []
    visit.page.focus("#threshold")
    visit.page.keyboard.press("Home")
    assert visit.entities() == texts(finder.find(TEXT, threshold=0))
    visit.page.click("#own-threshold")
    assert visit.entities() == texts(finder.find(TEXT))
    assert len(visit.asked) == asked


def test_an_entity_shows_its_context(visit):
    visit.type(TEXT)
    visit.page.click(".on >> text=Einstein")
    details = visit.page.locator("#details")
    assert details.locator("h3").inner_text() == "Albert Einstein"
    sentence = "Nobody knew why Albert Einstein had left Marie Curie alone."
    assert details.locator(".context").inner_text() == sentence
    assert details.locator(".context b").inner_text() == "Albert Einstein"
    visit.page.keyboard.press("Escape")
    assert details.is_hidden()


def test_the_other_mentions_of_an_entity_can_be_reached(visit):
    visit.type(TEXT)
    visit.page.locator(".on", has_text="Marie Curie").first.click()
    assert "found 2 times" in visit.page.inner_text("#details .facts")
    visit.page.click("#details .facts button:not([disabled])")
    assert visit.page.inner_text("#details .context").startswith("Nobody knew")
    visit.page.click("#details .close")
    chosen = visit.page.evaluate("[document.activeElement.textContent, shown.innerHTML.length > 0]")
    assert chosen == ["Marie Curie", True]


def test_all_can_be_done_with_the_keyboard(visit):
    visit.type(TEXT)
    visit.page.focus("#every-word")
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


def test_a_screen_reader_hears_what_is_there(visit):
    visit.type(TEXT)
    heard = visit.page.locator("body").aria_snapshot()
    for expected in (
        'heading "Thresher"',
        'textbox "Text"',
        'slider "Threshold"',
        'button "Marie Curie, score 0.',
        "status: ",
        'button "Label Studio"',
        'combobox "Model"',
    ):
        assert expected in heard, expected


def test_downloads_hold_what_is_seen(visit, finder, tmp_path):
    visit.type(TEXT)
    visit.slide_to(0.6)
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
    assert found == texts(spans)
    for name in ("Label Studio", "Prodigy", "doccano"):
        [read] = read_labelled(downloaded(name), format=name.lower().replace(" ", "-"))
        assert (read.text, texts(read.spans)) == (TEXT, texts(spans))


def test_a_reload_keeps_the_text_and_the_threshold(visit, finder):
    visit.type(TEXT)
    visit.slide_to(0.77)
    visit.page.reload()
    visit.page.wait_for_function("read => shown.textContent === read", arg=TEXT)
    assert visit.page.input_value("#text") == TEXT
    assert visit.page.input_value("#threshold") == "0.77"
    assert visit.entities() == texts(finder.find(TEXT, threshold=0.77))


HOSTILE = """<img src=x onerror=alert(1)> </textarea></article><script>alert(2)</script> Marie Curie
"><svg onload=alert(3)> javascript:alert(4) {{7*7}} ${alert(5)} &lt;b&gt; &amp; Paris"""


def test_html_in_a_text_is_only_text(visit):
    visit.type(HOSTILE)
    visit.page.check("#every-word")
    visit.page.click(".on >> nth=0")
    assert visit.page.evaluate("shown.textContent") == HOSTILE
    assert (
        visit.page.evaluate("document.querySelectorAll('main :is(img, script, svg)').length") == 0
    )


def test_every_word_can_be_shaded(visit):
    visit.type("Nobody knew why.")
    assert visit.page.locator("#shown .word").count() == 0
    visit.page.check("#every-word")
    assert visit.page.locator("#shown .word").all_text_contents() == ["Nobody", "knew", "why", "."]


def test_models_and_their_selectors_can_be_chosen(visit, twofold):
    shown = visit.page
    visit.type(TEXT)
    assert shown.locator("#selector").is_hidden()
    shown.select_option("#model", "twofold")
    assert shown.input_value("#selector") == "2"
    shown.select_option("#selector", "1")
    eager = texts(twofold.with_selector(1).find(TEXT))
    shown.wait_for_function("n => document.querySelectorAll('.on').length === n", arg=len(eager))
    assert visit.entities() == eager
    assert shown.inner_text("#threshold-value") == "0.05"
    shown.reload()
    shown.wait_for_selector(".on")
    assert (shown.input_value("#model"), shown.input_value("#selector")) == ("twofold", "1")


def test_a_dropped_file_is_read(visit):
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
    visit.page.wait_for_selector(".on")
    assert visit.entities() == ["Oslo"]
    assert visit.page.input_value("#text") == "Oslo\nis far."


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b"x" * 20_001,
            "notes.txt is larger than 20,000 bytes, which is all this server takes.",
        ),
        (b"Magda\0left", "notes.txt is not text in UTF-8."),
    ],
)
def test_a_file_that_cannot_be_read_is_told_and_never_shown(visit, content, told):
    chosen = {"name": "notes.txt", "mimeType": "text/plain", "buffer": content}
    visit.page.set_input_files("#file", chosen)
    visit.page.wait_for_selector("#problem", state="visible")
    assert visit.page.inner_text("#problem") == told
    assert visit.page.input_value("#text") == ""
    visit.type("Oslo is far.")
    assert visit.page.is_hidden("#problem")


def test_an_example_can_be_tried_and_cleared(visit):
    visit.page.click("#example")
    visit.page.wait_for_selector(".on")
    assert "Ingrid Solberg" in visit.entities()
    visit.page.click("#clear")
    visit.page.wait_for_selector("#empty", state="visible")
    assert visit.page.locator("#downloads button:enabled").count() == 0


def test_a_text_that_is_too_long_is_told_and_the_page_goes_on(visit):
    visit.errors_are_expected = True
    visit.page.fill("#text", "word " * 20_000)
    visit.page.wait_for_selector("#problem", state="visible")
    assert "larger than 20,000 bytes" in visit.page.inner_text("#problem")
    visit.type(TEXT)
    assert visit.page.locator("#problem").is_hidden()


def test_a_cleared_page_neither_waits_nor_complains(visit):
    visit.errors_are_expected = True
    visit.page.fill("#text", "word " * 20_000)
    visit.page.wait_for_selector("#problem", state="visible")
    visit.page.route("**/find", lambda route: None)  # which is never answered
    visit.page.fill("#text", "Oslo is far.")
    visit.page.wait_for_selector("#shown[aria-busy=true]", state="attached")
    visit.page.click("#clear")
    visit.page.wait_for_selector("#empty", state="visible")
    assert visit.page.get_attribute("#shown", "aria-busy") == "false"
    assert visit.page.locator("#problem").is_hidden()


def test_a_busy_server_is_asked_again(visit):
    visit.errors_are_expected = True
    busy = iter([True, False])
    visit.page.route(
        "**/find",
        lambda route: route.fulfill(status=503, body="{}") if next(busy) else route.continue_(),
    )
    visit.type("Oslo is far.")
    assert visit.entities() == ["Oslo"]
    assert visit.finds() == 2
