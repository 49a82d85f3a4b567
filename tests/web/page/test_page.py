"""The text field, the list of entities, the threshold, files and the access token."""

from collections import Counter

import pytest
from tests.web.page.conftest import Visit

TEXT = (
    "🎉👩‍🔬 Marie Curie moved to Paris. Nobody knew why Albert Einstein had left Marie Curie alone."
)


def span_texts(spans) -> list[str]:
    return [span.text for span in spans]


def test_entities_of_typed_text_are_marked_and_listed(visit, finder):
    """Also after emoji, where offsets in characters and in UTF-16 code units differ."""
    visit.type(TEXT)
    spans = finder.find(TEXT)
    assert visit.entities() == span_texts(spans)
    counts = Counter(span_texts(spans))
    assert counts["Marie Curie"] == 2
    kinds = {span.text: span.kind for span in spans}
    expected = [(name, kinds[name], str(count)) for name, count in counts.most_common()]
    assert visit.rows() == expected
    assert visit.page.inner_text("#status") == "3 entities, 4 mentions"


def test_spellings_of_a_name_are_one_entity(visit):
    visit.type("Marie Curie wrote to the Sorbonne. MARIE CURIE’s letter reached the Sorbonne.")
    names = [name for name, _, _ in visit.rows()]
    assert sum("curie" in name.lower() for name in names) == 1


def test_a_text_that_the_model_cannot_read_is_reported(visit):
    visit.type("東京は日本の首都です。")
    note = visit.page.inner_text("#no-entities")
    assert note.startswith("The text is in the script Han")
    assert note.endswith("use the model multilingual.")
    visit.type("Marie Curie left.")
    assert visit.page.inner_text("#no-entities") == ""


def test_shades_are_the_scores(visit, finder):
    words = ["Marie", "Curie", "left", "."]
    visit.type(" ".join(words))
    shade = "marks => marks.map((mark) => Number(mark.style.getPropertyValue('--score')))"
    shades = visit.page.locator("#highlights mark").evaluate_all(shade)
    assert shades == pytest.approx(
        [span.score for span in finder.find("Marie Curie left .")], abs=1e-4
    )
    visit.page.check("#all-words")
    visit.set_threshold(1)
    assert visit.page.locator("#highlights .word").all_text_contents() == words
    shades = visit.page.locator("#highlights .word").evaluate_all(shade)
    [reading] = finder.score_sentences([words])
    assert shades == pytest.approx(reading.scores.tolist(), abs=1e-4)


def test_moving_the_threshold_sends_no_request(visit, finder):
    visit.type(TEXT)
    visit.page.wait_for_load_state("networkidle")  # the icon may be requested late
    request_count = len(visit.requests)
    for threshold in (0, 0.6, 0.78, 1):
        visit.set_threshold(threshold)
        spans = finder.find(TEXT, threshold=threshold)
        assert visit.entities() == span_texts(spans)
        assert f"{len(spans)} mentions" in visit.page.inner_text("#status")
    assert "No entity" in visit.page.inner_text("#no-entities")
    visit.page.focus("#threshold")
    visit.page.keyboard.press("Home")
    assert visit.entities() == span_texts(finder.find(TEXT, threshold=0))
    visit.page.click("#default-threshold")
    assert visit.entities() == span_texts(finder.find(TEXT))
    assert len(visit.requests) == request_count


