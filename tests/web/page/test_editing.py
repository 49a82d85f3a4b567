"""The text is edited in place: the marks follow it, and nothing outdated is shown."""

TEXT = "Nobody knew why Marie Curie had left Paris."
OUTDATED = "#entities-panel[aria-busy=true]"


def layers(page) -> dict:
    return page.evaluate("""async () => {
        await new Promise(requestAnimationFrame);
        const field = document.getElementById("text");
        const layer = document.getElementById("highlights");
        return { text: layer.textContent.replaceAll("\\u200b", ""), value: field.value,
                 heights: [field.scrollHeight, field.offsetHeight, layer.offsetHeight] };
    }""")


AWKWARD = [
    "",
    "Oslo",
    "Oslo\n",
    "Oslo\n\n\n",
    "\n\nOslo",
    "x" * 3000,
    "a\tb  c " * 400,
    "Oslo is far.\n" * 300,
    "one long line " * 900,
    "مرحبا بكم\nOslo\n" * 5,
]


def test_the_layer_with_the_marks_lies_exactly_behind_the_text(visit):
    visit.page.route("**/find/stream", lambda route: None)
    for text in AWKWARD:
        visit.page.fill("#text", text)
        found = layers(visit.page)
        assert found["text"] == found["value"] == text
        assert len(set(found["heights"])) == 1, text[:20]


def test_marks_follow_edits_at_once(visit):
    """Before the server answers; an entity that is edited loses its mark."""
    visit.type(TEXT)
    visit.page.route("**/find/stream", lambda route: None)  # never answered
    visit.put_cursor(0)
    visit.page.keyboard.type("Oh! ")
    layers(visit.page)
    assert visit.entities() == ["Marie Curie", "Paris"]
    visit.put_cursor(len("Oh! Nobody knew why Marie"))
    visit.page.keyboard.press("Enter")
    found = layers(visit.page)
    assert visit.entities() == ["Paris"]
    assert found["text"] == found["value"] == "Oh! Nobody knew why Marie\n Curie had left Paris."


def test_random_edits_leave_layer_and_text_the_same(visit):
    visit.page.route("**/find/stream", lambda route: None)
    visit.page.fill("#text", "Marie Curie left Paris.\n" * 200)
    differences = visit.page.evaluate("""async () => {
        const field = document.getElementById("text");
        const layer = document.getElementById("highlights");
        const pieces = ["", "x", "\\n", "a\\nb\\n", "long ".repeat(500), "\\n".repeat(30)];
        let seed = 7;
        const random = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
        let different = 0;
        for (let edit = 0; edit < 60; edit += 1) {
            const start = random(field.value.length + 1);
            const end = Math.min(field.value.length, start + random(edit % 10 ? 40 : 3000));
            field.setRangeText(pieces[random(pieces.length)], start, end);
            field.dispatchEvent(new Event("input"));
            await new Promise(requestAnimationFrame);
            different += layer.textContent.replaceAll("\\u200b", "") !== field.value;
        }
        return different;
    }""")
    assert differences == 0


def test_an_outdated_count_is_never_visible(visit):
    visit.type(TEXT)
    count = visit.page.locator("#entities .count").first
    assert count.is_visible()
    visit.page.route("**/find/stream", lambda route: None)
    for change in (
        lambda: visit.page.locator("#text").press("End"),
        lambda: visit.page.keyboard.type("!"),
        lambda: visit.set_threshold(0.3),
        visit.page.locator("#kinds button").first.click,
    ):
        change()
    assert visit.page.locator(OUTDATED).count() == 1
    assert not any(each.is_visible() for each in visit.page.locator(".count").all())
    assert "mention" not in visit.page.inner_text("#status")
    assert visit.page.locator("#exports button:enabled").count() == 0


def test_the_answer_for_an_earlier_text_is_not_shown(visit):
    """Not even if it arrives after the answer for the text that is shown."""
    held = []
    visit.page.route("**/find/stream", lambda route: held.append(route))  # noqa: PLW0108 (bound)
    visit.page.fill("#text", "Oslo is far.")
    visit.page.wait_for_timeout(50)
    visit.page.fill("#text", "Marie Curie left.")
    visit.page.wait_for_timeout(500)
    assert len(held) == 2
    held[1].continue_()
    visit.wait_until_current()
    held[0].abort()
    assert [row[0] for row in visit.rows()] == ["Marie Curie"]


