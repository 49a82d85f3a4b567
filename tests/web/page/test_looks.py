"""Accessibility and appearance, in light and dark mode and on screens of several sizes."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from thresher.web import page

TEXT = "Marie Curie moved to Paris. Nobody knew why Albert Einstein had left Marie Curie alone."
CONTRAST = """() => {
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, a = 1], back) => [r, g, b].map((c, i) => a * c + (1 - a) * back[i]);
    const back = (node) => node === document.documentElement ? [255, 255, 255]
        : over(parts(getComputedStyle(node).backgroundColor), back(node.parentElement));
    const text = light(parts(getComputedStyle(document.getElementById("text")).color));
    return [...document.querySelectorAll("mark")].map((mark) => {
        const shade = light(back(mark));
        return (Math.max(text, shade) + 0.05) / (Math.min(text, shade) + 0.05);
    });
}"""
BELOW_THE_MARK = """mark => {
    const [{ left, bottom, width }] = mark.getClientRects(); // of its first line
    return { x: left + width / 2, y: bottom - 3, width: 1, height: 8 };
}"""
CONTROLS = (
    "button, select, summary, a, input:not([type=file], [type=checkbox]), textarea, .actions label"
)
SMALL = """controls => controls
    .map((node) => [node.id || node.textContent.trim(), node.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.width < 44 || box.height < 44))
    .map(([name, box]) => [name, box.width, box.height])"""


def show_everything(visit, width: int) -> None:
    """Show all panels: results, details, formats and the field for example names."""
    visit.page.set_viewport_size({"width": width, "height": 740})
    visit.type(TEXT)
    for summary in visit.page.locator("summary").all():
        summary.click()
    visit.page.click("#entities button >> nth=0")
    visit.page.wait_for_selector("#details", state="visible")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_no_accessibility_problem(visit, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    visit.page.emulate_media(color_scheme=scheme)
    results = [axe.run(visit.page)]
    show_everything(visit, width)
    results.append(axe.run(visit.page))
    for result in results:
        assert len(result.response["passes"]) > 15
        assert result.violations_count == 0, result.generate_report()


def test_axe_finds_no_problem_in_progress_errors_and_the_token_form(
    visit, context, protected_address
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    visit.page.route("**/find/stream", lambda route: None)  # never answered
    visit.page.fill("#text", TEXT)
    visit.page.wait_for_selector("#working", state="visible")
    waiting = axe.run(visit.page)
    assert waiting.violations_count == 0, waiting.generate_report()
    page = context.new_page()
    page.goto(protected_address)
    page.fill("#token", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem", state="visible")
    result = axe.run(page)
    page.close()
    assert result.violations_count == 0, result.generate_report()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marked_text_has_enough_contrast(visit, scheme):
    """At least the ratio of 4.5 that WCAG requires; axe does not see the layer behind the text."""
    visit.page.emulate_media(color_scheme=scheme)
    visit.type(TEXT)
    visit.page.check("#all-words")
    ratios = visit.page.evaluate(CONTRAST)
    assert len(ratios) > 10
    assert min(ratios) >= 4.5


def test_the_marks_can_be_seen_through_the_text_field(visit):
    """On the screen and not only in the document: the underlines have the colours of the kinds."""
    visit.type(TEXT)
    colours = set()
    for mark in visit.page.locator("mark.entity").all():
        kind = mark.evaluate("mark => mark.style.getPropertyValue('--highlight')")
        seen = pixels(visit.page.screenshot(clip=mark.evaluate(BELOW_THE_MARK)))
        assert tuple(map(int, kind.split())) in seen
        colours.add(kind)
    assert len(colours) == 2


def pixels(picture: bytes) -> list[tuple[int, ...]]:
    image = Image.open(BytesIO(picture)).convert("RGB")
    return [image.getpixel((x, y)) for x in range(image.width) for y in range(image.height)]


@pytest.mark.parametrize("width", [1280, 768, 360])
def test_every_control_is_large_enough_to_touch(visit, width):
    show_everything(visit, width)
    controls = visit.page.locator(CONTROLS)
    assert controls.count() > 20
    assert controls.evaluate_all(SMALL) == []


@pytest.mark.parametrize("width", [768, 360, 320])
def test_a_narrow_screen_does_not_scroll_sideways(visit, width):
    visit.type(TEXT + " " + "x" * 300)
    show_everything(visit, width)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_all_controls_can_be_reached_with_the_keyboard(visit):
    visit.type(TEXT)
    reached = []
    for _ in range(30):
        visit.page.keyboard.press("Tab")
        reached.append(
            visit.page.evaluate("document.activeElement.id || document.activeElement.textContent")
        )
    for name in ("model", "open", "clear", "text", "threshold", "copy", "csv", "Formats", "api"):
        assert name in reached, name
    assert any(name.startswith("person") for name in reached)  # a kind
    assert any(name.startswith("Marie Curie") for name in reached)  # an entity


def test_controls_have_accessible_names(visit):
    visit.type(TEXT)
    snapshot = visit.page.locator("body").aria_snapshot()
    for expected in (
        'heading "Thresher"',
        'textbox "Text"',
        'slider "Threshold"',
        'button "Marie Curie person 2 mentions"',
        'button "Download the list as CSV"',
        'combobox "Model"',
        "status: 3 entities, 4 mentions",
    ):
        assert expected in snapshot, expected


def test_the_page_follows_light_and_dark_mode(visit):
    def background():
        return visit.page.evaluate("getComputedStyle(document.body).backgroundColor")

    visit.page.emulate_media(color_scheme="light")
    light = background()
    visit.page.emulate_media(color_scheme="dark")
    assert background() != light


def test_each_line_has_its_own_direction(visit):
    visit.type("مرحبا بكم جميعا\nMarie Curie left.")
    pane = visit.page.locator("#pane").bounding_box()
    name = visit.page.locator("mark", has_text="Marie Curie").bounding_box()
    assert name["x"] < pane["x"] + 50


def test_the_page_is_small():
    folder = Path(page.__file__).parent
    sent = [file for file in folder.iterdir() if file.suffix in {".html", ".css", ".js", ".svg"}]
    assert sum(file.stat().st_size for file in sent) < 64_000