def test_the_cursor_in_an_entity_shows_its_details(visit):
    visit.type(TEXT)
    details = visit.page.locator("#details")
    visit.put_cursor(TEXT.encode("utf-16-le").index("Albert".encode("utf-16-le")) // 2 + 3)
    assert details.locator("h3").inner_text() == "Albert Einstein"
    assert "person" in details.inner_text()
    assert visit.page.locator("mark.selected").all_text_contents() == ["Albert Einstein"]
    for _ in range(5):
        visit.page.keyboard.press("ArrowLeft")
    details.wait_for(state="hidden")
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("ArrowRight")
    details.wait_for(state="visible")
    visit.page.keyboard.press("Escape")
    assert details.is_hidden()


def test_a_click_on_an_entity_shows_its_details(visit):
    visit.type(TEXT)
    box = visit.page.locator("mark", has_text="Einstein").bounding_box()
    visit.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visit.page.wait_for_selector("#details", state="visible")
    assert visit.page.inner_text("#details h3") == "Albert Einstein"
    visit.page.click("#details .close")
    assert visit.page.is_hidden("#details")


def test_the_list_leads_to_every_mention(visit):
    visit.type(TEXT)
    page = visit.page
    page.locator("#entities button").first.focus()
    for number in (1, 2, 1):
        page.keyboard.press("Enter")
        assert f"mention {number} of 2" in page.inner_text("#details")
        assert page.evaluate("document.activeElement.dataset.name") == "Marie Curie"
    page.click("#details [aria-label='Next mention']")
    assert "mention 2 of 2" in page.inner_text("#details")
    page.click("#details [aria-label='Previous mention']")
    assert "mention 1 of 2" in page.inner_text("#details")
    assert page.locator("mark.selected").count() == 1
    assert page.get_attribute("#entities [aria-current]", "data-name") == "Marie Curie"


def test_the_arrow_keys_move_in_the_list(visit):
    visit.type(TEXT)
    names = [name for name, _, _ in visit.rows()]
    visit.page.focus("#entities [tabindex='0']")
    for key, reached in [("ArrowDown", 1), ("ArrowDown", 2), ("ArrowDown", 2), ("ArrowUp", 1)]:
        visit.page.keyboard.press(key)
        assert visit.page.evaluate("document.activeElement.dataset.name") == names[reached]
    assert visit.page.locator("#entities [tabindex='0']").count() == 1


def test_a_long_list_is_shown_on_request(visit, finder):
    names = [
        f"{first}{last}"
        for first in ("Mar", "Kar", "Tor", "Vil")
        for last in (
            "a",
            "in",
            "ol",
            "ed",
            "us",
            "ik",
            "en",
            "or",
            "is",
            "um",
            "ax",
            "et",
            "ob",
            "al",
            "ir",
            "an",
            "os",
            "ul",
            "em",
            "yn",
            "av",
            "ek",
            "id",
            "ot",
            "ur",
            "ens",
            "ald",
        )
    ]
    visit.type(" ".join(f"Then {name} Larsen went to {name}ville." for name in names))
    visit.set_threshold(0)
    assert len(visit.rows()) == 100
    visit.page.click("#more-entities")
    assert len(visit.rows()) == int(visit.page.inner_text("#status").split()[0]) > 100
    assert visit.page.is_hidden("#more-entities")


HOSTILE = """<img src=x onerror=alert(1)> </textarea></article><script>alert(2)</script> Marie Curie
"><svg onload=alert(3)> javascript:alert(4) {{7*7}} ${alert(5)} &lt;b&gt; &amp; Paris"""


def test_html_in_a_text_has_no_effect(visit):
    visit.type(HOSTILE)
    visit.page.check("#all-words")
    visit.set_threshold(0)
    visit.page.click("#entities button >> nth=0")
    assert visit.page.evaluate("highlights.textContent") == HOSTILE
    injected = "document.querySelectorAll('main :is(img, script, svg)').length"
    assert visit.page.evaluate(injected) == 0


def test_a_model_and_a_selector_can_be_chosen(visit, two_selectors):
    page = visit.page
    visit.type(TEXT)
    assert page.locator("#selector").is_hidden()
    page.select_option("#model", "two")
    assert page.input_value("#selector") == "2"
    page.select_option("#selector", "1")
    visit.wait_until_current()
    assert visit.entities() == span_texts(two_selectors.with_selector(1).find(TEXT))
    assert page.inner_text("#threshold-value") == "0.05"


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
    visit.page.wait_for_selector("mark.entity")
    assert visit.entities() == ["Oslo"]
    assert visit.page.input_value("#text") == "Oslo\nis far."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x" * 20_001, "notes.txt is larger than 20,000 bytes, this server's limit."),
        (b"Magda\0left", "notes.txt is not a text file in UTF-8."),
    ],
)
def test_an_unsuitable_file_is_rejected_with_a_message(visit, content, message):
    chosen = {"name": "notes.txt", "mimeType": "text/plain", "buffer": content}
    with visit.page.expect_file_chooser() as chooser:
        visit.page.click("#open")
    chooser.value.set_files(chosen)
    visit.page.wait_for_selector("#problem", state="visible")
    assert visit.page.inner_text("#problem") == message
    assert visit.page.input_value("#text") == ""
    visit.type("Oslo is far.")
    assert visit.page.is_hidden("#problem")


def test_the_example_can_be_loaded_and_cleared(visit):
    assert visit.page.inner_text("#no-entities") == "Entities appear here."
    visit.page.click("#example")
    visit.page.wait_for_selector("mark.entity")
    assert "Ingrid Solberg" in visit.entities()
    assert visit.page.is_hidden("#example")
    visit.page.click("#clear")
    visit.page.wait_for_selector("#example", state="visible")
    assert visit.rows() == []
    assert visit.page.inner_text("#status") == ""
    assert visit.page.locator("#exports button:enabled").count() == 0


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
    visit.wait_for_address()
    page.reload()
    page.wait_for_selector("mark.entity")
    assert page.is_hidden("#token-form")
    assert page.is_hidden("#problem")
    assert not any("secret" in url for url in [*visit.requests, page.url])
    page.close()