def test_a_replaced_text_can_be_restored_with_undo(visit):
    visit.type(TEXT)
    visit.page.click("#clear")
    visit.page.wait_for_selector("#example", state="visible")
    visit.page.keyboard.press("Control+z")
    visit.wait_until_current()
    assert visit.page.input_value("#text") == TEXT
    assert visit.entities() == ["Marie Curie", "Paris"]


def test_text_can_be_composed_with_an_input_method(visit):
    visit.type(TEXT)
    visit.put_cursor(0)
    keyboard = visit.page.context.new_cdp_session(visit.page)
    for composed in ("O", "Os", "Osl"):
        keyboard.send(
            "Input.imeSetComposition", {"text": composed, "selectionStart": 1, "selectionEnd": 1}
        )
    keyboard.send("Input.insertText", {"text": "Oslo. "})
    visit.wait_until_current()
    assert visit.page.input_value("#text") == f"Oslo. {TEXT}"
    assert visit.entities() == ["Oslo", "Marie Curie", "Paris"]


def test_pasted_html_becomes_plain_text(visit):
    visit.page.evaluate("""() => navigator.clipboard.write([new ClipboardItem({
        "text/html": new Blob(["<h1>Oslo <b>is</b> far</h1>"], { type: "text/html" }),
        "text/plain": new Blob(["Oslo is far"], { type: "text/plain" }) })])""")
    visit.page.focus("#text")
    visit.page.keyboard.press("Control+v")
    visit.page.wait_for_selector("mark.entity")
    assert visit.page.input_value("#text") == "Oslo is far"


def test_a_slow_request_can_be_cancelled_and_repeated(visit):
    visit.page.route("**/find/stream", lambda route: None)  # never answered
    visit.page.fill("#text", TEXT)
    visit.page.wait_for_selector("#working", state="visible")
    assert visit.page.inner_text("#status") == "Finding entities…"
    visit.page.click("#cancel")
    assert visit.page.is_hidden("#working")
    assert visit.page.inner_text("#status") == "Cancelled"
    assert visit.page.locator(OUTDATED).count() == 1
    visit.page.unroute("**/find/stream")
    visit.page.keyboard.press("Enter")  # the button to find has the focus
    visit.wait_until_current()
    assert visit.entities() == ["Marie Curie", "Paris"]
    assert visit.page.is_hidden("#find")


def test_a_text_above_the_limit_gives_a_message_and_the_page_recovers(visit):
    visit.errors_are_expected = True
    visit.page.fill("#text", "word " * 20_000)
    visit.page.wait_for_selector("#problem", state="visible")
    assert "larger than 20,000 bytes" in visit.page.inner_text("#problem")
    assert visit.page.locator(OUTDATED).count() == 1
    visit.type(TEXT)
    assert visit.page.locator("#problem").is_hidden()


def test_clearing_cancels_the_request(visit):
    visit.page.route("**/find/stream", lambda route: None)
    visit.page.fill("#text", "Oslo is far.")
    visit.page.wait_for_selector("#working", state="visible")
    visit.page.click("#clear")
    visit.page.wait_for_selector("#example", state="visible")
    assert visit.page.is_hidden("#working")
    assert visit.page.locator(OUTDATED).count() == 0


def test_a_request_is_repeated_when_the_server_is_busy(visit):
    visit.errors_are_expected = True
    busy = iter([True, False])
    visit.page.route(
        "**/find/stream",
        lambda route: route.fulfill(status=503, body="{}") if next(busy) else route.continue_(),
    )
    visit.type("Oslo is far.")
    assert visit.entities() == ["Oslo"]
    assert visit.find_requests() == 2


def test_an_error_while_entities_are_found_is_shown(visit):
    lines = '{"progress": 0.5}\n{"detail": "internal error"}\n'
    visit.page.route("**/find/stream", lambda route: route.fulfill(status=200, body=lines))
    visit.page.fill("#text", TEXT)
    visit.page.wait_for_selector("#problem", state="visible")
    assert visit.page.inner_text("#problem") == "The request failed: internal error"
    assert visit.page.is_visible("#find")
